"""A game to step from Python: a mutable face over a `Course`, whose states are immutable."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Self

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from malice.protocol.messages import GameStart, Out
from malice.referee.course import Course, Dealer, list_asked, make_course, make_game_dealer
from malice.referee.errors import DataError, IllegalAction, RulesetError
from malice.referee.families import Family, load_family, make_rules
from malice.referee.learning import Learner
from malice.referee.rollouts import Policy, advance, roll_out
from malice.referee.rules import Events, Result, Rules, World
from malice.referee.rulesets import Ruleset, load_ruleset, make_ruleset, ships

if TYPE_CHECKING:
    from malice.referee.records import Record

SEED_BITS = 53
"""Of a seed that is drawn: a whole number in the JSON of any language."""
FORMAT = 1
"""Of a position as JSON."""
WITHDRAWN = "withdrawn"
"""The code of the event `Out` that `Game.withdraw` causes."""

DealSeed = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
"""32 bytes, hex."""
Happening = dict[int, str] | list[int | tuple[int, str]] | int | DealSeed
"""The actions of an ask by seat, the seats that left together (with the code of a verdict), or the seed that chance got
anew."""


class Beginning(Struct, frozen=True, forbid_unknown_fields=True):
    """A game in progress, given by its state."""

    state: Any
    """As the family has it."""
    events: list[Any]
    """All that led to it, unmasked; none if they are unknown."""
    actions: int
    """How many actions led to it."""


class Position(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A game so far, which replays."""

    format: int
    ruleset: str
    seats: int
    seed: int | DealSeed
    """That of a `Game`, or the deal seed of a game of a league: decides every shuffle since the beginning."""
    happened: list[Happening]
    """Since the beginning."""
    family: str = ""
    """With `rules`, of a ruleset that does not ship under that name."""
    rules: Any = None
    beginning: Beginning | None = None
    """Where the game was taken up; by default it begins with the deal."""

    @property
    def actions(self) -> int:
        """How many actions have been played."""
        return _count_actions(self.happened) + (self.beginning.actions if self.beginning else 0)

    def find_ruleset(self) -> Ruleset:
        """Find the ruleset: its own, or one that ships.

        Raises:
            RulesetError: it is neither.
        """
        if self.family:
            return make_ruleset(self.ruleset, self.family, self.rules)
        return load_ruleset(self.ruleset)


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
        self._course = make_course(rules, make_game_dealer(seed))
        self._happened: list[Happening] = []
        self._actions = 0
        self._world: World | None = None
        """Where the game was taken up, if that is not the deal."""

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
        return self._actions

    @cached_property
    def learner(self) -> Learner:
        """What a program that learns needs: choices, and views as vectors.

        Raises:
            RulesetError: the family tells nothing of it.
        """
        return _make_learner(self.ruleset, self.seats)

    @property
    def teams(self) -> tuple[int, ...]:
        """The team of each seat; without partners, the seat itself."""
        return self._course.rules.teams

    def legal(self, seat: int | None = None) -> tuple[str, ...]:
        """List the legal actions of a seat; it need not be named where one acts."""
        return self._course.legal(self._name_seat(seat))

    def play(self, action: str | Mapping[int, str]) -> None:
        """Play the action of the seat to act, or those of all seats to act, by seat.

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
            if not asked or actions.keys() != {*asked}:
                raise IllegalAction(f"expected an action of each of the seats {list(asked)}, got {actions}")
        course.play(actions)
        self._happened.append(actions)
        self._actions += len(actions)

    def withdraw(self, *seats: int) -> None:
        """Take seats out of the game together, as the referee does with a bot that fails."""
        self._withdraw(dict.fromkeys(seats, WITHDRAWN))

    def _withdraw(self, codes: Mapping[int, str]) -> None:
        for seat in codes:
            self._refuse_seat(seat)
        course = self._course
        if not isinstance(course, Course):  # the compiled one knows only games that nobody has left
            course = self._course = Course(course.rules, course.dealer, course.state, (*course.events,))
        course.withdraw(codes)
        self._happened.append([seat if code == WITHDRAWN else (seat, code) for seat, code in codes.items()])

    def view(self, seat: int | None = None) -> Any:
        """What a seat sees, as its bot gets it; the seat need not be named where one acts."""
        return self._course.view(self._name_seat(seat))

    def encode(self, seat: int | None = None) -> array[float]:
        """The view of a seat as the vector of `learner`, an array of type "f".

        Raises:
            RulesetError: the family tells nothing of it.
        """
        seat, course, encode = self._name_seat(seat), self._course, self.learner.encode
        return encode(course.view(seat)) if isinstance(course, Course) else array("f", course.encode(seat))

    def view_table(self) -> Any:
        """What a spectator sees: the hands of the seats to act, and no other secret."""
        return self._course.view(None)

    def events(self, seat: int | None = None, since: int = 0) -> Events:
        """What a seat has received so far, without the first `since` events."""
        seat = self._name_seat(seat)
        mask = self._course.rules.mask
        received = []
        for event in self._course.events:
            if self._alone and getattr(event, "seat", seat) != seat:
                continue
            masked = event if type(event) in self._public else mask(event, seat)
            if masked is not None:
                received.append(masked)
        return tuple(received[since:])

    def copy(self) -> Self:
        """The copy goes on by itself, with the same shuffles to come."""
        other = copy(self)
        other._course = self._course.copy()
        other._happened = self._happened.copy()
        return other

    def rollout(self, policy: Policy, count: int, rng: Random) -> tuple[Result, ...]:
        """Play the game on to its end so many times, each time with other shuffles to come; it stays as it is.

        Args:
            policy: how every seat plays.
            count: how many times.
            rng: draws the shuffles, and what a policy leaves to chance.

        Raises:
            RulesetError: nobody knows how to play like that here.
        """
        return roll_out(self._course, policy, [rng.getrandbits(SEED_BITS) for _ in range(count)])

    def advance(self, policy: Policy, rng: Random, turns: int | None = None) -> None:
        """Play the game on, for so many turns or to its end; the rest of a turn that has begun counts as one.

        Args:
            policy: how every seat plays.
            rng: draws what the policy leaves to chance; the shuffles to come stay as they are.
            turns: how many at most.

        Raises:
            RulesetError: nobody knows how to play like that here.
        """
        played = advance(self._course, policy, rng.getrandbits(SEED_BITS), turns)
        self._happened += played
        self._actions += sum(map(len, played))

    def reseed(self, seed: int | str) -> None:
        """Let what is still to be shuffled fall as `seed` decides."""
        self._course.replace_dealer(make_game_dealer(seed))
        self._happened.append(seed)

    def resample(self, seat: int, rng: Random) -> None:
        """Deal anew what a seat does not know, and all that is still to be shuffled.

        The game becomes one that is drawn uniformly from those in which the seat would have received every event and
        view that it did, while all seats acted as they have.

        Raises:
            RulesetError: the family cannot do so.
            DataError: the game is over, or the events that the seat received are unknown.
        """
        self._refuse_seat(seat)
        if self.over:
            raise DataError("expected a game that goes on, got one that is over")
        actions = self.actions
        self._become(self.view(seat), self.events(seat), rng)
        assert self._world is not None
        self._world = replace(self._world, actions=actions)
        self._actions = actions

    @classmethod
    def from_view(
        cls,
        ruleset: str | Ruleset | GameStart | Mapping[str, Any],
        view: Any,
        events: Iterable[Any],
        rng: Random,
        seats: int | None = None,
    ) -> Self:
        """Make a game that fits what a bot received, drawn uniformly from all that do.

        Args:
            ruleset: its name, a ruleset, or the whole `game_start` that the bot received.
            view: the `view` of its last request.
            events: the `events` of all its requests in this game.
            rng: draws it, and all that is still to be shuffled.
            seats: how many play; by default as `game_start` says, or else the fewest that can.

        Raises:
            RulesetError: the ruleset is unknown, or its family cannot do so.
            DataError: no game fits.
        """
        named = msgspec.to_builtins(ruleset) if isinstance(ruleset, GameStart) else ruleset
        if isinstance(named, Mapping):
            seats = len(named["seats"]) if seats is None else seats
            named = make_ruleset(named["ruleset"], named["family"], named["rules"])
        game = cls(named, seats)
        family = load_family(game.ruleset.family)
        game._become(_convert("view", view, family.view), _convert_events(family, events), rng)
        return game

    def _become(self, view: Any, heard: Events, rng: Random) -> None:
        """Go on from a world in which the seat of the view received exactly these events."""
        name = self.ruleset.family
        resample = load_family(name).resample
        if resample is None:
            raise RulesetError(f"{self.ruleset.name}: expected a game that can deal anew, got {name!r}, which cannot")
        events = self._course.events
        first = type(events[0]).__name__ if events else "the deal"
        if not heard or type(heard[0]).__name__ != first:
            got = type(heard[0]).__name__ if heard else "none"
            raise DataError(f"events: expected all that the seat has heard, from {first} on, got {got}")
        try:
            world = resample(self._course.rules, view, heard, rng)
        except (LookupError, ValueError, IllegalAction) as error:
            raise DataError(f"events: expected those of one seat since the deal, got others: {error!r}") from error
        other = copy(self)
        other._take_up(world, rng.getrandbits(SEED_BITS))
        if other.events(view.seat) != heard or other.view(view.seat) != view:
            raise DataError("view and events: expected those of one seat at one moment, got others")
        self.__dict__ |= other.__dict__

    def _take_up(self, world: World, seed: int | str) -> None:
        """Go on from a world, with other shuffles to come."""
        self._course = make_course(self._course.rules, make_game_dealer(seed), world.state, world.events)
        self._happened = []
        self._actions = world.actions
        self._world, self.seed = world, seed

    def position(self) -> bytes:
        """Encode the game so far as JSON."""
        happened = [what.copy() if isinstance(what, dict | list) else what for what in self._happened]
        family, rules, world = "", None, self._world
        if not ships(self.ruleset):
            family, rules = self.ruleset.family, self.ruleset.rules
        beginning = Beginning(world.state, list(world.events), world.actions) if world else None
        position = Position(FORMAT, self.ruleset.name, self.seats, self.seed, happened, family, rules, beginning)
        return msgspec.json.encode(position)

    @classmethod
    def from_position(cls, json: bytes | str) -> Self:
        """Go on with what `position` encoded.

        Raises:
            DataError: it is not a position, or does not replay.
        """
        return cls._restore(decode_position(json))

    @classmethod
    def from_record(cls, record: Record, ruleset: Ruleset, actions: int) -> Self:
        """Go on from a recorded game as it stood after a number of actions, verdicts among them.

        Where seats answered together it is that after all of their answers.

        Args:
            record: the game.
            ruleset: what was played.
            actions: from 0 to all of them.

        Raises:
            DataError: there are fewer.
            RecordError: the record does not replay.
        """
        from malice.referee.replay import VERDICT, is_unplayed, replay_asks  # it imports this module

        most = 0 if is_unplayed(record) else len(record.actions)
        if not 0 <= actions <= most:
            raise DataError(f"game {record.key}: expected 0 to {most} actions, got {actions}")
        if record.position:
            game = cls._restore(record.position)
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
    def _restore(cls, position: Position) -> Self:
        game = cls(position.find_ruleset(), position.seats, position.seed)
        if position.beginning is not None:
            game._begin(position.beginning, position.seed)
        for index, what in enumerate(position.happened):
            try:
                game._repeat(what)
            except (IllegalAction, ValueError) as error:
                raise DataError(f"position: happened[{index}]: {error}") from None
        return game

    def _begin(self, beginning: Beginning, seed: int | str) -> None:
        """Take the game up from the state of a position."""
        family, rules = load_family(self.ruleset.family), self._course.rules
        state = _convert("position: beginning.state", beginning.state, type(rules.start()))
        events = _convert_events(family, beginning.events)
        try:
            family.check_state(rules, state)
            self._take_up(World(state, events, beginning.actions), seed)
        except (LookupError, ValueError) as error:
            raise DataError(f"position: beginning.state: {error}") from None

    def _repeat(self, what: Happening) -> None:
        if isinstance(what, dict):
            self.play(what)
        elif isinstance(what, list):
            self._withdraw(dict((each, WITHDRAWN) if isinstance(each, int) else each for each in what))
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


@lru_cache
def _make_learner(ruleset: Ruleset, seats: int) -> Learner:
    """Made once, as programs that learn play one ruleset again and again."""
    family = load_family(ruleset.family)
    if family.learner is None:
        raise RulesetError(f"{ruleset.name}: expected a game with a `learner`, {family.name!r} has none")
    return family.learner(ruleset.rules, seats)


def _count_actions(happened: Sequence[Happening]) -> int:
    return sum(len(what) for what in happened if isinstance(what, dict))


def _convert(what: str, data: Any, kind: Any) -> Any:
    try:
        return data if isinstance(data, kind) else msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise DataError(f"{what}: {error}") from None


def _convert_events(family: Family, events: Iterable[Any]) -> Events:
    kind = family.event | Out
    return tuple(
        event if isinstance(event, Struct) else _convert(f"events[{index}]", event, kind)
        for index, event in enumerate(events)
    )


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
    """Begin a game with its deal, or in a position; `dealt` of the course has the events so far.

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
    return Course(rules, dealer, game._course.state, (*game._course.events,))
