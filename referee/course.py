"""The course of one game: its rules, its chance, drawn from the deal seed, and the state that both lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from hashlib import sha256
from itertools import chain
from struct import unpack
from typing import Any, Self

from malice.protocol.messages import Out
from malice.referee.compiled import CompiledCourse, find_core
from malice.referee.errors import FamilyError
from malice.referee.rules import Ask, Events, Result, Rules, Shuffle, Step


class Dealer:
    """Chooses the order of every shuffle of one game.

    Block n of the stream is SHA-256(seed || n as 8 bytes, big-endian); its bytes are 32-bit big-endian words.
    """

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._block = 0
        self._words: list[int] = []

    def copy(self) -> Self:
        """Its next shuffles are the same, and each of the two is asked apart from the other."""
        other = copy(self)
        other._words = self._words.copy()
        return other

    def order(self, size: int) -> list[int]:
        """Draw a permutation of range(size): Fisher-Yates, from the last index down to 1."""
        order = list(range(size))
        for last in range(size - 1, 0, -1):
            other = self.draw(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def draw(self, size: int) -> int:
        """Draw a number below `size`; skip words that would favour small numbers."""
        limit = (1 << 32) // size * size
        while True:
            if not self._words:
                block = sha256(self._seed + self._block.to_bytes(8, "big")).digest()
                self._words = list(reversed(unpack(">8I", block)))
                self._block += 1
            word = self._words.pop()
            if word < limit:
                return word % size


def choose_dealer(seed: bytes) -> Dealer:
    """The dealer of a game, compiled where the core plays."""
    core = find_core()
    dealer: Dealer = Dealer(seed) if core is None else core.Dealer(seed)
    return dealer


def make_game_dealer(seed: int | str) -> Dealer:
    """The dealer of a `Game`: a number leads to the same one for ever; a string is a deal seed, in hex."""
    return choose_dealer(bytes.fromhex(seed) if isinstance(seed, str) else sha256(b"game\0%d" % seed).digest())


def make_course(rules: Rules[Any], dealer: Dealer, state: Any = None, events: Events = ()) -> Course | CompiledCourse:
    """Begin a game, or go on from a state, by compiled rules in place where they can."""
    core = find_core()
    if core is not None and type(rules) is core.Rules and type(dealer) is core.Dealer:
        course: CompiledCourse | None = core.Course.begin(
            rules, dealer, rules.start() if state is None else state, events
        )
        if course is not None:
            return course
    return Course(rules, dealer, state, events)


MOST_POINTS = 2**53
"""The largest number that every reader of JSON knows; a league stores none above it."""
MOST_SHUFFLES = 1000
"""How often chance may act before seats do, so that a game that only shuffles is found out."""


class Course:
    """Advances a game from ask to ask; the dealer's shuffles in between happen by themselves.

    Args:
        rules: the game.
        dealer: chooses the order of every shuffle.
        state: where the game goes on; by default it begins.
        events: what led to that state.
    """

    def __init__(self, rules: Rules[Any], dealer: Dealer, state: Any = None, events: Events = ()) -> None:
        self.rules = rules
        self._dealer = dealer
        self.events = [*events]
        """All that has happened, unmasked."""
        self.state: Any
        self.step: Ask | Result
        """Which seats act next, or the result."""
        self._out = frozenset(event.seat for event in events if isinstance(event, Out))
        self._settle(rules.start() if state is None else state, ())
        self.dealt = (*self.events,)
        """The events of the deal, and of all that was played before the course was handed over."""

    def copy(self) -> Self:
        """The copy goes on by itself, with the same shuffles to come."""
        other = copy(self)
        other._dealer = self._dealer.copy()
        other.events = self.events.copy()
        return other

    def legal(self, seat: int) -> tuple[str, ...]:
        return self.rules.legal(self.state, seat)

    def view(self, seat: int | None) -> Any:
        return self.rules.view(self.state, seat)

    def replace_dealer(self, dealer: Dealer) -> None:
        """Let another dealer choose the shuffles to come."""
        self._dealer = dealer

    def play(self, actions: Mapping[int, str]) -> Events:
        """Play the actions of the asked seats, or raise IllegalAction; return all events up to the next ask."""
        return self._settle(*self.rules.play(self.state, actions))

    def withdraw(self, codes: Mapping[int, str]) -> Events:
        """Withdraw seats together for verdicts, given by their codes; return all events up to the next ask.

        Once the game is over, as a partner that could not start has ended it, the result stays.
        """
        out = tuple(Out(seat, code) for seat, code in codes.items())
        if isinstance(self.step, Result):
            self.events += out
            return out
        state, events = self.rules.withdraw(self.state, tuple(codes))
        self._out |= codes.keys()
        return self._settle(state, (*out, *events))

    def _settle(self, state: Any, events: Events) -> Events:
        """Shuffle until seats must act, or the game is over."""
        rules, shuffles = self.rules, 0
        while isinstance(step := rules.next(state), Shuffle):
            if (shuffles := shuffles + 1) > MOST_SHUFFLES:
                raise FamilyError(f"next: expected seats to ask after {MOST_SHUFFLES} shuffles in a row, got {step}")
            state, more = rules.shuffled(state, self._dealer.order(step.size))
            events += more
        if type(step) is not Ask:
            _refuse_result(step, rules.teams)
        elif self._out and not self._out.isdisjoint(step.seats):
            raise FamilyError(f"next: expected no seat of {sorted(self._out)}, which have left the game, got {step}")
        self.state, self.step = state, step
        self.events += events
        return events


def _refuse_result(result: object, teams: Sequence[int]) -> None:
    """Make sure that a league can store a result.

    Raises:
        FamilyError: it has not one place for each team, from 1, and a whole number of points for each seat.
    """
    if not isinstance(result, Result):
        raise FamilyError(f"next: expected an Ask, a Shuffle or a Result, got {result!r}")
    places, scores, figures = result.places, result.scores, result.figures
    if figures and (len(figures) != len(teams) or len(set(map(len, figures))) != 1):
        raise FamilyError(f"expected figures for each of {len(teams)} seats, as many for each, got {figures}")
    numbers = (*places, *scores, *chain.from_iterable(figures))
    whole = all(type(number) is int and abs(number) <= MOST_POINTS for number in numbers)
    if whole and len(places) == len(scores) == len(teams):
        by_team = set(zip(teams, places, strict=True))
        if min(places) == 1 and max(places) <= len(by_team) == len(set(teams)):
            return
    raise FamilyError(
        f"expected a place for each of {len(teams)} seats, from 1, equal for partners, and whole scores"
        f" up to {MOST_POINTS:,}, got {result}"
    )


def list_asked(step: Step) -> tuple[int, ...]:
    """The seats that act next; none if chance acts, or the game is over."""
    return step.seats if isinstance(step, Ask) else ()


def find_acting(step: Step, answered: Sequence[int]) -> tuple[int, ...]:
    """The seats whose answers are played, once the seats that failed in the same ask are withdrawn.

    These are the seats that are still asked; none if one of them now has no answer.

    Args:
        step: what the rules say comes next.
        answered: the seats that were asked and did not fail.
    """
    acting = list_asked(step)
    return acting if all(seat in answered for seat in acting) else ()
