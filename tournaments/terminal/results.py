"""Standings, their changes and results as text, JSON and CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from malice.protocol.messages import ClockRules
from malice.referee.connection import STRAY_LINES
from malice.referee.nouns import format_count
from malice.referee.records import Record
from malice.tournaments.league.columns import COLUMNS, TERMINAL, Column, Unit, compute_fields, list_columns
from malice.tournaments.league.contents import Contents, GameSummary
from malice.tournaments.league.progression import Progression, RankChange
from malice.tournaments.league.series import Score, list_open_series
from malice.tournaments.league.standings import PRELIMINARY, Row, Standings, StandingsTable
from malice.tournaments.league.tournament import Tournaments
from malice.tournaments.ratings.scores import SeatScore
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.tables import Cell, format_number, format_table, write_csv
from malice.tournaments.terminal.transcript import excerpt_stderr

SAME_DEAL = "all seats play the same deal, each alone: a deal is one game, without rotations of the seats"
INEXACT = "a test chose when to stop, so these are not 95 % intervals"
LIVE = "deals are still missing: the intervals hold for one look, not for whoever looks often and stops when he likes"
WATCHED = "deals are still missing: 95 % so far holds at all looks together, the other intervals for one look"


def describe_choice(league: Tournaments, name: str | None) -> Iterator[str]:
    """Yield a line on the tournament that the standings tell of, if the league has several.

    Args:
        league: all tournaments.
        name: the one; None if the standings tell of all.
    """
    others = [sanitize(each) for each in league.tournaments if each != name]
    if name is None:
        yield f"all tournaments: {', '.join(others)}"
    elif others:
        yield f"tournament {sanitize(name)}; the league also has {', '.join(others)}"


MARK = "?"
"""After the Elo of an entry with few games."""


def format_standings(all_standings: Sequence[Standings]) -> Iterator[str]:
    """Yield the standings as tables, one for each ruleset, number of seats and clock."""
    if not all_standings:
        yield "no game to rate"
    kinds = [(standings.ruleset, standings.seats) for standings in all_standings]
    for standings in all_standings:
        several = kinds.count((standings.ruleset, standings.seats)) > 1
        waiting = f", {standings.waiting} of deals not yet played from every seat" if standings.waiting else ""
        title = f"{sanitize(standings.ruleset)}, {standings.seats} seats"
        title += f", {describe_clock(standings.clock)}" if several and standings.clock else ""
        yield f"{title}: {format_count(standings.games, 'game')}{waiting}, Elo {_describe_origin(standings)}"
        if standings.warning:
            yield standings.warning
        yield from _format_ranking(standings)
        yield from _format_notes(standings)


def _format_ranking(standings: Standings) -> Iterator[str]:
    """Yield a table for each group that met; all of them have the same columns, so that they stay aligned."""
    tables = standings.list_tables()
    rows = [row for table in tables for row in (*table.active, *table.away)]
    columns = list_columns(standings, TERMINAL)
    marked = any(map(_is_preliminary, rows))
    head = [column.caption for column in columns]
    cells = [[_format_cell(column, row, marked=marked) for column in columns] for row in rows]
    first, *lines = format_table(head, cells, left=(head.index("bot"),))
    for table in tables:
        if len(tables) > 1:
            yield describe_group(table)
        yield first
        size = len(table.active) + len(table.away)
        yield from lines[:size]
        lines = lines[size:]


def describe_group(table: StandingsTable) -> str:
    count = format_count(len(table.active) + len(table.away), "bot")
    return f"met nobody: {count}" if table.group is None else f"group {table.group}: {count}"


def _format_notes(standings: Standings) -> Iterator[str]:
    """Yield the lines under a table."""
    if any(_is_preliminary(row) for row in standings.rows):
        yield f"{MARK} preliminary: fewer than {PRELIMINARY} games"
    if standings.seats > 2:
        yield "W-D-L counts a game once for every other side at the table"
    for row in standings.rows:
        if row.thinks_off_turn:
            yield f"{sanitize(row.label)} uses CPU time off turn: {row.idle_ms:.1f} ms an action"
        if row.overruns:
            games = format_count(row.overruns, "game")
            yield f"{sanitize(row.label)} used most of the time in {games} that a run gave up when its time was over"
    if standings.same_deal:
        yield SAME_DEAL
    elif standings.variance_ratio is not None:
        yield f"games of one deal share their cards: variance {standings.variance_ratio:.2f} times the binomial"
    if not standings.exact:
        yield INEXACT
    if standings.live:
        yield WATCHED if standings.so_far else LIVE
    sides = standings.seat_scores
    for side in sides[:1] if len(sides) == 2 else sides:  # what one of two sides gets, the other does not
        if side.score is not None:
            yield _describe_seats(side)


def _is_preliminary(row: Row) -> bool:
    return row.preliminary and row.rating.elo is not None


def _describe_seats(side: SeatScore) -> str:
    who = f"seat {side.seats[0]} gets" if len(side.seats) == 1 else f"seats {' and '.join(map(str, side.seats))} get"
    share = f"{100 * (side.score or 0):.1f} % of the points (95 %: {_format_range(side.score_low, side.score_high)})"
    if side.elo is None:
        return f"{who} {share}"
    ends = f"{format_number(side.elo_low, 0)} .. {format_number(side.elo_high, 0)}"
    return f"{who} {share}, worth {format_number(side.elo, 0)} Elo ({ends})"


def describe_clock(clock: ClockRules) -> str:
    """A clock in words, its times in milliseconds."""
    limits = [
        "" if clock.move_ms is None else f"{clock.move_ms} ms an action",
        "" if clock.bank_ms is None else f"{clock.bank_ms} + {clock.increment_ms} ms a game",
        f"margin {clock.margin_ms} ms",
        f"{clock.kind} time",
        "" if clock.cap_ms is None else f"cap {clock.cap_ms} ms",
    ]
    return " ".join(("clock", ", ".join(filter(None, limits))))


def _describe_origin(standings: Standings) -> str:
    """What the Elo is relative to: the anchor, or the mean of the bots that took points off one another."""
    anchor = sanitize(standings.anchor or "")
    if standings.groups > 1:
        return (
            f"relative to {anchor} in its group, else to the mean" if anchor else "relative to the mean of each group"
        )
    if anchor:
        return f"relative to {anchor}"
    mean = "the mean" if standings.mean_of_all else "the mean of those who took points off one another"
    return f"relative to {mean}{', older versions included' if standings.unlisted else ''}"


def format_rank(row: Row) -> str:
    """A rank, as `=3` if others share it."""
    return "n/a" if row.rank is None else f"{'=' if row.tied else ''}{row.rank}"


def _format_cell(column: Column, row: Row, *, marked: bool) -> str:
    """A cell of a ranking.

    Args:
        column: the column.
        row: the row.
        marked: whether an Elo of the ranking is preliminary, so that all leave room for the mark.
    """
    rating = row.rating
    match column.unit:
        case "rank":
            ranks = "" if rating.rank_low is None else f" ({rating.rank_low}-{rating.rank_high})"
            return f"{format_rank(row)}{ranks}"
        case "bot":
            return sanitize(row.label) + ("" if row.state == "playing" else f" ({row.state})")
        case "rating":
            mark = (MARK if _is_preliminary(row) else " ") if marked else ""
            return f"{format_number(rating.elo, 0)}{mark}"
    return _WRITERS[column.unit](*column.read(row))


def _format_range(low: float | None, high: float | None) -> str:
    return "n/a" if low is None or high is None else f"{100 * low:.1f} .. {100 * high:.1f}"


_WRITERS: Mapping[Unit, Callable[..., str]] = {
    "elo": partial(format_number, digits=0),
    "elo interval": lambda low, high: f"{format_number(low, 0)} .. {format_number(high, 0)}",
    "share": lambda share: "n/a" if share is None else f"{100 * share:.1f} %",
    "share interval": _format_range,
    "record": "{}-{}-{}".format,
    "count": str,
    "fault": str,
    "points": partial(format_number, digits=1),
    "ms": partial(format_number, digits=2),
    "tally": lambda mean, games: "n/a" if mean is None else f"{round(mean * games)} of {games}",
}


Named = Sequence[tuple[str | None, Sequence[Standings]]]
"""Standings with the names of their tournaments; None if they are of several together."""


def encode_standings_json(found: Named) -> str:
    """One array for all rankings, without their history."""
    rows = []
    for tournament, all_standings in found:
        for standings in all_standings:
            fields = {"tournament": tournament} | msgspec.to_builtins(standings)
            del fields["history"]
            fields["rows"] = [
                field | compute_fields(row) for field, row in zip(fields["rows"], standings.rows, strict=True)
            ]
            rows.append(fields)
    return msgspec.json.encode(rows).decode()


RANKING_HEAD = ("ruleset", "seats", *(name for column in COLUMNS for name in column.fields), "clock", "warning")


def encode_standings_csv(found: Named) -> str:
    """One row for each tournament, ruleset and entry."""
    head = ("tournament", *RANKING_HEAD)
    rows = [
        [tournament, *list_cells(standings, row)]
        for tournament, all_standings in found
        for standings in all_standings
        for row in standings.rows
    ]
    return write_csv(head, rows)


def list_cells(standings: Standings, row: Row) -> list[Cell]:
    """A row of a ranking under `RANKING_HEAD`."""
    values = (value for column in COLUMNS for value in column.read(row))
    clock = describe_clock(standings.clock) if standings.clock else None
    return [standings.ruleset, standings.seats, *values, clock, _warn(standings)]


def _warn(standings: Standings) -> str | None:
    return standings.warning or (LIVE if standings.live else None if standings.exact else INEXACT)


def describe_verdicts(record: Record) -> Iterator[str]:
    """Yield the verdicts of a game, each with its sentence and an excerpt of stderr; then what costs no game."""
    for fault in record.faults:
        label = sanitize(record.entries[fault.seat][0])
        after = format_count(fault.action, "action")
        yield f"          {label}: {fault.code} after {after}: {sanitize(fault.sentence)}"
        for line in excerpt_stderr(fault.stderr):
            yield f"            | {line}"
    for (label, _), seat in zip(record.entries, record.seats, strict=True):
        if seat.farewell:
            yield f"          {sanitize(label)}: {sanitize(seat.farewell)}; this costs no game"
            for line in excerpt_stderr(seat.farewell_stderr):
                yield f"            | {line}"
        if seat.stray_lines:
            yield f"          {sanitize(label)}: {_describe_stray_lines(seat.stray_lines, seat.first_stray)}"


def _describe_stray_lines(count: int, first: str) -> str:
    lines = "a line on stdout that is not JSON" if count == 1 else f"{count} lines on stdout that are not JSON"
    if first:
        lines += f": {first}" if count == 1 else f", the first: {first}"
    return lines if count > STRAY_LINES else f"{lines}; line {STRAY_LINES + 1} of a game forfeits it"


def format_game_line(game: GameSummary, series: Score | None) -> str:
    order = sorted(zip(game.places, game.labels, game.scores, strict=True))
    places = ", ".join(f"{place}. {sanitize(label)} ({score})" for place, label, score in order)
    faults = ", ".join(
        f"{sanitize(label)}: {code}" for label, code in zip(game.labels, game.verdicts, strict=True) if code
    )
    verdicts = f" [{faults}]" if faults else ""
    score = f"; {_format_series(game, series)}" if series else ""
    return f"{game.key!s:>8}  {places}  {game.reason}, {format_count(game.actions, 'action')}{verdicts}{score}"


def _format_series(game: GameSummary, score: Score) -> str:
    points = sorted(zip(score.points, game.labels, strict=True), reverse=True)
    tally = ", ".join(f"{sanitize(label)} {count}" for count, label in points)
    return f"rotation {game.key.rotation}, series {score.series}{' decided' if score.won else ''}: {tally}"


def describe_open_series(league: Contents) -> Iterator[str]:
    """Yield a line on each series without a winner, and then how to play on."""
    targets = {ruleset.name: ruleset.match.target for ruleset in league.rulesets}
    opened = list_open_series(league)
    for game, score in opened:
        yield f"not decided: {_format_series(game, score)}; {format_count(targets[game.ruleset], 'point')} to win"
    if opened and not league.config.series:
        yield "--series plays on until every series is decided"


CHANGES_HEAD = ("rank", "was", "bot", "elo", "was", "gain", "")
FIELDS = ("label", "news", "rank_before", "rank", "elo_before", "elo", "gain")


def format_progression(progressions: Sequence[Progression]) -> Iterator[str]:
    """Yield a table of moves for each ruleset and number of seats."""
    for each in progressions:
        yield (
            f"{sanitize(each.ruleset)}, {each.seats} seats: gain from the Elo that was to the Elo now, with the bots"
            f" that did not change at zero (they moved by {each.drift:+.0f})"
        )
        yield from format_table(CHANGES_HEAD, [_format_move(move) for move in each.moves], left=(2, 6))


def _format_move(move: RankChange) -> tuple[str, ...]:
    return (
        _format_rank(move.rank),
        _format_rank(move.rank_before),
        sanitize(move.label),
        format_number(move.elo, 0),
        format_number(move.elo_before, 0),
        "n/a" if move.gain is None else f"{move.gain:+.0f}",
        move.news,
    )


def _format_rank(rank: int | None) -> str:
    return "n/a" if rank is None else str(rank)


def encode_progression_json(progressions: Sequence[Progression], tournament: str) -> str:
    """Encode the moves as one JSON array, one object for each ruleset and number of seats."""
    rows = [{"tournament": tournament} | msgspec.to_builtins(each) for each in progressions]
    return msgspec.json.encode(rows).decode()


def encode_progression_csv(progressions: Sequence[Progression], tournament: str) -> str:
    """Encode the moves as CSV, one row for each entry and ruleset."""
    rows: list[list[Cell]] = [
        [tournament, each.ruleset, each.seats, *(getattr(move, field) for field in FIELDS)]
        for each in progressions
        for move in each.moves
    ]
    return write_csv(("tournament", "ruleset", "seats", *FIELDS), rows)
