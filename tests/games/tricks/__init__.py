"""Tricks: each seat plays a card, the highest of the suit that was led takes them all, and a heart costs a point.

A game for tests, with everything that the others lack: a turn in which several seats act one after the other, hands
that only their seats see, and points of which few are better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.cards import HIDDEN, ORDER, VALUE, make_french_pack
from malice.referee.errors import IllegalAction, RulesetError
from malice.referee.families import Family
from malice.referee.rules import Ask, Events, MatchTerms, Result, Shuffle

PACK = make_french_pack()
Cards = tuple[str, ...]


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters of a ruleset."""

    players: tuple[int, int] = (3, 4)
    """The least and the greatest number of seats."""
    hand: int = 8
    """Cards dealt to each seat; nobody sees the others."""


class View(Struct, frozen=True):
    """The table as a seat sees it."""

    trick: int
    seat: int | None
    leader: int
    hands: tuple[Cards | int, ...]
    """By seat: the cards, or how many they are."""
    table: tuple[str | None, ...]
    """By seat, what lies in this trick."""
    points: tuple[int, ...]
    out: tuple[int, ...]


class Deal(Struct, frozen=True, tag="deal", tag_field="type"):
    """All hands; a seat sees its own."""

    hands: tuple[Cards, ...]


class Played(Struct, frozen=True, tag="played", tag_field="type"):
    """A card comes to the table."""

    seat: int
    card: str


class Taken(Struct, frozen=True, tag="taken", tag_field="type"):
    """A seat takes the trick, and leads the next."""

    seat: int
    points: int


Event = Deal | Played | Taken


class State(Struct, frozen=True):
    """A position: never changed, only replaced."""

    hands: tuple[Cards, ...] = ()
    table: tuple[str | None, ...] = ()
    leader: int = 0
    trick: int = 1
    points: tuple[int, ...] = ()
    out: tuple[tuple[int, ...], ...] = ()


