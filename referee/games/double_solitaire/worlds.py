"""The hidden cards of Double Solitaire, dealt anew: those of the stocks that nobody has drawn since the deal."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from malice.protocol.messages import Out
from malice.referee.games.double_solitaire.engine import DoubleSolitaire
from malice.referee.games.double_solitaire.messages import CardsMoved, Deal, Draw, End, Exchanged, TurnedOver, View
from malice.referee.games.double_solitaire.parameters import SEATS
from malice.referee.games.double_solitaire.state import CARDS, EXCHANGE, KEEP
from malice.referee.games.double_solitaire.state import END as END_ACTION
from malice.referee.rules import Events, World
from malice.referee.worlds import Playback, arrange_cards, fill_unseen


def resample(rules: DoubleSolitaire, view: View, heard: Events, rng: Random) -> World:
    """Deal a world in which the seat heard just this; all orders of the cards that nobody saw are equally likely.

    Raises:
        DataError: there is none.
    """
    cards = fill_unseen(_list_dealt(heard), CARDS, rng)
    # The deal takes its cards from the end of the list.
    playback = Playback(rules, lambda state: arrange_cards(CARDS, cards))
    for what in _list_actions(rules, heard):
        if isinstance(what, Out):
            playback.withdraw([what])
        else:
            playback.play(what)
    return playback.finish()


def _list_dealt(heard: Events) -> list[str | None]:
    """List the cards in the order of the deal; None for one that nobody has seen."""
    deal = heard[0]
    assert isinstance(deal, Deal)
    piles = len(deal.table)
    dealt: list[str | None] = [*(card for (card,) in deal.table), *(None for _ in range(sum(deal.stocks)))]
    left: list[int] = list(deal.stocks)
    """By seat: the cards of its stock that lie as they were dealt."""
    stocks = list(range(SEATS))
    """By seat: whose stock it was at the deal."""
    for event in heard:
        if isinstance(event, Exchanged):
            stocks.reverse()
        elif isinstance(event, Draw) and left[event.seat]:
            left[event.seat] -= 1
            dealt[piles + SEATS * left[event.seat] + stocks[event.seat]] = event.card
        elif isinstance(event, TurnedOver):
            left[event.seat] = 0
    return dealt


def _list_actions(rules: DoubleSolitaire, heard: Events) -> Iterator[dict[int, str] | Out]:
    may_exchange = rules.parameters.exchange
    for event in heard:
        if isinstance(event, Exchanged):
            yield {event.seat: EXCHANGE}
        elif isinstance(event, Draw) and may_exchange:
            if not any(isinstance(other, Exchanged) for other in heard):
                yield {event.seat: KEEP}
        elif isinstance(event, CardsMoved):
            yield {event.seat: _name_move(event)}
        elif isinstance(event, End):
            yield {event.seat: END_ACTION}
        elif isinstance(event, Out):
            yield event
        may_exchange &= not isinstance(event, Draw)


def _name_move(event: CardsMoved) -> str:
    own, other = f"{event.seat}d", f"{1 - event.seat}d"
    source = "d" if event.source == own else event.source
    if len(event.cards) > 1:
        source += f"x{len(event.cards)}"
    return f"{source}-{ {own: 'd', other: 'o'}.get(event.target, event.target) }"
