"""A game to step from Python: a mutable face over a `Course`, whose states are immutable."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Self

import msgspec
from msgspec import Meta, Struct

from malice.protocol.messages import Out
from malice.referee.course import Course, Dealer, list_asked
from malice.referee.errors import DataError, IllegalAction, RulesetError
from malice.referee.families import load_family, make_rules
from malice.referee.rules import Events, Result, Rules
from malice.referee.rulesets import Ruleset, load_ruleset

if TYPE_CHECKING:
    from malice.referee.records import Record

FORMAT = 1
"""Of a position as JSON."""
WITHDRAWN = "withdrawn"
"""The code of the event `Out` that `Game.withdraw` causes."""

DealSeed = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
"""32 bytes, hex."""
Happening = dict[int, str] | list[int] | int | DealSeed
"""The actions of an ask by seat, the seats that were withdrawn together, or the seed that chance got anew."""


class Position(Struct, frozen=True, forbid_unknown_fields=True):
    """A game so far, which replays."""

    format: int
    ruleset: str
    seats: int
    seed: int | DealSeed
    """That of a `Game`, or the deal seed of a game of a league."""
    happened: list[Happening]

    @property
    def actions(self) -> int:
        """How many actions have been played."""
        return sum(len(what) for what in self.happened if isinstance(what, dict))


class Game:
    """One game of a ruleset.

    Args:
        ruleset: the name of a ruleset, or a ruleset.
        seats: how many play; by default the fewest that can.
        seed: decides every shuffle: the deal seed is SHA-256("game", a zero byte, the seed in decimal). A string is the
            deal seed itself, in hex.

    Raises:
        RulesetError: the ruleset is unknown, or is not for that many seats.
    """

    def __init__(self, ruleset: str | Ruleset, seats: int | None = None, seed: int | str = 0) -> None:
        self.ruleset = load_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
        match = self.ruleset.match
        least, most = match.players
        self.seats = least if seats is None else seats
        if not least <= self.seats <= most:
            raise RulesetError(f"{self.ruleset.name}: expected {least} to {most} seats, got {self.seats}")
        self.seed = seed
        family = load_family(self.ruleset.family)
        self._public = family.public | {Out}
        self._alone = match.same_deal
        rules = make_rules(self.ruleset.family, self.ruleset.rules, self.seats)
        self._course = Course(rules, _make_dealer(seed))
        self._events: list[Struct] = list(self._course.dealt)
        self._happened: list[Happening] = []

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that act next, in ascending order; none if the game is over."""
        return list_asked(self._course.step)

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return isinstance(self._course.step, Result)

    @property
    def result(self) -> Result | None:
        """The result; None while the game goes on."""
        step = self._course.step
        return step if isinstance(step, Result) else None

    @property
    def turn(self) -> int:
        """How many turns have begun."""
        return self._course.rules.turn(self._course.state)

    @property
    def actions(self) -> int:
        """How many actions have been played."""
        return sum(len(what) for what in self._happened if isinstance(what, dict))

    def legal(self, seat: int | None = None) -> tuple[str, ...]:
        """List the legal actions of a seat; it need not be named where one acts."""
        return self._course.rules.legal(self._course.state, self._name_seat(seat))

    def play(self, action: str | Mapping[int, str]) -> Events:
        """Play the action of the seat to act, or those of all seats to act, by seat; tell all that happens, unmasked.

        Raises:
            IllegalAction: an action is not legal, or not every seat to act has one; nothing has changed then.
        """
        course = self._course
        asked = list_asked(course.step)
        if isinstance(action, str):
            if len(asked) != 1:
                raise IllegalAction(f"expected an action of each of the seats {list(asked)}, got {action!r} alone")
            actions = {asked[0]: action}
        else:
            actions = dict(action)
            if not asked or sorted(actions) != list(asked):
                raise IllegalAction(f"expected an action of each of the seats {list(asked)}, got {actions}")
        events = course.play(actions)
        self._happened.append(actions)
        self._events += events
        return events

    def withdraw(self, *seats: int) -> Events:
        """Take seats out of the game together, as the referee does with a bot that fails."""
        return self._withdraw(dict.fromkeys(seats, WITHDRAWN))

    def _withdraw(self, codes: Mapping[int, str]) -> Events:
        for seat in codes:
            self._refuse_seat(seat)
        events = self._course.withdraw(codes)
        self._happened.append(list(codes))
        self._events += events
        return events

    def view(self, seat: int | None = None) -> Any:
        """Return what a seat sees, as its bot gets it; the seat need not be named where one acts."""
        return self._course.rules.view(self._course.state, self._name_seat(seat))

    def events(self, seat: int | None = None, since: int = 0) -> Events:
        """Return what a seat heard so far, less the first `since` of its events."""
        seat = self._name_seat(seat)
        mask = self._course.rules.mask
        heard = []
        for event in self._events:
            if self._alone and getattr(event, "seat", seat) != seat:
                continue
            masked = event if type(event) in self._public else mask(event, seat)
            if masked is not None:
                heard.append(masked)
        return tuple(heard[since:])

    def copy(self) -> Self:
        """Return a game that goes on like this one, and without it: its shuffles to come are the same."""
        other = copy(self)
        other._course = self._course.copy()
        other._events = self._events.copy()
        other._happened = self._happened.copy()
        return other

    def reseed(self, seed: int | str) -> None:
        """Let what is still to be shuffled fall as `seed` decides."""
        self._course.replace_dealer(_make_dealer(seed))
        self._happened.append(seed)

    def position(self) -> bytes:
        """Return the game so far as JSON."""
        happened = [what.copy() if isinstance(what, dict | list) else what for what in self._happened]
        return msgspec.json.encode(Position(FORMAT, self.ruleset.name, self.seats, self.seed, happened))

    @classmethod
    def from_position(cls, json: bytes | str) -> Self:
        """Return the game of a position.

        Raises:
            DataError: it is not a position, or does not replay.
        """
        return cls._restore(decode_position(json))

    @classmethod
    def from_record(cls, record: Record, ruleset: Ruleset, actions: int) -> Self:
        """Return a recorded game as it stood after so many actions, verdicts among them.

        Where seats answered together it is that after all of their answers.

        Args:
            record: the game.
            ruleset: what was played.
            actions: from 0 to all of them.

        Raises:
            DataError: there are fewer.
            RecordError: the record does not replay.
        """
        from malice.referee.replay import VERDICT, is_unplayed, replay_asks

        most = 0 if is_unplayed(record) else len(record.actions)
        if not 0 <= actions <= most:
            raise DataError(f"game {record.key}: expected 0 to {most} actions, got {actions}")
        if record.position:
            game = cls._restore(record.position, ruleset)
            game.reseed(record.deal_seed)
        else:
            game = cls(ruleset, len(record.entries), record.deal_seed)
        for ask in replay_asks(record):
            if ask.first >= actions:
                break
            if codes := {seat: action.removeprefix(VERDICT) for seat, action in ask.moves if action[0] == VERDICT}:
                game._withdraw(codes)
            if answers := {seat: action for seat, action in ask.moves if seat not in codes}:
                game.play(answers)
        return game

    @classmethod
    def _restore(cls, position: Position, ruleset: Ruleset | None = None) -> Self:
        game = cls(ruleset or position.ruleset, position.seats, position.seed)
        for index, what in enumerate(position.happened):
            try:
                game._repeat(what)
            except (IllegalAction, ValueError) as error:
                raise DataError(f"position: happened[{index}]: {error}") from None
        return game

    def _repeat(self, what: Happening) -> None:
        if isinstance(what, dict):
            self.play(what)
        elif isinstance(what, list):
            self.withdraw(*what)
        else:
            self.reseed(what)

    def _name_seat(self, seat: int | None) -> int:
        if seat is not None:
            self._refuse_seat(seat)
            return seat
        asked = list_asked(self._course.step)
        if len(asked) != 1:
            raise ValueError(f"expected the number of a seat, as the seats to act are {list(asked)}, got none")
        return asked[0]

    def _refuse_seat(self, seat: int) -> None:
        if not 0 <= seat < self.seats:
            raise ValueError(f"expected a seat from 0 to {self.seats - 1}, got {seat}")


