"""Games that are rated together, of one ruleset, number of seats and clock: what standings need of them."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cache, lru_cache
from typing import NamedTuple

from malice.protocol.messages import ClockRules
from malice.referee.replay import VOID
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.ratings.rated_games import RatedGame, RatedGames
from malice.tournaments.ratings.running_elo import RunningElo


class RatingGroup(NamedTuple):
    """What games must share to be rated together."""

    ruleset: str
    seats: int
    clock: ClockRules | None
    """None if it is unknown."""


def group_games(
    games: Iterable[GameSummary], clocks: Sequence[ClockRules] = ()
) -> dict[RatingGroup, list[GameSummary]]:
    """Return the games by kind, in the order of their first games.

    Args:
        games: all games.
        clocks: those of the parts, by number.
    """
    kinds: dict[RatingGroup, list[GameSummary]] = {}
    lists: dict[tuple[str, int, int], list[GameSummary]] = {}  # a clock is slow to look up by
    for game in games:
        seats, part = len(game.labels), game.key.part
        if (found := lists.get((game.ruleset, seats, part))) is None:
            kind = RatingGroup(game.ruleset, seats, clocks[part] if part < len(clocks) else None)
            found = lists[game.ruleset, seats, part] = kinds.setdefault(kind, [])
        found.append(game)
    return kinds


def list_complete(played: Iterable[GameSummary]) -> list[GameSummary]:
    """Return the games of one kind whose deals are complete: played in every rotation, if there are any."""
    played = list(played)
    counts = Counter((game.key.part, game.key.table, game.key.deal) for game in played)
    return [game for game in played if counts[(game.key.part, game.key.table, game.key.deal)] == game.rotations]


def list_counted(complete: Iterable[GameSummary]) -> list[GameSummary]:
    """Return the games of complete deals that are rated: all but void ones."""
    return [game for game in complete if game.reason != VOID]


def make_rated_game(game: GameSummary, number: Mapping[str, int], common: Collection[int]) -> RatedGame:
    """Return a game as the ratings see it.

    Args:
        game: the game.
        number: the players by label.
        common: the parts in which all tables get the same cards.
    """
    players = tuple([number[label] for label in game.labels])
    sides = list_teams(game.teams)
    if len(sides) == len(players):  # a league has many games, and few of them are played by partners
        places = game.places
        teams = _seat_alone(players)
    else:
        teams = tuple(tuple(players[seat] for seat in side) for side in sides)
        places = tuple(min(game.places[seat] for seat in side) for side in sides)
    # What hangs together is what has the same cards.
    table = 0 if game.key.part in common else game.key.table
    group = (game.key.part << 24 | table) << 32 | game.key.deal
    return RatedGame(teams, places, group)


@lru_cache(1 << 16)
def _seat_alone(players: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return teams of one player each; the same ones for the same players, which takes less memory."""
    return tuple([(player,) for player in players])


