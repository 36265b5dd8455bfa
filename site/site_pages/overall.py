"""The table over all rulesets: the mean score of each entry."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean

from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.rankings import Name, SortableCell, make_name
from malice.tournaments.league.standings import Standings, State

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
    """Return the tables of mean scores; each ruleset has the same weight, however many games it has.

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
    """Return a row; without a place, or without a score, it has no rank."""
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
