"""What the page of a bot shows: places, opponents, Elo by part and version, seats, special games, notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from malice.referee.records import Record
from malice.site_pages import text
from malice.site_pages.chart import Chart, Line
from malice.site_pages.contents import PublishedContents
from malice.site_pages.deals import BotGames, Deals, Kind, Pair, SeatResults, Win
from malice.site_pages.intervals import DealBar, format_ends, make_deal_bar
from malice.site_pages.part_chart import PartChart
from malice.site_pages.rankings import Name, Ranking, RankRow, SortableCell, make_cells, make_name
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.standings import EntryStatistic, OpponentScore, Row, Standings
from malice.tournaments.ratings.comparison import Advantage, HeadToHead, compare_head_to_head, measure_advantage
from malice.tournaments.sanitizer import sanitize


class Duel(Struct, frozen=True):
    """Statistics of two bots from pairs: the two games of a deal, played from both seats."""

    elo: SortableCell
    interval: str
    """Of the Elo difference; empty if unknown."""
    los: SortableCell
    luck: SortableCell
    luck_range: str
    deals: DealBar | None
    """None without complete deals."""


class OpponentRow(Struct, frozen=True):
    """A row of the head-to-head table: a bot's results against one opponent."""

    bot: Name
    record: str
    wins: int
    games: SortableCell
    score: SortableCell
    duel: Duel | None
    """None with more than two seats."""


class StatisticRow(Struct, frozen=True):
    """What a game itself counts, over the games that count for it."""

    caption: str
    games: SortableCell
    mean: SortableCell
    best: SortableCell


class BotResult(Struct, frozen=True):
    """A bot's row in one ranking, with its head-to-head table."""

    title: str
    anchor: str
    page: str
    """The file name of the ruleset's page."""
    row: RankRow
    opponents: list[OpponentRow]
    duels: bool
    statistics: list[StatisticRow]
    """What the game itself counts."""


def list_results(
    label: str, all_standings: Sequence[Standings], rankings: Sequence[Ranking], deals: Deals
) -> list[BotResult]:
    results = []
    for standings, ranking in zip(all_standings, rankings, strict=True):
        for row, rank_row in zip(standings.rows, ranking.rows, strict=True):
            if row.label == label:
                against = _list_opponents(standings, label, deals)
                duels = has_duels(standings)
                counted = [_make_statistic(figure) for figure in row.statistics or ()]
                results.append(
                    BotResult(ranking.title, ranking.anchor, ranking.page, rank_row, against, duels, counted)
                )
    return results


def _make_statistic(figure: EntryStatistic) -> StatisticRow:
    if figure.share:
        mean, best = text.format_percent(figure.mean), SortableCell("")
    else:
        mean, best = text.format_decimal(figure.mean, 1), SortableCell(text.format_decimal(figure.best), figure.best)
    return StatisticRow(
        figure.caption.capitalize(),
        SortableCell(f"{figure.games:,}", figure.games),
        SortableCell(mean, figure.mean),
        best,
    )


def has_duels(standings: Standings) -> bool:
    """Whether two play each deal twice, from both seats."""
    return standings.seats == 2 and not standings.same_deal


def _list_opponents(standings: Standings, label: str, deals: Deals) -> list[OpponentRow]:
    meetings = standings.crosstable.get(label, {})
    return [
        _make_opponent_row(standings, label, row.label, meeting, deals)
        for row in standings.rows
        if row.label != label and (meeting := meetings.get(row.label)) is not None
    ]


def _make_opponent_row(
    standings: Standings, label: str, other: str, meeting: OpponentScore, deals: Deals
) -> OpponentRow:
    cells = deals.count_pairs(standings.ruleset, label, other) if has_duels(standings) else None
    return OpponentRow(
        bot=make_name(other),
        record=f"{meeting.wins}–{meeting.draws}–{meeting.losses}",
        wins=meeting.wins,
        games=SortableCell(f"{meeting.games:,}", meeting.games),
        score=SortableCell(text.format_percent(meeting.score), meeting.score),
        duel=None if cells is None else _make_duel(cells),
    )


@lru_cache(1 << 14)
def measure_duel(cells: frozenset[tuple[Pair, int]]) -> tuple[HeadToHead, Advantage]:
    """Measure by deals, counted by their points; cached, as each rendering asks for most of them again."""
    record = compare_head_to_head(Counter(dict(sorted(cells))).elements())
    return record, measure_advantage(record.pair_counts, 2)


