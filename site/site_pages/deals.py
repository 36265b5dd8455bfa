"""Results of complete deals, for head-to-head tables and tables of teams."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from malice.referee.replay import VOID
from malice.tournaments.league.contents import GameSummary

Kind = tuple[str, int]
"""A ruleset and a number of seats."""
Pair = tuple[float, float]
"""The points (0, 1/2 or 1) of one of two entries in the two games of a deal."""
Team = tuple[str, ...]
"""The labels of partners, in alphabetical order."""


class Deals:
    """Counts results of games added in schedule order; as in standings, only complete deals count."""

    def __init__(self) -> None:
        self._waiting: defaultdict[tuple[int, int, int], list[GameSummary]] = defaultdict(list)
        self._pairs: defaultdict[tuple[str, str, str], Counter[Pair]] = defaultdict(Counter)
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

    def copy(self) -> Deals:
        """Return the same results, to add others."""
        copy = Deals()
        copy._waiting.update({deal: list(games) for deal, games in self._waiting.items()})
        copy._pairs.update({pair: counts.copy() for pair, counts in self._pairs.items()})
        for kind, counts in self._teams.items():
            copy._teams[kind].update({team: list(results) for team, results in counts.items()})
        return copy

    def count_pairs(self, ruleset: str, label: str, other: str) -> frozenset[tuple[Pair, int]]:
        """Return how many deals gave `label` which points against `other`, in games of two seats."""
        first, second = sorted((label, other))
        cells = self._pairs.get((ruleset, first, second), Counter[Pair]()).items()
        return frozenset(cells if label == first else (((1 - one, 1 - two), count) for (one, two), count in cells))

    def count_team_results(self, kind: Kind) -> dict[Team, tuple[int, int, int]]:
        """Return the games won, drawn and lost by each team; teams that share first place draw."""
        return {team: (won, drawn, lost) for team, (won, drawn, lost) in self._teams.get(kind, {}).items()}

    def _add_pair(self, games: Sequence[GameSummary]) -> None:
        if any(game.reason == VOID for game in games):
            return
        first, second = sorted(games[0].labels)
        one, two = [_compute_points(game, first) for game in games]
        self._pairs[games[0].ruleset, first, second][one, two] += 1

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
    """Return whether any seats of this game win and lose together."""
    return len(set(game.teams)) < len(game.teams)


def _compute_points(game: GameSummary, label: str) -> float:
    seat = game.labels.index(label)
    own, other = game.places[seat], game.places[1 - seat]
    return (1 + (own < other) - (own > other)) / 2
