"""The table of one seat: piles of cards, what was counted, and who came closest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from malice.protocol.cards import make_french_pack
from malice.referee.families import Statistic
from malice.referee.games.klondike.parameters import Parameters
from malice.referee.rules import Result

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
    steps: tuple[Step, ...] = ()
    """The actions that were not taken back."""
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
    """Deal a shuffled pack from its top: a row of columns at a time, as by hand.

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


def list_figures(parameters: Parameters, seats: int) -> Mapping[str, str]:
    """The figures by caption; they are the same for any number of seats."""
    dealt = COLUMNS * (COLUMNS + 1) // 2
    return {
        "cards for each seat": str(len(PACK)),
        "face down in the columns": str(dealt - COLUMNS),
        "in the stock after the deal": str(len(PACK) - dealt),
    }


STATISTICS = (
    Statistic(name="solved", caption="deals solved", share=True),
    Statistic(name="cards", caption="cards on the foundations", best="most"),
    Statistic(name="moves", caption="moves to solve a deal", within="solved"),
    Statistic(name="passes", caption="passes through the stock to solve a deal", within="solved"),
    Statistic(name="time_ms", caption="thinking time to solve a deal, in ms", within="solved", timed=True),
)
"""What is counted for each seat; the texts of solitaire.com name moves, time and passes, and "beat your record"."""


def rank_tables(tables: Sequence[Table], out: Sequence[Sequence[int]], *, forfeit: bool) -> Result:
    """Rank the seats: who solved the deal comes first, then who has more cards on the foundations.

    Among equals fewer moves come first, then fewer passes through the stock; who is equal in all of that is tied.
    Seats that were withdrawn come last, the first of them at the very end.

    Args:
        tables: by seat.
        out: the seats that were withdrawn, each group at one moment.
        forfeit: whether the game is over because only one seat is left.
    """
    ranks = [(0, -table.solved, -table.cards, table.moves, table.passes) for table in tables]
    for order, group in enumerate(out):
        for seat in group:
            ranks[seat] = (1, -order, 0, 0, 0)
    places = tuple(1 + sum(other < own for other in ranks) for own in ranks)
    solved = any(table.solved for table in tables)
    reason = "forfeit" if forfeit else "solved" if solved else "unsolved"
    cards = tuple(table.cards for table in tables)
    figures = tuple((int(table.solved), table.cards, table.moves, table.passes) for table in tables)
    return Result(places, cards, reason, figures)
