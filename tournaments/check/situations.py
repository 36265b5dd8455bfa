"""Legal but rare situations of all rulesets: each is a game up to a point, kept as its actions and played again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from protocol.codec import encode
from protocol.messages import ClockRules, Event, GameEnd, GameStart, Move, SeatClock, SeatName
from referee.dealer import Dealer
from referee.games import make_rules
from referee.masks import mask_events
from referee.replay import VERDICT, Replay
from referee.rules import Result, Turn
from referee.ruleset import Ruleset, load_ruleset
from referee.spite import SpiteAndMalice
from referee.spite.state import State

FILE = Path(__file__).parent / "corpus.jsonl"
OUT = "!"
"""An action that begins so is no action: the seat of that number leaves the game."""
LINE_BYTES = 40_000
"""The longest request that is kept, so that there is room for spaces and escapes."""
MORE_ACTIONS = 12
"""How many actions a situation that is not in the corpus goes on beyond one that is."""

Find = Callable[[str], Ruleset]


class Situation(Struct, frozen=True):
    """A game up to a request."""

    ruleset: str
    seats: int
    deal: int
    actions: str
    """One after the other, with a space between."""
    features: tuple[str, ...] = ()
    """What is rare about it."""


class Position:
    """A game that goes on action by action, with what each seat has seen of it.

    Args:
        ruleset: its name.
        seats: how many play.
        deal: a number that stands for the cards.
        find: gives the ruleset of a name.
    """

    def __init__(self, ruleset: str, seats: int, deal: int, find: Find = load_ruleset) -> None:
        self.rules: SpiteAndMalice = make_rules(find(ruleset).rules, seats)
        seed = sha256(f"malice check {ruleset} {seats} {deal}".encode())
        self.deal_seed = seed.hexdigest()
        self._replay = Replay(self.rules, Dealer(seed.digest()))
        self.events: list[Event] = [*self._replay.dealt]

    @property
    def state(self) -> State:
        """The table."""
        return self._replay.state

    @property
    def seat(self) -> int | None:
        """Who is to act; nobody when the game is over."""
        step = self._replay.next()
        return step.seat if isinstance(step, Turn) else None

    def play(self, action: str) -> None:
        """Play an action, or let a seat leave."""
        if action.startswith(OUT):
            seat, action = int(action[1:]), VERDICT + "crash"
        else:
            assert self.seat is not None
            seat = self.seat
        self.events += self._replay.play(seat, action)

    def request(self, id: int) -> Move:
        """Return the request to the seat that is to act, which is told everything since the deal."""
        seat = self.seat
        assert seat is not None
        return Move(
            id=id,
            view=self.rules.view(self.state, seat),
            events=tuple(mask_events(self.events, seat)),
            legal=self.rules.legal(self.state),
            clock=SeatClock(30_000.0, 2.25, 1.0),
        )

    def result(self) -> Result:
        """Return how the game ends if all but the side that is to act leave it now."""
        state, seat = self.state, self.seat
        assert seat is not None
        for other, team in enumerate(self.rules.teams):
            if team != self.rules.teams[seat] and other not in state.out and state.result is None:
                state, _ = self.rules.withdraw(state, other)
        assert state.result
        return state.result


def position(situation: Situation, find: Find = load_ruleset) -> Position:
    """Play a situation again."""
    played = Position(situation.ruleset, situation.seats, situation.deal, find)
    for action in situation.actions.split():
        played.play(action)
    return played


def corpus() -> tuple[Situation, ...]:
    """Return the situations that were found by playing."""
    return tuple(msgspec.json.decode(line, type=Situation) for line in FILE.read_bytes().splitlines())


def situations(count: int, rulesets: Mapping[str, Ruleset] | None = None) -> Iterator[Situation]:
    """Return so many situations: first the corpus, then games that go on from there; always the same.

    Args:
        count: how many.
        rulesets: by name, those that they are to be of; by default all that ship.
    """
    found = corpus() if rulesets is None else tuple(_known(rulesets))
    find = load_ruleset if rulesets is None else rulesets.__getitem__
    for number in range(count):
        situation = found[number % len(found)]
        yield situation if number < len(found) else _further(situation, Random(number), find)


def _known(rulesets: Mapping[str, Ruleset]) -> Iterator[Situation]:
    """List what the corpus has of these rulesets; of those that it does not know, the openings."""
    known = corpus()
    yield from (situation for situation in known if situation.ruleset in rulesets)
    strange = rulesets.keys() - {situation.ruleset for situation in known}
    yield from (Situation(name, rulesets[name].rules.players[1], 0, "") for name in sorted(strange))


def _further(situation: Situation, random: Random, find: Find) -> Situation:
    played, actions = position(situation, find), situation.actions.split()
    for _ in range(random.randint(1, MORE_ACTIONS)):
        action = random.choice(played.rules.legal(played.state))
        played.play(action)
        if played.seat is None or len(encode(played.request(1))) > LINE_BYTES:
            break
        actions.append(action)
    return msgspec.structs.replace(situation, actions=" ".join(actions))


def opening(
    situation: Situation, played: Position, id: int, number: int, clock: ClockRules, find: Find = load_ruleset
) -> GameStart:
    """Return the request that begins the game of a situation."""
    seat, teams = played.seat, played.rules.teams
    assert seat is not None
    return GameStart(
        id=id,
        game=number,
        ruleset=situation.ruleset,
        rules=msgspec.to_builtins(find(situation.ruleset).rules),
        seat=seat,
        seats=tuple(SeatName(f"player {other}", team) for other, team in enumerate(teams)),
        rng=number,
        commit="sha256:" + "0" * 64,
        clock=clock,
    )


def ending(played: Position, id: int) -> GameEnd:
    """Return the request that ends it: everybody else has left."""
    seat, result = played.seat, played.result()
    assert seat is not None
    return GameEnd(id, result.places[seat], result.places, result.scores, result.reason, "0.0.0")