@cache
def list_teams(teams: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the seats of each team, given the team of each seat."""
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
        """Return a total per action."""
        return total / self.asked if self.asked else None


RECENT = 1000
"""The latest games, among which a run may still put others: so many that what comes before them rests."""


class Advance(NamedTuple):
    """What is new in a list of games."""

    anew: bool
    """Whether nothing that was known of the games holds any more: all of them are new."""
    settled: Sequence[GameSummary]
    """New games that rest from now on."""
    recent: Sequence[GameSummary]
    """The games after all those that rest."""


class Checkpoint:
    """The games that rest, of one list that grows.

    Stored games never change, and who remembers them gives the same objects again: so a look at each is enough.
    """

    def __init__(self) -> None:
        self._terms: object = None
        self._games: Sequence[GameSummary] = []

    def advance(self, terms: object, games: Sequence[GameSummary]) -> Advance:
        """Let games rest.

        Args:
            terms: what decides, besides the games, what is found out about them.
            games: the whole list as it is now.
        """
        before = len(self._games)
        anew = terms != self._terms or before > len(games) or not all(map(operator.is_, self._games, games))
        if anew:
            before = 0
        rest = max(before, len(games) - RECENT)
        self._terms, self._games = terms, games[:rest]
        return Advance(anew, games[before:rest], games[rest:])

    def forget(self) -> None:
        """Take all games for new ones."""
        self._terms, self._games = None, []


Outcome = tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...]]
"""By seat: labels, teams, places."""
Deal = tuple[int, int, int]
"""A part, a table and a deal."""
Pick = Callable[[GameSummary], GameSummary | None]
"""Returns a game as standings rate it; None if they do not."""


class GroupTerms(NamedTuple):
    """What decides, besides the games, what standings see in them."""

    names: Sequence[str]
    """Of all players, older versions of entries included."""
    common: Collection[int]
    """The parts in which all tables get the same cards."""
    clocks: Sequence[ClockRules]
    """Those of the parts, by number."""


class GroupGames:
    """The games of one kind, added in playing order.

    Args:
        number: the players by label.
        common: the parts in which all tables get the same cards.
        teams: by seat.
        once: whether a deal is one game.
    """

    def __init__(
        self, number: Mapping[str, int], common: Collection[int], teams: tuple[int, ...] = (), *, once: bool = False
    ) -> None:
        self._number = number
        self._common = common
        self.sides = list_teams(teams)
        """The seats of each team."""
        self.once = once
        """Whether a deal is one game, the same for all seats."""
        self.played = 0
        self.complete = 0
        """Those whose deals are complete: played in every rotation, if there are any."""
        self.tallies = {label: Totals() for label in number}
        self.rated = RatedGames()
        """Those of complete deals, except void ones."""
        self.curves = RunningElo(len(number))
        """Of the rated games."""
        self.outcomes: Counter[Outcome] = Counter()
        """Of the rated games."""

    def add(self, game: GameSummary, *, complete: bool) -> None:
        """Add the next game."""
        self.played += 1
        for seat, label in enumerate(game.labels):
            self.tallies[label].add(game, seat)
        if not complete:
            return
        self.complete += 1
        if game.reason == VOID:
            return
        rated = make_rated_game(game, self._number, self._common)
        self.rated.add(rated)
        self.curves.add(rated)
        self.outcomes[game.labels, game.teams, game.places] += 1

    def branch(self) -> GroupGames:
        """Return the same games, to add others; `rewind` takes those out of the long columns, which both share."""
        self.rated.rest()
        self.curves.rest()
        branch = copy(self)
        branch.tallies = {label: copy(tally) for label, tally in self.tallies.items()}
        branch.outcomes = self.outcomes.copy()
        return branch

    def rewind(self) -> None:
        """Take out again what was added to a branch."""
        self.rated.rewind()
        self.curves.rewind()


class AllGroups:
    """The games of all kinds, added in playing order.

    Args:
        terms: how to look at them.
    """

    def __init__(self, terms: GroupTerms) -> None:
        self._terms = terms
        self._number = {label: index for index, label in enumerate(terms.names)}
        self.kinds: dict[RatingGroup, GroupGames] = {}
        """In the order of their first games."""
        self._places: dict[tuple[str, int, int], GroupGames] = {}  # a clock is slow to look up by

    def add(self, game: GameSummary, *, complete: bool) -> None:
        """Add the next game."""
        place = game.ruleset, len(game.labels), game.key.part
        if (games := self._places.get(place)) is None:
            games = self._places[place] = self._find(game)
        games.add(game, complete=complete)

    def _find(self, game: GameSummary) -> GroupGames:
        _, common, clocks = self._terms
        part = game.key.part
        kind = RatingGroup(game.ruleset, len(game.labels), clocks[part] if part < len(clocks) else None)
        return self.kinds.setdefault(kind, GroupGames(self._number, common, game.teams, once=game.once))

    def branch(self) -> AllGroups:
        """Return the same games, to add others until `rewind` is called."""
        branch = AllGroups(self._terms)
        branch.kinds = {kind: games.branch() for kind, games in self.kinds.items()}
        kinds = {id(games): kind for kind, games in self.kinds.items()}
        branch._places = {place: branch.kinds[kinds[id(games)]] for place, games in self._places.items()}
        return branch

    def rewind(self) -> None:
        """Take out again what was added to a branch."""
        for games in self.kinds.values():
            games.rewind()


class OpenDeal(NamedTuple):
    """A deal of which not all games rest."""

    games: int
    """Those that rest."""
    rotations: int
    """As many games are all of them."""
    complete: bool
    """Whether all of them were played when these came to rest."""


class GameMemory:
    """What standings of one league found in its games: who asks again waits for its latest games only."""

    def __init__(self) -> None:
        self._settled = Checkpoint()
        self._kinds = AllGroups(GroupTerms((), (), ()))
        """The games that rest."""
        self._open: dict[Deal, OpenDeal] = {}

    def collect(
        self, games: Sequence[GameSummary], pick: Pick, picked_by: object, terms: GroupTerms
    ) -> dict[RatingGroup, GroupGames]:
        """Return the games of each kind, in the order of their first games; they hold until the next call.

        Args:
            games: all of them, in playing order.
            pick: chooses those that count, and names their players.
            picked_by: what decides how it chooses.
            terms: how to look at them.
        """
        advance = self._settled.advance((picked_by, *terms), games)
        self._kinds.rewind()
        if advance.anew:
            self._kinds, self._open = AllGroups(terms), {}
        settled, recent = ([game for each in some if (game := pick(each))] for some in advance[1:])
        broken = self._find_broken([*settled, *recent])
        if any((deal not in broken) != each.complete for deal, each in self._open.items()):
            self._settled.forget()  # a late game completed a deal whose other games rest
            return self.collect(games, pick, picked_by, terms)
        for game in settled:
            complete = _name_deal(game) not in broken
            self._kinds.add(game, complete=complete)
            self._rest(game, complete)
        found = self._kinds.branch()
        for game in recent:
            found.add(game, complete=_name_deal(game) not in broken)
        return found.kinds

    def _find_broken(self, new: Sequence[GameSummary]) -> set[Deal]:
        """Return the deals, as far as not all of their games rest, that are not complete."""
        games = Counter(map(_name_deal, new))
        rotations = {_name_deal(game): game.rotations for game in new if games[_name_deal(game)] != game.rotations}
        rotations |= {deal: each.rotations for deal, each in self._open.items()}
        resting = {deal: each.games for deal, each in self._open.items()}
        return {deal for deal, count in rotations.items() if games[deal] + resting.get(deal, 0) != count}

    def _rest(self, game: GameSummary, complete: bool) -> None:
        deal, rotations = _name_deal(game), game.rotations
        games = self._open[deal].games + 1 if deal in self._open else 1
        if games < rotations:
            self._open[deal] = OpenDeal(games, rotations, complete)
        else:
            self._open.pop(deal, None)


def _name_deal(game: GameSummary) -> Deal:
    return game.key.part, game.key.table, game.key.deal
