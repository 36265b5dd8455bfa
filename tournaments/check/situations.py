"""Legal but rare situations of all rulesets: each is the beginning of a game, stored as its actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from random import Random

import msgspec
from msgspec import Struct

from malice.protocol.codec import encode
from malice.protocol.messages import ClockRules, GameEnd, GameStart, Move, Out, SeatClock, SeatName
from malice.referee.course import Course, list_asked
from malice.referee.dealer import Dealer
from malice.referee.families import load_family, make_rules
from malice.referee.games import DEFAULT_FAMILY
from malice.referee.rules import Result
from malice.referee.rulesets import Ruleset, load_ruleset

OUT = "!"
"""The mark before the number of a seat that leaves the game, in place of an action."""
REQUEST_BYTES = 40_000
"""The longest request that is kept; it leaves room for spaces and escapes."""
MORE_ACTIONS = 12
"""The most actions that a situation adds to one of the corpus."""

Find = Callable[[str], Ruleset]


class RarePosition(Struct, frozen=True):
    """A game up to a request."""

    ruleset: str
    seats: int
    deal: int
    actions: str
    """The actions, separated by spaces."""
    features: tuple[str, ...] = ()
    """What is rare about it."""


class Position:
    """A game that advances action by action, and the events that each seat has seen.

    Args:
        ruleset: its name.
        seats: the number of seats.
        deal: the number of the deal, which determines the cards.
        find: returns the ruleset of a name.
    """

    def __init__(self, ruleset: str, seats: int, deal: int, find: Find = load_ruleset) -> None:
        found = find(ruleset)
        self.rules = make_rules(found.family, found.rules, seats)
        seed = sha256(f"malice check {ruleset} {seats} {deal}".encode())
        self.deal_seed = seed.hexdigest()
        self._course = Course(self.rules, Dealer(seed.digest()))
        self._answers: dict[int, str] = {}
        """By seat: the actions of an ask of several seats that still lacks others."""
        self._out: list[int] = []
        self.events: list[Struct] = [*self._course.dealt]

    @property
    def seat(self) -> int | None:
        """The seat to act, or the first of several without an answer; None when the game is over."""
        return next((seat for seat in list_asked(self._course.step) if seat not in self._answers), None)

    def legal(self) -> tuple[str, ...]:
        """Return the legal actions of the seat to act."""
        assert self.seat is not None
        return self.rules.legal(self._course.state, self.seat)

    def list_playing(self) -> list[int]:
        """Return the seats that were not made to leave."""
        return [seat for seat in range(self.rules.seats) if seat not in self._out]

    def play(self, action: str) -> None:
        """Play an action, or let a seat leave."""
        if action.startswith(OUT):
            seat = int(action[len(OUT) :])
            self._out.append(seat)
            self._answers.pop(seat, None)
            self.events += self._course.withdraw({seat: "crash"})
        else:
            assert self.seat is not None
            self._answers[self.seat] = action
        if self.seat is None and self._answers:
            asked = list_asked(self._course.step)
            actions = {seat: self._answers[seat] for seat in asked if seat in self._answers}
            self._answers = {}
            if actions:
                self.events += self._course.play(actions)

    def request(self, id: int) -> Move:
        """Return the request to the seat to act, with all events since the deal."""
        seat = self.seat
        assert seat is not None
        masked = (event if isinstance(event, Out) else self.rules.mask(event, seat) for event in self.events)
        return Move(
            id=id,
            view=self.rules.view(self._course.state, seat),
            events=tuple(event for event in masked if event is not None),
            legal=self.legal(),
            clock=SeatClock(30_000.0, 2.25, 1.0),
        )

    def result(self) -> Result:
        """Return how the game ends if every other team leaves it now; everybody ties if they cannot all leave."""
        state, seat = self._course.state, self.seat
        assert seat is not None
        for other, team in enumerate(self.rules.teams):
            if team != self.rules.teams[seat] and other not in self._out:
                if isinstance(result := self.rules.next(state), Result):
                    return result
                state, _ = self.rules.withdraw(state, (other,))
        result = self.rules.next(state)
        assert isinstance(result, Result)
        return result


def replay_rare_position(situation: RarePosition, find: Find = load_ruleset) -> Position:
    """Play a game up to a situation."""
    position = Position(situation.ruleset, situation.seats, situation.deal, find)
    for action in situation.actions.split():
        position.play(action)
    return position


def load_corpus(family: str = DEFAULT_FAMILY) -> tuple[RarePosition, ...]:
    """Return the situations that a family brings; none if it has no `corpus.jsonl`."""
    file = load_family(family).folder / "corpus.jsonl"
    lines = file.read_bytes().splitlines() if file.exists() else ()
    return tuple(msgspec.json.decode(line, type=RarePosition) for line in lines)


def list_rare_positions(count: int, rulesets: Mapping[str, Ruleset] | None = None) -> Iterator[RarePosition]:
    """Yield `count` situations, always the same ones: first the corpus, then continuations of it.

    Args:
        count: how many.
        rulesets: the rulesets to choose from, by name; by default those of the default family.
    """
    known = load_corpus() if rulesets is None else tuple(_select(rulesets))
    find = load_ruleset if rulesets is None else rulesets.__getitem__
    for number in range(count):
        situation = known[number % len(known)]
        yield situation if number < len(known) else _continue(situation, Random(number), find)


def _select(rulesets: Mapping[str, Ruleset]) -> Iterator[RarePosition]:
    """Yield the situations of these rulesets, and the start of a game for a ruleset that the corpus lacks."""
    families = dict.fromkeys(ruleset.family for ruleset in rulesets.values())
    known = [situation for family in families for situation in load_corpus(family)]
    yield from (situation for situation in known if situation.ruleset in rulesets)
    missing = rulesets.keys() - {situation.ruleset for situation in known}
    yield from (RarePosition(name, rulesets[name].match.players[1], 0, "") for name in sorted(missing))


def _continue(situation: RarePosition, random: Random, find: Find) -> RarePosition:
    position, actions = replay_rare_position(situation, find), situation.actions.split()
    for _ in range(random.randint(1, MORE_ACTIONS)):
        action = random.choice(position.legal())
        position.play(action)
        if position.seat is None or len(encode(position.request(1))) > REQUEST_BYTES:
            break
        actions.append(action)
    return msgspec.structs.replace(situation, actions=" ".join(actions))


def make_game_start(
    situation: RarePosition, position: Position, id: int, number: int, clock: ClockRules, find: Find = load_ruleset
) -> GameStart:
    """Return the request that starts the game of a situation."""
    seat, teams, ruleset = position.seat, position.rules.teams, find(situation.ruleset)
    assert seat is not None
    return GameStart(
        id=id,
        game=number,
        family=ruleset.family,
        ruleset=ruleset.name,
        rules=msgspec.to_builtins(ruleset.rules),
        seat=seat,
        seats=tuple(SeatName(f"player {other}", team) for other, team in enumerate(teams)),
        rng=number,
        commit="sha256:" + "0" * 64,
        clock=clock,
    )


def make_game_end(position: Position, id: int) -> GameEnd:
    """Return the request that ends the game: everybody else has left."""
    seat, result = position.seat, position.result()
    assert seat is not None
    return GameEnd(id, result.places[seat], result.places, result.scores, result.reason, "0.0.0")
