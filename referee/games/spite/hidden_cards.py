"""Follows a game by its events, and knows at every card that chance turns up which cards could have lain there.

It knows more than any seat: which cards the stock holds and which the covered pay-off piles hold together, but not in
which order. All orders are equally likely to whoever knows that, whatever the seats did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from malice.protocol.cards import RANKS, VALUE
from malice.protocol.messages import Out
from malice.referee.games.spite.derived import DerivedRules
from malice.referee.games.spite.messages import CardMoved, Draw, Flip, Pass, Shuffled
from malice.referee.games.spite.state import State

Counts = list[int]
"""How many cards of each value, by `malice.protocol.cards.VALUE`; nothing at 0."""
Chance = Callable[[type[Struct], int, int, Counts], None]
"""Receives `Draw` or `Flip`, the seat, the value that came, and what could have come; before the card is there."""


def count_values(cards: Iterable[str]) -> Counts:
    """Count cards by value."""
    counts = [0] * (len(RANKS) + 1)
    for card in cards:
        counts[VALUE[card]] += 1
    return counts


class FollowedTable:
    """The table as far as values go.

    Args:
        derived: the rules.
        state: a position after the deal, before the first action.
        on_chance: receives every card that chance turns up.
    """

    def __init__(self, derived: DerivedRules, state: State, on_chance: Chance) -> None:
        self._derived = derived
        self._on_chance = on_chance
        self.hands = [count_values(hand) for hand in state.hands]
        self.sides = [[[VALUE[card] for card in pile] for pile in piles] for piles in state.sides]
        self.open = [[VALUE[card] for card in pile[-1:]] for pile in state.payoffs]
        """The known cards on top of each pay-off pile: the top, and what was loaded on one."""
        self.covered = [count_values(pile[:-1]) for pile in state.payoffs]
        """The cards of each pay-off pile below them."""
        self.left = [len(pile) for pile in state.payoffs]
        self.centre = [[VALUE[card] for card in stack] for stack in state.centre]
        self.heights = list(state.heights)
        self.stock = [count_values(state.stock)]
        """In layers, bottom to top: what was shuffled together."""
        self.aside: list[int] = []
        # A tie puts a card back that everybody has seen: then the piles hold different things.
        self._piles_differ = state.ties > 0
        # A pass may complete a round of passes, and so may the withdrawal of the seat whose pass was missing.
        self._after_round = False
        self._shuffling = ""

    def follow(self, events: Iterable[Struct]) -> None:
        """Follow what happened."""
        for event in events:
            if isinstance(event, Shuffled):
                self._shuffle(event)
                continue
            self._shuffling = ""
            self._after_round = isinstance(event, Pass | Out)
            if isinstance(event, CardMoved):
                self._move(event)
            elif isinstance(event, Draw):
                self._draw(event)
            elif isinstance(event, Flip):
                self._flip(event)

    def _move(self, event: CardMoved) -> None:
        value, source, target = VALUE[event.card], event.source, event.target
        seat = int(source[0])
        if source[1] == "h":
            self.hands[seat][value] -= 1
        elif source[1] == "p":
            self.open[seat].pop()
            self.left[seat] -= 1
        else:
            self.sides[seat][int(source[2:])].pop()
        if target[0] == "c":
            self._grow(int(target[1:]), value)
        elif target[1] == "p":
            self.open[int(target[0])].append(value)
            self.left[int(target[0])] += 1
        else:
            self.sides[seat][int(target[2:])].append(value)

    def _grow(self, slot: int, value: int) -> None:
        if slot == len(self.centre):
            self.centre.append([])
            self.heights.append(0)
        self.centre[slot].append(value)
        self.heights[slot] = (self.heights[slot] + 1) % self._derived.stack_top

    def _flip(self, event: Flip) -> None:
        seat, value = event.seat, VALUE[event.card]
        if self.open[seat]:
            return  # it lay under a loaded card
        covered = self.covered
        pool = covered[seat] if self._piles_differ else [sum(each) for each in zip(*covered, strict=True)]
        self._on_chance(Flip, seat, value, pool)
        covered[seat][value] -= 1
        self.open[seat].append(value)

    def _draw(self, event: Draw) -> None:
        for card in event.cards:
            while not any(self.stock[-1]):
                self.stock.pop()
            value = VALUE[card]
            self._on_chance(Draw, event.seat, value, self.stock[-1])
            self.stock[-1][value] -= 1
            self.hands[event.seat][value] += 1

    def _shuffle(self, event: Shuffled) -> None:
        """Put cards aside, into the stock, or under it: the latter if they were shuffled by themselves."""
        source, values = event.source, self._take(event.source, event.count)
        if event.target == "aside":
            self.aside += values
            return
        in_part = source[0] == "c" and bool(self.centre[int(source[1:])])
        if self._is_redealt(source, in_part) or self._is_mixed_in(source, in_part):
            self.stock = [[sum(each) for each in zip(*self.stock, strict=True)]]
            self._shuffling = "whole"
        elif not (in_part and self._shuffling == "part"):
            self.stock.insert(0, count_values(()))
            self._shuffling = "part" if in_part else "alone"
        for value in values:
            self.stock[0][value] += 1

    def _is_redealt(self, source: str, in_part: bool) -> bool:
        """Return whether everything but the pay-off piles is gathered, after a round of passes."""
        gathered = source[-1] == "h" or source[1:2] == "s" or (source[0] == "c" and not in_part)
        return (gathered and self._after_round) or (source == "aside" and self._shuffling == "whole")

    def _is_mixed_in(self, source: str, in_part: bool) -> bool:
        return source[0] == "c" and not in_part and self._derived.rules.recycle == "shuffle"

    def _take(self, pile: str, count: int) -> list[int]:
        """Take cards that are shuffled: a whole pile, or all but the top of a centre stack."""
        if pile == "aside":
            taken, self.aside = self.aside, []
            return taken
        if pile[0] == "c":
            slot = int(pile[1:])
            taken, self.centre[slot] = self.centre[slot][:count], self.centre[slot][count:]
            if not self.centre[slot]:
                self.heights[slot] = 0
            return taken
        seat = int(pile[0])
        if pile[1] == "h":
            hand, self.hands[seat] = self.hands[seat], count_values(())
            return [value for value, many in enumerate(hand) for _ in range(many)]
        taken, self.sides[seat][int(pile[2:])] = self.sides[seat][int(pile[2:])], []
        return taken
