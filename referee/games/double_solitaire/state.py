"""A position of Double Solitaire, from the shuffle to the result, and which plays are legal in it.

An action names a source and a target, such as `h-t2`. Sources are the card in hand `h`, the own discard pile `d`, and
the top card of a table pile `t0`; `t0x3` stands for its three top cards. Targets are the foundation of the card's suit
`f`, a table pile `t1`, and the discard pile of the opponent `o`. A turn ends by `h-d`, or by `end` once the card in
hand was played.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from malice.protocol.cards import RANKS, SUITS, VALUE, Cards, make_french_pack
from malice.referee.games.double_solitaire.parameters import Parameters
from malice.referee.rules import Result

Piles = tuple[Cards, ...]


class State(Struct, frozen=True, gc=False):
    """All cards and counters; every pile runs bottom to top, and cards are drawn or played from its end."""

    stocks: Piles = ()
    """By seat; there are none before the deal."""
    discards: Piles = ()
    """By seat."""
    table: Piles = ()
    heights: tuple[int, ...] = (0, 0, 0, 0)
    """How many cards lie on the foundations of clubs, diamonds, hearts and spades."""
    card: str | None = None
    """The card in hand of the seat whose turn it is, until it is played or discarded."""
    seat: int = 0
    """Whose turn it is."""
    turn: int = 0
    """Turns begun so far; 0 while seat 0 may exchange the stocks, where it may."""
    played: bool = False
    """The seat has made a play in this turn."""
    before: frozenset[Piles] = frozenset()
    """The tables that the seat has left since its last play that nothing undoes, each sorted: the places of its piles
    do not matter. All else that lies on the table is the same in these positions."""
    quiet: tuple[int, ...] = (0, 0)
    """By seat: turns in a row without a play of anybody."""
    barren: int = 0
    """Turns in a row without a card to a foundation."""
    out: tuple[tuple[int, ...], ...] = ()
    """The seats that were withdrawn, each group at one moment."""
    result: Result | None = None


def count_cards(state: State, seat: int) -> int:
    """How many cards the pack of a seat has left, the card in its hand included."""
    held = state.card is not None and seat == state.seat
    return len(state.stocks[seat]) + len(state.discards[seat]) + held


DISCARD = "h-d"
END = "end"
KEEP = "keep"
EXCHANGE = "exchange"

CARDS = make_french_pack()
SUIT = {card: SUITS.index(card[1]) for card in CARDS}
"""Card -> the index of its foundation."""
RED = "DH"


def _list_neighbours(card: str, steps: tuple[int, ...], suits: str) -> frozenset[str]:
    ranks = {VALUE[card] + step for step in steps}
    return frozenset(other for other in CARDS if VALUE[other] in ranks and other[1] in suits)


FITS = {card: _list_neighbours(card, (1,), "CS" if card[1] in RED else RED) for card in CARDS}
"""Card -> the cards that it may lie on in a table pile: one rank higher, of the other colour."""
LOADS = {card: _list_neighbours(card, (-1, 1), card[1]) for card in CARDS}
"""Card -> the cards that it may lie on in the opponent's discard pile: in suit, one rank higher or lower."""
KINGS = frozenset(card for card in CARDS if card[0] == RANKS[12])

TABLES = tuple(f"t{place}" for place in range(len(CARDS)))
"""The names of table piles."""


def sort_piles(table: Piles) -> Piles:
    """A table in the form in which tables are compared: the places of its piles do not matter."""
    return tuple(sorted(table))


def move_cards(table: Piles, source: int, count: int, target: int) -> Piles:
    """The table after the top `count` cards of one pile went to another."""
    piles = list(table)
    cards = piles[source][-count:]
    piles[source] = piles[source][:-count]
    piles[target] += cards
    return tuple(piles)


class Plays:
    """Lists what is legal under one set of parameters."""

    def __init__(self, parameters: Parameters) -> None:
        self._moves = parameters.table_moves
        self._empty = {"any": frozenset(CARDS), "king": KINGS, "none": frozenset[str]()}[parameters.empty_pile]
        self._loads_table = parameters.loading == "all"
        self._loads_pack = parameters.loading != "none"
        self._must_build = parameters.compulsory == "foundation"

    def list_legal(self, state: State) -> tuple[str, ...]:
        """The legal actions: by source, then by target, and what ends the turn last."""
        found: list[str] = []
        other = state.discards[1 - state.seat]
        own = state.discards[state.seat]
        top = other[-1] if other else ""
        pack = (("h", state.card or ""), ("d", own[-1] if own else ""))
        for source, card in pack:
            if card:
                self._list_single(source, card, state, top if self._loads_pack else "", found)
        for place, pile in enumerate(state.table):
            if pile:
                self._list_from_table(place, pile, state, top, found)
        if self._must_build and (building := tuple(action for action in found if action.endswith("f"))):
            return building
        found.append(DISCARD if state.card else END)
        return tuple(found)

    def _list_single(self, source: str, card: str, state: State, top: str, found: list[str]) -> None:
        """List the plays of a card that does not lie on the table; `top` is that of the opponent, if it may be loaded.

        Of several empty table piles only the first is a target: they are all the same.
        """
        if state.heights[SUIT[card]] == VALUE[card] - 1:
            found.append(f"{source}-f")
        fits, empty = FITS[card], card in self._empty
        for place, pile in enumerate(state.table):
            if pile:
                if pile[-1] in fits:
                    found.append(f"{source}-t{place}")
            elif empty:
                found.append(f"{source}-t{place}")
                empty = False
        if top in LOADS[card]:
            found.append(f"{source}-o")

    def _list_from_table(self, place: int, pile: Cards, state: State, top: str, found: list[str]) -> None:
        card, name = pile[-1], TABLES[place]
        if state.heights[SUIT[card]] == VALUE[card] - 1:
            found.append(f"{name}-f")
        for target, count in self._list_moves(place, pile, state.table):
            if self._is_new(state, place, count, target):
                found.append(f"{name}x{count}-t{target}" if count > 1 else f"{name}-t{target}")
        if self._loads_table and top in LOADS[card]:
            found.append(f"{name}-o")

    def _list_moves(self, place: int, pile: Cards, table: Piles) -> Iterator[tuple[int, int]]:
        """Yield the piles that take cards of this one, and how many cards from its top.

        A whole pile does not go to an empty place, where it would be what it was.
        """
        counts = self._list_counts(len(pile))
        empty = True
        for target, other in enumerate(table):
            for count in counts:
                card = pile[-count]
                if other:
                    if other[-1] in FITS[card] and target != place:
                        yield target, count
                elif empty and count < len(pile) and card in self._empty:
                    yield target, count
            empty = empty and bool(other)

    def _list_counts(self, size: int) -> tuple[int, ...]:
        """How many cards may leave a table pile at a time."""
        if self._moves == "run":
            return tuple(range(1, size + 1))
        return (1, size) if self._moves == "top_or_pile" and size > 1 else (1,)

    def _is_new(self, state: State, source: int, count: int, target: int) -> bool:
        """Tell whether a move on the table leads to a position that this turn has not seen."""
        if not state.before:
            return True  # a move never leaves the table as it is
        return sort_piles(move_cards(state.table, source, count, target)) not in state.before
