"""Standings from games: the ranking, the crosstable, and the history of the running Elo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from referee.replay import VOID
from tournaments.league.contents import Game
from tournaments.ratings.fit import Rating, fit_ratings
from tournaments.ratings.pairings import RatedGame
from tournaments.ratings.running_elo import compute_history, thin_points

IDLE_MS = 1.0
"""CPU time off turn, in milliseconds per action, beyond what reading, cleaning up or compiling takes."""
IDLE_SHARE = 0.1
"""Its least share of the time on turn."""

APART = "These bots fall into groups that never met: ranks, Elo and scores compare only within a group."
"""The warning wherever one list holds figures of two groups."""


State = Literal["playing", "suspended", "absent", "withdrawn", "disqualified"]
"""Suspended by verdicts, absent because it could not be built or started, or what the organiser decided."""


class Row(Struct, frozen=True):
    """One entry in the ranking; the rating holds its points, opponents and intervals."""

    group: int | None
    """Entries of one group met, directly or through others. Counted from 1; None for an entry without opponents."""
    rank: int | None
    """Within its group."""
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
    state: State = "playing"
    points: float | None = None
    """Match points in a Swiss tournament, whose table comes before the rating."""
    buchholz: float | None = None
    """The sum of its opponents' match points."""

    @property
    def thinks_off_turn(self) -> bool:
        """Whether it uses enough CPU time off turn to gain from it: more than cleaning up after an answer takes."""
        return self.idle_ms is not None and self.idle_ms >= max(IDLE_MS, IDLE_SHARE * (self.cpu_ms or 0.0))


class Meeting(Struct, frozen=True):
    """The results of an entry against another: games in which both sat, in different teams."""

    games: int
    wins: int
    draws: int
    losses: int

    @property
    def score(self) -> float | None:
        """The share of the points, from 0 to 1."""
        return (self.wins + self.draws / 2) / self.games if self.games else None


class Standings(Struct, frozen=True):
    """The standings of one ruleset with one number of seats."""

    ruleset: str
    seats: int
    rows: tuple[Row, ...]
    """Group by group, the best first."""
    crosstable: dict[str, dict[str, Meeting]]
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
    exact: bool = True
    """Whether intervals hold in 95 % of all tournaments: they do not if a test chose when to stop."""


HISTORY_POINTS = 400
"""Most points of the history of an entry."""


def compute_standings(
    games: Iterable[Game], entries: Sequence[str], anchor: str | None = None, common: Collection[int] = ()
) -> tuple[Standings, ...]:
    """Return the standings for every ruleset and number of seats, in the order of their first games.

    Only complete deals count, which were played in every rotation; void games do not.

    Args:
        games: finished games in the order of the schedule.
        entries: the labels of all entries.
        anchor: the label that ratings are relative to; None for the mean of all.
        common: the parts in which all tables get the same cards.
    """
    kinds = group_by_kind(games)
    return tuple(_compute_kind(kind, played, entries, anchor, common) for kind, played in kinds.items())


def group_by_kind(games: Iterable[Game]) -> dict[tuple[str, int], list[Game]]:
    """Return the games by ruleset and number of seats, in the order of their first games."""
    kinds: dict[tuple[str, int], list[Game]] = {}
    for game in games:
        kinds.setdefault((game.ruleset, len(game.labels)), []).append(game)
    return kinds


def list_complete(played: Iterable[Game]) -> list[Game]:
    """Return the games of one kind whose deals were played in every rotation."""
    played = list(played)
    rotations = Counter((game.key.part, game.key.table, game.key.deal) for game in played)
    return [game for game in played if rotations[(game.key.part, game.key.table, game.key.deal)] == len(game.labels)]


def list_counted(complete: Iterable[Game]) -> list[Game]:
    """Return the games of complete deals that are rated: all but void ones."""
    return [game for game in complete if game.reason != VOID]


def _compute_kind(
    kind: tuple[str, int], played: list[Game], entries: Sequence[str], anchor: str | None, common: Collection[int]
) -> Standings:
    ruleset, seats = kind
    number = {label: index for index, label in enumerate(entries)}
    complete = list_complete(played)
    counted = list_counted(complete)
    rated = [make_rated_game(game, number, common) for game in counted]
    fitted = fit_ratings(rated, len(entries), anchor=None if anchor is None else number[anchor])
    rows = _make_rows(played, entries, fitted.ratings)
    groups = max((row.group or 0 for row in rows), default=0)
    return Standings(
        ruleset=ruleset,
        seats=seats,
        rows=rows,
        crosstable=_count_meetings(counted, entries),
        history=_make_history(rated, entries),
        variance_ratio=fitted.variance_ratio,
        anchor=anchor,
        games=len(counted),
        waiting=len(played) - len(complete),
        groups=groups,
        warning=APART if groups > 1 else None,
    )


