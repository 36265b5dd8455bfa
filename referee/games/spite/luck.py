"""What chance did for the seats of a game of two: the sum over the cards that it turned up.

It knows more than any seat: which cards the stock holds and which the covered pay-off piles hold together, but not in
which order. All orders are equally likely to whoever knows that, whatever the seats did.

Each card counts as much as it is worth where it came, less the mean of that over all cards that could have come there.
So the sum is 0 on average, whatever the seats do. What a card is worth is a linear function of a few features, fitted
once for a ruleset on games of bots that ship (`fit_luck` does it), and kept in `weights/RULESET.json`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache, lru_cache, partial
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from malice.protocol.cards import RANKS, VALUE
from malice.protocol.messages import Out
from malice.referee.games.spite.messages import CardMoved, Draw, Flip, Pass, Shuffled
from malice.referee.games.spite.parameters import DerivedRules, Parameters
from malice.referee.games.spite.state import State
from malice.referee.rules import Luck

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
        """Whether everything but the pay-off piles is gathered, after a round of passes."""
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


WEIGHTS = Path(__file__).parent / "weights"

KING, WILD = 13, 14
VALUES = range(1, WILD + 1)
MOST_MISSING, MOST_DISTANCE = 6, 12
PLAYABLE = (0, 2, 4, *(6,) * KING)
"""By the number of missing cards: the place of none, one, two, and more."""

# The first number of each group of features.
DRAWN_VALUE = 0
DRAWN_NEARER = 14
DRAWN_PLAYABLE = 19
DRAWN_TIDY, DRAWN_OWN, DRAWN_OTHER = 27, 28, 29
DRAWN_WILD = 30
TURNED_MISSING = 38
TURNED_DISTANCE = TURNED_MISSING + MOST_MISSING + 1
TURNED_VALUE = TURNED_DISTANCE + MOST_DISTANCE + 1
TURNED_HELD, TURNED_NEAR_BY_WILD, TURNED_WILD, TURNED_OTHER = range(TURNED_VALUE + 14, TURNED_VALUE + 18)
FEATURES = TURNED_OTHER + 1
"""How many features there are; each counts a second time by how close the race is."""

Features = list[tuple[int, ...]]
"""By value, the features that a card of it has where it comes."""


class Weights(Struct, frozen=True, forbid_unknown_fields=True):
    """A frozen function of a ruleset."""

    ruleset: str
    rules: str
    """SHA-256 of its parameters, hex: the function holds for no others."""
    games: str
    """The games on which it was fitted."""
    plain: tuple[float, ...]
    """What each feature is worth, in games won."""
    close: tuple[float, ...]
    """What it is worth besides, in an even race."""


def hash_rules(rules: Parameters) -> str:
    """SHA-256 of parameters, hex."""
    return sha256(msgspec.json.encode(rules)).hexdigest()


@cache
def find_luck(rules: Parameters, seats: int) -> Luck | None:
    """How to measure luck under these parameters; None if no function was fitted for them."""
    if seats != 2:
        return None
    for weights, digest in _read_weights():
        if weights.rules == hash_rules(rules):
            return Luck(digest, partial(LuckMeter, weights, DerivedRules(rules, seats)))
    return None


@cache
def _read_weights() -> tuple[tuple[Weights, str], ...]:
    files = [path.read_bytes() for path in sorted(WEIGHTS.glob("*.json"))]
    return tuple((msgspec.json.decode(file, type=Weights), sha256(file).hexdigest()) for file in files)


class LuckMeter:
    """The luck of both seats of a game.

    Args:
        weights: what features are worth.
        derived: the rules.
        state: the position after the deal.
    """

    def __init__(self, weights: Weights, derived: DerivedRules, state: State) -> None:
        self._table = FollowedTable(derived, state, self._add)
        self._list_features = FeatureLists(derived, self._table)
        self._weights = weights
        self._left: tuple[int, int] | None = None
        self._worth: list[float] = []
        self._lead = 0.0

    def follow(self, events: Iterable[Struct]) -> None:
        """Add what happened."""
        self._table.follow(events)

    def total(self) -> tuple[float, ...]:
        """The luck of each seat so far, in games won; the sum is 0."""
        return self._lead, -self._lead + 0.0

    def _add(self, kind: type[Struct], seat: int, value: int, pool: Counts) -> None:
        features, worth = self._list_features(kind, seat), self._weigh_features()
        worths = [sum([worth[one] for one in each]) for each in features]
        mean = sum([many * each for many, each in zip(pool, worths, strict=True)]) / sum(pool)
        self._lead += (worths[value] - mean) * (-1 if seat else 1)

    def _weigh_features(self) -> list[float]:
        """What each feature is worth in the race as it stands, which changes with the pay-off piles alone."""
        one, other = self._table.left
        if self._left != (one, other):
            self._left, closeness = (one, other), measure_closeness(one, other)
            pairs = zip(self._weights.plain, self._weights.close, strict=True)
            self._worth = [plain + closeness * close for plain, close in pairs]
        return self._worth


class FeatureMeter:
    """The features of a game, as seat 0 had more of them than chance owed it: what a fit needs."""

    def __init__(self, derived: DerivedRules, state: State) -> None:
        self._table = FollowedTable(derived, state, self._add)
        self._list_features = FeatureLists(derived, self._table)
        self.sums = [0.0] * (2 * FEATURES)

    def follow(self, events: Iterable[Struct]) -> None:
        """Add what happened."""
        self._table.follow(events)

    def _add(self, kind: type[Struct], seat: int, value: int, pool: Counts) -> None:
        features = self._list_features(kind, seat)
        closeness, cards = measure_closeness(*self._table.left), sum(pool)
        for each in VALUES:
            surplus = (each == value) - pool[each] / cards
            for one in features[each]:
                self.sums[one] += -surplus if seat else surplus
                self.sums[FEATURES + one] += (-surplus if seat else surplus) * closeness


def measure_closeness(one: int, other: int) -> float:
    """How even the race is, 0..1, by the pay-off cards that the seats have left."""
    return math.exp(-((one - other) ** 2) / (0.7 * (one + other) + 4))


class FeatureLists:
    """Lists the features that a card has where it comes."""

    def __init__(self, derived: DerivedRules, table: FollowedTable) -> None:
        self._top = derived.stack_top
        self._wild = (KING, WILD) if derived.rules.wild_kings else (WILD,)
        self._table = table

    def __call__(self, kind: type[Struct], seat: int) -> Features:
        """The features by value of a card that the seat draws, or turns up on its pay-off pile."""
        table = self._table
        held = self._find_held(seat)
        heights = self._find_heights()
        missing = list_missing(held, heights, self._top)
        tops = [pile[-1] if pile else 0 for pile in table.open]
        wilds = sum(table.hands[seat][value] for value in self._wild)
        if kind is Draw:
            return self._list_drawn(seat, held, missing, tops, wilds)
        return self._list_turned(held, missing, list_distances(heights, self._top), tops[1 - seat], wilds)

    def _find_heights(self) -> tuple[int, ...]:
        return tuple(sorted(set(self._table.heights)))

    def _find_held(self, seat: int) -> int:
        """The values that a seat holds in its hand or on top of its side stacks, as bits."""
        held = 0
        for value, many in enumerate(self._table.hands[seat]):
            if many:
                held |= 1 << value
        for pile in self._table.sides[seat]:
            if pile:
                held |= 1 << pile[-1]
        return held

    def _list_drawn(self, seat: int, held: int, missing: list[int], tops: list[int], wilds: int) -> Features:
        own, other = tops[seat], tops[1 - seat]
        natural = 0 < own <= self._top
        lacking, nearer = find_nearer(held, self._find_heights(), own, self._top) if natural else (0, 0)
        tidy = 0
        for pile in self._table.sides[seat]:
            if pile:
                tidy |= 3 << pile[-1] - 1
        found: Features = [()]
        for value in VALUES:
            features = [DRAWN_VALUE + value - 1]
            if value in self._wild:
                features.append(DRAWN_WILD + min(lacking, 3) * 2 + (wilds > 0))
            elif value <= self._top:
                features.append(DRAWN_PLAYABLE + PLAYABLE[missing[value]] + (held >> value & 1))
                if nearer >> value & 1:
                    features.append(DRAWN_NEARER + min(lacking, 5) - 1)
                if tidy >> value & 1:
                    features.append(DRAWN_TIDY)
                if value == own:
                    features.append(DRAWN_OWN)
                if value == other:
                    features.append(DRAWN_OTHER)
            found.append(tuple(features))
        return found

    def _list_turned(self, held: int, missing: list[int], distance: list[int], other: int, wilds: int) -> Features:
        found: Features = [()]
        for value in VALUES:
            features = [TURNED_VALUE + value - 1]
            if value in self._wild:
                features.append(TURNED_WILD)
            elif value <= self._top:
                features.append(TURNED_MISSING + min(missing[value], MOST_MISSING))
                features.append(TURNED_DISTANCE + min(distance[value], MOST_DISTANCE))
                if held >> value & 1:
                    features.append(TURNED_HELD)
                if 0 < missing[value] <= wilds:
                    features.append(TURNED_NEAR_BY_WILD)
                if value == other:
                    features.append(TURNED_OTHER)
            found.append(tuple(features))
        return found


def list_missing(held: int, heights: tuple[int, ...], top: int) -> list[int]:
    """The least number of cards, by value, that a stack needs before it and that are not held.

    Args:
        held: the values at hand, as bits.
        heights: those of the centre stacks.
        top: the value that completes a stack; then it begins anew.
    """
    ways = [_list_way(held, height, top) for height in heights]
    return list(map(min, *ways)) if len(ways) > 1 else list(ways[0] if ways else (top,) * (top + 1))


def list_distances(heights: tuple[int, ...], top: int) -> list[int]:
    """The least number of cards, by value, that a stack needs before it."""
    return list_missing(0, heights, top)


@lru_cache(1 << 16)
def _list_way(held: int, height: int, top: int) -> tuple[int, ...]:
    way, lacking = [top] * (top + 1), 0
    for step in range(top):
        value = (height + step) % top + 1
        way[value] = lacking
        lacking += not held >> value & 1
    return tuple(way)


@lru_cache(1 << 16)
def find_nearer(held: int, heights: tuple[int, ...], target: int, top: int) -> tuple[int, int]:
    """The least number of cards missing before `target`, and as bits the cards that make it one less."""
    ways = []
    for height in heights:
        way, value = 0, height % top + 1
        while value != target:
            way |= 1 << value
            value = value % top + 1
        ways.append(way & ~held)
    least = min((way.bit_count() for way in ways), default=0)
    nearer = 0
    for way in ways:
        if way.bit_count() == least:
            nearer |= way
    return least, nearer
