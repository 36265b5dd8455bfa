"""A bot to start from: pay-off cards first, then cards to the centre, then a discard where little lies.

Make it better in `choose`. What it may look at is in `malice.py` beside it.
"""

from __future__ import annotations

from malice import Action, Bot, Kind, Pile, SeatClock, View, play


class Starter(Bot):
    """Takes the first action that it likes."""

    def choose(self, view: View, legal: list[Action], clock: SeatClock) -> Action:
        """Return the action to play."""
        return pay_off(view, legal) or to_centre(legal) or discard(view, legal) or legal[0]


def pay_off(view: View, legal: list[Action]) -> Action | None:
    """Return the first action that plays the own pay-off card."""
    own = Pile(Kind.PAYOFF, view.seat)
    return next((action for action in legal if action.source == own), None)


def to_centre(legal: list[Action]) -> Action | None:
    """Return the first action that plays a card to the centre."""
    return next((action for action in legal if action.target and action.target.kind is Kind.CENTRE), None)


def discard(view: View, legal: list[Action]) -> Action | None:
    """Return a discard onto a side stack with the fewest cards, of several the last."""
    best, fewest = None, 0
    for action in legal:
        match action:
            case Action(source=Pile(Kind.HAND), target=Pile(Kind.SIDE, slot=int(slot))):
                cards = len(view.own.side[slot])
                if best is None or cards <= fewest:
                    best, fewest = action, cards
    return best


if __name__ == "__main__":
    play(Starter)
