"""Plans in Nuts for one team: what its next steps can be, and a search for those that bring most.

A step is a card or a run that moves; to turn the stock until the card lies on top is part of it. The rivals stand still
in a plan: what they do is a reason to plan again. But a card in the centre on which they could put one of theirs helps
them, so it may be worth more to keep it. A card that nobody has seen cannot be played, so a plan goes on around it, and
to turn it up is worth something.
"""

import heapq
from collections.abc import Iterator
from typing import NamedTuple

from table import (
    CARDS,
    KING,
    ONTO,
    UNKNOWN,
    Pile,
    Rivals,
    Rules,
    Table,
    burn,
    change,
    count_threat,
    find_place,
    list_reach,
    put,
)

NUTS, CENTRE = 2, 1
"""The points of a Nuts card that is gone, and of a card in the centre."""
SHOWN = 0.8
"""What it is worth to turn up a card of a column."""
EMPTY = 1.5
"""What an empty column is worth: it takes whatever the team is stuck with."""
FILLED = 0.375
"""What it costs to fill one from the Nuts pile, which is what it is for."""
SEEN = 0.3
"""What it is worth to see a card of the stock for the first time."""
ACTION = 0.02
"""What an action costs."""
LATER = 0.985
"""What a gain is worth one action later: the hand may end, and cards in the centre may be in the way."""
WON, LOST = 4.0, -20.0
"""What it is worth to end the hand with more points, and with fewer."""
STALL = 20
"""About how many actions it takes until the stocks are burned."""
BURN = 0.2
"""What a burn costs on top."""
HELP = 1.0
"""What it costs that the rivals can make a point."""


class Step(NamedTuple):
    """Something to do: a move of the `nuts`, a `column` or the `waste`, a `turn`, or a `burn`."""

    kind: str
    action: str = ""
    """As on the wire; of moves only."""
    turns: int = 0
    """How often the stock is turned before."""
    held: int = 0
    """How many cards the waste shall hold when the stocks are burned."""


class Next(NamedTuple):
    """What a step leads to."""

    step: Step
    table: Table | None
    """None if it shows a card that nobody knows yet."""
    points: int
    worth: float
    """What it is worth beside the points."""
    actions: int