class Tricks:
    """The game under one set of parameters; raises `RulesetError` if there are too few cards."""

    def __init__(self, parameters: Parameters, seats: int) -> None:
        if not 0 < parameters.hand * seats <= len(PACK):
            raise RulesetError(f"hand = {parameters.hand}: expected 1 to {len(PACK) // seats} for {seats} seats")
        self._hand = parameters.hand
        self.seats = seats
        self.teams = tuple(range(seats))

    def start(self) -> State:
        return State()

    def next(self, state: State, /) -> Ask | Shuffle | Result:
        if not state.hands:
            return Shuffle(len(PACK))
        if len(self._list_playing(state)) < 2:
            return self._rank(state, "forfeit")
        waiting = self._list_waiting(state)
        return Ask((waiting[0],)) if waiting else self._rank(state, "hands_empty")

    def _list_playing(self, state: State) -> list[int]:
        """List the seats in the order of the trick."""
        out = {seat for group in state.out for seat in group}
        return [seat for seat in (*self.teams[state.leader :], *self.teams[: state.leader]) if seat not in out]

    def _list_waiting(self, state: State) -> list[int]:
        return [seat for seat in self._list_playing(state) if state.table[seat] is None and state.hands[seat]]

    def _rank(self, state: State, reason: str) -> Result:
        ranks = [(0, points) for points in state.points]
        for order, group in enumerate(state.out):
            for seat in group:
                ranks[seat] = (1, -order)
        places = tuple(1 + sum(other < own for other in ranks) for own in ranks)
        return Result(places, state.points, reason)

    def legal(self, state: State, seat: int, /) -> tuple[str, ...]:
        if self.next(state) != Ask((seat,)):
            return ()
        led = next((state.table[each] for each in self._list_playing(state) if state.table[each]), None)
        following = tuple(card for card in state.hands[seat] if led and card[1] == led[1])
        return following or state.hands[seat]

    def play(self, state: State, actions: Mapping[int, str], /) -> tuple[State, Events]:
        ((seat, card),) = actions.items()
        if card not in self.legal(state, seat):
            raise IllegalAction(f"expected a legal action of seat {seat}, got: {card!r}")
        hands = tuple(tuple(each for each in hand if each != card) for hand in state.hands)
        table = tuple(card if number == seat else each for number, each in enumerate(state.table))
        state, events = self._take(replace(state, hands=hands, table=table))
        return state, (Played(seat, card), *events)

    def _take(self, state: State) -> tuple[State, Events]:
        """Let the highest card of the suit that was led take the trick, once every seat has played to it."""
        playing = self._list_playing(state)
        laid = {seat: card for seat in playing if (card := state.table[seat])}
        if not laid or any(state.table[seat] is None and state.hands[seat] for seat in playing):
            return state, ()
        suit = next(iter(laid.values()))[1]
        winner = max((seat for seat in laid if laid[seat][1] == suit), key=lambda seat: VALUE[laid[seat]])
        cost = sum(card is not None and card[1] == "H" for card in state.table)
        points = tuple(each + cost * (seat == winner) for seat, each in enumerate(state.points))
        empty: tuple[str | None, ...] = (None,) * self.seats
        state = replace(state, table=empty, leader=winner, trick=state.trick + 1, points=points)
        return state, (Taken(winner, cost),)

    def shuffled(self, state: State, order: Sequence[int], /) -> tuple[State, Events]:
        cards = [PACK[place] for place in order]
        hands = tuple(
            tuple(sorted(cards[seat * self._hand : (seat + 1) * self._hand], key=ORDER.__getitem__))
            for seat in self.teams
        )
        return replace(state, hands=hands, table=(None,) * self.seats, points=(0,) * self.seats), (Deal(hands),)

    def withdraw(self, state: State, seats: Sequence[int], /) -> tuple[State, Events]:
        return self._take(replace(state, out=(*state.out, tuple(seats))))

    def view(self, state: State, seat: int | None, /) -> View:
        step = self.next(state)
        shown = (seat,) if seat is not None else step.seats if isinstance(step, Ask) else ()
        return View(
            trick=state.trick,
            seat=seat,
            leader=state.leader,
            hands=tuple(hand if number in shown else len(hand) for number, hand in enumerate(state.hands)),
            table=state.table,
            points=state.points,
            out=tuple(each for group in state.out for each in group),
        )

    def mask(self, event: Event, seat: int, /) -> Event | None:
        if isinstance(event, Deal):
            hidden = (HIDDEN,) * self._hand
            return Deal(tuple(hand if number == seat else hidden for number, hand in enumerate(event.hands)))
        return event

    def turn(self, state: State, /) -> int:
        return state.trick if state.hands else 0


def match(parameters: Parameters) -> MatchTerms:
    """Return what a tournament must know."""
    return MatchTerms(parameters.players, max_turns=parameters.hand)


def describe_event(event: Event, names: Sequence[str], viewer: int | None) -> str:
    """Describe an event in a phrase."""
    match event:
        case Played(seat, card):
            return f"{names[seat]} plays {card}"
        case Taken(seat, points):
            return f"{names[seat]} takes the trick for {points}"
    return ""


def sketch(view: View, names: Sequence[str]) -> Iterator[str]:
    """Draw the table in lines of text."""
    yield f"trick {view.trick}"
    for name, hand, card, points in zip(names, view.hands, view.table, view.points, strict=True):
        held = f"{hand} cards" if isinstance(hand, int) else " ".join(hand)
        yield f"  {name}: {card or '--'} on the table, {points} points, holds {held}"


FAMILY = Family(
    name="tricks",
    folder=Path(__file__).parent,
    parameters=Parameters,
    view=View,
    event=Event,
    match=match,
    rules=Tricks,
    describe_event=describe_event,
    sketch=sketch,
    reasons={"hands_empty": "all cards are played"},
    race=lambda view: view.points,
)