def make_rated_game(game: Game, number: Mapping[str, int], common: Collection[int]) -> RatedGame:
    """Return a game as the ratings see it.

    Args:
        game: the game.
        number: the players by label.
        common: the parts in which all tables get the same cards.
    """
    teams: dict[int, list[int]] = {}
    places: dict[int, int] = {}
    for label, team, place in zip(game.labels, game.teams, game.places, strict=True):
        teams.setdefault(team, []).append(number[label])
        places[team] = min(place, places.get(team, place))
    # What hangs together is what has the same cards.
    table = 0 if game.key.part in common else game.key.table
    group = (game.key.part << 24 | table) << 32 | game.key.deal
    return RatedGame(tuple(map(tuple, teams.values())), tuple(places.values()), group)


def _make_rows(played: list[Game], entries: Sequence[str], ratings: Sequence[Rating]) -> tuple[Row, ...]:
    games: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    forfeits: Counter[str] = Counter()
    used: dict[str, float] = dict.fromkeys(entries, 0.0)
    cpu, idle = used.copy(), used.copy()
    for game in played:
        for seat, label in enumerate(game.labels):
            games[label] += 1
            asked[label] += game.asked[seat]
            forfeits[label] += bool(game.verdicts[seat])
            used[label] += game.used_ms[seat]
            cpu[label] += game.cpu_ms[seat] if game.cpu_ms else 0.0
            idle[label] += game.idle_ms[seat] if game.idle_ms else 0.0

    def each(total: Mapping[str, float], label: str) -> float | None:
        return total[label] / asked[label] if asked[label] else None

    return tuple(
        Row(
            group=group,
            rank=rank,
            label=entries[index],
            rating=ratings[index],
            games=games[entries[index]],
            mean_ms=each(used, entries[index]),
            cpu_ms=each(cpu, entries[index]),
            idle_ms=each(idle, entries[index]),
            forfeits=forfeits[entries[index]],
        )
        for index, group, rank in _rank_entries(ratings, entries)
    )


def _rank_entries(ratings: Sequence[Rating], entries: Sequence[str]) -> Iterator[tuple[int, int | None, int | None]]:
    """List the entries group by group, the best first, each with its group and its rank there."""
    sizes = Counter(rating.pool for rating in ratings if rating.games)
    group_of = {pool: group for group, (pool, _) in enumerate(sizes.most_common(), 1)}
    groups = [group_of.get(rating.pool) for rating in ratings]
    ranked: Counter[int] = Counter()
    for index in sorted(
        range(len(entries)),
        key=lambda index: (groups[index] or len(entries), _make_sort_key(ratings[index], entries[index])),
    ):
        if (group := groups[index]) is not None:
            ranked[group] += 1
        yield index, group, None if group is None else ranked[group]


def _make_sort_key(rating: Rating, label: str) -> tuple[bool, float, float, str]:
    """Sort by Elo, then by points; entries without a figure come last."""
    return (rating.elo is None, -(rating.elo or 0.0), -(rating.score or 0.0), label)


def _count_meetings(games: list[Game], entries: Sequence[str]) -> dict[str, dict[str, Meeting]]:
    tally: dict[str, dict[str, list[int]]] = {label: {} for label in entries}
    for game in games:
        for seat, label in enumerate(game.labels):
            for other, opponent in enumerate(game.labels):
                if game.teams[seat] != game.teams[other]:
                    counts = tally[label].setdefault(opponent, [0, 0, 0])
                    counts[1 + (game.places[seat] > game.places[other]) - (game.places[seat] < game.places[other])] += 1
    return {
        label: {opponent: Meeting(sum(counts), *counts) for opponent, counts in row.items()}
        for label, row in tally.items()
    }


def _make_history(rated: list[RatedGame], entries: Sequence[str]) -> dict[str, tuple[tuple[int, float], ...]]:
    points = compute_history(rated, len(entries))
    return {
        label: tuple((point[0], point[1]) for point in thin_points(points[index], HISTORY_POINTS))
        for index, label in enumerate(entries)
    }
