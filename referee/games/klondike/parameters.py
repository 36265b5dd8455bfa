"""Every parameter of Klondike, with its meaning and where it comes from."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from malice.referee.rules import MatchTerms


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every parameter of Klondike; the defaults are `klondike-1`."""

    players: tuple[int, int] = (2, 8)
    """The least and the greatest number of seats, two to eight: all of them play the same deal, each on a table of its
    own (a ruling of malice: the texts know Klondike for one person)."""
    draw: Literal[1, 3] = 1
    """How many cards `turn` turns from the stock onto the waste; only the last of them can be played (solitaire.com:
    turn 1, or turn 3, where "you can only play every third card")."""
    redeals: int | Literal["unlimited"] = "unlimited"
    """How often the waste may be turned over to become the stock again, in the same order
    (solitaire.com: "in the same order", without a limit; a limit is a ruling of malice)."""
    foundation_back: bool = True
    """Whether the top card of a foundation may go back to a column (a ruling of malice, as in Blake & Gent, The
    Winnability of Klondike)."""
    undo: Literal["free", "counted", "none"] = "counted"
    """Whether `undo` takes back the last action, as often as you like: "free" takes it out of the counts of moves and
    passes too, "counted" leaves it there, "none" forbids it. What it showed stays known (solitaire.com: "undo as many
    moves as you'd like"; to count them is a ruling of malice)."""
    idle: int = 200
    """A seat ends after so many actions in which no card was seen for the first time, and there were never more cards
    on the foundations than before (a ruling of malice, since redeals are unlimited)."""
    max_actions: int = 1000
    """The most actions of a seat; then its table is counted as it lies (a ruling of malice)."""


def match(parameters: Parameters) -> MatchTerms:
    """What a tournament must know of the parameters."""
    return MatchTerms(parameters.players, max_turns=parameters.max_actions, simultaneous=True, same_deal=True)
