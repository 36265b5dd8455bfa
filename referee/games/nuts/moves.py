"""The actions of a tick: which ones each seat has, what they do in turn, and what follows when nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from malice.protocol.cards import RANKS, VALUE, Cards, make_french_pack
from malice.referee.games.nuts.messages import Burned, CardsMoved, Event, Flip, Lapse, Part, Redeal, Turned
from malice.referee.games.nuts.parameters import Parameters
from malice.referee.games.nuts.state import Side, State

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
    """The two cards of a pack that `card` may lie on in a column: one higher, of the other colour."""
    if VALUE[card] == KING:
        return "", ""
    rank, suits = RANKS[VALUE[card]], BLACK if card[1] in RED else RED
    return rank + suits[0], rank + suits[1]


BASES = {card: _list_bases(card) for card in PACK}
"""By card: the cards that it may lie on in a column; empty texts for a king."""
FIRST_PLACE = {card: 2 * "CDHS".index(card[1]) for card in PACK}
"""By card: the first of the two foundations of its suit."""


def find_foundation(card: str, heights: Sequence[int]) -> int | None:
    """The foundation that takes `card`, the first if both of its suit do; None if neither does."""
    place, below = FIRST_PLACE[card], VALUE[card] - 1
    if heights[place] == below:
        return place
    return place + 1 if heights[place + 1] == below else None


def can_turn(side: Side, rules: Parameters) -> bool:
    """Whether a turn changes anything: a waste of one turn, turned over and turned again, is as it was."""
    return bool(side.stock) or len(side.waste) > rules.turned


class Moves:
    """Lists what seats may do; a list begins with what moves cards, and ends with `turn` and `wait`."""

    def __init__(self, rules: Parameters) -> None:
        self._rules = rules
        columns = range(len(rules.columns))
        self._to_column = {card: tuple(f"{card}-t{column}" for column in columns) for card in PACK}
        self._to_centre = {card: f"{card}-{CENTRE}" for card in PACK}

    def list_all(self, side: Side, heights: Sequence[int], parts: Iterable[Part]) -> list[tuple[str, ...]]:
        """List, for each seat of a team by its part, all that it may do; nothing if it can only wait."""
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
        """Whether an action is in the list of a seat that plays this part; faster than listing all."""
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
        """What the top of a Nuts pile or of a waste may do."""
        centre = [] if find_foundation(card, heights) is None else [self._to_centre[card]]
        return centre + self._list_targets(card, tops, empty)

    def _list_columns(self, side: Side, heights: Sequence[int], tops: Tops, empty: Sequence[int]) -> list[str]:
        """What the cards of columns may do, column by column, each from its end."""
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
        """The moves of a card, or of a run that begins with it, to columns."""
        targets = [tops[base] for base in BASES[card] if base in tops]
        if empty and (self._rules.empty_column == "any" or VALUE[card] == KING):
            targets += empty
        names = self._to_column[card]
        return [names[target] for target in sorted(targets)]


def _survey(columns: Sequence[Cards]) -> tuple[Tops, Sequence[int]]:
    """The columns by their tops, and those that are empty."""
    tops = {pile[-1]: column for column, pile in enumerate(columns) if pile}
    return tops, [column for column, pile in enumerate(columns) if not pile] if () in columns else ()


class Tick:
    """The table in the middle of a tick.

    Args:
        rules: the parameters.
        moves: lists what is legal.
        teams: by seat.
        parts: by seat, what it may play.
        state: the position before the tick.
    """

    def __init__(
        self, rules: Parameters, moves: Moves, teams: Sequence[int], parts: Sequence[Part], state: State
    ) -> None:
        self._rules = rules
        self._moves = moves
        self._teams = teams
        self._parts = parts
        self._before = state
        self.sides = list(state.sides)
        self.heights = list(state.heights)
        self.busy = list(state.busy)
        self.events: list[Event] = []
        self.progress = False
        """Whether the tick is not idle."""

    def play(self, seat: int, action: str) -> None:
        """Play an action if it is still legal; otherwise it lapses."""
        if self.events and not self._is_legal(seat, action):
            self.events.append(Lapse(seat, action))
        elif action == TURN:
            self._turn(seat)
        else:
            self._move(seat, *action.split("-"))

    def _is_legal(self, seat: int, action: str) -> bool:
        """Whether an action that was legal before the tick still is."""
        if self._rules.nuts_out == "at_once" and not all(side.nuts for side in self.sides):
            return False
        team = self._teams[seat]
        side = self.sides[team]
        if side is self._before.sides[team] and not action.endswith(CENTRE):
            return True
        return self._moves.allows(side, self.heights, self._parts[seat], action)

    def _turn(self, seat: int) -> None:
        team = self._teams[seat]
        side, size = self.sides[team], self._rules.turned
        stock, waste = side.stock, side.waste
        ticks = self._rules.turn_ticks
        if not stock:
            self.events.append(Redeal(seat, len(waste)))
            stock, waste = waste[::-1], ()
            ticks += self._rules.redeal_ticks
        cards = stock[: -size - 1 : -1]
        self.sides[team] = replace(side, stock=stock[:-size], waste=waste + cards)
        self.busy[seat] = self._before.tick + ticks
        self.events.append(Turned(seat, cards))

    def _move(self, seat: int, card: str, target: str) -> None:
        """Move a card, with all that lies on it."""
        team = self._teams[seat]
        side, source, cards = _take(self.sides[team], card)
        if target == CENTRE:
            place = find_foundation(card, self.heights)
            assert place is not None
            self.heights[place] += 1
            side = replace(side, centre=side.centre + 1)
            target = f"{CENTRE}{place}"
        else:
            side = _lay(side, int(target[1:]), cards)
            target = f"{team}{target}"
        self.events.append(CardsMoved(seat, f"{team}{source}", target, cards))
        side, shown = _turn_up(side, source)
        if shown:
            self.events.append(Flip(f"{team}{source}", shown))
        self.sides[team] = side
        self.progress |= target[0] == CENTRE or source in ("n", "w") or bool(shown)


def _take(side: Side, card: str) -> tuple[Side, str, Cards]:
    """Take a card, with all that lies on it, from a side; return what is left, the pile and the cards."""
    if side.nuts[-1:] == (card,):
        return replace(side, nuts=side.nuts[:-1]), "n", (card,)
    if side.waste[-1:] == (card,):
        return replace(side, waste=side.waste[:-1]), "w", (card,)
    column = next(column for column, pile in enumerate(side.columns) if card in pile)
    pile = side.columns[column]
    start = pile.index(card)
    return _replace_column(side, column, pile[:start]), f"t{column}", pile[start:]


def _lay(side: Side, column: int, cards: Cards) -> Side:
    return _replace_column(side, column, side.columns[column] + cards)


def _replace_column(side: Side, column: int, pile: Cards) -> Side:
    columns = side.columns
    return replace(side, columns=(*columns[:column], pile, *columns[column + 1 :]))


def _turn_up(side: Side, source: str) -> tuple[Side, str]:
    """Turn up what a card has uncovered, if that lay face down; return the card too, or an empty text."""
    if source == "n":
        return side, "".join(side.nuts[-1:])
    if source == "w":
        return side, ""
    column = int(source[1:])
    pile, hidden = side.columns[column], side.hidden
    if not pile or hidden[column] < len(pile):
        return side, ""
    fewer = (*hidden[:column], len(pile) - 1, *hidden[column + 1 :])
    return replace(side, hidden=fewer), pile[-1]


def end_tick(
    rules: Parameters, state: State, progress: bool, can_act: Callable[[State], bool], events: list[Event]
) -> State:
    """End a tick, and every following one in which no seat can do more than wait.

    Args:
        rules: the parameters.
        state: the position after the actions of the tick.
        progress: whether the tick was not idle.
        can_act: whether some seat can do more than wait.
        events: receives what happens.
    """
    state = replace(state, pending=())
    while True:
        state = _count_idle(rules, state, progress)
        if state.idle >= rules.idle_ticks and not state.reason:
            state = _resolve_stall(rules, state, events)
        if state.reason:
            return state
        state = replace(state, tick=state.tick + 1)
        if can_act(state):
            return state
        progress = False


def _count_idle(rules: Parameters, state: State, progress: bool) -> State:
    """Count a tick as idle or not; end the hand if it was the last one for another reason."""
    reason = ""
    if not all(side.nuts for side in state.sides):
        reason = "nuts"
    elif state.tick >= rules.max_ticks:
        reason = "max_ticks"
    burned = state.burned and (rules.burn == "once" or not progress)
    return replace(state, idle=0 if progress else state.idle + 1, burned=burned, reason=reason)


def _resolve_stall(rules: Parameters, state: State, events: list[Event]) -> State:
    """Burn the stocks if that is still allowed, or end the hand."""
    if state.burned or rules.burn == "never":
        return replace(state, reason="idle")
    thin = tuple(team for team, side in enumerate(state.sides) if len(side.stock) < 2 and side.waste)
    events.append(Burned(thin))
    sides = tuple(burn(side, team in thin) for team, side in enumerate(state.sides))
    return replace(state, sides=sides, idle=0, burned=True)


def burn(side: Side, thin: bool) -> Side:
    """Put the top card of a stock to its bottom; turn the waste over first, and put it below, if that is needed."""
    stock = side.waste[::-1] + side.stock if thin else side.stock
    return replace(side, stock=stock[-1:] + stock[:-1], waste=() if thin else side.waste)
