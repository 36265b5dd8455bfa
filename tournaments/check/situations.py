"""Legal but rare situations of all rulesets: each is the beginning of a game, stored as its actions."""

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
"""The mark before the number of a seat that leaves the game, in place of an action."""
LINE_BYTES = 40_000
"""The longest request that is kept; it leaves room for spaces and escapes."""
MORE_ACTIONS = 12
"""The most actions that a situation adds to one of the corpus."""

Find = Callable[[str], Ruleset]


class Situation(Struct, frozen=True):
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
        self.rules: SpiteAndMalice = make_rules(find(ruleset).rules, seats)
        seed = sha256(f"malice check {ruleset} {seats} {deal}".encode())
        self.deal_seed = seed.hexdigest()
        self._replay = Replay(self.rules, Dealer(seed.digest()))
        self.events: list[Event] = [*self._replay.dealt]

    @property
    def state(self) -> State:
        """The state of the table."""
        return self._replay.state

    @property
    def seat(self) -> int | None:
        """The seat to act; None when the game is over."""
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
        """Return the request to the seat to act, with all events since the deal."""
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
        """Return how the game ends if every other team leaves it now."""
        state, seat = self.state, self.seat
        assert seat is not None
        for other, team in enumerate(self.rules.teams):
            if team != self.rules.teams[seat] and other not in state.out and state.result is None:
                state, _ = self.rules.withdraw(state, other)
        assert state.result
        return state.result


def replay_situation(situation: Situation, find: Find = load_ruleset) -> Position:
    """Play a game up to a situation."""
    position = Position(situation.ruleset, situation.seats, situation.deal, find)
    for action in situation.actions.split():
        position.play(action)
    return position


def load_corpus() -> tuple[Situation, ...]:
    """Return the situations of `corpus.jsonl`."""
    return tuple(msgspec.json.decode(line, type=Situation) for line in FILE.read_bytes().splitlines())


def list_situations(count: int, rulesets: Mapping[str, Ruleset] | None = None) -> Iterator[Situation]:
    """Yield `count` situations, always the same ones: first the corpus, then continuations of it.

    Args:
        count: how many.
        rulesets: the rulesets to choose from, by name; by default all that ship.
    """
    known = load_corpus() if rulesets is None else tuple(_select(rulesets))
    find = load_ruleset if rulesets is None else rulesets.__getitem__
    for number in range(count):
        situation = known[number % len(known)]
        yield situation if number < len(known) else _continue(situation, Random(number), find)


def _select(rulesets: Mapping[str, Ruleset]) -> Iterator[Situation]:
    """Yield the situations of these rulesets, and the start of a game for a ruleset that the corpus lacks."""
    known = load_corpus()
    yield from (situation for situation in known if situation.ruleset in rulesets)
    missing = rulesets.keys() - {situation.ruleset for situation in known}
    yield from (Situation(name, rulesets[name].rules.players[1], 0, "") for name in sorted(missing))


def _continue(situation: Situation, random: Random, find: Find) -> Situation:
    position, actions = replay_situation(situation, find), situation.actions.split()
    for _ in range(random.randint(1, MORE_ACTIONS)):
        action = random.choice(position.rules.legal(position.state))
        position.play(action)
        if position.seat is None or len(encode(position.request(1))) > LINE_BYTES:
            break
        actions.append(action)
    return msgspec.structs.replace(situation, actions=" ".join(actions))


def make_game_start(
    situation: Situation, position: Position, id: int, number: int, clock: ClockRules, find: Find = load_ruleset
) -> GameStart:
    """Return the request that starts the game of a situation."""
    seat, teams = position.seat, position.rules.teams
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


def make_game_end(position: Position, id: int) -> GameEnd:
    """Return the request that ends the game: everybody else has left."""
    seat, result = position.seat, position.result()
    assert seat is not None
    return GameEnd(id, result.places[seat], result.places, result.scores, result.reason, "0.0.0")
