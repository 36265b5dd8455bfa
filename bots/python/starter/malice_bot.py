"""Speaks the malice protocol, version 1, so that a bot only has to choose.

A whole bot:

    from malice_bot import Action, Bot, SeatClock, View, play

    class First(Bot):
        def choose(self, view: View, legal: list[Action], clock: SeatClock) -> Action:
            return legal[0]

    play(First)

Seats, slots and stacks count from 0, piles run from bottom to top, times are milliseconds. Standard output
belongs to the referee: print to `sys.stderr` instead.
"""

from __future__ import annotations

import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeVar

Card = str
"""Rank and suit, `7C`; `WX` is wild, `??` a card hidden from you."""


class Kind(Enum):
    """The kinds of piles."""

    HAND = "h"
    PAYOFF = "p"
    SIDE = "s"
    CENTRE = "c"
    STOCK = "stock"
    ASIDE = "aside"


class Pile(NamedTuple):
    """A pile on the table, the same in actions and in events."""

    kind: Kind
    seat: int | None = None  # its owner; None for the centre stacks, the stock and the cards set aside
    slot: int | None = None  # the number of a side stack or centre stack

    @classmethod
    def read(cls, text: str, own: int | None = None) -> Pile:
        """Return the pile that `text` names; a name without its seat means seat `own`."""
        match = re.fullmatch(r"(\d*)(stock|aside|[hpsc])(\d*)", text)
        if not match:
            raise ValueError(f"expected a pile, got {text!r}")
        kind, seat, slot = Kind(match[2]), match[1], match[3]
        owner = own if kind in (Kind.HAND, Kind.PAYOFF, Kind.SIDE) else None
        return cls(kind, int(seat) if seat else owner, int(slot) if slot else None)


class Action(NamedTuple):
    """A legal action; `pass` and `count` have neither source, target nor card."""

    text: str  # as the referee writes it, `h7C-s0`
    source: Pile | None = None
    target: Pile | None = None
    card: Card | None = None  # the card that moves, from any pile


class CentreStack(NamedTuple):
    """A centre stack; wild cards are shown as themselves."""

    cards: Sequence[Card]
    height: int  # the value reached; it can exceed the number of cards
    needs: str  # the rank that fits next


class Payoff(NamedTuple):
    """A pay-off pile."""

    top: Card | None  # None: it is empty
    left: int | None  # cards in it; None: that is hidden


class SeatView(NamedTuple):
    """The public part of a seat."""

    payoff: Payoff
    hand: int  # how many cards
    side: Sequence[Sequence[Card]]
    team: int
    out: bool  # it has left the game: its cards stay, its turns are skipped


class View(NamedTuple):
    """The table as you see it now."""

    turn: int  # counts the turns of the game, from 1; several requests can have the same
    seat: int  # yours
    hand: Sequence[Card]  # yours, by rank and suit
    stock: int  # cards in it
    aside: int  # cards of completed stacks that were set aside
    centre: Sequence[CentreStack]
    seats: Sequence[SeatView]

    @property
    def own(self) -> SeatView:
        """Your seat."""
        return self.seats[self.seat]


class Dealt(NamedTuple):
    """The cards were dealt; all but the size of the stock is by seat."""

    hands: Sequence[Sequence[Card]]
    payoffs: Sequence[int]  # sizes
    sides: Sequence[Sequence[Sequence[Card]]]
    stock: int


class Flipped(NamedTuple):
    """`card` lies on top of the pay-off pile of `seat` now."""

    seat: int
    card: Card


class TurnBegun(NamedTuple):
    """A turn of `seat` begins."""

    seat: int


class Drawn(NamedTuple):
    """`seat` drew `cards`, in this order."""

    seat: int
    cards: Sequence[Card]


class Moved(NamedTuple):
    """`seat` moved `card` from pile to pile."""

    seat: int
    source: Pile
    target: Pile
    card: Card


class Shuffled(NamedTuple):
    """Cards moved from one pile to another, which was shuffled; source and target may be the same."""

    source: Pile
    target: Pile
    cards: int


class Counted(NamedTuple):
    """`seat` asked for the pay-off counts."""

    seat: int
    left: Sequence[int] | None  # by seat; None: only `seat` sees them, in its view


class Passed(NamedTuple):
    """`seat` ended its turn without a discard."""

    seat: int


class Left(NamedTuple):
    """`seat` is out of the game by the verdict `code`."""

    seat: int
    code: str


Event = Dealt | Flipped | TurnBegun | Drawn | Moved | Shuffled | Counted | Passed | Left


class Clock(NamedTuple):
    """The time control of a game; None: no such limit."""

    move_ms: int | None
    bank_ms: int | None
    increment_ms: int
    margin_ms: int
    kind: str  # which time counts: "wall" or "cpu"
    cap_ms: int | None  # by "cpu", the most time on the wall for an action


class SeatClock(NamedTuple):
    """Your clock: what is left, and what your last action took; None: no bank, no last action."""

    bank_ms: float | None
    last_ms: float | None
    last_cpu_ms: float | None


