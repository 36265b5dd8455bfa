"""Double Solitaire behind the interface of `malice.referee.rules`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import IllegalAction
from malice.referee.games.double_solitaire.messages import (
    CardsMoved,
    Deal,
    Draw,
    End,
    Exchanged,
    SeatView,
    TurnedOver,
    View,
)
from malice.referee.games.double_solitaire.parameters import SEATS, Parameters, validate
from malice.referee.games.double_solitaire.state import (
    CARDS,
    DISCARD,
    END,
    EXCHANGE,
    KEEP,
    SUIT,
    Plays,
    State,
    count_cards,
    move_cards,
    sort_piles,
)
from malice.referee.rules import Ask, Events, Result, Shuffle, Step


class DoubleSolitaire:
    """The game under one set of parameters.

    Raises:
        RulesetError: the parameters make no game for that many seats.
    """

    def __init__(self, parameters: Parameters, seats: int) -> None:
        validate(parameters, seats)
        self.seats = seats
        self.teams = tuple(range(seats))
        self.parameters = parameters
        self._plays = Plays(parameters)
        self._asks = tuple(Ask((seat,)) for seat in range(seats))
        self._listed: tuple[State | None, tuple[str, ...]] = (None, ())

    def start(self) -> State:
        return State()

    def next(self, state: State, /) -> Step:
        """Who acts: the seat whose turn it is, chance before the deal, or nobody."""
        if state.result is not None:
            return state.result
        return self._asks[state.seat] if state.stocks else Shuffle(len(CARDS))

    def legal(self, state: State, seat: int, /) -> tuple[str, ...]:
        """List the legal actions of a seat; keep the list, since `play` checks its action against it."""
        if seat != state.seat or state.result is not None or not state.stocks:
            return ()
        if not state.turn:
            return (EXCHANGE, KEEP)
        listed, actions = self._listed
        if listed is not state:
            actions = self._plays.list_legal(state)
            self._listed = (state, actions)
        return actions

    def play(self, state: State, actions: Mapping[int, str], /) -> tuple[State, Events]:
        """Play one legal action of the seat whose turn it is.

        Raises:
            IllegalAction: it is not in the legal list.
        """
        seat = state.seat
        action = actions.get(seat, "")
        if action not in self.legal(state, seat):
            raise IllegalAction(f"expected a legal action of seat {seat}, got: {action!r}")
        if not state.turn:
            return _exchange(state) if action == EXCHANGE else _begin_turn(state, seat, ())
        if action == DISCARD:
            return self._discard(state)
        if action == END:
            return self._end_turn(state, (End(seat),))
        source, _, target = action.partition("-")
        if source[0] == "t" and target[0] == "t":
            return _move_on_table(state, source, target)
        return self._play_card(state, source, target)

    def _discard(self, state: State) -> tuple[State, Events]:
        seat, card = state.seat, state.card
        assert card is not None
        discards = _put(state.discards, seat, state.discards[seat] + (card,))
        moved = CardsMoved(seat, "h", f"{seat}d", (card,))
        return self._end_turn(replace(state, discards=discards, card=None), (moved,))

    def _play_card(self, state: State, source: str, target: str) -> tuple[State, Events]:
        """Play a single card so that nothing in this turn can bring it back."""
        seat, held, table, discards, heights = state.seat, state.card, state.table, state.discards, state.heights
        if source == "h":
            assert held is not None
            card, held, origin = held, None, "h"
        elif source == "d":
            card, origin = discards[seat][-1], f"{seat}d"
            discards = _put(discards, seat, discards[seat][:-1])
        else:
            place = int(source[1:])
            card, origin = table[place][-1], source
            table = _put(table, place, table[place][:-1])
        goal = target
        if target == "f":
            suit = SUIT[card]
            heights = heights[:suit] + (heights[suit] + 1,) + heights[suit + 1 :]
        elif target == "o":
            goal = f"{1 - seat}d"
            discards = _put(discards, 1 - seat, discards[1 - seat] + (card,))
        else:
            place = int(target[1:])
            table = _put(table, place, table[place] + (card,))
        state = replace(
            state,
            discards=discards,
            table=table,
            heights=heights,
            card=held,
            played=True,
            before=frozenset(),
            quiet=(0,) * SEATS,
            barren=-1 if target == "f" else state.barren,
        )
        if held is None and not discards[seat] and not state.stocks[seat]:
            state = replace(state, result=_rank(state, "pack_empty"))
        return state, (CardsMoved(seat, origin, goal, (card,)),)

    def _end_turn(self, state: State, events: Events) -> tuple[State, Events]:
        """End the turn, and begin the next one unless the game is over."""
        seat = state.seat
        quiet = state.quiet if state.played else _put(state.quiet, seat, state.quiet[seat] + 1)
        state = replace(state, quiet=quiet, barren=state.barren + 1)
        if reason := self._find_end(state):
            fewest = self.parameters.stuck_result == "fewest"
            return replace(state, result=_rank(state, reason, fewest)), events
        return _begin_turn(state, 1 - seat, events)

    def _find_end(self, state: State) -> str:
        """Why the game ends after a turn; empty if it goes on."""
        rules = self.parameters
        if all(state.quiet[seat] >= rules.passes * count_cards(state, seat) for seat in self.teams):
            return "stuck"
        if state.barren >= rules.no_progress * SEATS:
            return "no_progress"
        return "max_turns" if state.turn >= rules.max_turns * SEATS else ""

    def shuffled(self, state: State, order: Sequence[int], /) -> tuple[State, Events]:
        """Deal from the end of the list, and begin the turn of seat 0, unless a seat has left or may exchange first."""
        cards, piles = tuple(CARDS[place] for place in reversed(order)), self.parameters.table_piles
        table = tuple((card,) for card in cards[:piles])
        stocks = tuple(cards[piles + seat :: SEATS] for seat in self.teams)
        state = replace(state, table=table, stocks=stocks, discards=((),) * SEATS)
        events = (Deal(table, tuple(map(len, stocks))),)
        if state.out:
            return replace(state, result=_rank(state, "forfeit")), events
        return (state, events) if self.parameters.exchange else _begin_turn(state, 0, events)

    def withdraw(self, state: State, seats: Sequence[int], /) -> tuple[State, Events]:
        """Take seats out: the other one wins."""
        state = replace(state, out=(*state.out, tuple(seats)))
        return (replace(state, result=_rank(state, "forfeit")) if state.stocks else state), ()

    def view(self, state: State, seat: int | None, /) -> View:
        """The table without the stocks: the same for a spectator and both seats."""
        out = [gone for group in state.out for gone in group]
        return View(
            state.turn,
            state.seat if seat is None else seat,
            state.card,
            state.heights,
            state.table,
            state.quiet,
            tuple(
                [SeatView(len(stock), state.discards[owner], owner in out) for owner, stock in enumerate(state.stocks)]
            ),
        )

    def mask(self, event: Struct, seat: int, /) -> Struct:
        """The event, in which a card is named only once it lies face up."""
        return event

    def turn(self, state: State, /) -> int:
        """Count the turns begun so far."""
        return state.turn


T = TypeVar("T")


def _put(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    return items[:index] + (item,) + items[index + 1 :]


def _exchange(state: State) -> tuple[State, Events]:
    """Exchange the stocks, and begin the first turn."""
    return _begin_turn(replace(state, stocks=state.stocks[::-1]), state.seat, (Exchanged(state.seat),))


def _begin_turn(state: State, seat: int, events: Events) -> tuple[State, Events]:
    """Let a seat take the top card of its stock; it turns its discard pile over first if it has no stock."""
    stocks, discards = state.stocks, state.discards
    if not stocks[seat]:
        events += (TurnedOver(seat, len(discards[seat])),)
        stocks, discards = _put(stocks, seat, discards[seat][::-1]), _put(discards, seat, ())
    card = stocks[seat][-1]
    return replace(
        state,
        stocks=_put(stocks, seat, stocks[seat][:-1]),
        discards=discards,
        card=card,
        seat=seat,
        turn=state.turn + 1,
        played=False,
        before=frozenset(),
    ), (*events, Draw(seat, card))


def _move_on_table(state: State, source: str, target: str) -> tuple[State, Events]:
    """Move cards between table piles; the turn must not come back to the table that it leaves."""
    name, _, number = source.partition("x")
    place, goal, count = int(name[1:]), int(target[1:]), int(number or 1)
    return replace(
        state,
        table=move_cards(state.table, place, count, goal),
        played=True,
        before=state.before | {sort_piles(state.table)},
        quiet=(0,) * SEATS,
    ), (CardsMoved(state.seat, name, target, state.table[place][-count:]),)


def _rank(state: State, reason: str, fewest: bool = True) -> Result:
    """Rank the seats: the fewest cards first if that decides, and withdrawn seats last, the first of them lowest."""
    ranks = [(0, count_cards(state, seat) if fewest else 0) for seat in range(SEATS)]
    for order, group in enumerate(state.out):
        for seat in group:
            ranks[seat] = (1, -order)
    places = tuple(1 + sum(other < own for other in ranks) for own in ranks)
    won = places.count(1) == 1
    return Result(places, tuple(int(won and place == 1) for place in places), reason)
