"""The front page: its sections, the table over all rulesets, and its tables as CSV and JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.families import load_family
from malice.site_pages import text
from malice.site_pages.changes import ChangeBox, make_change_box
from malice.site_pages.contents import ReadRecords, SiteOptions
from malice.site_pages.deals import Deals
from malice.site_pages.files import Folder, write_table
from malice.site_pages.rankings import Name, Ranking, SortableCell, make_name
from malice.site_pages.rounds import RoundsSection, make_rounds_section
from malice.site_pages.sections import Section, make_sections
from malice.site_pages.series import SeriesRow, TeamRow
from malice.site_pages.turning_point import FrontGame, find_front_game
from malice.tournaments.league.contents import Contents
from malice.tournaments.league.formats.decisions import make_table_before
from malice.tournaments.league.progression import (
    Changes,
    GameRatings,
    PartRatings,
    compute_part_changes,
    compute_part_ratings,
)
from malice.tournaments.league.standings import Standings, State
from malice.tournaments.ratings.scores import SeatScore
from malice.tournaments.terminal.comparisons import ADJUSTED_HEAD
from malice.tournaments.terminal.comparisons import list_cells as list_adjusted
from malice.tournaments.terminal.results import RANKING_HEAD, list_cells
from malice.tournaments.terminal.tables import Cell

Groups = tuple[int, ...]
"""The group of an entry in each ranking with several."""


class Mean(Struct, frozen=True):
    """An entry's mean score by ruleset."""

    label: str
    state: State
    groups: Groups
    by_ruleset: dict[str, float]
    games: int

    @property
    def standing(self) -> tuple[int, float]:
        """What is better is greater: who played under more rulesets, then who scored more."""
        return len(self.by_ruleset), fmean(self.by_ruleset.values() or [0.0])


class OverallRow(Struct, frozen=True):
    """A row of the table over all rulesets."""

    rank: SortableCell
    rank_number: int | None
    bot: Name
    state: State
    score: SortableCell
    played: SortableCell
    by_ruleset: list[SortableCell]
    games: int
    """Under all rulesets."""


class OverallTable(Struct, frozen=True):
    """The rows of entries that share their groups."""

    title: str
    """Empty if it is the only table."""
    rows: list[OverallRow]
    away: list[OverallRow]
    """Without a rank, since they do not play."""

    @property
    def size(self) -> int:
        """The number of its rows."""
        return len(self.rows) + len(self.away)


class Overall(Struct, frozen=True):
    """Mean scores over all rulesets."""

    rulesets: list[str]
    tables: list[OverallTable]


def make_overall(all_standings: Sequence[Standings]) -> Overall:
    """Make the tables of mean scores; each ruleset has the same weight, however many games it has.

    An entry is ranked only against entries that share its group in every ranking with several groups.
    """
    rulesets = list(dict.fromkeys(standings.ruleset for standings in all_standings))
    by_groups: defaultdict[Groups, list[Mean]] = defaultdict(list)
    for mean in _list_means(all_standings):
        by_groups[mean.groups].append(mean)
    tables = []
    for number, groups in enumerate(sorted(by_groups), 1):
        means = sorted(by_groups[groups], key=lambda mean: (*(-figure for figure in mean.standing), mean.label))
        active = [mean for mean in means if mean.state == "playing"]
        tables.append(
            OverallTable(
                f"Group {number}" if len(by_groups) > 1 else "",
                [_make_row(mean, place, active, rulesets) for place, mean in enumerate(active, 1)],
                [_make_row(mean, None, (), rulesets) for mean in means if mean.state != "playing"],
            )
        )
    return Overall(rulesets, tables)


def _list_means(all_standings: Sequence[Standings]) -> Iterator[Mean]:
    scores: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    groups: defaultdict[str, Groups] = defaultdict(tuple)
    states: dict[str, State] = {}
    games: Counter[str] = Counter()
    for standings in all_standings:
        for row in standings.rows:
            states[row.label] = row.state
            games[row.label] += row.games
            found = scores[row.label][standings.ruleset]
            if (score := text.drop_unknown(row.rating.score)) is not None:
                found.append(score)
            if standings.warning:
                groups[row.label] += (row.group or standings.groups + 1,)
    for label, state in states.items():
        by_ruleset = {ruleset: fmean(found) for ruleset, found in scores[label].items() if found}
        yield Mean(label, state, groups[label], by_ruleset, games[label])


def _make_row(mean: Mean, place: int | None, active: Sequence[Mean], rulesets: Sequence[str]) -> OverallRow:
    """A row; without a place, or without a score, it has no rank."""
    own = mean.by_ruleset
    score = fmean(own.values()) if own else None
    rank = 1 + sum(other.standing > mean.standing for other in active) if own and place is not None else None
    tied = sum(other.standing == mean.standing for other in active) > 1
    return OverallRow(
        rank=SortableCell("–") if rank is None else SortableCell(f"{'=' if tied else ''}{rank}", place),
        rank_number=rank,
        bot=make_name(mean.label),
        state=mean.state,
        score=SortableCell(text.format_percent(score), score),
        played=SortableCell(f"{len(own)} of {len(rulesets)}", len(own)),
        by_ruleset=[SortableCell(text.format_percent(own.get(ruleset)), own.get(ruleset)) for ruleset in rulesets],
        games=mean.games,
    )


