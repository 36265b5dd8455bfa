"""A first world of Spite & Malice: a life for each cell, such that all that was heard is true.

A card that another seat played from its hand is pinned on the cell where it was drawn. Then each cell wants a card, or
takes any, and augmenting paths match lives with cells wherever these pins allow it. Where they do not, two pins of a
hand change places: one of those that a path reached, since no other can help. Hardly any game needs that, since each
card is first pinned on the oldest cell that a life of it still fits into: old cells accept the fewest lives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from malice.referee.games.spite.memory import Hand, Life, Record, name_leftover

WANDER = 0.3
"""How likely it is that a life that is left over takes the place of another, which is left over instead."""
UPHILL = 0.3
"""How likely it is that one more cell may lack a life."""


class Pin(NamedTuple):
    """A card that was played from a hand, which drew it after so many cards, and before it had drawn so many."""

    card: str
    first: int
    last: int


class Matching:
    """Matches lives with cells, both of which are numbers here. Equal lives are a group.

    Args:
        record: what the seat heard.
        rng: makes all choices.
        late: whether pins are first laid on the latest cell where a life fits, and not on the oldest.
        patience: how many cells paths may visit, for each that there is, until there seems to be no world.
    """

    hopeless = False
    """Whether there is no world at all, and none is to be found by another try either."""

    def __init__(self, record: Record, rng: Random, *, late: bool, patience: int) -> None:
        self._late = late
        self._patience = patience
        self._record = record
        self._rng = rng
        self._lives: defaultdict[Life, list[int]] = defaultdict(list)
        """By group."""
        for number, life in enumerate(record.list_lives()):
            self._lives[life].append(number)
        self._groups: defaultdict[str, list[Life]] = defaultdict(list)
        """By card, the latest first: they fit into the fewest cells."""
        for group in sorted(self._lives, key=lambda group: -group.entry):
            self._groups[group.card].append(group)
        self._owners: dict[int, tuple[int, int]] = {}
        """By cell that another seat drew: its hand, and its place there."""
        numbers = {id(cell): place for place, cell in enumerate(record.cells)}
        self._hands = [[numbers[id(cell)] for cell in hand.cells] for hand in record.hands]
        for owner, cells in enumerate(self._hands):
            self._owners |= {cell: (owner, place) for place, cell in enumerate(cells)}
        self._absent = [_find_absent(hand) for hand in record.hands]
        self._pins: dict[int, Pin] = {}
        self._fitting: dict[object, dict[Life, None]] = {}
        self._held: list[Life | None] = []
        """By cell."""
        self._holders: defaultdict[Life, set[int]] = defaultdict(set)
        """By group: its cells."""
        self._hold([None] * len(record.cells))
        self._visited = 0

    def find(self) -> list[int] | None:
        """The life in each cell; None if no world was found."""
        seen = [cell for cell, found in enumerate(self._record.cells) if found.card is not None]
        unmatched = [cell for cell in self._sort(seen) if not self._match(cell)]
        self.hopeless = bool(unmatched)
        if unmatched or not self._pin_all():
            return None
        free = [cell for cell, group in enumerate(self._held) if not group]
        unmatched = [cell for cell in self._sort(free) if not self._match(cell)]
        while unmatched:
            start = self._rng.choice(unmatched)
            if self._match(start):
                unmatched.remove(start)
                continue
            # What has no life without a path to a hand has none wherever the pins are.
            reached = [cell for cell in self._reached if cell in self._owners]
            self.hopeless = not reached
            if not reached or self._visited > self._patience * len(self._held):
                return None
            choice = self._choose_wanted() if self._rng.random() < 0.5 else self._choose_reached(reached)
            if choice:
                unmatched = self._move(*choice, unmatched)
        return self._deal()

    def _hold(self, held: list[Life | None]) -> None:
        """Let each cell hold a life of a group, or none yet."""
        self._held = held
        self._free = {group: len(lives) for group, lives in self._lives.items()}
        self._holders.clear()
        for cell, group in enumerate(held):
            if group:
                self._take(cell, group)

    def _drop(self, cell: int) -> None:
        if group := self._held[cell]:
            self._held[cell] = None
            self._free[group] += 1
            self._holders[group].remove(cell)

    def _take(self, cell: int, group: Life) -> None:
        """Let a cell hold a life that is free."""
        self._held[cell] = group
        self._free[group] -= 1
        self._holders[group].add(cell)

    def _sort(self, cells: Iterable[int]) -> list[int]:
        """Sort cells by how many lives they accept, the fewest first: so most paths are short."""
        order = list(cells)
        self._rng.shuffle(order)
        return sorted(order, key=lambda cell: (cell not in self._pins, len(self._list_sources(cell))))

    def _list_sources(self, cell: int) -> frozenset[int]:
        return self._record.may_hold[self._record.cells[cell].source]

    def _deal(self) -> list[int]:
        """Give each cell a life of its group."""
        for lives in self._lives.values():
            self._rng.shuffle(lives)
        return [self._lives[group].pop() for group in self._held if group]

    # Pins

    def _pin_all(self) -> bool:
        """Pin all that was played; return whether each hand had drawn enough for it."""
        plays = [(owner, pin) for owner, hand in enumerate(self._record.hands) for pin in _list_pins(hand)]
        plays.sort(key=lambda play: self._hands[play[0]][play[1].last - 1])
        for owner, pin in plays:
            cells = [cell for cell in self._hands[owner][: pin.last] if cell not in self._pins]
            if not cells:
                return False
            for cell in reversed(cells) if self._late else cells:
                if self._owners[cell][1] < pin.first:
                    continue
                sources = self._list_sources(cell)
                if group := next((g for g in self._groups[pin.card] if self._free[g] and g.entry in sources), None):
                    self._pins[cell] = pin
                    self._take(cell, group)
                    break
            else:
                self._pins[cells[-1]] = pin
        return True

    def _choose_reached(self, reached: list[int]) -> tuple[int, int] | None:
        """Choose a cell that can do without its life, and another of its hand."""
        one = self._rng.choice(reached)
        others = self._list_partners(one)
        return (one, self._rng.choice(others)) if others else None

    def _choose_wanted(self) -> tuple[int, int] | None:
        """Choose a cell with a pin of a card that can be spared, and another of its hand where such a life may lie."""
        group = self._rng.choice([group for group, left in self._free.items() if left])
        while self._rng.random() < WANDER:
            cells = [cell for cell in range(len(self._held)) if self._held[cell] and group in self._list_fitting(cell)]
            if not cells:
                return None
            group = self._held[self._rng.choice(cells)] or group
        card, entry = group
        cells = [cell for cell, pin in self._pins.items() if pin.card == card and entry not in self._list_sources(cell)]
        if not cells:
            return None
        one = self._rng.choice(cells)
        others = [other for other in self._list_partners(one) if entry in self._list_sources(other)]
        return (one, self._rng.choice(others)) if others else None

    def _list_partners(self, one: int) -> list[int]:
        """List the cells of its hand with which a cell may exchange its pin."""
        owner, place = self._owners[one]
        pin = self._pins.get(one)
        return [
            other
            for where, other in enumerate(self._hands[owner])
            if _may_lie(pin, where) and _may_lie(new := self._pins.get(other), place) and pin != new
        ]

    def _move(self, one: int, other: int, unmatched: list[int]) -> list[int]:
        """Let two cells of a hand exchange pins, if hardly more cells lack a life then; return those that do."""
        held = self._held.copy()
        self._exchange_pins(one, other)
        self._drop(one)
        self._drop(other)
        left = [cell for cell in dict.fromkeys((one, other, *unmatched)) if not self._match(cell)]
        if len(left) > len(unmatched) + (self._rng.random() < UPHILL):
            self._exchange_pins(one, other)
            self._hold(held)
            return unmatched
        return left

    def _exchange_pins(self, one: int, other: int) -> None:
        pins = {one: self._pins.pop(other, None), other: self._pins.pop(one, None)}
        self._pins |= {cell: pin for cell, pin in pins.items() if pin}

    # Paths

    def _match(self, start: int) -> bool:
        """Find a life for a cell along an augmenting path; return whether there is one."""
        came: dict[Life, int] = {}
        self._visited += 1
        queue = self._reached = [start]
        for cell in queue:
            for group in self._list_fitting(cell):
                if group in came:
                    continue
                came[group] = cell
                if self._free[group]:
                    self._shift(group, came)
                    return True
                queue += self._holders[group]
                self._visited += len(self._holders[group])
        return False

    def _shift(self, group: Life, came: dict[Life, int]) -> None:
        """Let each cell on a path to a free life take what it came for."""
        while True:
            cell = came[group]
            left = self._held[cell]
            self._drop(cell)
            self._take(cell, group)
            if left is None:
                return
            group = left

    def _list_fitting(self, cell: int) -> dict[Life, None]:
        """List the groups whose lives a cell may hold, in a fixed order."""
        found, pin = self._record.cells[cell], self._pins.get(cell)
        owner, place = self._owners.get(cell, (-1, 0))
        if not _may_lie(pin, place):
            return {}
        wanted, absent = pin.card if pin else found.card, frozenset[str]()
        if owner >= 0 and wanted is None:
            if self._record.hands[owner].heir is not None:
                return {Life("", name_leftover(owner)): None}
            absent = frozenset(card for card, draws in self._absent[owner].items() if place < draws)
        key = found.source, wanted, absent
        if key not in self._fitting:
            cards = [card for card in self._groups if card not in absent] if wanted is None else [wanted]
            sources = self._list_sources(cell)
            groups = [group for card in cards for group in self._groups.get(card, ()) if group.entry in sources]
            self._fitting[key] = dict.fromkeys(sorted(groups, key=lambda group: -group.entry))
        return self._fitting[key]


def _may_lie(pin: Pin | None, place: int) -> bool:
    return pin is None or pin.first <= place < pin.last


def _list_pins(hand: Hand) -> Iterator[Pin]:
    """Yield what was played from a hand, in order."""
    played: defaultdict[str, int] = defaultdict(int)
    for draws, card in hand.played:
        ruled_out = (check.draws for check in hand.checks[card] if check.exact and check.copies <= played[card])
        yield Pin(card, max(ruled_out, default=0), draws)
        played[card] += 1


def _find_absent(hand: Hand) -> dict[str, int]:
    """By card, how many cards the hand had drawn when it last was known not to hold it."""
    ruled_out = {card: [check.draws for check in checks if check.exact] for card, checks in hand.checks.items()}
    return {card: max(draws) for card, draws in ruled_out.items() if draws}
