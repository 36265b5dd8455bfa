"""The cards of a team in Nuts as a plan sees them, and what the other team could play to the centre."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

CARDS = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
NUMBER = {card: number for number, card in enumerate(CARDS)}
UNKNOWN = -1
KING = 12
RED = [13 <= card < 39 for card in range(52)]
ONTO = [[other for other in range(52) if other % 13 == card % 13 + 1 and RED[other] != RED[card]] for card in range(52)]
"""By card: the two that it may lie on in a column; none for a king."""

Pile = tuple[int, ...]
Rivals = Mapping[int, float]
"""By card of the other team that lies open: what it would make of it in the centre, in points."""


class Table(NamedTuple):
    """The cards of a team, and the foundations; cards are numbers, piles run from bottom to top."""

    heights: Pile
    nuts: Pile
    columns: tuple[Pile, ...]
    downs: Pile
    """By column: how many of its cards lie face down."""
    talon: Pile
    """Waste and stock, in the order in which they are turned."""
    turned: int
    """How many of them lie in the waste."""
    burned: bool
    """Whether the stocks were burned since anything moved."""


class Rules(NamedTuple):
    """What matters here of the parameters of a ruleset."""

    turned: int
    kings: bool
    """Whether an empty column takes kings only."""
    whole: bool
    """Whether only whole runs move."""


def put(pile: tuple[Pile, ...], place: int, content: Pile) -> tuple[Pile, ...]:
    return (*pile[:place], content, *pile[place + 1 :])


def change(pile: Pile, place: int, by: int) -> Pile:
    return (*pile[:place], pile[place] + by, *pile[place + 1 :])


def find_place(heights: Pile, card: int) -> int | None:
    """Return the foundation that takes a card."""
    place, below = card // 13 * 2, card % 13
    if heights[place] == below:
        return place
    return place + 1 if heights[place + 1] == below else None


def burn(talon: Pile, turned: int) -> tuple[Pile, int]:
    """Put the top card of the stock to its bottom; a stock of fewer than two cards first takes in the waste."""
    if len(talon) - turned < 2:
        talon, turned = talon[turned:] + talon[:turned], 0
    return talon[:turned] + talon[turned + 1 :] + talon[turned : turned + 1], turned


def list_reach(size: int, turned: int, draw: int) -> Iterator[tuple[int, int]]:
    """Yield how many cards the waste may come to hold, each once, after how many turns."""
    known = set()
    turns, held = 0, turned
    if turned:
        known.add(turned)
        yield turned, 0
    for _ in range(2):
        while held < size:
            held = min(size, held + draw)
            turns += 1
            if held not in known:
                known.add(held)
                yield held, turns
        held = 0


def count_threat(heights: Pile, rivals: Rivals) -> float:
    """Count what the rivals could make of the centre with the cards that lie open, one on the other."""
    found = set()
    for place, height in enumerate(heights):
        first = place // 2 * 13
        card = first + height
        while card < first + 13 and card in rivals:
            found.add(card)
            card += 1
    return sum(rivals[card] for card in found)
