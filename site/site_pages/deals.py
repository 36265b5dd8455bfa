"""Results of complete deals, and what the games of each bot come to: by seat, by time, and those worth a look."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import permutations, product

from msgspec import Struct

from malice.referee.records import Key
from malice.referee.replay import VOID
from malice.tournaments.league.contents import GameSummary, parse_times

Kind = tuple[str, int]
"""A ruleset and a number of seats."""
Pair = tuple[float, float]
"""The points (0, 1/2 or 1) of one of two entries in the two games of a deal."""
Team = tuple[str, ...]
"""The labels of partners, in alphabetical order."""


SWEPT = 5
"""Deals that one of two won from both seats, of which the keys are kept, the latest."""


class Deals:
    """Counts results of games added in schedule order; as in standings, only complete deals count."""

    def __init__(self) -> None:
        self._waiting: defaultdict[tuple[int, int, int], list[GameSummary]] = defaultdict(list)
        self._pairs: defaultdict[tuple[str, str, str], Counter[Pair]] = defaultdict(Counter)
        self._swept: defaultdict[tuple[str, str, str], list[Key]] = defaultdict(list)
        self._teams: defaultdict[Kind, defaultdict[Team, list[int]]] = defaultdict(
            lambda: defaultdict(lambda: [0, 0, 0])
        )

    def add(self, game: GameSummary) -> None:
        """Add a game; it counts once its deal has been played in every rotation, if that is more than one."""
        if game.once or (len(game.labels) != 2 and not has_partners(game)):
            return
        deal = (game.key.part, game.key.table, game.key.deal)
        games = self._waiting[deal]
        games.append(game)
        if len(games) == len(game.labels):
            del self._waiting[deal]
            if len(game.labels) == 2:
                self._add_pair(games)
            else:
                self._add_teams(games)

    def count_pairs(self, ruleset: str, label: str, other: str) -> frozenset[tuple[Pair, int]]:
        """How many deals gave `label` which points against `other`, in games of two seats."""
        first, second = sorted((label, other))
        cells = self._pairs.get((ruleset, first, second), Counter[Pair]()).items()
        return frozenset(cells if label == first else (((1 - one, 1 - two), count) for (one, two), count in cells))

    def list_swept(self, ruleset: str, label: str, other: str) -> list[Key]:
        """The latest deals that `label` won from both seats, each by its first game."""
        return list(self._swept.get((ruleset, label, other), ()))

    def count_team_results(self, kind: Kind) -> dict[Team, tuple[int, int, int]]:
        """The games won, drawn and lost by each team; teams that share first place draw."""
        return {team: (won, drawn, lost) for team, (won, drawn, lost) in self._teams.get(kind, {}).items()}

    def _add_pair(self, games: Sequence[GameSummary]) -> None:
        if any(game.reason == VOID for game in games):
            return
        first, second = sorted(games[0].labels)
        one, two = [_compute_points(game, first) for game in games]
        self._pairs[games[0].ruleset, first, second][one, two] += 1
        if one == two != 1 / 2:
            winner, loser = (first, second) if one else (second, first)
            swept = self._swept[games[0].ruleset, winner, loser]
            swept.append(games[0].key)
            del swept[:-SWEPT]

    def _add_teams(self, games: Sequence[GameSummary]) -> None:
        for game in games:
            if game.reason == VOID:
                continue
            teams: defaultdict[int, list[str]] = defaultdict(list)
            places: dict[int, int] = {}
            for label, team, place in zip(game.labels, game.teams, game.places, strict=True):
                teams[team].append(label)
                places[team] = place
            shared = list(places.values()).count(1) > 1
            counts = self._teams[game.ruleset, len(game.labels)]
            for team, labels in teams.items():
                counts[tuple(sorted(labels))][(1 if shared else 0) if places[team] == 1 else 2] += 1


def has_partners(game: GameSummary) -> bool:
    """Whether any seats of this game win and lose together."""
    return len(set(game.teams)) < len(game.teams)


def _compute_points(game: GameSummary, label: str) -> float:
    seat = game.labels.index(label)
    own, other = game.places[seat], game.places[1 - seat]
    return (1 + (own < other) - (own > other)) / 2


BUCKETS = 64
"""Of times, as in `ActionTimes`."""


class SeatResults(Struct):
    """The results of a bot at one seat; seats that share the first place draw."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    points: float = 0.0
    """Teams that it left behind, and half of those that tied, as a share of the other teams."""

    @property
    def losses(self) -> int:
        """Games that another won."""
        return self.games - self.wins - self.draws


class Win(Struct, frozen=True):
    """A game that was won."""

    margin: int
    """Points between the winner and the best who did not win."""
    key: Key


class Long(Struct, frozen=True):
    """The longest game of a bot."""

    actions: int
    key: Key


Course = tuple[str, tuple[str, ...], tuple[int, ...], tuple[int, ...]]
"""A ruleset, and by seat the labels, teams and places."""


class Alike:
    """The games of one course: so few of their figures matter that the others are forgotten at once."""

    __slots__ = ("asked", "failed", "games", "longest", "used", "widest")

    def __init__(self, game: GameSummary, margin: int) -> None:
        self.games = 0
        self.used = [0.0] * len(game.labels)
        self.asked = [0] * len(game.labels)
        self.failed = [0] * len(game.labels)
        self.longest = Long(game.actions, game.key)
        self.widest = Win(margin, game.key)

    def add(self, game: GameSummary, margin: int) -> None:
        """Add a game."""
        self.games += 1
        for seat, (used, asked, verdict) in enumerate(zip(game.used_ms, game.asked, game.verdicts, strict=True)):
            self.used[seat] += used
            self.asked[seat] += asked
            self.failed[seat] += verdict != ""
        if game.actions > self.longest.actions:
            self.longest = Long(game.actions, game.key)
        if margin > self.widest.margin:
            self.widest = Win(margin, game.key)


