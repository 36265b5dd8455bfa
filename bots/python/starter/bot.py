"""A bot to start from: pay-off cards first, then cards to the centre, then a discard onto a short stack.

Improve `choose`. The types in `malice_bot.py` show what it can see.
"""

from __future__ import annotations

from malice_bot import Action, Bot, Kind, Pile, SeatClock, View, play


class Starter(Bot):
    """Tries three simple rules in turn, and plays the first legal action if none of them finds one."""

    def choose(self, view: View, legal: list[Action], clock: SeatClock) -> Action:
        """Return the action to play."""
        return pay_off(view, legal) or to_centre(legal) or discard(view, legal) or legal[0]


def pay_off(view: View, legal: list[Action]) -> Action | None:
    """Return the first action that plays its own pay-off card."""
    own = Pile(Kind.PAYOFF, view.seat)
    return next((action for action in legal if action.source == own), None)


def to_centre(legal: list[Action]) -> Action | None:
    """Return the first action that plays a card to the centre."""
    return next((action for action in legal if action.target and action.target.kind is Kind.CENTRE), None)


def discard(view: View, legal: list[Action]) -> Action | None:
    """Return the discard onto the shortest side stack; the last of equal ones."""
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
