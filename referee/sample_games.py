"""Games that follow from a seed, to test the promises of any game on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

from msgspec import Struct

from malice.referee.course import Course, Dealer
from malice.referee.families import Family
from malice.referee.nouns import format_count
from malice.referee.rules import Events, MatchTerms, Result, Rules


class BrokenClaim(AssertionError):
    """A game does not keep a promise of the interface; the message says what was expected, what came, and when."""


class Subject(Struct, frozen=True):
    """A game under one set of parameters."""

    family: Family
    parameters: Any
    seats: int
    ruleset: str = ""
    """What the parameters are called, for messages."""

    @property
    def match(self) -> MatchTerms:
        """What a tournament must know of the parameters."""
        return self.family.match(self.parameters)

    def make(self) -> Rules[Any]:
        """Each call makes a game of its own."""
        return self.family.rules(self.parameters, self.seats)


class Sample(NamedTuple):
    """A game at an ask, or at its end."""

    course: Course
    events: Events
    """Since the ask before."""
    actions: Mapping[int, str]
    """What the seats play now; nothing at the end."""
    played: int
    """How many actions were played before."""

    @property
    def state(self) -> Any:
        """The state in which the seats are asked."""
        return self.course.state

    @property
    def when(self) -> str:
        """The moment, for messages."""
        return f"after {format_count(self.played, 'action')}" if self.played else "at the deal"


def make_dealer(seed: object) -> Dealer:
    """The same cards whenever the seed is the same."""
    return Dealer(sha256(f"sample {seed}".encode()).digest())


def play_sample(subject: Subject, seed: object, rules: Rules[Any] | None = None) -> Iterator[Sample]:
    """Play a game with actions that follow from a seed; yield it at each ask, before it goes on, and at its end.

    Half of all seeds hardly ever choose the last action of a list: it may be the one that gives the game up.

    Args:
        subject: the game.
        seed: chooses cards and actions.
        rules: the same game in another guise.

    Raises:
        BrokenClaim: it is not over after as many actions as its family allows.
    """
    rules, random = rules or subject.make(), Random(f"sample {seed}")
    eager, most = random.random() < 0.5, subject.match.max_actions
    course, count = Course(rules, make_dealer(seed)), 0
    events = course.dealt
    while not isinstance(step := course.step, Result):
        if count >= most:
            raise BrokenClaim(f"expected an end of the game within {most:,} actions, got none")
        actions = {seat: _choose(rules.legal(course.state, seat), random, eager=eager) for seat in step.seats}
        yield Sample(course, events, actions, count)
        events = course.play(actions)
        count += len(actions)
    yield Sample(course, events, {}, count)


def _choose(legal: tuple[str, ...], random: Random, *, eager: bool) -> str:
    if not legal:
        raise BrokenClaim("legal: expected an action of each seat that is asked, got none")
    return random.choice(legal[:-1] if eager and len(legal) > 1 and random.random() < 0.95 else legal)
