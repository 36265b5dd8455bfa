"""What the games of each bot come to: results by seat, times of its actions, and the games worth a look."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from msgspec import Struct

from referee.records import Key
from referee.replay import VOID
from site_pages.deals import Kind
from tournaments.league.contents import Game

BUCKETS = 64
"""Of times, as in `Thinking`."""


class SeatTally(Struct):
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
    """A game that a bot won, the one with the most points between it and an opponent."""

    margin: int
    key: Key
    seat: int
    """Of the winner."""


class Long(Struct, frozen=True):
    """The longest game of a bot."""

    actions: int
    key: Key


Results = Counter[tuple[str, tuple[str, ...], tuple[int, ...], tuple[int, ...]]]
"""How many games of a ruleset, labels and teams by seat ended with these places."""


class BotGames:
    """Collects the games of all bots; void games do not count."""

    def __init__(self) -> None:
        self._results: Results = Counter()
        self._times: defaultdict[str, list[int]] = defaultdict(lambda: [0] * BUCKETS)
        self._wins: dict[tuple[str, int, str, str], Win] = {}
        """By ruleset, number of seats, winner and loser."""
        self._longest: dict[tuple[str, int, str], Long] = {}

    def add(self, game: Game) -> None:
        """Add a game; this is quick, since most of the work waits until a page asks."""
        if game.reason == VOID:
            return
        self._results[game.ruleset, game.labels, game.teams, game.places] += 1
        for label, thinking in zip(game.labels, game.thinking, strict=False):
            times = self._times[label]
            for bucket, count in enumerate(thinking.counts, thinking.first):
                times[bucket] += count
        self._add_wins(game)
        seats = len(game.labels)
        for label in game.labels:
            own = game.ruleset, seats, label
            if own not in self._longest or self._longest[own].actions < game.actions:
                self._longest[own] = Long(game.actions, game.key)

    def _add_wins(self, game: Game) -> None:
        first = [seat for seat, place in enumerate(game.places) if place == 1]
        if len({game.teams[seat] for seat in first}) > 1:
            return
        others = [seat for seat in range(len(game.places)) if game.places[seat] > 1]
        for winner in first:
            for loser in others:
                pair = game.ruleset, len(game.labels), game.labels[winner], game.labels[loser]
                margin = game.scores[winner] - game.scores[loser]
                if pair not in self._wins or self._wins[pair].margin < margin:
                    self._wins[pair] = Win(margin, game.key, winner)

    def tally_seats(self) -> dict[str, dict[Kind, list[SeatTally]]]:
        """Return, by label, ruleset and number of seats, the results at each seat."""
        found: dict[str, dict[Kind, list[SeatTally]]] = defaultdict(dict)
        for (ruleset, labels, teams, places), games in self._results.items():
            for seat, (label, won, drawn, points) in enumerate(_score_seats(labels, teams, places)):
                kind = ruleset, len(labels)
                tally = found[label].setdefault(kind, [SeatTally() for _ in labels])[seat]
                tally.games += games
                tally.wins += games * won
                tally.draws += games * drawn
                tally.points += games * points
        return found

    def count_times(self, label: str) -> list[int]:
        """Return how many actions of a bot took how long, by bucket as in `Thinking`."""
        return list(self._times[label]) if label in self._times else [0] * BUCKETS

    def list_wins(self) -> dict[tuple[str, int, str, str], Win]:
        """Return, by ruleset, number of seats, winner and loser, the win by the most points."""
        return self._wins

    def find_longest(self, kind: Kind, label: str) -> Long | None:
        """Return the longest game of a bot."""
        return self._longest.get((*kind, label))


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