@lru_cache(1 << 14)
def _make_duel(cells: frozenset[tuple[Pair, int]]) -> Duel:
    record, found = measure_duel(cells)
    pairs = record.pairs
    low, high = record.luck_low, record.luck_high
    return Duel(
        elo=SortableCell(text.format_signed(pairs.elo), pairs.elo),
        interval="" if found.elo_low is found.elo_high is None else format_ends(found.elo_low, found.elo_high),
        los=SortableCell(text.format_likelihood(found.los), found.los),
        luck=SortableCell(text.format_rounded_percent(record.luck), record.luck),
        luck_range=""
        if low is None or high is None
        else f"{text.format_decimal(100 * low)} … {text.format_decimal(100 * high)}",
        deals=make_deal_bar(record.pair_counts),
    )


GAMES = 3
"""Games of a bot whose records are read."""
SHOWN = 4
"""Notes shown per game."""


class Note(Struct, frozen=True):
    """What a bot noted in a game: its first words there, and how many more."""

    key: str
    words: list[tuple[str, str]]
    """The address of the action in the game, from the key on, and the note."""
    more: int


def read_notes(source: PublishedContents, label: str, games: Sequence[GameSummary]) -> list[Note]:
    """Read the notes of a bot in its latest games, the newest first, from at most `GAMES` records.

    Args:
        source: the league, as far as it may be published.
        label: the bot.
        games: its games, the newest first.
    """
    if source.publication.anonymous:
        return []
    latest = games[:GAMES]
    records = source.read_records([game.key for game in latest])
    shown = map(source.publication.redact_notes, records)
    found = [_list_notes(record, game.labels.index(label)) for game, record in zip(latest, shown, strict=True)]
    return [
        Note(str(game.key), [(address, sanitize(words, 500)) for address, words in notes[:SHOWN]], len(notes[SHOWN:]))
        for game, notes in zip(latest, found, strict=True)
        if notes
    ]


def _list_notes(record: Record, own: int) -> list[tuple[str, str]]:
    """The notes of a seat, each with the address of its action."""
    return [
        (f"{record.key}/{place}", words)
        for place, (seat, _) in enumerate(record.actions)
        if seat == own and (words := record.notes.get(place))
    ]


class EloStep(Struct, frozen=True):
    """The Elo of a bot after a part, or after so many games."""

    name: str
    """Which part, or how many games: the number with its word."""
    title: str
    games: str
    elo: str
    interval: str


class VersionRow(Struct, frozen=True):
    """The results of one version of a bot."""

    name: str
    cells: dict[str, SortableCell | None]
    """By the name of the column."""


class SeatResult(Struct, frozen=True):
    """The results of a bot at one seat."""

    seat: int
    games: SortableCell
    wins: int
    draws: int
    losses: int
    score: SortableCell


class SpecialGame(Struct, frozen=True):
    """A game worth a look."""

    name: str
    """Which it is: best, widest, worst, longest."""
    key: str
    place: str
    """Its address in replays: where it turned, if somebody won."""
    before: str
    """Why, up to the name of the other bot."""
    bot: Name | None
    after: str


class Details(Struct, frozen=True):
    """More of a bot's results in one ruleset with one number of seats."""

    steps: list[EloStep]
    """Empty if there were few games."""
    frame: Chart | None
    """The chart of all bots, for its axes; None without steps."""
    line: Line | None
    """The line of the bot there; None if it has none."""
    versions: list[VersionRow]
    """The newest first; empty if there is only one."""
    seats: list[SeatResult]
    special: list[SpecialGame]


