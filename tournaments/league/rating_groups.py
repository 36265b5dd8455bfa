"""Games that are rated together, of one ruleset, number of seats and clock: what standings need of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from malice.protocol.messages import ClockRules
from malice.referee.replay import VOID
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.ratings.rated_games import CompleteDeals, DealtGames, TeamPlaces


class RatingGroup(NamedTuple):
    """What games must share to be rated together."""

    ruleset: str
    seats: int
    clock: ClockRules | None
    """None if it is unknown."""


@cache
def list_teams(teams: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """List the seats of each team, given the team of each seat."""
    return tuple(tuple(seat for seat, each in enumerate(teams) if each == team) for team in dict.fromkeys(teams))


class Totals:
    """What an entry did in all its games."""

    __slots__ = ("asked", "cpu", "forfeits", "games", "idle", "used")

    def __init__(self) -> None:
        self.games = self.asked = self.forfeits = 0
        self.used = self.cpu = self.idle = 0.0

    def add(self, game: GameSummary, seat: int) -> None:
        """Add a game that it played at a seat."""
        self.games += 1
        self.asked += game.asked[seat]
        self.forfeits += bool(game.verdicts[seat])
        self.used += game.used_ms[seat]
        if game.cpu_ms:
            self.cpu += game.cpu_ms[seat]
        if game.idle_ms:
            self.idle += game.idle_ms[seat]

    def each(self, total: float) -> float | None:
        """Divide a total by the number of actions."""
        return total / self.asked if self.asked else None


Outcome = tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...]]
"""By seat: labels, teams, places."""


class GroupGames:
    """What standings need of the games of one group, of which each takes 12 bytes.

    Args:
        number: the players by label.
        common: the parts in which all tables get the same cards.
    """

    def __init__(self, number: Mapping[str, int], common: Collection[int]) -> None:
        self.once = False
        """Whether a deal is one game, the same for all seats."""
        self.sides: tuple[tuple[int, ...], ...] = ()
        """The seats of each team."""
        self.totals = {label: Totals() for label in number}
        """Of all games."""
        self.common = False
        """Whether tables share their cards, so that a deal is not over before all of them have played it."""
        self._number = number
        self._shared = common
        self._games = DealtGames(common)
        self._known: dict[tuple[Outcome, int, bool], int] = {}

    def add(self, game: GameSummary) -> None:
        """Add the next game in playing order."""
        if not self._known:
            self.once, self.sides = game.once, list_teams(game.teams)
        for seat, label in enumerate(game.labels):
            self.totals[label].add(game, seat)
        key = game.key
        self.common = self.common or key.part in self._shared
        named = (game.labels, game.teams, game.places), game.rotations, game.reason == VOID
        if (kind := self._known.get(named)) is None:
            kind = self._games.add_kind(self._seat(game), game.rotations, void=game.reason == VOID)
            self._known[named] = kind
        self._games.add(kind, key.part, key.table, key.deal)

    def _seat(self, game: GameSummary) -> TeamPlaces:
        sides = list_teams(game.teams)
        players = [self._number[label] for label in game.labels]
        return (
            tuple(tuple(players[seat] for seat in side) for side in sides),
            tuple(min(game.places[seat] for seat in side) for side in sides),
        )

    @cached_property
    def complete(self) -> CompleteDeals:
        """What is rated of all games that were added."""
        return self._games.rate()

    def count_outcomes(self) -> dict[Outcome, int]:
        """How many of the rated games had each outcome, in the order in which they first had it."""
        named = list(self._known)
        found: Counter[Outcome] = Counter()
        for kind, count in zip(self.complete.sources, self.complete.rated.count_outcomes(), strict=True):
            found[named[kind][0]] += count
        return found


def collect_groups(
    games: Iterable[GameSummary],
    names: Sequence[str],
    common: Collection[int] = (),
    clocks: Sequence[ClockRules] = (),
) -> dict[RatingGroup, GroupGames]:
    """Collect what standings need of each group, in the order of their first games.

    Args:
        games: those that standings rate, in playing order.
        names: of all players, older versions of entries included.
        common: the parts in which all tables get the same cards.
        clocks: those of the parts, by number.
    """
    number = {name: index for index, name in enumerate(names)}
    groups: dict[RatingGroup, GroupGames] = {}
    known: dict[tuple[str, int, int], GroupGames] = {}  # a clock is slow to look up by
    for game in games:
        seats, part = len(game.labels), game.key.part
        if (found := known.get((game.ruleset, seats, part))) is None:
            kind = RatingGroup(game.ruleset, seats, clocks[part] if part < len(clocks) else None)
            if kind not in groups:
                groups[kind] = GroupGames(number, common)
            found = known[game.ruleset, seats, part] = groups[kind]
        found.add(game)
    return groups
