"""Bidding: in each round all seats bid a card of their hands at the same time, and the highest bid takes the prize.

A game for tests, with everything that Spite & Malice lacks: several seats to act, moves that collide, a seat that is
done before the others, and events of which a seat must not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import IllegalAction, RulesetError
from malice.referee.families import Family
from malice.referee.rules import Ask, Events, MatchTerms, Result, Shuffle

STOP = "stop"
"""The action of a seat that bids no more."""


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters of a ruleset."""

    players: tuple[int, int] = (2, 4)
    """The least and the greatest number of seats."""
    hand: int = 4
    """Cards dealt to each seat."""
    ranks: int = 5
    """The ranks of the pack, each four times."""
    stock: int = 3
    """Cards for winners to draw."""
    late: int = 0
    """The number of last seats that do not bid in the first round."""
    sudden: bool = False
    """Whether the game ends when a seat leaves it."""


class View(Struct, frozen=True):
    """The table as a seat sees it."""

    round: int
    seat: int | None
    hands: tuple[tuple[int, ...] | None, ...]
    """By seat; null for a hidden hand."""
    done: tuple[int, ...]
    out: tuple[int, ...]
    scores: tuple[int, ...]
    stock: int


class Deal(Struct, frozen=True, tag="deal", tag_field="type"):
    """All hands are dealt; a seat sees its own."""

    hands: tuple[tuple[int, ...] | None, ...]


class Bids(Struct, frozen=True, tag="bids", tag_field="type"):
    """What everybody bid; null for a seat that did not."""

    bids: tuple[str | None, ...]


class Won(Struct, frozen=True, tag="won", tag_field="type"):
    """A seat takes the prize of a round."""

    seat: int
    prize: int


class Lost(Struct, frozen=True, tag="lost", tag_field="type"):
    """Chance decided against a seat with a bid as high."""

    seat: int


class Drew(Struct, frozen=True, tag="drew", tag_field="type"):
    """The winner draws a card; nobody else may know."""

    seat: int
    card: int


Event = Deal | Bids | Won | Lost | Drew


class State(Struct, frozen=True):
    """A position: never changed, only replaced."""

    hands: tuple[tuple[int, ...], ...] = ()
    stock: tuple[int, ...] = ()
    round: int = 0
    scores: tuple[int, ...] = ()
    stopped: frozenset[int] = frozenset()
    out: tuple[tuple[int, ...], ...] = ()
    """The seats that were withdrawn, together with those of the same moment."""
    tied: tuple[int, ...] = ()
    """The seats between which chance decides."""


