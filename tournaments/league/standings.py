"""Standings from games: ranks, ratings, statistics of the game, the crosstable, and the history of the running Elo."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.families import Statistic, load_family
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.rating_groups import GroupGames, Outcome, RatingGroup, Totals, collect_groups
from malice.tournaments.ratings.anytime import bound_scores
from malice.tournaments.ratings.fit import Rating, fit_ratings
from malice.tournaments.ratings.pairings import Floats, make_pairings
from malice.tournaments.ratings.rated_games import RatedGames
from malice.tournaments.ratings.running_elo import compute_history
from malice.tournaments.ratings.scores import SeatScore, rate_seats

DIGITS = 6
"""Ratings that agree to so many digits after the point differ only by rounding errors."""


class Placing(NamedTuple):
    """An entry where it stands."""

    number: int
    """Its number."""
    group: int | None
    """None without opponents."""
    rank: int | None
    """None without a group, or if it takes no rank."""
    tied: bool
    """Whether it shares its rank."""


def rank_entries(
    ratings: Sequence[Rating], entries: Sequence[str], shown: Iterable[int], ranked: Collection[int]
) -> Iterator[Placing]:
    """Yield the shown entries group by group, in each the best first, and last those that take no rank.

    Groups are numbered from 1, by how many take a rank there, then by size. An entry without opponents comes last,
    without group and rank.

    Args:
        ratings: of all entries.
        entries: the labels of all.
        shown: the numbers of those to list.
        ranked: the numbers of those that take a rank, among themselves.
    """
    chosen = list(shown)
    groups = _number_groups(ratings, chosen, ranked)
    unranked = {index: index not in ranked for index in chosen}
    keys = {index: _make_sort_key(ratings[index], entries[index]) for index in chosen}
    taken = Counter(
        (group, round_elo(ratings[index]))
        for index in chosen
        if (group := groups[index]) is not None and not unranked[index]
    )
    above: Counter[int] = Counter()
    ranks: dict[tuple[int, float | None], int] = {}
    for index in sorted(chosen, key=lambda index: (groups[index] or len(entries) + 1, unranked[index], keys[index])):
        group = groups[index]
        if group is None or unranked[index]:
            yield Placing(index, group, None, tied=False)
            continue
        shared = (group, round_elo(ratings[index]))
        yield Placing(index, group, ranks.setdefault(shared, 1 + above[group]), tied=taken[shared] > 1)
        above[group] += 1


def _number_groups(
    ratings: Sequence[Rating], chosen: Sequence[int], ranked: Collection[int]
) -> Mapping[int, int | None]:
    """The group of each chosen entry; None for one without opponents."""
    met = [index for index in chosen if ratings[index].games]
    sizes = Counter(ratings[index].pool for index in met)
    weights = Counter(ratings[index].pool for index in met if index in ranked)
    order = sorted(sizes, key=lambda pool: (-weights[pool], -sizes[pool]))
    group_of = {pool: group for group, pool in enumerate(order, 1)}
    return {index: group_of.get(ratings[index].pool) for index in chosen}


def round_elo(rating: Rating) -> float | None:
    """Round an Elo so that equal ratings give equal values."""
    return None if rating.elo is None else round(rating.elo, DIGITS) + 0.0


def _make_sort_key(rating: Rating, label: str) -> tuple[bool, float, float, str]:
    """Sort by Elo, then by points; entries without a figure come last."""
    return (rating.elo is None, -(round_elo(rating) or 0.0), -(rating.score or 0.0), label)


class EntryStatistic(Struct, frozen=True):
    """A statistic of an entry under one ruleset."""

    name: str
    caption: str
    games: int
    """How many games count for it."""
    mean: float
    """The mean value; of a share, from 0 to 1."""
    best: float | None
    """None for a share."""
    share: bool


class StatisticSum:
    """A statistic of an entry, summed over the games that count for it."""

    __slots__ = ("games", "least", "most", "total")

    def __init__(self) -> None:
        self.games = 0
        self.total: float = 0
        self.least, self.most = math.inf, -math.inf

    def add(self, value: float) -> None:
        """Add the value of a game."""
        self.games += 1
        self.total += value
        self.least, self.most = min(self.least, value), max(self.most, value)


Sums = dict[str, StatisticSum]
"""By statistic."""


def find_statistics(rulesets: Iterable[Ruleset]) -> dict[str, tuple[Statistic, ...]]:
    """What the family of each ruleset counts, for those that count anything."""
    found = {ruleset.name: load_family(ruleset.family).statistics for ruleset in rulesets}
    return {name: statistics for name, statistics in found.items() if statistics}


class EntryStatistics:
    """What rulesets count, by ruleset and number of seats, and by label.

    Args:
        statistics: what each ruleset counts.
    """

    def __init__(self, statistics: Mapping[str, Sequence[Statistic]]) -> None:
        self._statistics = statistics
        self._sums: dict[tuple[str, int], dict[str, Sums]] = {}

    def watch(self, games: Iterable[GameSummary]) -> Iterator[GameSummary]:
        """Yield games that count, and add what they count."""
        for game in games:
            if game.figures and (statistics := self._statistics.get(game.ruleset)):
                kind = self._sums.setdefault((game.ruleset, len(game.labels)), {})
                for seat, label in enumerate(game.labels):
                    _add_values(game, seat, statistics, kind.setdefault(label, {}))
            yield game

    def list_entries(self, ruleset: str, seats: int) -> dict[str, tuple[EntryStatistic, ...]] | None:
        """The statistics of each entry; None if no game counts."""
        if (found := self._sums.get((ruleset, seats))) is None:
            return None
        return {label: tuple(_make_statistics(sums, self._statistics[ruleset])) for label, sums in found.items()}


def _add_values(game: GameSummary, seat: int, statistics: Sequence[Statistic], sums: Sums) -> None:
    """Add the value of each statistic for which a seat's game counts."""
    figures = iter(game.figures[seat])
    values = {each.name: game.used_ms[seat] if each.timed else next(figures) for each in statistics}
    for each in statistics:
        if not each.within or values[each.within]:
            if (found := sums.get(each.name)) is None:
                found = sums[each.name] = StatisticSum()
            found.add(values[each.name])


