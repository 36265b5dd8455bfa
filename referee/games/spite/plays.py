"""What one action does: the card moves, then hands, stock, turns and passes follow, until the game is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from malice.protocol.cards import ORDER, Cards
from malice.referee.games.spite.messages import CardMoved, Count, Draw, Event, Flip, Pass, Shuffled, TurnBegins
from malice.referee.games.spite.parameters import DerivedRules
from malice.referee.games.spite.state import State, list_playing_seats, replace_item, replace_pile
from malice.referee.rules import Result

SCORES: dict[str, Callable[[bool, int], int]] = {
    "win_only": lambda emptied, more: 1,
    "five_plus": lambda emptied, more: 5 * emptied + more,
    "remain_only": lambda emptied, more: more,
    "skipbo": lambda emptied, more: 25 * emptied + 5 * more,
}
"""By `scoring`: the points for a win; from whether the winner has no card left, and how many more the others have."""


def end_won_game(derived: DerivedRules, state: State, reason: str) -> State:
    """End the game: the team of the seat to act is first, the others rank by the pay-off cards they have left."""
    left = _count_left(derived, state)
    left[derived.teams[state.seat]] = -1
    return _rank_teams(derived, state, left, reason)


def end_drawn_out_game(derived: DerivedRules, state: State, reason: str, rule: str) -> State:
    """End the game without a winner by play; `rule` is "fewest" or "draw"."""
    left = _count_left(derived, state)
    return _rank_teams(derived, state, left if rule == "fewest" else [0] * len(left), reason)


def _count_left(derived: DerivedRules, state: State) -> list[int]:
    """Count the pay-off cards that each team has left."""
    left = [0] * (max(derived.teams) + 1)
    for seat, pile in enumerate(state.payoffs):
        left[derived.teams[seat]] += len(pile)
    return left


def _rank_teams(derived: DerivedRules, state: State, left: list[int], reason: str) -> State:
    """Rank teams by `left`, fewest first, equal numbers tied; withdrawn teams rank last, the first out lowest."""
    ranks = [(0, cards) for cards in left]
    for order, seat in reversed(tuple(enumerate(state.out))):
        ranks[derived.teams[seat]] = (1, -order)
    places = [1 + sum(other < own for other in ranks) for own in ranks]
    points = [0] * len(places)
    if places.count(1) == 1:
        winner = places.index(1)
        points[winner] = _score_win(derived, state, winner, reason)
    by_seat = tuple(places[team] for team in derived.teams), tuple(points[team] for team in derived.teams)
    return replace(state, phase="over", result=Result(*by_seat, reason))


def _score_win(derived: DerivedRules, state: State, winner: int, reason: str) -> int:
    """Score the only winner; after a forfeit count as if it had no card left."""
    left = _count_left(derived, state)
    own = 0 if reason == "forfeit" else left[winner]
    more = sum(max(0, cards - own) for team, cards in enumerate(left) if team != winner)
    return SCORES[derived.rules.scoring](own == 0, more)


STOCK_OUT: dict[str, Callable[[int, int], bool]] = {
    "need": lambda stock, needed: stock < needed,
    "empty": lambda stock, needed: not stock,
    "none": lambda stock, needed: not stock,
    "play_on": lambda stock, needed: False,
}
"""By `stock_out_when`: whether a draw of `needed` cards from `stock` cards ends the game."""


def refill(
    derived: DerivedRules, state: State, events: list[Event], waiting: Literal["refill", "refill_last"] = "refill"
) -> State:
    """Draw until the hand is full; a short stock is replenished first, or ends the game.

    Args:
        waiting: the phase of the position while new stock is shuffled.
    """
    hand = state.hands[state.seat]
    needed = derived.hand_size - len(hand)
    if needed <= 0:
        return state
    stock = state.stock
    if len(stock) < needed:
        gathered = _gather_reserves(derived, state, needed, events)
        if gathered.mixing:
            return replace(gathered, phase=waiting)
        if STOCK_OUT[derived.rules.stock_out_when](len(stock), needed):
            return end_drawn_out_game(derived, state, "stock_out", derived.rules.stock_out_result)
        if not stock:
            return state
    drawn = stock[: -needed - 1 : -1]
    events.append(Draw(state.seat, drawn))
    state = replace(
        state,
        hands=replace_item(state.hands, state.seat, tuple(sorted(hand + drawn, key=ORDER.__getitem__))),
        stock=stock[:-needed],
    )
    if not state.stock and derived.rules.stock_out_when == "empty" and not _count_reserves(derived, state):
        return end_drawn_out_game(derived, state, "stock_out", derived.rules.stock_out_result)
    return state


def restock(state: State, shuffled: tuple[str, ...]) -> State:
    """Put shuffled cards under the rest of the stock."""
    return replace(state, stock=shuffled + state.stock)


def _gather_reserves(derived: DerivedRules, state: State, needed: int, events: list[Event]) -> State:
    """Take up the cards that replenish the stock: those set aside, else the buried ones if they are enough."""
    if state.aside:
        events.append(Shuffled("aside", "stock", len(state.aside)))
        return replace(state, mixing=state.aside, aside=())
    reserves = _count_reserves(derived, state)
    if not reserves or STOCK_OUT[derived.rules.stock_out_when](len(state.stock) + reserves, needed):
        return state
    for slot, cards in enumerate(state.centre):
        if len(cards) > 1:
            events.append(Shuffled(f"c{slot}", "stock", len(cards) - 1))
    buried = tuple(card for cards in state.centre for card in cards[:-1])
    return replace(state, mixing=buried, centre=tuple(cards[-1:] for cards in state.centre))


def _count_reserves(derived: DerivedRules, state: State) -> int:
    """Count the cards that can replenish the stock."""
    if state.aside or not derived.rules.last_resort_recycle:
        return len(state.aside)
    return sum(len(cards) - 1 for cards in state.centre if cards)


def begin_turn(derived: DerivedRules, state: State, seat: int, events: list[Event]) -> State:
    """Begin a turn of `seat`, unless a limit or the stock ends the game; an empty hand is always filled."""
    if state.turn >= derived.turn_limit:
        return end_drawn_out_game(derived, state, "max_turns", "fewest")
    if state.quiet >= derived.quiet_limit:
        return end_drawn_out_game(derived, state, "no_progress", "fewest")
    events.append(TurnBegins(seat))
    state = replace(
        state,
        phase="turn",
        seat=seat,
        turn=state.turn + 1,
        quiet=state.quiet + 1,
        moved=False,
        filling=False,
        counted=False,
    )
    if derived.rules.refill_at == "turn_start" or not state.hands[seat]:
        return refill(derived, state, events)
    return state


def end_turn(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """End the turn after a discard or a pass: fill the hand if the rules say so, and begin the next turn."""
    if derived.rules.refill_at == "turn_end":
        state = refill(derived, state, events, "refill_last")
        if state.phase != "turn":
            return state
    return next_turn(derived, state, events)


def next_turn(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Begin the turn of the next seat that is still in the game."""
    seat = (state.seat + 1) % derived.seats
    while seat in state.out:
        seat = (seat + 1) % derived.seats
    return begin_turn(derived, state, seat, events)


