"""The hidden cards of Spite & Malice, dealt anew for a seat.

A world is a bijection of the lives and cells that `memory` finds. All of them are equally likely, as the orders of what
nobody sees are as many for each. What another seat plays from its hand must have been there, and what it was allowed to
do tells what was not. So worlds are drawn by a Markov chain: it exchanges the lives of two cells whenever all that was
heard stays true, which makes all worlds equally likely in its limit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from random import Random

from malice.protocol.cards import Cards
from malice.protocol.messages import Out
from malice.referee.errors import DataError, IllegalAction
from malice.referee.games.spite.engine import SpiteAndMalice
from malice.referee.games.spite.memory import Cell, Reading, Record, name_leftover
from malice.referee.games.spite.messages import View
from malice.referee.games.spite.state import State
from malice.referee.rules import Events, World
from malice.referee.worlds import Playback, arrange_cards

SWEEPS = 30
"""How many exchanges the chain tries for each cell."""
REPAIRS = 50
"""How many steps may lead from a guess to a world."""
WAYS = 200
"""How many exchanges are tried where no single one makes a guess better."""
ATTEMPTS = 150
"""How often a world is sought before there seems to be none."""


def resample(rules: SpiteAndMalice, view: View, heard: Events, rng: Random) -> World:
    """Return a world in which the seat of the view heard just this.

    Raises:
        DataError: there is none.
    """
    record = Reading(rules.derived, view.seat, heard).record
    for _ in range(ATTEMPTS):
        lives = Chain(record, rng).draw()
        if lives is None:
            continue
        try:
            return _play_again(rules, record, _name_sources(record, lives, rng))
        except IllegalAction:
            continue
    raise DataError(f"events: expected those of a seat of one game, got {len(heard)} that fit no deal")


class Chain:
    """A world that changes by exchanges of lives between cells, both of which are numbers here.

    Args:
        record: what the seat heard.
        rng: makes all choices.
    """

    def __init__(self, record: Record, rng: Random) -> None:
        lives = record.list_lives()
        if len(lives) != len(record.cells):
            raise DataError(f"events: expected places for {len(lives)} cards, got {len(record.cells)}")
        self._record = record
        self._rng = rng
        self._cards = [life.card for life in lives]
        self._entries = [life.entry for life in lives]
        self._may_hold = [record.may_hold[cell.source] for cell in record.cells]
        """By cell: the sources whose lives it may hold."""
        self._seen = [cell.card for cell in record.cells]
        self._loose = [cell for cell, card in enumerate(self._seen) if card is None]
        number = {id(cell): place for place, cell in enumerate(record.cells)}
        self._hands = [[number[id(cell)] for cell in hand.cells] for hand in record.hands]
        """By hand: the cells that it drew, in their order."""
        for owner, hand in enumerate(record.hands):
            if hand.heir is not None:
                for cell in self._hands[owner]:
                    self._may_hold[cell] |= {name_leftover(owner)}
        self._checks = [hand.checks for hand in record.hands]
        self._owners: list[tuple[int, int] | None] = [None] * len(record.cells)
        """By cell: the hand that drew it, and its place there."""
        for owner, cells in enumerate(self._hands):
            for place, cell in enumerate(cells):
                self._owners[cell] = owner, place
        self._drawn = [[""] * len(cells) for cells in self._hands]
        """By hand: the cards that it drew."""
        self._copies = self._list_copies()
        several = len(record.falls) > 1
        # With one source, hands that were played out tell nothing, and what lies elsewhere is in no order yet.
        self._open = [cells for hand, cells in zip(record.hands, self._hands, strict=True) if several or hand]
        drawn = [cell for cells in self._open for cell in cells]
        if not several:
            self._loose = drawn + [cell for cell in self._loose if not self._owners[cell]]
        self._one_of = self._loose if several else drawn
        self._held = [-1] * len(record.cells)
        """By cell: its life."""
        self._where = [-1] * len(lives)
        """By life: its cell."""

    def draw(self) -> list[int] | None:
        """Return the life in each cell; None if no world was found."""
        self._guess()
        if not self._repair():
            return None
        self._mix()
        return self._held

    def _put(self, cell: int, life: int) -> None:
        self._held[cell], self._where[life] = life, cell
        if (owner := self._owners[cell]) is not None:
            self._drawn[owner[0]][owner[1]] = self._cards[life]

    def _exchange(self, one: int, other: int) -> None:
        life = self._held[one]
        self._put(one, self._held[other])
        self._put(other, life)

    # To begin with

    def _guess(self) -> None:
        """Lay every life into a cell, so that most of what was heard is true."""
        held = self._held = [-1] * len(self._seen)
        lives = list(range(len(self._cards)))
        self._rng.shuffle(lives)
        by_card: defaultdict[str, list[int]] = defaultdict(list)
        for life in lives:
            by_card[self._cards[life]].append(life)
        for cell in self._sort(cell for cell, card in enumerate(self._seen) if card is not None):
            self._lay(cell, by_card[self._seen[cell] or ""])
        for hand, cells in zip(self._record.hands, self._hands, strict=True):
            for draws, card in hand.played:
                may = [cell for cell in reversed(cells[:draws]) if held[cell] < 0]
                entries = {self._entries[life] for life in by_card[card]}
                best = next((cell for cell in may if not entries.isdisjoint(self._may_hold[cell])), may[0])
                self._lay(best, by_card[card])
        for owner, cells in enumerate(self._hands):
            own = [life for life in by_card[""] if self._entries[life] == name_leftover(owner)]
            for cell, life in zip([cell for cell in cells if held[cell] < 0], own, strict=False):
                self._put(cell, life)
                by_card[""].remove(life)
        left = [life for lives in by_card.values() for life in lives]
        self._rng.shuffle(left)
        free = [cell for cell, life in enumerate(held) if life < 0]
        self._rng.shuffle(free)
        for cell in self._sort(free):
            self._lay(cell, left)

    def _sort(self, cells: Iterable[int]) -> list[int]:
        """Sort cells so that those that may hold the fewest lives come first."""
        return sorted(cells, key=lambda cell: len(self._may_hold[cell]))

    def _lay(self, cell: int, lives: list[int]) -> None:
        """Lay the latest life that the cell may hold into it, and take it out of the list."""
        if not lives:
            raise DataError("events: expected no more copies of a card than there are, got more")
        may_hold = self._may_hold[cell]
        life = max(lives, key=lambda life: (self._entries[life] in may_hold, self._entries[life]))
        lives.remove(life)
        self._put(cell, life)

    def _repair(self) -> bool:
        """Exchange lives until all that was heard is true; return whether it is."""
        cells = range(len(self._held))
        for _ in range(REPAIRS):
            wrong = self._list_wrong()
            if not wrong:
                return True
            cell = self._rng.choice(wrong)
            partner = self._find_partner(cell, self._rng.sample(cells, len(cells)))
            if partner != cell:
                self._exchange(cell, partner)
                continue
            # Where no exchange helps, some that harm nothing lead on.
            for one, other in self._propose(WAYS):
                if self._weigh(one, other) <= 0:
                    self._exchange(one, other)
        return not self._list_wrong()

    def _find_partner(self, cell: int, others: Iterable[int]) -> int:
        """Find a cell with which an exchange leaves fewer faults; if there is none, return the cell itself."""
        return next((other for other in others if self._weigh(cell, other) < 0), cell)

    def _list_wrong(self) -> list[int]:
        """List the cells whose lives contradict what was heard."""
        wrong = [cell for cell in range(len(self._held)) if not self._fits(cell)]
        for owner, checks in enumerate(self._checks):
            drawn, cells = self._drawn[owner], self._hands[owner]
            for card, own in checks.items():
                for draws, copies, exact in own:
                    found = drawn[:draws].count(card)
                    if found < copies:
                        wrong += cells[:draws]
                    elif exact and found > copies:
                        wrong += [cells[place] for place in range(draws) if drawn[place] == card]
        return wrong

    def _weigh(self, one: int, other: int) -> int:
        """Count the faults around two cells after an exchange, less those before."""
        before = self._count_around(one, other)
        self._exchange(one, other)
        after = self._count_around(one, other)
        self._exchange(one, other)
        return after - before

    def _count_around(self, one: int, other: int) -> int:
        faults = (not self._fits(one)) + (not self._fits(other))
        cards = {self._cards[self._held[one]], self._cards[self._held[other]]}
        owners = {owner[0] for cell in (one, other) if (owner := self._owners[cell])}
        return faults + sum(self._count_faults(owner, card) for owner in owners for card in cards)

    def _fits(self, cell: int) -> bool:
        life = self._held[cell]
        return self._entries[life] in self._may_hold[cell] and self._seen[cell] in (None, self._cards[life])

    def _count_faults(self, owner: int, card: str) -> int:
        faults, drawn = 0, self._drawn[owner]
        for draws, copies, exact in self._checks[owner].get(card, ()):
            found = drawn[:draws].count(card)
            if found < copies or exact:
                faults += abs(found - copies)
        return faults

    # To end with

    def _mix(self) -> None:
        """Exchange lives at random wherever all that was heard stays true."""
        for one, other in self._propose(SWEEPS * len(self._one_of)):
            self._try(one, other)

    def _propose(self, count: int) -> Iterator[tuple[int, int]]:
        """Yield pairs of cells to exchange.

        Each kind of step chooses two cells with the same probability before and after it, so that no world is favoured.
        """
        random, where, copies, hands = self._rng.random, self._where, self._copies, self._open
        one_of, loose = self._one_of, self._loose
        if not one_of:
            return
        for step in range(count):
            if step % 4 == 2 and hands:
                cells = hands[int(random() * len(hands))]
                yield cells[int(random() * len(cells))], cells[int(random() * len(cells))]
            elif step % 4 == 3 and copies:
                lives = copies[int(random() * len(copies))]
                yield where[lives[int(random() * len(lives))]], where[lives[int(random() * len(lives))]]
            else:
                yield one_of[int(random() * len(one_of))], loose[int(random() * len(loose))]

    def _list_copies(self) -> list[list[int]]:
        """List the lives of each card that has some of several sources."""
        copies: defaultdict[str, list[int]] = defaultdict(list)
        for life, card in enumerate(self._cards):
            copies[card].append(life)
        return [lives for lives in copies.values() if len({self._entries[life] for life in lives}) > 1]

    def _try(self, one: int, other: int) -> None:
        """Exchange two lives if all that was heard stays true."""
        held, entries = self._held, self._entries
        first, second = held[one], held[other]
        card, new = self._cards[first], self._cards[second]
        if entries[first] not in self._may_hold[other] or entries[second] not in self._may_hold[one]:
            return
        if card == new:
            held[one], held[other] = second, first
            self._where[first], self._where[second] = other, one
            return
        if self._seen[one] is not None or self._seen[other] is not None:
            return
        self._exchange(one, other)
        for cell in (one, other):
            owner = self._owners[cell]
            if owner and (self._count_faults(owner[0], card) or self._count_faults(owner[0], new)):
                self._exchange(one, other)
                return


def _name_sources(record: Record, held: Sequence[int], rng: Random) -> list[Cards]:
    """Return for each source its cards from the top.

    What a later source took up unseen lay in the cells that it took up, in any order that they may hold.
    """
    lives = record.list_lives()
    life_in = {id(cell): lives[life] for cell, life in zip(record.cells, held, strict=True)}
    heirs: defaultdict[int | None, list[Cell]] = defaultdict(list)
    for source, cells in enumerate(record.falls):
        for cell in (*cells, *record.rests[source]):
            found = life_in.get(id(cell))
            heirs[record.hands[-1 - found.entry].heir if found and found.entry < 0 else cell.heir].append(cell)
    named: list[Cards] = [()] * len(record.falls)
    for source in reversed(range(len(record.falls))):
        rest = record.rests[source].copy()
        rng.shuffle(rest)
        content = [life_in[id(cell)] for cell in (*record.falls[source], *rest)]
        named[source] = tuple(life.card for life in content)
        taken = [life for life in content if life.entry != source]
        rng.shuffle(taken)
        for cell in sorted(heirs[source], key=lambda cell: len(record.may_hold[cell.source])):
            may_hold = record.may_hold[cell.source]
            life = next((life for life in taken if life.entry in may_hold), None)
            if life is None:
                raise IllegalAction("expected a card for each place that a shuffle took up")
            taken.remove(life)
            life_in[id(cell)] = life
    return named


def _play_again(rules: SpiteAndMalice, record: Record, sources: Sequence[Cards]) -> World:
    """Play the game of the record with these cards."""
    left = iter(sources)

    def arrange(state: State) -> list[int]:
        if state.phase == "lot":
            return arrange_cards(state.tied, [*(seat for seat in state.tied if seat != record.starter), record.starter])
        cards = next(left)
        return arrange_cards(state.mixing, cards)

    playback = Playback(rules, arrange)
    for what in record.script:
        if isinstance(what, Out):
            playback.withdraw([what])
        else:
            playback.play({what[0]: what[1]})
    return playback.finish()