def _make_statistics(sums: Sums, statistics: Sequence[Statistic]) -> Iterator[EntryStatistic]:
    for each in statistics:
        if found := sums.get(each.name):
            best = None if each.share else found.most if each.best == "most" else found.least
            yield EntryStatistic(each.name, each.caption, found.games, found.total / found.games, best, each.share)


IDLE_MS = 1.0
"""CPU time off turn, in milliseconds per action, beyond what reading, cleaning up or compiling takes."""
IDLE_SHARE = 0.1
"""Its least share of the time on turn."""

PRELIMINARY = 30
"""Below so many rated games a rating is preliminary."""

APART = "These bots fall into groups that never met: ranks, Elo and scores compare only within a group."
"""The warning wherever one list holds figures of two groups."""


State = Literal["playing", "suspended", "absent", "withdrawn", "disqualified"]
"""Suspended by verdicts, absent because it could not be built or started, or what the organiser decided."""
_PLAYING: State = "playing"


class Row(Struct, frozen=True):
    """One entry in the ranking; the rating holds its points, opponents and intervals."""

    group: int | None
    """Entries of one group met, directly or through others. Counted from 1; None for an entry without opponents."""
    rank: int | None
    """Within its group, among the rows of entries that play; equal ratings share a rank. None for all others."""
    label: str
    rating: Rating
    games: int
    mean_ms: float | None
    """Thinking time per action."""
    cpu_ms: float | None
    """CPU time per action, on turn."""
    idle_ms: float | None
    """CPU time per action, off turn."""
    forfeits: int
    """Games that ended for it by a verdict, including void ones."""
    preliminary: bool = False
    """Whether fewer than `PRELIMINARY` of its games are rated."""
    state: State = "playing"
    points: float | None = None
    """Match points in a Swiss tournament, whose table comes before the rating."""
    buchholz: float | None = None
    """The sum of its opponents' match points."""
    tied: bool = False
    """Whether it shares its rank."""
    overruns: int = 0
    """As of the entry: of all rulesets together."""
    statistics: tuple[EntryStatistic, ...] | UnsetType = UNSET
    """What the game itself counts; absent if it counts nothing."""
    score_so_far: tuple[float, float] | UnsetType = UNSET
    """While deals are missing: the ends of the interval of the score that holds at all looks together, 0..1."""

    @property
    def thinks_off_turn(self) -> bool:
        """Whether it uses enough CPU time off turn to gain from it: more than cleaning up after an answer takes."""
        return self.idle_ms is not None and self.idle_ms >= max(IDLE_MS, IDLE_SHARE * (self.cpu_ms or 0.0))