def _make_dealer(seed: int | str) -> Dealer:
    return Dealer(bytes.fromhex(seed) if isinstance(seed, str) else sha256(b"game\0%d" % seed).digest())


def decode_position(json: bytes | str) -> Position:
    """Decode a position; whether it replays is not checked.

    Raises:
        DataError: it is not a position.
    """
    try:
        position = msgspec.json.decode(json, type=Position)
    except msgspec.MsgspecError as error:
        raise DataError(f"position: {error}") from None
    if position.format != FORMAT:
        raise DataError(f"position: expected format {FORMAT}, got {position.format}")
    return position


def start_course(rules: Rules[Any], dealer: Dealer, position: Position | None = None) -> Course:
    """Return the course of a game from its deal, or from a position on; its `dealt` has the events so far.

    Args:
        rules: the game.
        dealer: chooses the order of every shuffle, after a position of those that are still to come.
        position: how the game began.

    Raises:
        DataError: the position does not replay, or its game is over.
    """
    if position is None:
        return Course(rules, dealer)
    game = Game._restore(position)
    if game.over:
        raise DataError(f"position: expected a game that goes on, got one that was over after {game.actions} actions")
    course = game._course
    course.rules, course.dealt = rules, tuple(game._events)
    course.replace_dealer(dealer)
    return course