class GamesAgainst(Struct):
    """What the games of a bot against another come to for it; both sat in different teams."""

    seats: list[SeatResults]
    """Against the other alone."""
    used_ms: float = 0.0
    asked: int = 0
    failed: int = 0
    """Games that a verdict on it ended for it."""
    widest: Win | None = None
    longest: Long | None = None

    def add(self, seat: int, place: int, other: int, alike: Alike) -> None:
        """Add games in which it had a seat and a place, and the other another place."""
        results = self.seats[seat]
        results.games += alike.games
        results.wins += alike.games * (place < other)
        results.draws += alike.games * (place == other)
        self.used_ms += alike.used[seat]
        self.asked += alike.asked[seat]
        self.failed += alike.failed[seat]
        if place < other and (self.widest is None or alike.widest.margin > self.widest.margin):
            self.widest = alike.widest
        if self.longest is None or alike.longest.actions > self.longest.actions:
            self.longest = alike.longest


class BotGames:
    """Collects the games of all bots; void games do not count."""

    def __init__(self) -> None:
        self._alike: dict[Course, Alike] = {}
        self._times: defaultdict[str, list[int]] = defaultdict(lambda: [0] * BUCKETS)

    def add(self, game: GameSummary) -> None:
        """Add a game; this is quick, since most of the work waits until a page asks."""
        if game.reason == VOID:
            return
        margin = _measure_margin(game)
        course = game.ruleset, game.labels, game.teams, game.places
        if (alike := self._alike.get(course)) is None:
            alike = self._alike[course] = Alike(game, margin)
        alike.add(game, margin)
        for label, spent in zip(game.labels, parse_times(game.thinking), strict=False):
            times = self._times[label]
            for bucket, count in enumerate(spent.counts, spent.first):
                times[bucket] += count

    def count_seats(self) -> dict[str, dict[Kind, list[SeatResults]]]:
        """Tally the results at each seat, by label, ruleset and number of seats."""
        found: dict[str, dict[Kind, list[SeatResults]]] = defaultdict(dict)
        for (ruleset, labels, teams, places), alike in self._alike.items():
            for seat, (label, won, drawn, points) in enumerate(_score_seats(labels, teams, places)):
                kind = ruleset, len(labels)
                results = found[label].setdefault(kind, [SeatResults() for _ in labels])[seat]
                results.games += alike.games
                results.wins += alike.games * won
                results.draws += alike.games * drawn
                results.points += alike.games * points
        return found

    def count_times(self, label: str) -> list[int]:
        """Count the actions of a bot by how long they took, in the buckets of `ActionTimes`."""
        return list(self._times[label]) if label in self._times else [0] * BUCKETS

    def list_wins(self) -> dict[tuple[str, int, str, str], Win]:
        """The win by the most points, by ruleset, number of seats, winner and loser."""
        found: dict[tuple[str, int, str, str], Win] = {}
        for (ruleset, labels, teams, places), alike in self._alike.items():
            first = [seat for seat, place in enumerate(places) if place == 1]
            if len({teams[seat] for seat in first}) > 1:
                continue
            for winner, loser in product(first, (seat for seat, place in enumerate(places) if place > 1)):
                pair = ruleset, len(labels), labels[winner], labels[loser]
                if pair not in found or found[pair].margin < alike.widest.margin:
                    found[pair] = alike.widest
        return found

    def list_meetings(self) -> dict[tuple[Kind, str, str], GamesAgainst]:
        """What all games of a bot against another come to for it, by ruleset and number of seats, bot and other."""
        found: dict[tuple[Kind, str, str], GamesAgainst] = {}
        for (ruleset, labels, teams, places), alike in self._alike.items():
            kind = ruleset, len(labels)
            for seat, other in permutations(range(len(labels)), 2):
                if teams[seat] == teams[other]:
                    continue
                pair = kind, labels[seat], labels[other]
                if (meeting := found.get(pair)) is None:
                    meeting = found[pair] = GamesAgainst([SeatResults() for _ in labels])
                meeting.add(seat, places[seat], places[other], alike)
        return found

    def list_longest(self) -> dict[tuple[str, int, str], Long]:
        """The longest game, by ruleset, number of seats and label."""
        found: dict[tuple[str, int, str], Long] = {}
        for (ruleset, labels, _, _), alike in self._alike.items():
            for label in labels:
                own = ruleset, len(labels), label
                if own not in found or found[own].actions < alike.longest.actions:
                    found[own] = alike.longest
        return found


def _measure_margin(game: GameSummary) -> int:
    """How many points the winner is ahead of the best who did not win; 0 if all share the first place."""
    places, scores = game.places, game.scores
    if len(places) == 2:
        return 0 if places[0] == places[1] else (scores[0] - scores[1]) * (1 if places[0] == 1 else -1)
    behind = [score for score, place in zip(scores, places, strict=True) if place > 1]
    return scores[places.index(1)] - max(behind) if behind else 0


def _score_seats(
    labels: tuple[str, ...], teams: tuple[int, ...], places: tuple[int, ...]
) -> Iterator[tuple[str, bool, bool, float]]:
    """Yield, by seat, its label, whether it won, whether it drew, and its share of the points."""
    by_team = dict(zip(teams, places, strict=True))
    shared = list(by_team.values()).count(1) > 1
    for label, place in zip(labels, places, strict=True):
        behind = sum(other > place for other in by_team.values())
        tied = sum(other == place for other in by_team.values()) - 1
        points = (behind + tied / 2) / (len(by_team) - 1) if len(by_team) > 1 else 0.0
        yield label, place == 1 and not shared, place == 1 and shared, points
