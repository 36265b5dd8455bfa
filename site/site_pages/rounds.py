"""The rounds of a Swiss tournament, and the bracket of a knockout, as the templates show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.rankings import Name, make_name
from malice.tournaments.league.formats.decisions import FormatInput, Match, format_points, list_matches
from malice.tournaments.league.formats.knockout import (
    FINAL,
    PLAY_OFF_DEALS,
    PLAY_OFFS,
    Round,
    Tie,
    list_seeds,
)
from malice.tournaments.league.formats.swiss import Encounter, SwissRow
from malice.tournaments.league.parts import Part

WORDS = {Fraction(1): "won", Fraction(1, 2): "drawn", Fraction(0): "lost"}
DEFAULT = "by default"
"""How a match ends that somebody did not play to its end."""


class RoundCell(Struct, frozen=True):
    """What an entry met in a round."""

    opponent: Name | None
    """None in a bye."""
    text: str


class RoundRow(Struct, frozen=True):
    """An entry, round by round."""

    place: int
    bot: Name
    points: str
    cells: tuple[RoundCell | None, ...]
    """None where it did not take part."""


class Rounds(Struct, frozen=True):
    """The rounds of a Swiss tournament."""

    planned: int
    titles: tuple[str, ...]
    """Those that were drawn."""
    rows: tuple[RoundRow, ...]
    """In the order of the table."""


class BracketEntry(Struct, frozen=True):
    """An entry at a place of the bracket."""

    seed: int
    bot: Name
    score: str
    """In the match, without play-offs; empty while it is open."""
    won: bool


class TieBox(Struct, frozen=True):
    """A place in the bracket."""

    sides: tuple[BracketEntry, ...]
    note: str
    """Its play-offs, and how else it ended than by the score; empty if there is nothing to say."""


class BracketColumn(Struct, frozen=True):
    """A round in the bracket, or the match for third place."""

    title: str
    ties: tuple[TieBox, ...]
    leads: bool
    """Whether its winners meet in the column that follows."""


class Bracket(Struct, frozen=True):
    """A knockout as far as it was drawn."""

    columns: tuple[BracketColumn, ...]
    winner: Name | None
    play_offs: int = PLAY_OFFS
    """Of a drawn match, at most."""
    play_off_deals: int = PLAY_OFF_DEALS
    """At least."""


class RoundsSection(Struct, frozen=True):
    """What the front page shows of a format that is played in rounds."""

    rounds: Rounds | None = None
    bracket: Bracket | None = None


def make_rounds_section(format_input: FormatInput) -> RoundsSection:
    """Empty for formats without rounds, and before the first round."""
    if not format_input.tournament.parts:
        return RoundsSection()
    format = format_input.tournament.format
    return RoundsSection(
        rounds=None if format.rounds is None else _make_rounds(format_input, format.rounds(format_input)),
        bracket=None if format.bracket is None else _make_bracket(format_input, format.bracket(format_input)),
    )


def _make_rounds(format_input: FormatInput, found: Sequence[SwissRow]) -> Rounds:
    tournament = format_input.tournament
    matches = _find_matches(format_input)
    opened = [_list_open(part) for part in tournament.parts if part.number not in tournament.closed]
    closed = [part.number for part in tournament.parts if part.number in tournament.closed]
    rows = tuple(
        RoundRow(
            place,
            make_name(row.label),
            format_points(row.points),
            (*_make_cells(row, closed, matches), *(each.get(row.label) for each in opened)),
        )
        for place, row in enumerate(found, 1)
    )
    titles = [f"Round {number}" for number in range(1, len(closed) + 1)]
    titles += [f"Round {number}, not over" for number in range(len(titles) + 1, len(tournament.parts) + 1)]
    return Rounds(tournament.config.rounds, tuple(titles), rows)


def _find_matches(format_input: FormatInput) -> dict[tuple[int, str], tuple[Match, int]]:
    """The match of each entry in each closed part, with its place at the table."""
    return {
        (part, label): (match, place)
        for (part, _), match in list_matches(format_input).items()
        for place, label in enumerate(match.labels)
    }


def _make_cells(
    row: SwissRow, closed: list[int], matches: Mapping[tuple[int, str], tuple[Match, int]]
) -> Iterator[RoundCell | None]:
    for part, encounter in zip(closed, row.encounters, strict=True):
        if encounter is None:
            yield None
        elif encounter.opponent is None:
            out = encounter.disqualified
            why = "" if out is None else f" ({text.format_label(out)} disqualified)"
            yield RoundCell(None, f"bye{why} {format_points(encounter.points)}")
        else:
            yield RoundCell(make_name(encounter.opponent), _describe_encounter(encounter, *matches[part, row.label]))


def _describe_encounter(encounter: Encounter, match: Match, place: int) -> str:
    word = WORDS[encounter.points]
    # The points of a disqualified entry do not follow from its score.
    if not match.complete or encounter.points != match.points[place]:
        return f"{word} {DEFAULT}"
    return f"{word} {format_points(match.score[place])}–{format_points(match.score[1 - place])}"


def _list_open(part: Part) -> dict[str, RoundCell]:
    """Who meets whom in a round that is not over, by label."""
    cells = {version.label: RoundCell(None, "bye") for version in part.byes}
    for table in part.tables:
        one, other = (version.label for version in table.versions)
        cells |= {one: RoundCell(make_name(other), "open"), other: RoundCell(make_name(one), "open")}
    return cells


def _make_bracket(format_input: FormatInput, rounds: Sequence[Round]) -> Bracket:
    seeds = {label: number for number, label in enumerate(list_seeds(format_input), 1)}
    columns = [column for each in rounds for column in _make_columns(each, seeds)]
    winner = rounds[-1].ties[0].winner if rounds and rounds[-1].title == FINAL else None
    return Bracket(tuple(columns), None if winner is None else make_name(winner))


def _make_columns(played: Round, seeds: Mapping[str, int]) -> Iterator[BracketColumn]:
    """Yield the column of a round; the final and the match for third place have one each."""
    if played.title != FINAL:
        yield BracketColumn(played.title, tuple(_make_tie(tie, seeds) for tie in played.ties), leads=True)
        return
    final, *third = played.ties
    yield BracketColumn("final", (_make_tie(final, seeds),), leads=False)
    for tie in third:
        yield BracketColumn("third place", (_make_tie(tie, seeds),), leads=False)


def _make_tie(tie: Tie, seeds: Mapping[str, int]) -> TieBox:
    sides = tuple(
        BracketEntry(
            seeds[label],
            make_name(label),
            _format_score(tie.matches[0], label) if tie.matches else "",
            won=label == tie.winner,
        )
        for label in tie.labels
    )
    return TieBox(sides, _describe_tie(tie))


def _format_score(match: Match, label: str) -> str:
    return format_points(match.score[match.labels.index(label)])


def _describe_tie(tie: Tie) -> str:
    if len(tie.labels) < 2:
        return "no opponent" if tie.labels else "nobody"
    play_offs = ", ".join("–".join(_format_score(match, label) for label in tie.labels) for match in tie.matches[1:])
    return "; ".join(filter(None, (f"play-offs {play_offs}" if play_offs else "", _describe_end(tie))))


def _describe_end(tie: Tie) -> str:
    if not tie.over:
        return "a play-off decides" if tie.matches else "not over"
    if tie.winner is None:
        return "both suspended" if tie.barred else "nobody played to the end"
    if tie.barred:
        return f"won {DEFAULT}"
    last = tie.matches[-1]
    if last.winner is None:
        return "tied to the end: the higher seed goes on"
    return "" if last.complete else f"won {DEFAULT}"
