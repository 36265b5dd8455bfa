"""One tick: the actions of the seats, one after the other, on a table that changes from one to the next."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from malice.protocol.cards import Cards
from malice.referee.games.nuts.messages import CardsMoved, Event, Flip, Lapse, Part, Redeal, Turned
from malice.referee.games.nuts.moves import CENTRE, TURN, Moves, find_foundation
from malice.referee.games.nuts.parameters import Parameters
from malice.referee.games.nuts.state import Side, State


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
        """Return whether an action that was legal before the tick still is."""
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