class Player(NamedTuple):
    """Who sits at a seat; without partners each seat is a team."""

    name: str
    team: int


class Game(NamedTuple):
    """The start of a game, before the cards are dealt."""

    game: int  # counts the games of this process, from 1
    family: str  # the game, of which there are many rulesets
    ruleset: str
    rules: Mapping[str, Any]  # every parameter; `malice rules show` explains them
    seat: int  # yours
    seats: Sequence[Player]
    rng: int  # a seed for a `random.Random` of your own, so that a game can be repeated
    commit: str
    clock: Clock


class Result(NamedTuple):
    """How a game ended."""

    place: int  # yours: 1 is best, equal places are tied
    places: Sequence[int]
    scores: Sequence[int]
    reason: str
    key: str


class Bot(ABC):
    """Plays one game. Each game gets a new object, so that nothing of the last game remains."""

    def __init__(self, game: Game) -> None:
        self.game = game

    @abstractmethod
    def choose(self, view: View, legal: list[Action], clock: SeatClock) -> Action | tuple[Action, str]:
        """Return one of the legal actions, or one and a note for the replay."""

    def watch(self, event: Event) -> None:
        """Receive an event since the last choice, that choice included; called in order, before `choose`."""
        return

    def end(self, result: Result) -> None:
        """Receive the result of the game."""
        return


def play(seat: Callable[[Game], Bot], name: str | None = None, version: str | None = None) -> None:
    """Play game after game, until the referee says bye or closes the input.

    Args:
        seat: creates a bot for a game, such as its class.
        name: its name, if not that of bot.toml; likewise `version`.
    """
    bot: Bot | None = None
    for line in sys.stdin.buffer:
        request = json.loads(line, parse_float=_parse_number)
        answer: dict[str, Any] = {}
        match request["type"]:
            case "bye":
                return
            case "hello":
                answer = {"protocol": 1, "name": name, "version": version}
            case "game_start":
                bot = seat(_read_game(request))
            case "move" if bot:
                answer = _answer_move(bot, request)
            case "game_end" if bot:
                bot.end(_read_fields(Result, request))
        print(json.dumps({"id": request["id"]} | answer), flush=True)


def _parse_number(text: str) -> float:
    """Read 7.0 as 7: the protocol allows both, and only an integer is an index."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _answer_move(bot: Bot, request: Any) -> dict[str, str]:
    view = _read_view(request["view"])
    for event in _read_events(request["events"]):
        bot.watch(event)
    legal = [_read_action(text, view) for text in request["legal"]]
    choice = bot.choose(view, legal, _read_fields(SeatClock, request["clock"]))
    if isinstance(choice, Action):
        return {"move": choice.text}
    action, note = choice
    return {"move": action.text, "note": note}


def _read_action(text: str, view: View) -> Action:
    source, _, target = text.partition("-")
    if not target:
        return Action(text)
    to = Pile.read(target, view.seat)
    if source.startswith("h"):
        return Action(text, Pile(Kind.HAND, view.seat), to, source[1:])
    pile = Pile.read(source, view.seat)
    seat = view.seats[view.seat if pile.seat is None else pile.seat]
    return Action(text, pile, to, seat.payoff.top if pile.slot is None else seat.side[pile.slot][-1])


Record = TypeVar("Record", bound=NamedTuple)


def _read_fields(kind: type[Record], fields: Any) -> Record:
    """Build a `kind` from the fields of an object; ignore fields of a later referee."""
    return kind._make(fields[field] for field in kind._fields)


def _read_game(fields: Any) -> Game:
    clock, seats = _read_fields(Clock, fields["clock"]), [_read_fields(Player, seat) for seat in fields["seats"]]
    return _read_fields(Game, fields | {"clock": clock, "seats": seats})


def _read_view(fields: Any) -> View:
    centre = [_read_fields(CentreStack, stack) for stack in fields["centre"]]
    seats = [
        _read_fields(SeatView, seat | {"payoff": _read_fields(Payoff, seat["payoff"])}) for seat in fields["seats"]
    ]
    return _read_fields(View, fields | {"centre": centre, "seats": seats})


def _read_events(events: Any) -> Iterator[Event]:
    """Read the events, and skip those of a later referee."""
    for event in events:
        match event:
            case {"type": "deal", **fields}:
                yield _read_fields(Dealt, fields)
            case {"type": "flip", **fields}:
                yield _read_fields(Flipped, fields)
            case {"type": "turn", **fields}:
                yield _read_fields(TurnBegun, fields)
            case {"type": "draw", **fields}:
                yield _read_fields(Drawn, fields)
            case {"type": "move", "seat": seat, "from": source, "to": target, "card": card}:
                yield Moved(seat, Pile.read(source), Pile.read(target), card)
            case {"type": "shuffle", "from": source, "to": target, "count": count}:
                yield Shuffled(Pile.read(source), Pile.read(target), count)
            case {"type": "count", **fields}:
                yield _read_fields(Counted, fields)
            case {"type": "pass", "seat": seat}:
                yield Passed(seat)
            case {"type": "out", "seat": seat, "code": code}:
                yield Left(seat, code)