def finish_refill(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Finish the draw that waited for new stock; the turn goes on."""
    return refill(derived, restock(state, shuffled), events)


def finish_last_refill(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Finish the draw that waited for new stock, and with it the turn."""
    return end_turn(derived, restock(state, shuffled), events)


def pass_turn(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """End the turn without a discard; without a card played either, that is a pass of a round."""
    events.append(Pass(state.seat))
    if state.moved:
        return end_turn(derived, state, events)
    state = replace(state, passed=(*state.passed, state.seat))
    return _follow_round(derived, state, events) if _is_round(state) else end_turn(derived, state, events)


def withdraw(derived: DerivedRules, state: State, seat: int, events: list[Event]) -> State:
    """Take `seat` and its partner out. The last team left wins; if the game continues, a turn of theirs ends."""
    leaving = tuple(ally for ally in derived.allies[seat] if ally not in state.out)
    state = replace(state, out=state.out + leaving)
    if len({derived.teams[other] for other in list_playing_seats(state)}) <= 1:
        return end_drawn_out_game(derived, state, "forfeit", "fewest")
    return skip_turn(derived, state, events) if state.phase == "turn" and state.seat in state.out else state


def skip_turn(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """End the turn of a seat that has left; all others may have passed by then."""
    return _follow_round(derived, state, events) if _is_round(state) else next_turn(derived, state, events)


def _is_round(state: State) -> bool:
    """Whether every seat still in the game has passed since a card was last played."""
    return all(seat in state.passed for seat in list_playing_seats(state))


def _follow_round(derived: DerivedRules, state: State, events: list[Event]) -> State:
    return STALEMATE[derived.rules.stalemate](derived, state, events)


def _end_in_stalemate(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """End the game; if no seat holds a card, the reason is the stock."""
    if any(state.hands[seat] for seat in list_playing_seats(state)):
        return end_drawn_out_game(derived, state, "stalemate", derived.rules.stalemate_result)
    return end_drawn_out_game(derived, state, "stock_out", derived.rules.stock_out_result)


def _force_plays(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Force aces and twos out of the hands for one more round; if nobody plays a card in it, end the game."""
    if state.pressed:
        return _end_in_stalemate(derived, state, events)
    state = replace(state, pressed=True, passed=())
    return next_turn(derived, state, events) if state.seat in state.out else end_turn(derived, state, events)


def _gather_for_redeal(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Gather everything but the pay-off piles for a new deal, or end the game after `redeals` of them."""
    seats = list_playing_seats(state)
    piles = _list_table_piles(state, seats)
    count = sum(map(len, piles.values()), len(state.stock))
    if state.redeals == derived.rules.redeals or count < len(seats) * derived.hand_size:
        return _end_in_stalemate(derived, state, events)
    events.extend(Shuffled(name, "stock", len(cards)) for name, cards in piles.items() if cards)
    empty = ((),) * derived.rules.side_count
    return replace(
        state,
        phase="redeal",
        hands=tuple(() if seat in seats else hand for seat, hand in enumerate(state.hands)),
        sides=tuple(empty if seat in seats else own for seat, own in enumerate(state.sides)),
        centre=((),) * len(state.centre),
        heights=(0,) * len(state.heights),
        stock=(),
        aside=(),
        mixing=state.stock + sum(piles.values(), ()),
        passed=(),
        redeals=state.redeals + 1,
    )


def _list_table_piles(state: State, seats: tuple[int, ...]) -> dict[str, Cards]:
    """The piles that a redeal gathers, by name; the piles of a withdrawn seat stay."""
    piles = {f"{seat}h": state.hands[seat] for seat in seats}
    piles |= {f"{seat}s{index}": pile for seat in seats for index, pile in enumerate(state.sides[seat])}
    piles |= {f"c{slot}": cards for slot, cards in enumerate(state.centre)}
    return piles | {"aside": state.aside}


def finish_redeal(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Deal new hands, by seat, and begin the turn of the next seat."""
    hands = list(state.hands)
    stock = shuffled
    for seat in list_playing_seats(state):
        drawn = stock[: -derived.hand_size - 1 : -1]
        stock = stock[: -derived.hand_size]
        hands[seat] = tuple(sorted(drawn, key=ORDER.__getitem__))
        events.append(Draw(seat, drawn))
    return next_turn(derived, replace(state, hands=tuple(hands), stock=stock), events)


STALEMATE: dict[str, Callable[[DerivedRules, State, list[Event]], State]] = {
    "end": _end_in_stalemate,
    "must_play": _force_plays,
    "redeal": _gather_for_redeal,
}
"""By `stalemate`: what follows a full round of passes."""


def reveal_counts(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Reveal how many pay-off cards are left, to all seats or only to the seat to act."""
    aloud = derived.rules.payoff_count == "on_request"
    events.append(Count(state.seat, tuple(map(len, state.payoffs)) if aloud else None))
    return replace(state, counted=True, announced=aloud)


CARDLESS: dict[str, Callable[[DerivedRules, State, list[Event]], State]] = {"pass": pass_turn, "count": reveal_counts}
"""The actions that move no card."""


def play(derived: DerivedRules, state: State, action: str, events: list[Event]) -> State:
    """Play a legal action: a card to the centre or onto a pay-off pile, a discard, a pass, or a request for counts."""
    source, _, target = action.partition("-")
    if not target:
        return CARDLESS[action](derived, state, events)
    state, card, origin = _take_card(state, source)
    if target[0] == "s":
        return _play_to_side(derived, state, card, int(target[1:]), events)
    events.append(CardMoved(state.seat, origin, target, card))
    if origin[1] == "p":
        _flip(state, int(origin[0]), events)
    if target[0] == "c":
        return _play_to_centre(derived, state, card, origin, int(target[1:]), events)
    return settle(derived, _load(state, card, int(target[0])), events)


def _take_card(state: State, source: str) -> tuple[State, str, str]:
    """Take the card that `source` names; return it with the absolute name of its pile.

    This ends the series of passes at once: the seat may leave before its turn is over.
    """
    seat = state.seat
    if source[0] == "h":
        card = source[1:]
        hand = state.hands[seat]
        place = hand.index(card)
        hands = replace_item(state.hands, seat, hand[:place] + hand[place + 1 :])
        return replace(state, hands=hands, moved=True, passed=(), pressed=False), card, f"{seat}h"
    if source[0].isdigit():
        seat, source = int(source[0]), source[1:]
    if source == "p":
        pile = state.payoffs[seat]
        payoffs = replace_item(state.payoffs, seat, pile[:-1])
        state = _forget_counts(replace(state, payoffs=payoffs, moved=True, passed=(), pressed=False))
        return state, pile[-1], f"{seat}p"
    index = int(source[1:])
    pile = state.sides[seat][index]
    sides = replace_pile(state.sides, seat, index, pile[:-1])
    return replace(state, sides=sides, moved=True, passed=(), pressed=False), pile[-1], f"{seat}{source}"


def _forget_counts(state: State) -> State:
    """Let what was told to all of the pay-off piles be asked again, since one of them has changed."""
    return replace(state, announced=False, counted=state.counted and not state.announced)


def _flip(state: State, seat: int, events: list[Event]) -> None:
    """Turn up the next pay-off card of `seat`, if there is one."""
    left = state.payoffs[seat]
    if left:
        events.append(Flip(seat, left[-1]))


def _play_to_side(derived: DerivedRules, state: State, card: str, index: int, events: list[Event]) -> State:
    """Discard, which ends the turn; or fill an empty side stack, where the rules demand that first."""
    seat = state.seat
    events.append(CardMoved(seat, f"{seat}h", f"{seat}s{index}", card))
    pile = state.sides[seat][index]
    sides = replace_pile(state.sides, seat, index, (*pile, card))
    if derived.rules.fill_empty_sides and not pile:
        return _finish_fill(derived, replace(state, sides=sides), events)
    return end_turn(derived, replace(state, sides=sides), events)


def _finish_fill(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """Continue after a fill; a seat whose hand is empty begins a new turn."""
    if state.hands[state.seat]:
        return replace(state, filling=True)
    return begin_turn(derived, state, state.seat, events)


def _load(state: State, card: str, target: int) -> State:
    """Put `card` on top of the pay-off pile of `target`: it is the new top, without a flip."""
    payoffs = replace_item(state.payoffs, target, (*state.payoffs[target], card))
    return _forget_counts(replace(state, payoffs=payoffs))


def _play_to_centre(
    derived: DerivedRules, state: State, card: str, origin: str, slot: int, events: list[Event]
) -> State:
    centre, heights = state.centre, state.heights
    if slot == len(centre):
        centre, heights = (*centre, ()), (*heights, 0)
    stack = (*centre[slot], card)
    height = heights[slot] + 1
    complete = height == derived.stack_top
    new_stack, new_height = ((), 0) if complete else (stack, height)
    state = replace(
        state,
        centre=replace_item(centre, slot, new_stack),
        heights=heights[:slot] + (new_height,) + heights[slot + 1 :],
        quiet=0 if origin[1] == "p" else state.quiet,
    )
    if complete:
        state = RECYCLE[derived.rules.recycle](state, stack, slot, events)
    return settle(derived, state, events) if state.phase == "turn" else state


def _shuffle_into_stock(state: State, stack: Cards, slot: int, events: list[Event]) -> State:
    """Shuffle the stack together with the stock."""
    events.append(Shuffled(f"c{slot}", "stock", len(stack)))
    return replace(state, phase="recycle", mixing=state.stock + stack, stock=())


def _shuffle_under_stock(state: State, stack: Cards, slot: int, events: list[Event]) -> State:
    """Shuffle the stack alone, to go under the stock."""
    events.append(Shuffled(f"c{slot}", "stock", len(stack)))
    return replace(state, phase="recycle", mixing=stack)


def _set_aside(state: State, stack: Cards, slot: int, events: list[Event]) -> State:
    """Set the stack aside until the stock is short."""
    events.append(Shuffled(f"c{slot}", "aside", len(stack)))
    return replace(state, aside=state.aside + stack)


RECYCLE: dict[str, Callable[[State, Cards, int, list[Event]], State]] = {
    "shuffle": _shuffle_into_stock,
    "bottom": _shuffle_under_stock,
    "aside": _set_aside,
}
"""By `recycle`: what happens to a completed stack; after the two that shuffle, the position waits."""


def finish_recycling(derived: DerivedRules, state: State, shuffled: Cards, events: list[Event]) -> State:
    """Put the shuffled cards under the stock, and continue with the effects of the play."""
    return settle(derived, restock(state, shuffled), events)


def settle(derived: DerivedRules, state: State, events: list[Event]) -> State:
    """After a card was played: a team without pay-off cards has won, an empty hand is filled."""
    if not state.payoffs[state.seat] and not any(state.payoffs[ally] for ally in derived.allies[state.seat]):
        return end_won_game(derived, state, "payoff_empty")
    return state if state.hands[state.seat] else refill(derived, state, events)