class Steps:
    """The steps from a table."""

    def __init__(self, table: Table, rules: Rules) -> None:
        self.table, self.rules = table, rules
        self.tops = {pile[-1]: column for column, pile in enumerate(table.columns) if pile}
        self.empty = table.columns.index(()) if () in table.columns else -1

    def list_all(self, *, burns: bool = False) -> Iterator[Next]:
        """Yield all steps; those that wait for the stocks to be burned only if asked for."""
        yield from self.play_nuts()
        for column, pile in enumerate(self.table.columns):
            if pile and pile[-1] != UNKNOWN:
                yield from self.play_column(column, pile)
                yield from self.move_runs(column, pile)
        yield from self.play_waste()
        if burns and not self.table.burned and len(self.table.talon) > 1:
            yield from self.list_burns()

    def list_targets(self, card: int, *, empties: bool = True) -> list[int]:
        """Return the columns that take a card."""
        targets = [self.tops[other] for other in ONTO[card] if other in self.tops]
        if empties and self.empty >= 0 and (not self.rules.kings or card % 13 == KING):
            targets.append(self.empty)
        return targets

    def play_nuts(self) -> Iterator[Next]:
        heights, nuts, columns, *_ = table = self.table
        if not nuts or nuts[-1] == UNKNOWN:
            return
        card, left = nuts[-1], nuts[:-1]
        place = find_place(heights, card)
        if place is not None:
            after = table._replace(heights=change(heights, place, 1), nuts=left, burned=False)
            yield Next(Step("nuts", f"{CARDS[card]}-f"), after, NUTS + CENTRE, 0, 1)
        for target in self.list_targets(card):
            after = table._replace(nuts=left, columns=put(columns, target, (*columns[target], card)), burned=False)
            worth = -FILLED if target == self.empty else 0
            yield Next(Step("nuts", f"{CARDS[card]}-t{target}"), after, NUTS, worth, 1)

    def play_column(self, column: int, pile: Pile) -> Iterator[Next]:
        """Play the top of a column to the centre."""
        heights, _, columns, downs, *_ = table = self.table
        place = find_place(heights, pile[-1])
        if place is not None:
            rest = pile[:-1]
            shows = bool(rest) and downs[column] == len(rest)
            after = table._replace(
                heights=change(heights, place, 1),
                columns=put(columns, column, rest),
                downs=change(downs, column, -1) if shows else downs,
                burned=False,
            )
            worth = SHOWN if shows else 0 if rest else EMPTY
            yield Next(Step("column", f"{CARDS[pile[-1]]}-f"), after, CENTRE, worth, 1)

    def move_runs(self, column: int, pile: Pile) -> Iterator[Next]:
        """Move all that lies face up in a column; a part of it only if that frees a card for the centre."""
        heights, _, columns, downs, *_ = table = self.table
        down = downs[column]
        for start in range(down, down + 1 if self.rules.whole else len(pile)):
            if start > down and find_place(heights, pile[start - 1]) is None:
                continue
            whole = start == down
            for target in self.list_targets(pile[start], empties=start > 0):
                worth = (SHOWN if down else EMPTY) if whole else 0
                worth -= EMPTY if target == self.empty else 0
                after = table._replace(
                    columns=put(put(columns, column, pile[:start]), target, columns[target] + pile[start:]),
                    downs=change(downs, column, -1) if whole and down else downs,
                    burned=table.burned and not (whole and down),
                )
                yield Next(Step("column", f"{CARDS[pile[start]]}-t{target}"), after, 0, worth, 1)

    def play_waste(self) -> Iterator[Next]:
        """Play what can lie on top of the waste, up to the first card that nobody has seen."""
        heights, _, columns, _, talon, turned, _ = table = self.table
        for held, turns in list_reach(len(talon), turned, self.rules.turned):
            card = talon[held - 1]
            if card == UNKNOWN:
                yield Next(Step("turn", turns=turns), None, 0, SEEN, turns)
                return
            left = table._replace(talon=talon[: held - 1] + talon[held:], turned=held - 1, burned=False)
            place = find_place(heights, card)
            if place is not None:
                after = left._replace(heights=change(heights, place, 1))
                yield Next(Step("waste", f"{CARDS[card]}-f", turns), after, CENTRE, 0, turns + 1)
            for target in self.list_targets(card):
                after = left._replace(columns=put(columns, target, (*columns[target], card)))
                worth = -EMPTY if target == self.empty else 0
                yield Next(Step("waste", f"{CARDS[card]}-t{target}", turns), after, 0, worth, turns + 1)

    def list_burns(self) -> Iterator[Next]:
        """Wait for a burn, with as many cards in the waste as turns can bring there."""
        talon, turned = self.table.talon, self.table.turned
        for held in sorted({turned, *(held for held, _ in list_reach(len(talon), turned, self.rules.turned))}):
            shifted, kept = burn(talon, held)
            yield Next(
                Step("burn", held=held), self.table._replace(talon=shifted, turned=kept, burned=True), 0, -BURN, STALL
            )


def make_key(table: Table) -> tuple[object, ...]:
    """Return what tables share that are equally good: the order of columns does not matter."""
    heights = table.heights
    pairs = tuple([tuple(sorted(heights[place : place + 2])) for place in range(0, len(heights), 2)])
    return pairs, len(table.nuts), frozenset(table.columns), table.talon, table.turned, table.burned


class Path(NamedTuple):
    """Steps from the start of a search, the last one first."""

    step: Step
    before: "Path | None"


def search(start: Table, rules: Rules, limit: int, lead: int, rivals: Rivals, *, burns: bool = False) -> list[Step]:
    """Return the steps that bring most, best-first; none if nothing brings anything.

    Args:
        start: the table.
        rules: those of the hand.
        limit: how many tables to go on from.
        lead: the points of the team less those of the rivals, which decide whether to end the hand.
        rivals: their cards that lie open.
        burns: whether to wait for burns, too.
    """
    heap: list[tuple[float, int, Table, Path | None, int, int]] = [(0.0, 0, start, None, 0, lead)]
    seen = {make_key(start)}
    threats = {start.heights: count_threat(start.heights, rivals)}
    best, plan = 1e-9, None
    count = 0
    while heap and count < limit:
        count += 1
        minus, _, table, path, actions, points = heapq.heappop(heap)
        for step, after, gain, worth, takes in Steps(table, rules).list_all(burns=burns):
            value = (gain + worth) * LATER**actions - ACTION * takes - minus
            if after is not None:
                if after.heights not in threats:
                    threats[after.heights] = count_threat(after.heights, rivals)
                value -= HELP * (threats[after.heights] - threats[table.heights])
                if not after.nuts:
                    value += WON if points + gain > 0 else LOST
                key = make_key(after)
                if key in seen:
                    continue
                seen.add(key)
            longer = Path(step, path)
            if value > best:
                best, plan = value, longer
            if after is not None and after.nuts:
                # Of equally good tables the latest comes first.
                heapq.heappush(heap, (-value, -len(seen), after, longer, actions + takes, points + gain))
    steps = []
    while plan:
        steps.append(plan.step)
        plan = plan.before
    return steps[::-1]
