"""The hidden cards of Spite & Malice, dealt anew for a seat.

A world is a bijection of the lives and cells that `memory` finds. All of them are equally likely, as the orders of what
nobody sees are as many for each. What another seat plays from its hand must have been there, and what it was allowed
to do tells what was not. So `matching` finds some world, and a Markov chain goes on from there: it exchanges lives
whenever all that was heard stays true, which makes all worlds equally likely in its limit. How far it goes is measured:
on small packs, where all worlds can be counted, nothing tells its draws from uniform ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import combinations_with_replacement, product
from random import Random
from typing import TypeVar

from malice.protocol.cards import Cards
from malice.protocol.messages import Out
from malice.referee.errors import DataError, IllegalAction
from malice.referee.games.spite.engine import SpiteAndMalice
from malice.referee.games.spite.matching import Matching
from malice.referee.games.spite.memory import Cell, Reading, Record, name_leftover
from malice.referee.games.spite.messages import View
from malice.referee.games.spite.state import State
from malice.referee.rules import Events, World
from malice.referee.worlds import Playback, arrange_cards

T = TypeVar("T")

ROUNDS = 5
"""How often cards that nobody has drawn are shuffled, with exchanges in between."""
EXCHANGES = 2
"""How many of each kind are tried in a round for each card that another seat drew."""
PATIENCE = 300
"""How many cells a first try may visit, for each that there is; true games need 30, but for one in many thousands."""
TRIES = 6
"""How often a first world is sought with each order of pins: now and then a try leads nowhere, so the next may visit
twice as many cells."""
ATTEMPTS = 20
"""How often a world is drawn until what a redeal took up of a hand does not contradict what was heard before."""


def resample(rules: SpiteAndMalice, view: View, heard: Events, rng: Random) -> World:
    """Draw a world in which the seat of the view heard just this.

    Raises:
        DataError: there is none.
    """
    record = Reading(rules.derived, view.seat, heard).record
    redealt = any(hand.heir is not None for hand in record.hands)
    for _ in range(ATTEMPTS if redealt else 1):
        if (lives := Chain(record, rng).draw()) is None:
            break
        with suppress(IllegalAction):
            return _play_again(rules, record, _name_sources(record, lives, rng))
    raise DataError(f"events: expected those of a seat of one game, got {len(heard)} that fit no deal")


class Chain:
    """A world that changes by exchanges of lives between cells, both of which are numbers here.

    Each step chooses what to exchange with the same probability before and after it, so that no world is favoured.

    Args:
        record: what the seat heard.
        rng: makes all choices.
    """

    def __init__(self, record: Record, rng: Random) -> None:
        lives = record.list_lives()
        if len(lives) != len(record.cells):
            raise DataError(f"events: expected places for {len(lives)} cards, got {len(record.cells)}")
        self._rng = rng
        self._record = record
        self._cards = [life.card for life in lives]
        self._entries = [life.entry for life in lives]
        self._may_hold = [record.may_hold[cell.source] for cell in record.cells]
        """By cell: the sources whose lives it may hold."""
        self._seen = [cell.card for cell in record.cells]
        number = {id(cell): place for place, cell in enumerate(record.cells)}
        self._hands = [[number[id(cell)] for cell in hand.cells] for hand in record.hands]
        """By hand: the cells that it drew, in their order."""
        self._checks = [hand.checks for hand in record.hands]
        self._owners: list[tuple[int, int] | None] = [None] * len(record.cells)
        """By cell: the hand that drew it, and its place there."""
        for owner, cells in enumerate(self._hands):
            for place, cell in enumerate(cells):
                self._owners[cell] = owner, place
                if record.hands[owner].heir is not None:
                    self._may_hold[cell] |= {name_leftover(owner)}
        self._drawn = [[""] * len(cells) for cells in self._hands]
        """By hand: the cards that it drew."""
        self._copies: defaultdict[str, list[int]] = defaultdict(list)
        """By card: its lives."""
        for life, card in enumerate(self._cards):
            self._copies[card].append(life)
        self._unseen = [cell for cell, card in enumerate(self._seen) if card is None]
        self._piles: defaultdict[frozenset[int], list[int]] = defaultdict(list)
        """The cells that nobody has drawn, by the sources whose lives they may hold."""
        for cell in self._unseen:
            if not self._owners[cell]:
                self._piles[self._may_hold[cell]].append(cell)
        self._held = [-1] * len(record.cells)
        """By cell: its life."""
        self._where = [-1] * len(lives)
        """By life: its cell."""

    def draw(self) -> list[int] | None:
        """The life in each cell; None if no world was found."""
        for number, late in product(range(TRIES), (False, True)):
            matching = Matching(self._record, self._rng, late=late, patience=PATIENCE << number)
            if found := matching.find():
                break
            if matching.hopeless:
                return None
        else:
            return None
        for cell, life in enumerate(found):
            self._put(cell, life)
        hands = [cells for cells in self._hands if cells]
        drawn = [cell for cells in hands for cell in cells]
        entries = {card: {self._entries[life] for life in lives} for card, lives in self._copies.items()}
        several = [life for life, card in enumerate(self._cards) if len(entries[card]) > 1]
        for _ in range(ROUNDS):
            self._shuffle_piles()
            for _ in range(EXCHANGES * len(drawn)):
                self._try(self._choose(drawn), self._choose(self._unseen))
                cells = self._choose(hands)
                self._try(self._choose(cells), self._choose(cells))
                if several:
                    self._try_both(self._choose(cells), self._choose(cells))
            for life in several:
                self._try(self._where[life], self._where[self._choose(self._copies[self._cards[life]])])
        self._shuffle_piles()
        return self._held

    def _choose(self, among: Sequence[T]) -> T:
        return among[int(self._rng.random() * len(among))]

    def _put(self, cell: int, life: int) -> None:
        self._held[cell], self._where[life] = life, cell
        if (owner := self._owners[cell]) is not None:
            self._drawn[owner[0]][owner[1]] = self._cards[life]

    def _exchange(self, one: int, other: int) -> None:
        life = self._held[one]
        self._put(one, self._held[other])
        self._put(other, life)

    def _shuffle_piles(self) -> None:
        """Shuffle each pile, and each two together as far as they may hold the same lives."""
        for one, other in combinations_with_replacement(self._piles, 2):
            both = one & other
            cells = self._piles[one] + (self._piles[other] if one != other else [])
            cells = [cell for cell in cells if self._entries[self._held[cell]] in both]
            lives = [self._held[cell] for cell in cells]
            self._rng.shuffle(lives)
            for cell, life in zip(cells, lives, strict=True):
                self._held[cell], self._where[life] = life, cell

    def _try(self, one: int, other: int) -> None:
        """Exchange two lives if all that was heard stays true."""
        held, entries = self._held, self._entries
        first, second = held[one], held[other]
        if entries[first] not in self._may_hold[other] or entries[second] not in self._may_hold[one]:
            return
        card, new = self._cards[first], self._cards[second]
        if card == new:
            held[one], held[other] = second, first
            self._where[first], self._where[second] = other, one
        elif self._seen[one] is None and self._seen[other] is None:
            self._exchange(one, other)
            if self._contradicts((one, other), card, new):
                self._exchange(one, other)

    def _try_both(self, one: int, other: int) -> None:
        """Let two cells exchange their cards, but not their lives: each gets any copy, from where that lies."""
        card, new = self._cards[self._held[one]], self._cards[self._held[other]]
        if card == new:
            return
        steps = []
        for cell, wanted in (one, new), (other, card):
            steps.append((cell, self._where[self._choose(self._copies[wanted])]))
            self._exchange(*steps[-1])
        cells = [cell for step in steps for cell in step]
        if not all(map(self._fits, cells)) or self._contradicts(cells, card, new):
            for step in reversed(steps):
                self._exchange(*step)

    def _fits(self, cell: int) -> bool:
        life = self._held[cell]
        return self._entries[life] in self._may_hold[cell] and self._seen[cell] in (None, self._cards[life])

    def _contradicts(self, cells: Iterable[int], *cards: str) -> bool:
        """Tell whether what these cells hold of some cards contradicts what was heard of hands."""
        for cell in cells:
            if (owner := self._owners[cell]) is None:
                continue
            drawn, checks = self._drawn[owner[0]], self._checks[owner[0]]
            for card in cards:
                for draws, copies, exact in checks.get(card, ()):
                    found = drawn[:draws].count(card)
                    if found < copies or (exact and found > copies):
                        return True
        return False


def _name_sources(record: Record, held: Sequence[int], rng: Random) -> list[Cards]:
    """Give each source its cards, from the top.

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