class Bidding:
    """The game under one set of parameters; raises `RulesetError` if there are too few cards."""

    def __init__(self, parameters: Parameters, seats: int) -> None:
        self._parameters = parameters
        self._size = seats * parameters.hand + parameters.stock
        if self._size > 4 * parameters.ranks * seats:
            raise RulesetError(f"expected at most {4 * parameters.ranks * seats} cards, got {self._size}")
        self.seats = seats
        self.teams = tuple(range(seats))

    def start(self) -> State:
        return State()

    def next(self, state: State, /) -> Ask | Shuffle | Result:
        if not state.hands:
            return Shuffle(4 * self._parameters.ranks * self.seats)
        if state.tied:
            return Shuffle(len(state.tied))
        playing = [seat for seat in self.teams if seat not in self._out(state)]
        late = self._parameters.late if state.round == 1 else 0
        bidding = tuple(seat for seat in playing if seat < self.seats - late and not self._is_done(state, seat))
        if len(playing) < 2 or (self._parameters.sudden and state.out):
            return self._result(state, "forfeit")
        if not bidding:
            return self._result(state, "all_done")
        return Ask(bidding)

    def _out(self, state: State) -> tuple[int, ...]:
        return tuple(seat for group in state.out for seat in group)

    def _is_done(self, state: State, seat: int) -> bool:
        return seat in state.stopped or not state.hands[seat]

    def _result(self, state: State, reason: str) -> Result:
        ranks = [(len(state.out), score) for score in state.scores]
        for order, group in enumerate(state.out):
            for seat in group:
                ranks[seat] = (order, 0)
        return Result(tuple(1 + sum(other > own for other in ranks) for own in ranks), state.scores, reason)

    def legal(self, state: State, seat: int, /) -> tuple[str, ...]:
        step = self.next(state)
        if not isinstance(step, Ask) or seat not in step.seats:
            return ()
        return (*map(str, sorted(set(state.hands[seat]))), STOP)

    def play(self, state: State, actions: Mapping[int, str], /) -> tuple[State, Events]:
        for seat, action in actions.items():
            if action not in self.legal(state, seat):
                raise IllegalAction(f"expected a legal action of seat {seat}, got: {action!r}")
        hands, highest = list(state.hands), 0
        for seat, action in actions.items():
            if action != STOP:
                hands[seat] = tuple(_without(hands[seat], int(action)))
                highest = max(highest, int(action))
        stopped = state.stopped | {seat for seat, action in actions.items() if action == STOP}
        shown = Bids(tuple(actions.get(seat) for seat in self.teams))
        best = tuple(seat for seat, action in sorted(actions.items()) if action == str(highest))
        state = replace(state, hands=tuple(hands), stopped=stopped)
        if len(best) > 1:
            return replace(state, tied=best), (shown,)
        state, events = self._end_round(state, best)
        return state, (shown, *events)

    def _end_round(self, state: State, best: Sequence[int]) -> tuple[State, Events]:
        """Give the prize to the winner, if there is one, and begin the next round."""
        events: Events = ()
        for seat in best:
            scores = tuple(score + (number == seat) * state.round for number, score in enumerate(state.scores))
            events = (Won(seat, state.round),)
            state = replace(state, scores=scores)
            if state.stock:
                *stock, card = state.stock
                hands = tuple((*hand, card) if number == seat else hand for number, hand in enumerate(state.hands))
                state, events = replace(state, stock=tuple(stock), hands=hands), (*events, Drew(seat, card))
        return replace(state, round=state.round + 1, tied=()), events

    def shuffled(self, state: State, order: Sequence[int], /) -> tuple[State, Events]:
        if state.tied:
            winner, *losers = (state.tied[place] for place in order)
            state, events = self._end_round(state, (winner,))
            return state, (*(Lost(seat) for seat in sorted(losers)), *events)
        cards = tuple(1 + place % self._parameters.ranks for place in order[: self._size])
        size = self._parameters.hand
        hands = tuple(cards[seat * size : (seat + 1) * size] for seat in self.teams)
        stock = cards[self.seats * size :]
        return State(hands, stock, round=1, scores=(0,) * self.seats), (Deal(hands),)

    def withdraw(self, state: State, seats: Sequence[int], /) -> tuple[State, Events]:
        return replace(state, out=(*state.out, tuple(seats))), ()

    def view(self, state: State, seat: int | None, /) -> View:
        step = self.next(state)
        shown = (seat,) if seat is not None else step.seats if isinstance(step, Ask) else ()
        return View(
            round=state.round,
            seat=seat,
            hands=tuple(hand if number in shown else None for number, hand in enumerate(state.hands)),
            done=tuple(number for number in self.teams if self._is_done(state, number)),
            out=self._out(state),
            scores=state.scores,
            stock=len(state.stock),
        )

    def mask(self, event: Event, seat: int, /) -> Event | None:
        if isinstance(event, Drew) and event.seat != seat:
            return None
        if isinstance(event, Deal):
            return Deal(tuple(hand if number == seat else None for number, hand in enumerate(event.hands)))
        return event

    def turn(self, state: State, /) -> int:
        return state.round


def _without(hand: Sequence[int], card: int) -> Iterator[int]:
    """Yield a hand without one copy of a card."""
    place = hand.index(card)
    yield from hand[:place]
    yield from hand[place + 1 :]


def match(parameters: Parameters) -> MatchTerms:
    """Return what a tournament must know."""
    return MatchTerms(parameters.players, max_turns=4 * parameters.ranks * parameters.players[1], simultaneous=True)


def describe_event(event: Event, names: Sequence[str], viewer: int | None) -> str:
    """Describe an event in a phrase."""
    match event:
        case Bids(bids):
            return ", ".join(f"{name} bids {bid}" for name, bid in zip(names, bids, strict=True) if bid)
        case Won(seat, prize):
            return f"{names[seat]} wins {prize}"
        case Lost(seat):
            return f"{names[seat]} bid as much"
        case Drew(seat, card):
            return f"{names[seat]} draws {card}"
    return ""


def sketch(view: View, names: Sequence[str]) -> Iterator[str]:
    """Draw the table in lines of text."""
    yield f"round {view.round}, {view.stock} in the stock"
    for number, name in enumerate(names):
        hand = view.hands[number]
        state = "out" if number in view.out else "done" if number in view.done else "bids"
        yield f"  {name} ({state}): {view.scores[number]} points" + (f", holds {hand}" if hand is not None else "")


FAMILY = Family(
    name="bidding",
    folder=Path(__file__).parent,
    parameters=Parameters,
    view=View,
    event=Event,
    match=match,
    rules=Bidding,
    describe_event=describe_event,
    sketch=sketch,
    race=lambda view: [max(view.scores) - own for own in view.scores],
)
