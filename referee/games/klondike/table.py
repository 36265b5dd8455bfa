"""The table of one seat: piles of cards, and what was counted."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from malice.protocol.cards import make_french_pack

PACK: Final = make_french_pack()
"""Cards are numbers here: their places in the pack, so clubs are 0 to 12, diamonds 13 to 25, hearts, spades."""
NUMBER: Final = {card: number for number, card in enumerate(PACK)}
RANK: Final = tuple(number % 13 for number in range(52))
"""0 is an ace, 12 a king."""
SUIT: Final = tuple(number // 13 for number in range(52))
RED: Final = tuple(suit in (1, 2) for suit in SUIT)
SUITS: Final = "CDHS"
COLUMNS: Final = 7
KING: Final = 12

Pile = tuple[int, ...]
"""From the bottom."""


class Layout(Struct, frozen=True, gc=False):
    """Where the cards of a seat lie."""

    downs: tuple[Pile, ...]
    """By column: the cards that lie face down."""
    ups: tuple[Pile, ...]
    """By column: those that lie face up on them, in descending ranks and alternating colours."""
    foundations: tuple[int, int, int, int]
    """By suit: how many cards lie there."""
    stock: Pile
    waste: Pile
    redeals: int = 0
    """How often the waste was turned over on the way here, what was taken back left out."""


class Step(Struct, frozen=True, gc=False):
    """An action that can be taken back."""

    action: str
    before: Layout
    moves: int
    """Moves before it."""
    passes: int
    earlier: Step | None


class Table(Struct, frozen=True, gc=False):
    """The table of a seat."""

    layout: Layout
    legal: tuple[str, ...]
    """What the seat may do; nothing once it has come to its end."""
    seen: int
    """One bit for each card that has been face up."""
    best: int = 0
    """The most cards that its foundations ever held."""
    moves: int = 0
    passes: int = 0
    actions: int = 0
    idle: int = 0
    last: Step | None = None
    """The last action that was not taken back."""
    end: str = ""
    """How it came to its end."""

    @property
    def solved(self) -> bool:
        """Whether all cards lie on the foundations."""
        return self.end == "solved"

    @property
    def cards(self) -> int:
        """How many cards lie on the foundations."""
        return sum(self.layout.foundations)


def deal(order: Pile) -> Layout:
    """Return the layout of a shuffled pack, dealt from its top: a row of columns at a time, as by hand.

    The first row has a card for each column, its first face up; the second begins at the second column, and so on. The
    rest is the stock, in its order.
    """
    cards = list(order)
    piles: list[list[int]] = [[] for _ in range(COLUMNS)]
    for row in range(COLUMNS):
        for column in range(row, COLUMNS):
            piles[column].append(cards.pop())
    return Layout(
        downs=tuple(tuple(pile[:-1]) for pile in piles),
        ups=tuple((pile[-1],) for pile in piles),
        foundations=(0, 0, 0, 0),
        stock=tuple(cards),
        waste=(),
    )
