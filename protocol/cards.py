"""Card names: two characters, rank then suit; and the order of lists of cards."""

from __future__ import annotations

from typing import Final

Cards = tuple[str, ...]

RANKS: Final = "A23456789TJQKW"
"""Ranks from low to high; `W` is a joker or Skip-Bo's wild card."""

SUITS: Final = "CDHSX"
"""Suits in listing order; `X` is no suit."""

JOKER: Final = "WX"
HIDDEN: Final = "??"
"""Stands for a card hidden from the reader."""

CARDS: Final = tuple(rank + suit for rank in RANKS for suit in SUITS if rank != "W" or suit == "X")
"""Every card name, in the order of hands and legal actions: by rank, then suit."""

VALUE: Final = {card: RANKS.index(card[0]) + 1 for card in CARDS}
"""Card name -> 1 (ace) to 13 (king), 14 for a joker."""

ORDER: Final = {card: place for place, card in enumerate(CARDS)}
"""Card name -> its place in `CARDS`: the sort key of a hand."""


def make_french_pack() -> tuple[str, ...]:
    """52 cards: clubs, diamonds, hearts, spades, each from ace to king."""
    return tuple(rank + suit for suit in "CDHS" for rank in RANKS[:13])


def make_skipbo_pack() -> tuple[str, ...]:
    """162 cards: twelve times 1 to 12, then 18 wild ones."""
    return tuple(rank + "X" for _ in range(12) for rank in RANKS[:12]) + (JOKER,) * 18
