"""The cards on the table, followed from events alone, without the rules."""

from __future__ import annotations

from collections import defaultdict

from protocol.cards import HIDDEN
from referee.games.spite.messages import CardMoved, Deal, Draw, Flip, Shuffled

UNSEEN = -1
"""Stands for a place in a pile: nobody knew that the card lay there."""


class Piles:
    """Piles by their names in events, from bottom to top; static/table.js keeps the same piles.

    Hands keep the order of arrival, so that a place in a hand means the same card here and there.
    """

    def __init__(self) -> None:
        self.cards: defaultdict[str, list[str]] = defaultdict(list)

    def deal(self, event: Deal) -> None:
        """Lay out a deal; the centre and the cards set aside stay, since other events change them."""
        for seat, hand in enumerate(event.hands):
            self.cards[f"{seat}h"] = list(hand)
            payoff = f"{seat}p"
            if len(self.cards[payoff]) != event.payoffs[seat]:
                self.cards[payoff] = [HIDDEN] * event.payoffs[seat]
        for seat, piles in enumerate(event.sides):
            for index, pile in enumerate(piles):
                self.cards[f"{seat}s{index}"] = list(pile)

    def move(self, event: CardMoved) -> int:
        """Move a card; return its place in its pile counted from the top, or `UNSEEN`."""
        source = self.cards[event.source]
        back = UNSEEN
        if event.card in source:
            back = source[::-1].index(event.card)
            del source[len(source) - 1 - back]
        elif source:
            source.pop()
        self.cards[event.target].append(event.card)
        return back

    def flip(self, event: Flip) -> None:
        """Turn up the top card of a pay-off pile."""
        self.cards[f"{event.seat}p"][-1:] = [event.card]

    def draw(self, event: Draw) -> None:
        """Add cards to a hand."""
        self.cards[f"{event.seat}h"] += event.cards

    def shuffle(self, event: Shuffled) -> None:
        """Move cards from the bottom of one pile to another, and hide the order of the other."""
        if event.source != event.target:
            del self.cards[event.source][: event.count]
        target = self.cards[event.target]
        target[:] = [HIDDEN] * (len(target) + (event.count if event.source != event.target else 0))