class DetailMaker:
    """Makes the details of all bots.

    Args:
        games: the games of all bots.
        every: the standings with a row for each version.
    """

    def __init__(self, games: BotGames, every: Sequence[Standings]) -> None:
        self._longest = games.list_longest()
        self._seats = games.count_seats()
        self._every = every
        self._won: dict[tuple[Kind, str], list[tuple[str, Win]]] = {}
        self._lost: dict[tuple[Kind, str], list[tuple[str, Win]]] = {}
        for (ruleset, seats, winner, loser), win in games.list_wins().items():
            kind = ruleset, seats
            self._won.setdefault((kind, winner), []).append((loser, win))
            self._lost.setdefault((kind, loser), []).append((winner, win))

    def make(self, label: str, standings: Standings, parts: PartChart | None) -> Details:
        kind = standings.ruleset, standings.seats
        return Details(
            steps=_list_steps(label, parts),
            frame=parts.chart if parts else None,
            line=_find_line(label, parts),
            versions=self._list_versions(label, standings),
            seats=[_make_seat_result(seat, each) for seat, each in enumerate(self._seats.get(label, {}).get(kind, ()))],
            special=list(self._list_special(label, kind, standings)),
        )

    def _list_versions(self, label: str, standings: Standings) -> list[VersionRow]:
        same = (
            each
            for each in self._every
            if (each.ruleset, each.seats, each.clock) == (standings.ruleset, standings.seats, standings.clock)
        )
        rows = [row for each in same for row in each.rows if _is_version(row.label, label)]
        rows.sort(key=lambda row: -_read_version(row.label, label))
        return [_make_version(row, label) for row in rows] if len(rows) > 1 else []

    def _list_special(self, label: str, kind: Kind, standings: Standings) -> Iterator[SpecialGame]:
        elos = {row.label: row.rating.elo for row in standings.rows}
        won = [each for each in self._won.get((kind, label), []) if each[0] in elos]
        lost = [each for each in self._lost.get((kind, label), []) if each[0] in elos]
        best = _choose_by_elo(won, elos, strongest=True)
        widest = max(won, key=lambda each: each[1].margin, default=None)
        worst = _choose_by_elo(lost, elos, strongest=False)
        if best is not None:
            yield _tell("Best", best, "won against ", f", the strongest bot it beat{_say_elo(elos, best)}")
        if widest is not None and widest[1].margin > 0 and widest != best:
            yield _tell("Widest", widest, "won against ", ", its win by the most points")
        if worst is not None:
            yield _tell("Worst", worst, "lost to ", f", the weakest bot that beat it{_say_elo(elos, worst)}")
        if longest := self._longest.get((*kind, label)):
            words = f"{text.format_count(longest.actions, 'action')}; no other of its games had more"
            yield SpecialGame("Longest", str(longest.key), str(longest.key), words, None, "")


def _list_steps(label: str, parts: PartChart | None) -> list[EloStep]:
    slug = text.make_slug(label)
    row = next((row for row in parts.rows if row.bot.slug == slug), None) if parts else None
    if parts is None or row is None:
        return []
    steps = zip(parts.steps, row.cells, strict=True)
    return [EloStep(step.name, step.title, step.games, elo, interval) for step, (elo, interval) in steps if elo]


def _find_line(label: str, parts: PartChart | None) -> Line | None:
    """The line of a bot, unless another is drawn under the same name."""
    lines = [line for line in parts.chart.lines if line.label == text.format_label(label)] if parts else []
    return lines[0] if len(lines) == 1 else None


def _is_version(name: str, label: str) -> bool:
    return name == label or (name.startswith(f"{label}@") and name[len(label) + 1 :].isdecimal())


def _read_version(name: str, label: str) -> float:
    """The number of a version; the newest, which bears the label alone, comes first."""
    return float("inf") if name == label else int(name[len(label) + 1 :])


def _make_version(row: Row, label: str) -> VersionRow:
    name = "newest" if row.label == label else f"version {row.label[len(label) + 1 :]}"
    return VersionRow(name, make_cells(row))


def _make_seat_result(seat: int, results: SeatResults) -> SeatResult:
    score = results.points / results.games if results.games else None
    games = SortableCell(f"{results.games:,}", results.games)
    return SeatResult(
        seat, games, results.wins, results.draws, results.losses, SortableCell(text.format_percent(score), score)
    )


def _choose_by_elo(
    pairs: Sequence[tuple[str, Win]], elos: Mapping[str, float | None], *, strongest: bool
) -> tuple[str, Win] | None:
    """The opponent with the highest or the lowest Elo, with the game; without any Elo, by points."""
    rated = [(elo if strongest else -elo, pair) for pair in pairs if (elo := elos[pair[0]]) is not None]
    if rated:
        return max(rated, key=lambda each: each[0])[1]
    return max(pairs, key=lambda pair: pair[1].margin, default=None)


def _say_elo(elos: Mapping[str, float | None], pair: tuple[str, Win]) -> str:
    elo = elos[pair[0]]
    return "" if elo is None else f" (Elo {text.format_signed(elo)})"


def _tell(name: str, pair: tuple[str, Win], before: str, after: str) -> SpecialGame:
    other, win = pair
    points = f", by {text.format_count(win.margin, 'point')}" if win.margin > 0 else ""
    return SpecialGame(name, str(win.key), f"{win.key}/turn", before, make_name(other), after + points)
