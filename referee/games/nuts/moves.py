"""Which actions a seat has: the cards that may move, where they fit, and whether a turn shows anything new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from malice.protocol.cards import RANKS, VALUE, Cards, make_french_pack
from malice.referee.games.nuts.messages import Part
from malice.referee.games.nuts.parameters import Parameters
from malice.referee.games.nuts.state import Side

TURN = "turn"
WAIT = "wait"
CENTRE = "f"
"""The target of a card that goes to the centre; its suit and value say on which foundation."""
PACK = make_french_pack()
KING = 13
BLACK = "CS"
RED = "DH"
Tops = dict[str, int]
"""By the top card of a column: which column it is."""


def _list_bases(card: str) -> tuple[str, str]:
    """Return the two cards of a pack that `card` may lie on in a column: one higher, of the other colour."""
    if VALUE[card] == KING:
        return "", ""
    rank, suits = RANKS[VALUE[card]], BLACK if card[1] in RED else RED
    return rank + suits[0], rank + suits[1]


BASES = {card: _list_bases(card) for card in PACK}
"""By card: the cards that it may lie on in a column; empty texts for a king."""
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
    """Lists what seats may do; a list begins with what moves cards, and ends with `turn` and `wait`."""

    def __init__(self, rules: Parameters) -> None:
        self._rules = rules
        columns = range(len(rules.columns))
        self._to_column = {card: tuple(f"{card}-t{column}" for column in columns) for card in PACK}
        self._to_centre = {card: f"{card}-{CENTRE}" for card in PACK}

    def list_all(self, side: Side, heights: Sequence[int], parts: Iterable[Part]) -> list[tuple[str, ...]]:
        """Return, for seats of one team that play these parts, all that they may do; nothing if it is only to wait."""
        tops, empty = _survey(side.columns)
        shared = self._list_columns(side, heights, tops, empty)
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

    def allows(self, side: Side, heights: Sequence[int], part: Part, action: str) -> bool:
        """Return whether an action is in the list of a seat that plays this part; quicker than to list all."""
        if action == TURN:
            return part != "nuts" and can_turn(side, self._rules)
        card = action[:2]
        tops, empty = _survey(side.columns)
        if (part != "cards" and side.nuts[-1:] == (card,)) or (part != "nuts" and side.waste[-1:] == (card,)):
            return action in self._list_card(card, heights, tops, empty)
        for pile, hidden in zip(side.columns, side.hidden, strict=True):
            if card in pile[hidden:]:
                start = pile.index(card)
                if action == self._to_centre[card]:
                    return start == len(pile) - 1 and find_foundation(card, heights) is not None
                whole = self._rules.runs == "any" or start == hidden
                return whole and action in self._list_targets(card, tops, empty if start else ())
        return False

    def _list_card(self, card: str, heights: Sequence[int], tops: Tops, empty: Sequence[int]) -> list[str]:
        """Return what the top of a Nuts pile or of a waste may do."""
        centre = [] if find_foundation(card, heights) is None else [self._to_centre[card]]
        return centre + self._list_targets(card, tops, empty)

    def _list_columns(self, side: Side, heights: Sequence[int], tops: Tops, empty: Sequence[int]) -> list[str]:
        """Return what the cards of columns may do, column by column, each from its end."""
        found = []
        whole = self._rules.runs == "whole"
        for pile, hidden in zip(side.columns, side.hidden, strict=True):
            if not pile:
                continue
            if find_foundation(pile[-1], heights) is not None:
                found.append(self._to_centre[pile[-1]])
            for start in (hidden,) if whole else range(len(pile) - 1, hidden - 1, -1):
                one, other = BASES[pile[start]]
                # Most cards fit nowhere, so this looks before it lists. A whole column that goes to an empty one
                # changes nothing.
                if one in tops or other in tops or (empty and start):
                    found += self._list_targets(pile[start], tops, empty if start else ())
        return found

    def _list_targets(self, card: str, tops: Tops, empty: Sequence[int]) -> list[str]:
        """Return the moves of a card, or of a run that begins with it, to columns."""
        targets = [tops[base] for base in BASES[card] if base in tops]
        if empty and (self._rules.empty_column == "any" or VALUE[card] == KING):
            targets += empty
        names = self._to_column[card]
        return [names[target] for target in sorted(targets)]


def _survey(columns: Sequence[Cards]) -> tuple[Tops, Sequence[int]]:
    """Return the columns by their tops, and those that are empty."""
    tops = {pile[-1]: column for column, pile in enumerate(columns) if pile}
    return tops, [column for column, pile in enumerate(columns) if not pile] if () in columns else ()
