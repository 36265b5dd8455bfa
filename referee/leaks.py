"""What looks like a leak: a seat is told more than it sees, or sees more than a spectator does.

Two cards change places before the deal, and the same actions are played again. As long as a seat sees the same table in
both games, the cards are hidden from it: then it must be told the same, and may do the same. And a seat that is asked
sees no more than a spectator, who sees the hands of the seats to act.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from malice.protocol.cards import HIDDEN
from malice.referee.course import Course, Dealer, list_asked
from malice.referee.errors import DataError
from malice.referee.rules import Ask, Events, Rules, World
from malice.referee.sample_games import BrokenClaim, Subject, make_dealer, play_sample

SWAPS = 80
"""How many pairs of cards change places."""
ASKS = 60
"""How many asks of a game are played again."""
WORLDS = 3
"""At how many asks of a game each seat gets a world."""


class Disclosure(NamedTuple):
    """What each seat learns at an ask, as JSON."""

    asked: tuple[int, ...]
    actions: Mapping[int, str]
    events: Events
    masked: list[list[Struct | None]]
    """By seat: what it hears of the events."""
    views: dict[int | None, bytes]
    legal: dict[int, tuple[str, ...]]
    when: str


class SwappingDealer(Dealer):
    """Deals as another dealer, but for two cards of one shuffle.

    Args:
        dealer: the other one.
        seats: a shuffle of no more cards than that draws lots, which everybody may hear of.
        shuffle: which of the others, from 0.
        places: of the two cards; larger ones wrap around.
    """

    def __init__(self, dealer: Dealer, seats: int, shuffle: int, places: tuple[int, int]) -> None:
        self._dealer = dealer
        self._seats = seats
        self._left = shuffle
        self._places = places

    def order(self, size: int) -> list[int]:
        """Ask the other dealer, and perhaps swap two of its cards."""
        order = self._dealer.order(size)
        if size > self._seats:
            if self._left == 0:
                one, other = (place % size for place in self._places)
                order[one], order[other] = order[other], order[one]
            self._left -= 1
        return order


class Alone:
    """A game in which each seat plays for itself: what names another seat, nobody hears of."""

    def __init__(self, rules: Rules[Any]) -> None:
        self._rules = rules

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rules, name)

    def mask(self, event: Any, seat: int) -> Struct | None:
        """Mask an event as the referee does."""
        return self._rules.mask(event, seat) if getattr(event, "seat", seat) == seat else None


def tell_no_secret(subject: Subject, seed: object) -> None:
    """No seat is told what its view hides, may do what only hidden cards allow, or sees what a spectator does not."""
    rules, random = subject.make(), Random(f"secrets {seed}")
    if subject.match.same_deal:
        rules = cast(Rules[Any], Alone(rules))
    known = list(_follow_sample(subject, seed, rules))
    for number in range(SWAPS):
        places = random.randrange(10**6), random.randrange(10**6)
        dealer = SwappingDealer(make_dealer(seed), rules.seats, 0 if number % 4 else number // 4 % 3, places)
        compare(rules, known, dealer)


def _follow_sample(subject: Subject, seed: object, rules: Rules[Any]) -> Iterator[Disclosure]:
    for number, sample in enumerate(play_sample(subject, seed, rules)):
        if number == ASKS or not sample.actions:
            return
        yield _tell(sample.course, sample.events, sample.actions, sample.when)


def _tell(course: Course, events: Events, actions: Mapping[int, str], when: str) -> Disclosure:
    rules, state, asked = course.rules, course.state, list_asked(course.step)
    seats = range(rules.seats)
    return Disclosure(
        asked,
        actions,
        events,
        [[rules.mask(event, seat) for event in events] for seat in seats],
        {seat: msgspec.json.encode(rules.view(state, seat)) for seat in (None, *seats)},
        {seat: rules.legal(state, seat) for seat in asked},
        when,
    )


def stay_the_same_in_a_world(subject: Subject, seed: object) -> None:
    """Where the hidden cards are dealt anew for a seat, nothing that it reads or may do changes."""
    resample, random = subject.family.resample, Random(f"worlds {seed}")
    if resample is None:
        return
    rules = subject.make()
    samples = sum(1 for sample in play_sample(subject, seed, rules) if sample.actions)
    chosen = set(random.sample(range(samples), min(WORLDS, samples)))
    events: list[Struct] = []
    for number, sample in enumerate(play_sample(subject, seed, rules)):
        events += sample.events
        for seat in range(subject.seats) if number in chosen else ():
            heard = _hear(subject, rules, events, seat)
            try:
                world = resample(rules, rules.view(sample.state, seat), heard, random)
            except DataError as error:
                raise BrokenClaim(f"resample: expected a world for seat {seat} {sample.when}, got {error}") from error
            if difference := _find_difference(subject, rules, sample.state, world, seat, heard):
                raise BrokenClaim(f"resample: expected for seat {seat} {sample.when} the same {difference}")


def _hear(subject: Subject, rules: Rules[Any], events: Iterable[Struct], seat: int) -> Events:
    alone = subject.match.same_deal
    masked = (rules.mask(event, seat) for event in events if not alone or getattr(event, "seat", seat) == seat)
    return tuple(event for event in masked if event is not None)


def _find_difference(
    subject: Subject, rules: Rules[Any], state: Any, world: World, seat: int, heard: Events
) -> str | None:
    """Say what a seat would read or might do otherwise in a world."""
    view, other = rules.view(state, seat), rules.view(world.state, seat)
    if view != other:
        shown = _show_difference(msgspec.json.encode(view), msgspec.json.encode(other))
        return f"view as before, got another: {shown}"
    if (again := _hear(subject, rules, world.events, seat)) != heard:
        place = next((place for place, (a, b) in enumerate(zip(heard, again, strict=False)) if a != b), len(again))
        return f"events as before, got another after {place} of them: {again[place : place + 1]}"
    if rules.legal(state, seat) != (legal := rules.legal(world.state, seat)):
        return f"legal actions as before, got {legal}"
    return None


def compare(rules: Rules[Any], known: list[Disclosure], dealer: Dealer) -> None:
    """Play the actions of a game again with other cards; raise `BrokenClaim` if that shows a leak."""
    course = Course(rules, dealer)
    events, blind = course.dealt, set(range(rules.seats))
    early: dict[int, str] = {}
    """By seat: what it was told in another order, which is harmless unless its view shows the difference later."""
    for told in known:
        if not isinstance(course.step, Ask) or course.step.seats != told.asked:
            return
        other = _tell(course, events, told.actions, told.when)
        for seat in sorted(blind):
            if told.views[seat] != other.views[seat]:
                if seat in early:
                    raise BrokenClaim(early[seat])
                blind.remove(seat)
            elif told.masked[seat] != other.masked[seat]:
                if _sort(told.masked[seat]) != _sort(other.masked[seat]):
                    raise BrokenClaim(describe_leak(seat, told, other))
                early.setdefault(seat, describe_leak(seat, told, other))
            elif seat in told.asked and told.legal[seat] != other.legal[seat]:
                raise BrokenClaim(f"legal: seat {seat} may act by cards that its view hides {told.when}")
        for seat in told.asked:
            if told.views[None] == other.views[None] and told.views[seat] != other.views[seat]:
                raise BrokenClaim(
                    f"view: seat {seat} sees what a spectator does not {told.when}, although it is asked:"
                    f" {_show_difference(told.views[seat], other.views[seat])}"
                )
        if any(action not in other.legal[seat] for seat, action in told.actions.items()):
            return
        events = course.play(told.actions)


def describe_leak(seat: int, told: Disclosure, other: Disclosure) -> str:
    """Say what a seat is told although its view hides it."""
    hides = f"{told.when}, and its view hides them"
    if len(told.masked[seat]) != len(other.masked[seat]):
        return f"mask: seat {seat} is told of events that hang on hidden cards {told.when}"
    pairs = zip(told.events, told.masked[seat], other.masked[seat], strict=True)
    for event, mine, theirs in pairs:
        if mine is None or theirs is None or type(mine) is not type(theirs):
            return f"mask: seat {seat} is told of events that hang on hidden cards {told.when}"
        for field in mine.__struct_fields__ if mine != theirs else ():
            if getattr(mine, field) != getattr(theirs, field):
                shown, all_of_it = (
                    list(_list_values(getattr(mine, field))),
                    list(_list_values(getattr(event, field, None))),
                )
                seen = sum(value not in (None, HIDDEN) for value in shown)
                return f"seat {seat} is told {seen} of {max(seen, len(all_of_it))} {field} {hides}"
    return f"mask: seat {seat} is told what hangs on hidden cards {told.when}"


def _sort(masked: list[Struct | None]) -> list[list[str]]:
    """Sort values wherever the order in a field of an event means nothing."""
    return [
        [repr(sorted(map(repr, _list_values(each)))) for each in astuple(event)] if event else [] for event in masked
    ]


def _list_values(value: object) -> Iterator[object]:
    """Yield the single values of a field, however deep they lie."""
    plain = msgspec.to_builtins(value)
    if isinstance(plain, dict):
        plain = list(plain.values())
    if not isinstance(plain, list | tuple):
        yield plain
        return
    for each in plain:
        yield from _list_values(each)


def _show_difference(one: bytes, other: bytes) -> str:
    fields, others = msgspec.json.decode(one), msgspec.json.decode(other)
    return ", ".join(name for name in fields if fields[name] != others.get(name))