class OpponentScore(Struct, frozen=True):
    """The results of an entry against another: games in which both sat, in different teams."""

    games: int
    wins: int
    draws: int
    losses: int

    @property
    def score(self) -> float | None:
        """The share of the points, from 0 to 1."""
        return (self.wins + self.draws / 2) / self.games if self.games else None


class StandingsTable(NamedTuple):
    """Rows that can be compared."""

    group: int | None
    """None if it is the only table, or holds who has not met anybody."""
    active: tuple[Row, ...]
    """The best first."""
    away: tuple[Row, ...]
    """Without a rank: suspended, absent, withdrawn or disqualified."""


class Standings(Struct, frozen=True):
    """The standings of one ruleset with one number of seats and one clock."""

    ruleset: str
    seats: int
    rows: tuple[Row, ...]
    """Group by group, the best first; in each, those that do not play come last, without a rank."""
    crosstable: dict[str, dict[str, OpponentScore]]
    """Label -> opponent's label -> results."""
    history: dict[str, tuple[tuple[int, float], ...]]
    """Label -> points (game number, running Elo) in the order of the schedule, thinned for plotting."""
    variance_ratio: float | None
    """Variance clustered by deal over that of independent games: the extra games that the luck of the deal costs."""
    anchor: str | None
    """The entry that ratings are relative to; None for the mean of the pool."""
    games: int
    """Games that count: all games of complete deals, except void ones."""
    waiting: int
    """Finished games whose deal was not played in every rotation yet."""
    groups: int
    warning: str | None
    """Why these figures cannot all be compared; None if they can."""
    clock: ClockRules | None
    """None if it is unknown."""
    seat_scores: tuple[SeatScore, ...]
    """What each seat is worth, or those of partners together."""
    los: dict[str, dict[str, float | None]]
    """Label -> other label -> how certain it is that the first is better (LOS), 0..1; None if games do not tell."""
    mean_of_all: bool
    """Whether the mean that ratings are relative to covers all bots of a pool; else only those who took points off one
    another."""
    unlisted: int
    """Bots with rated games but without a row, such as older versions; the mean covers them too."""
    exact: bool = True
    """Whether intervals hold in 95 % of all tournaments: they do not if a test chose when to stop."""
    by_table: bool = False
    """Whether ranks are those of a table that the format keeps, across all groups, not those of ratings."""
    same_deal: bool | UnsetType = UNSET
    """Whether a deal is one game, the same for all seats: then nothing says what a seat is worth."""
    tournament: str | UnsetType = UNSET
    """Absent where nobody asked, or where the games of several are rated together."""
    live: bool | UnsetType = UNSET
    """Whether deals are still missing, so that somebody who looks again and again chooses when to stop."""

    @property
    def so_far(self) -> bool:
        """Whether the intervals of scores hold at all looks together."""
        return any(row.score_so_far for row in self.rows)

    def list_tables(self) -> tuple[StandingsTable, ...]:
        """The rows in tables: one for each group that met, and one for those that met nobody.

        There is only one where a table of the format ranks all of them, and where there is only one group: then those
        that met nobody are its last rows.
        """
        alone = self.by_table or self.groups < 2
        groups: dict[int | None, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(None if alone else row.group, []).append(row)
        return tuple(
            StandingsTable(
                group,
                tuple(row for row in rows if row.state == "playing"),
                tuple(row for row in rows if row.state != "playing"),
            )
            for group, rows in groups.items()
        )


HISTORY_POINTS = 400
"""Most points of the history of an entry."""


def compute_standings(
    games: Iterable[GameSummary],
    entries: Sequence[str],
    anchor: str | None = None,
    common: Collection[int] = (),
    shown: Mapping[str, State] | None = None,
    clocks: Sequence[ClockRules] = (),
    *,
    live: bool = False,
) -> tuple[Standings, ...]:
    """Compute the standings for every ruleset, number of seats and clock, in the order of their first games.

    Only complete deals count, which were played in every rotation if there are several; void games do not.

    Args:
        games: finished games in the order of the schedule.
        entries: the labels of all entries.
        anchor: the label that ratings are relative to; None for the mean of all.
        common: the parts in which all tables get the same cards.
        shown: the labels that get a row, each with its state; by default all play. The others count as opponents.
            Only those that play take a rank.
        clocks: those of the parts, by number.
        live: whether deals are still missing.
    """
    groups = collect_groups(games, entries, common, clocks)
    states = dict.fromkeys(entries, _PLAYING) if shown is None else shown
    found = (_rate_group(group, played, entries, anchor, states) for group, played in groups.items())
    if not live:
        return tuple(found)
    return tuple(_watch(each, played, entries) for each, played in zip(found, groups.values(), strict=True))


def _watch(standings: Standings, games: GroupGames, entries: Sequence[str]) -> Standings:
    """Add what holds however often somebody looks; no score does where a deal waits for other tables."""
    rows = standings.rows
    if not games.common:
        low, high = bound_scores(make_pairings(games.complete.rated, len(entries)).by_group, len(entries))
        ends = dict(zip(entries, zip(low.tolist(), high.tolist(), strict=True), strict=True))
        rows = tuple(replace(row, score_so_far=ends[row.label]) if row.rating.games else row for row in rows)
    return replace(standings, rows=rows, live=True)


def _rate_group(
    kind: RatingGroup, games: GroupGames, entries: Sequence[str], anchor: str | None, states: Mapping[str, State]
) -> Standings:
    shown = [index for index, label in enumerate(entries) if label in states]
    ranked = frozenset(index for index in shown if states[entries[index]] == "playing")
    reference = None if anchor is None else entries.index(anchor)
    rated = games.complete.rated
    fitted = fit_ratings(rated, len(entries), anchor=reference, ranked=ranked)
    order = rank_entries(fitted.ratings, entries, shown, ranked)
    rows = tuple(_make_row(place, entries, games.totals, fitted.ratings, states) for place in order)
    groups = max((row.group or 0 for row in rows), default=0)
    return Standings(
        ruleset=kind.ruleset,
        seats=kind.seats,
        rows=rows,
        crosstable=_count_meetings(games.count_outcomes(), [entries[index] for index in shown]),
        history=_make_history(rated, entries, shown),
        variance_ratio=fitted.variance_ratio,
        anchor=anchor,
        games=len(rated),
        waiting=games.complete.waiting,
        groups=groups,
        warning=APART if groups > 1 else None,
        clock=kind.clock,
        seat_scores=() if games.once else rate_seats(rated, games.sides),
        los=_name_los(fitted.los, entries, shown),
        mean_of_all=fitted.mean_of_all,
        unlisted=sum(rating.games > 0 for rating in fitted.ratings) - sum(row.rating.games > 0 for row in rows),
        same_deal=games.once or UNSET,
    )


def _name_los(los: Floats, entries: Sequence[str], shown: Sequence[int]) -> dict[str, dict[str, float | None]]:
    rows = los.tolist()
    return {
        entries[one]: {
            entries[other]: None if math.isnan(rows[one][other]) else rows[one][other]
            for other in shown
            if other != one
        }
        for one in shown
    }


def _make_row(
    place: Placing,
    entries: Sequence[str],
    totals: Mapping[str, Totals],
    ratings: Sequence[Rating],
    states: Mapping[str, State],
) -> Row:
    label, rating = entries[place.number], ratings[place.number]
    total = totals[label]
    return Row(
        group=place.group,
        rank=place.rank,
        label=label,
        rating=rating,
        games=total.games,
        mean_ms=total.each(total.used),
        cpu_ms=total.each(total.cpu),
        idle_ms=total.each(total.idle),
        forfeits=total.forfeits,
        preliminary=rating.games < PRELIMINARY,
        state=states[label],
        tied=place.tied,
    )


def _count_meetings(outcomes: Mapping[Outcome, int], entries: Sequence[str]) -> dict[str, dict[str, OpponentScore]]:
    met: dict[str, dict[str, list[int]]] = {label: {} for label in entries}
    for (labels, teams, places), count in outcomes.items():
        for (seat, label), (other, opponent) in permutations(enumerate(labels), 2):
            if teams[seat] != teams[other] and label in met and opponent in met:
                counts = met[label].setdefault(opponent, [0, 0, 0])
                counts[1 + (places[seat] > places[other]) - (places[seat] < places[other])] += count
    return {
        label: {opponent: OpponentScore(sum(counts), *counts) for opponent, counts in row.items()}
        for label, row in met.items()
    }


def _make_history(
    rated: RatedGames, entries: Sequence[str], shown: Iterable[int]
) -> dict[str, tuple[tuple[int, float], ...]]:
    points = compute_history(rated, len(entries), at_most=HISTORY_POINTS)
    return {entries[index]: tuple(points[index]) for index in shown}