class Front(Struct, frozen=True):
    """The front page."""

    sections: list[Section]
    course: RoundsSection
    overall: Overall | None
    """None with one ruleset."""
    changes: ChangeBox | None
    game: FrontGame | None
    """The game to open."""
    goals: Sequence[str] = ()
    """What is played and how one wins, by game."""
    machines: str = ""
    """How many games workers elsewhere played, and how fast these were, in words."""


def make_front(
    source: Contents,
    read_records: ReadRecords,
    deals: Deals,
    all_standings: Sequence[Standings],
    rankings: Sequence[Ranking],
    options: SiteOptions,
    by_games: GameRatings,
) -> Front:
    """Collect what the front page shows.

    Args:
        source: the league.
        read_records: reads records of its games.
        deals: who won which deals.
        all_standings: the standings.
        rankings: the same as rankings.
        options: what the site shows beyond what every site does.
        by_games: rates by games, where there is one part.
    """
    by_part = compute_part_ratings(source)
    changes = options.changes or find_changes(source, by_part, all_standings)
    labels = [entry.label for entry in source.entries]
    several = len({standings.ruleset for standings in all_standings}) > 1
    steps = by_part or by_games.compute(source, all_standings)
    return Front(
        sections=make_sections(source, deals, all_standings, rankings, steps, replace(options, changes=changes)),
        course=make_rounds_section(source.format_input),
        overall=make_overall(all_standings) if several else None,
        changes=make_change_box(changes, rankings, labels),
        game=find_front_game(source, read_records, all_standings),
        goals=_list_goals(source),
    )


def _list_goals(source: Contents) -> list[str]:
    goals = (load_family(ruleset.family).goal for ruleset in source.rulesets)
    return [goal for goal in dict.fromkeys(goals) if goal]


def find_changes(
    source: Contents, by_part: Sequence[PartRatings], all_standings: Sequence[Standings]
) -> Changes | None:
    """What changed since the newest part began; None without ratings."""
    if not by_part:
        return None
    newest = max(each.steps[-1].parts[-1] for each in by_part)
    table = make_table_before(source.format_input, newest) if source.table else ()
    return compute_part_changes(source, by_part, all_standings, table)


SEATS_HEAD = ("seats", "score", "score_low", "score_high", "elo", "elo_low", "elo_high")
TEAMS_HEAD = ("team", "games", "won", "drawn", "lost", "score")
SERIES_HEAD = ("bot", "won", "played", "share")


def write_front_downloads(folder: Folder, front: Front, all_standings: Sequence[Standings]) -> None:
    """Write every table of the front page beside it.

    Raises:
        OSError: a file cannot be written.
    """
    for section, standings in zip(front.sections, all_standings, strict=True):
        _write_section(folder, section, standings)
    if front.overall is not None:
        _write_overall(folder, front.overall)


def _write_section(folder: Folder, section: Section, standings: Standings) -> None:
    name = section.ranking.anchor
    _write_ranking(folder, f"ranking-{name}", standings)
    if section.versions is not None:
        _write_ranking(folder, f"versions-{name}", section.versions.standings)
    if section.ranking.seat_rows:
        write_table(folder, f"seats-{name}", SEATS_HEAD, map(_list_seat_cells, standings.seat_scores))
    if section.teams:
        write_table(folder, f"teams-{name}", TEAMS_HEAD, map(_list_team_cells, section.teams))
    if section.series:
        write_table(folder, f"series-{name}", SERIES_HEAD, map(_list_series_cells, section.series))
    if section.luck is not None and section.luck.rows:
        write_table(folder, f"luck-{name}", ADJUSTED_HEAD, [list_adjusted(*pair) for pair in section.luck.pairs])


def _write_ranking(folder: Folder, name: str, standings: Standings) -> None:
    write_table(folder, name, RANKING_HEAD, [list_cells(standings, row) for row in standings.rows])


def _list_seat_cells(side: SeatScore) -> list[Cell]:
    return [" + ".join(map(str, side.seats)), *(getattr(side, field) for field in SEATS_HEAD[1:])]


def _list_team_cells(row: TeamRow) -> list[Cell]:
    cells = (row.games, row.won, row.drawn, row.lost, row.score)
    return [" + ".join(bot.exact for bot in row.bots), *(cell.sort for cell in cells)]


def _list_series_cells(row: SeriesRow) -> list[Cell]:
    return [row.bot.exact, row.won.sort, row.played.sort, row.share.sort]


def _write_overall(folder: Folder, overall: Overall) -> None:
    head = ("group", "rank", "bot", "state", "score", *(f"score {ruleset}" for ruleset in overall.rulesets), "rulesets")
    rows = [
        [
            table.title,
            row.rank_number,
            row.bot.exact,
            row.state,
            *(cell.sort for cell in (row.score, *row.by_ruleset, row.played)),
        ]
        for table in overall.tables
        for row in (*table.rows, *table.away)
    ]
    write_table(folder, "overall", head, rows)
