"""Which actions a seat has: the cards that may move, where they fit, and whether a turn shows anything new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from protocol.cards import VALUE, french_pack
from referee.games.nuts.messages import Part
from referee.games.nuts.parameters import Parameters
from referee.games.nuts.state import Side

TURN = "turn"
WAIT = "wait"
CENTRE = "f"
"""The target of a card that goes to the centre; its suit and value say on which foundation."""
PACK = french_pack()
KING = 13
RED = "DH"


def _list_bases(card: str) -> tuple[str, ...]:
    """Return the cards of a pack that `card` may lie on in a column: one higher, of the other colour."""
    return tuple(
        base for base in PACK if VALUE[base] == VALUE[card] + 1 and (base[1] in RED) != (card[1] in RED)
    )


BASES = {card: _list_bases(card) for card in PACK}
"""By card: the cards that it may lie on in a column."""
FIRST_PLACE = {card: 2 * "CDHS".index(card[1]) for card in PACK}
"""By card: the first of the two foundations of its suit."""


def find_foundation(card: str, heights: Sequence[int]) -> int | None:
    """Return the foundation that takes `card`, the first if both of its suit do; None if neither does."""
    place, below = FIRST_PLACE[card], VALUE[card] - 1
    if heights[place] == below:
        return place
    return place + 1 if heights[place + 1] == below else None


def can_turn(side: Side, rules: Parameters) -> bool:
    """Return whether a turn changes anything: a waste of one turn, turned over and turned again, is as it was."""
    return bool(side.stock) or len(side.waste) > rules.turned


class Moves:
    """Lists what seats may do; a list begins with what moves single cards, and ends with `turn` and `wait`."""

    def __init__(self, rules: Parameters) -> None:
        self._rules = rules
        columns = range(len(rules.columns))
        self._to_column = {card: tuple(f"{card}-t{column}" for column in columns) for card in PACK}
        self._to_centre = {card: f"{card}-{CENTRE}" for card in PACK}

    def list_all(self, side: Side, heights: Sequence[int], parts: Iterable[Part]) -> list[tuple[str, ...]]:
        """Return, for seats of one team that play these parts, all that they may do; nothing if it is only to wait."""
        columns = side.columns
        tops = {pile[-1]: column for column, pile in enumerate(columns) if pile}
        empty = [column for column, pile in enumerate(columns) if not pile] if () in columns else []
        shared = list(self._list_columns(side, heights, tops, empty))
        found = []
        for part in parts:
            own = []
            if part != "cards" and side.nuts:
                own += self._list_card(side.nuts[-1], heights, tops, empty)
            if part != "nuts" and side.waste:
                own += self._list_card(side.waste[-1], heights, tops, empty)
            own += shared
            if part != "nuts" and can_turn(side, self._rules):
                own.append(TURN)
            found.append((*own, WAIT) if own else ())
        return found

    def _list_card(
        self, card: str, heights: Sequence[int], tops: dict[str, int], empty: Sequence[int]
    ) -> Iterator[str]:
        """Yield what the top of a Nuts pile or of a waste may do."""
        if find_foundation(card, heights) is not None:
            yield self._to_centre[card]
        yield from self._list_targets(card, tops, empty)

    def _list_columns(
        self, side: Side, heights: Sequence[int], tops: dict[str, int], empty: Sequence[int]
    ) -> Iterator[str]:
        """Yield what the cards of columns may do, column by column, each from its end."""
        whole = self._rules.runs == "whole"
        for pile, hidden in zip(side.columns, side.hidden, strict=True):
            if not pile:
                continue
            if find_foundation(pile[-1], heights) is not None:
                yield self._to_centre[pile[-1]]
            if whole:
                yield from self._list_targets(pile[hidden], tops, empty if hidden else ())
                continue
            for start in range(len(pile) - 1, hidden - 1, -1):
                # A whole column that goes to an empty one changes nothing.
                yield from self._list_targets(pile[start], tops, empty if start else ())

    def _list_targets(self, card: str, tops: dict[str, int], empty: Sequence[int]) -> list[str]:
        """Return the moves of a card, or of a run that begins with it, to columns."""
        targets = [tops[base] for base in BASES[card] if base in tops]
        if empty and (self._rules.empty_column == "any" or VALUE[card] == KING):
            targets += empty
        names = self._to_column[card]
        return [names[target] for target in sorted(targets)]
