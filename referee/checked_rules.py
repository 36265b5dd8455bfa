"""A game whose every answer is checked: against the types of its family, its `match`, and what a league can store."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import msgspec
import msgspec.inspect
from msgspec import Struct

from malice.protocol import LINE_BYTES
from malice.referee.errors import FamilyError
from malice.referee.families import Family
from malice.referee.rules import Ask, Events, MatchTerms, Result, Rules, Shuffle, Step

SHOWN = 200
"""The most characters of a wrong value that a message shows."""


class CheckedRules:
    """Passes everything on to a game, and refuses what the game must not return: the game is at fault, never a bot.

    All methods raise `FamilyError`, which says what was expected, what came, and where the method is.

    Args:
        rules: the game.
        family: its family.
        parameters: what it is played under.
        seats: how many seats it was made for.
    """

    def __init__(self, rules: Rules[Any], family: Family, parameters: Any, seats: int) -> None:
        self._rules = rules
        self._match = family.match(parameters)
        self._view = _Kind("view", family.view)
        self._event = _Kind("event", family.event)
        self._figures = sum(not each.timed for each in family.statistics)
        self.seats = rules.seats
        self.teams = rules.teams
        check_match(self._match)
        self._check_seats(seats)

    def _check_seats(self, seats: int) -> None:
        if self.seats != seats:
            raise FamilyError(f"seats: expected {seats}, as it was made for, got {self.seats!r}")
        whole = isinstance(self.teams, tuple) and all(type(team) is int for team in self.teams)
        if not whole or len(self.teams) != seats:
            raise FamilyError(f"teams: expected a tuple with a number for each of {seats} seats, got {self.teams!r}")

    def start(self) -> Any:
        """Pass on the state before the first shuffle."""
        return self._rules.start()

    def next(self, state: Any, /) -> Step:
        """Check who acts: seats that exist, ascending, several only in a simultaneous game."""
        step = self._rules.next(state)
        if isinstance(step, Shuffle):
            if type(step.size) is not int or step.size < 0:
                self._refuse("next", "a Shuffle of a whole number of cards", step)
        elif isinstance(step, Ask):
            self._check_asked(step)
        elif isinstance(step, Result):
            if not isinstance(step.reason, str) or not step.reason or len(step.reason.split()) != 1:
                self._refuse("next", "a Result with a reason in one word", step)
            if step.figures and len(step.figures[0]) != self._figures:
                self._refuse("next", f"a Result with {self._figures} figures for each seat, as `statistics` says", step)
        else:
            self._refuse("next", "an Ask, a Shuffle or a Result", step)
        return step

    def _check_asked(self, ask: Ask) -> None:
        seats = ask.seats
        if not isinstance(seats, tuple) or not seats or any(type(seat) is not int for seat in seats):
            self._refuse("next", "an Ask with a tuple of seats, at least one", ask)
        if list(seats) != sorted(set(seats) & set(range(self.seats))):
            self._refuse("next", f"an Ask of seats from 0 to {self.seats - 1}, each once, in ascending order", ask)
        if len(seats) > 1 and not self._match.simultaneous:
            self._refuse("next", "an Ask of one seat, since `match` does not say that the game is simultaneous", ask)

    def legal(self, state: Any, seat: int, /) -> tuple[str, ...]:
        """Check a list of actions: a tuple of distinct words, at least one for a seat that is asked."""
        legal = self._rules.legal(state, seat)
        refuse_actions(legal, seat, locate(self._rules, "legal"))
        return legal

    def play(self, state: Any, actions: Mapping[int, str], /) -> tuple[Any, Events]:
        """Check the events of actions."""
        return self._check_change("play", self._rules.play(state, actions))

    def shuffled(self, state: Any, order: Sequence[int], /) -> tuple[Any, Events]:
        """Check the events of a shuffle."""
        return self._check_change("shuffled", self._rules.shuffled(state, order))

    def withdraw(self, state: Any, seats: Sequence[int], /) -> tuple[Any, Events]:
        """Check the events of a withdrawal."""
        return self._check_change("withdraw", self._rules.withdraw(state, seats))

    def _check_change(self, method: str, change: Any) -> tuple[Any, Events]:
        if not isinstance(change, tuple) or len(change) != 2:
            self._refuse(method, "a state and a tuple of events", change)
        state, events = change
        if not isinstance(events, tuple):
            self._refuse(method, "a state and a tuple of events", events)
        for event in events:
            if why := self._event.explain_difference(event):
                self._refuse(method, why, event)
        return state, events

    def view(self, state: Any, seat: int | None, /) -> Struct:
        """Check the type of a view, and of all that is in it."""
        view = self._rules.view(state, seat)
        if why := self._view.explain_difference(view):
            self._refuse("view", why, view)
        return view

    def mask(self, event: Any, seat: int, /) -> Struct | None:
        """Check a masked event like any other."""
        masked = self._rules.mask(event, seat)
        if masked is not None and (why := self._event.explain_difference(masked)):
            self._refuse("mask", f"None, or {why}", masked)
        return masked

    def turn(self, state: Any, /) -> int:
        """Check that turns are counted by whole numbers."""
        turn = self._rules.turn(state)
        if type(turn) is not int or turn < 0:
            self._refuse("turn", "a whole number, 0 or more", turn)
        return turn

    def _refuse(self, method: str, expected: str, got: object) -> NoReturn:
        _refuse(method, expected, got, locate(self._rules, method))


class _Kind:
    """What a family declares as the type of its views or of its events.

    Raises:
        FamilyError: nothing can be decoded as this type.
    """

    def __init__(self, name: str, declared: Any) -> None:
        self._name = name
        try:
            self._decoder = msgspec.json.Decoder(declared)
            self._classes = tuple(_list_classes(declared))
        except (TypeError, ValueError) as error:
            raise FamilyError(f"the type of its {name}s cannot be read from JSON: {error}") from None
        names = ", ".join(each.__name__ for each in self._classes)
        self._expected = f"a struct that is declared as {name} ({names})"

    def explain_difference(self, value: object) -> str | None:
        """Say what was expected instead of a value; None if it is what the type says."""
        if type(value) not in self._classes:
            return self._expected
        try:
            line = msgspec.json.encode(value)
            again = self._decoder.decode(line)
        except (msgspec.MsgspecError, TypeError, ValueError) as error:
            return f"{type(value).__name__} as its fields are declared ({error})"
        return None if again == value else f"{type(value).__name__} that JSON carries unchanged, as {again!r}"


def _list_classes(declared: Any) -> Iterator[type]:
    info = msgspec.inspect.type_info(declared)
    for each in info.types if isinstance(info, msgspec.inspect.UnionType) else (info,):
        if not isinstance(each, msgspec.inspect.StructType):
            raise TypeError(f"expected structs, got {each}")
        yield each.cls


def refuse_actions(legal: object, seat: int, where: str = "") -> None:
    """Accept what `legal` returned only if it is a tuple of distinct words; `where` is the place of the method.

    Raises:
        FamilyError: it is something else.
    """
    expected = f"a tuple of distinct words for seat {seat}"
    if not isinstance(legal, tuple):
        # Two processes list a set in two orders, and a bot that chooses by place plays two games.
        _refuse("legal", expected, legal, where)
    if strange := [action for action in legal if not is_word(action)]:
        _refuse("legal", f"{expected}, without blanks, that do not begin with '!'", strange[0], where)
    if twice := [action for place, action in enumerate(legal) if action in legal[:place]]:
        _refuse("legal", f"{expected}", f"{twice[0]!r} twice", where)


def refuse_length(request: object, seat: int) -> None:
    """Accept what a seat is to read at once, if a line of the protocol holds it.

    Raises:
        FamilyError: it is too long, and a bot that reads no more than that fails through no fault of its own.
    """
    if (length := len(msgspec.json.encode(request))) >= LINE_BYTES:
        raise FamilyError(
            f"expected requests of at most {LINE_BYTES:,} bytes, got {length + 1:,} for seat {seat}: its view, the"
            " events since its last one, and its list of actions"
        )


def is_word(action: object) -> bool:
    """Whether a league can store an action: a word without blanks that does not look like a verdict."""
    if not isinstance(action, str) or action.startswith("!") or action.split() != [action]:
        return False
    return not any("\ud800" <= each <= "\udfff" for each in action)


def _refuse(method: str, expected: str, got: object, where: str) -> NoReturn:
    shown = got if isinstance(got, str) else repr(got)
    raise FamilyError(f"{method}: expected {expected}, got {shown[:SHOWN]}{where}")


def locate(rules: object, method: str) -> str:
    """Say in which file and line a method of a game is, to append to a sentence; empty if nobody can tell."""
    try:
        function = inspect.unwrap(getattr(type(rules), method))
        code = function.__code__
    except AttributeError:
        return ""
    return f" ({code.co_filename}, line {code.co_firstlineno})"


def check_match(match: object) -> None:
    """Make sure that what a family says of its parameters has the types that a tournament counts on.

    Raises:
        FamilyError: it has not.
    """
    if not isinstance(match, MatchTerms):
        raise FamilyError(f"match: expected MatchTerms, got {match!r}")
    try:
        msgspec.convert(msgspec.to_builtins(match), MatchTerms)
    except (msgspec.ValidationError, TypeError) as error:
        raise FamilyError(f"match: {error}, got {match}") from None
    if match.max_actions < 1:
        raise FamilyError(f"match: expected max_actions from 1, got {match.max_actions}")
