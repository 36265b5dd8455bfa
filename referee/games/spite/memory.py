"""What a seat of Spite & Malice has heard, as far as it says where hidden cards can lie.

Each card that was hidden from the seat when it was shuffled is a *life*: it begins at the deal, or when a card that lay
face up goes into a shuffle, and ends where the seat sees it. A *cell* is where a life ends, or lies now: in the pay-off
piles, in a hand, in the stock. A *source* is what one shuffle put in order. A life can lie in the cells of its own
source, and of those that later took up what was left of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from malice.protocol.cards import HIDDEN, ORDER, RANKS, Cards
from malice.protocol.messages import Out
from malice.referee.errors import DataError
from malice.referee.games.spite.actions import STALEMATE_BREAKERS, Actions, can_pass
from malice.referee.games.spite.messages import CardMoved, Count, Deal, Draw, Flip, Pass, Shuffled, TurnBegins
from malice.referee.games.spite.parameters import DerivedRules
from malice.referee.games.spite.state import State
from malice.referee.rules import Events


class Life(NamedTuple):
    """A card, from the shuffle that hid it on."""

    card: str
    entry: int
    """The source that it began in."""


class Cell:
    """A place where a life ends."""

    def __init__(self, source: int) -> None:
        self.source = source
        self.card: str | None = None
        """What the seat saw there."""
        self.hand: Hand | None = None
        """The hand that drew it, if that is another's."""
        self.heir: int | None = None
        """The source that took it up unseen: then no life ends here."""


class Check(NamedTuple):
    """After so many draws to a hand, it had drawn at least so many copies of a card; or just as many."""

    draws: int
    copies: int
    exact: bool


class Hand:
    """What another seat drew since its hand was last empty."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []
        self.played: list[tuple[int, str]] = []
        """How many cells there were, and the card."""
        self.checks: defaultdict[str, list[Check]] = defaultdict(list)
        self.heir: int | None = None
        """The source that took up what was left of it."""

    def __len__(self) -> int:
        return len(self.cells) - len(self.played)

    def count(self, card: str) -> int:
        """Count how often the card was played."""
        return sum(played == card for _, played in self.played)

    def play(self, card: str) -> None:
        self.played.append((len(self.cells), card))
        self.checks[card].append(Check(len(self.cells), self.count(card), False))

    def rule_out(self, card: str) -> None:
        """Take down that the hand does not hold the card now."""
        self.checks[card].append(Check(len(self.cells), self.count(card), True))


class Record:
    """What the seat heard, as far as it says where hidden cards can lie."""

    def __init__(self) -> None:
        self.lives: list[Life] = []
        self.cells: list[Cell] = []
        self.hands: list[Hand] = []
        self.falls: list[list[Cell]] = []
        """By source: the cells that left it, the first that did first."""
        self.rests: list[list[Cell]] = []
        """By source: the cells that did not, in no order."""
        self.may_hold: list[frozenset[int]] = []
        """By source: the sources whose lives it may hold."""
        self.script: list[tuple[int, str] | Out] = []
        """The actions by seat, and who left the game."""
        self.starter = 0

    def list_lives(self) -> list[Life]:
        """List all lives, and one without a card for each card of a hand that a shuffle took up.

        A simplification: which cards these were is not part of the chain, so worlds in which that hand held copies of
        a card that it had played are a little too likely.
        """
        left = [
            Life("", name_leftover(owner))
            for owner, hand in enumerate(self.hands)
            for _ in range(len(hand))
            if hand.heir is not None
        ]
        return self.lives + left


def name_leftover(owner: int) -> int:
    """Number the lives that stand for what is left of a hand."""
    return -1 - owner


class Reading:
    """Follows what a seat hears.

    Args:
        derived: the rules.
        seat: who heard it.
        heard: all events since the game began, masked for the seat.
    """

    def __init__(self, derived: DerivedRules, seat: int, heard: Events) -> None:
        self._derived = derived
        self._me = seat
        self._actions = Actions(derived)
        cards = tuple(dict.fromkeys(derived.deck))
        self._ranks = {rank: tuple(card for card in cards if card[0] == rank) for rank in RANKS}
        self._ranks = {rank: cards for rank, cards in self._ranks.items() if cards}
        rules = derived.rules
        self._tells_hands = (
            bool(rules.compulsory.hand)
            or rules.stalemate == "must_play"
            or (rules.discard == "mandatory" and can_pass(rules))
        )
        self.record = Record()
        self._stock: list[tuple[int, int]] = []
        """Sources, the top first, with the cards left of each."""
        self._aside: list[str] = []
        self._own: list[str] = []
        self._hands: list[Hand] = [Hand() for _ in range(derived.seats)]
        self._payoffs: list[list[Cell | str]] = [[] for _ in range(derived.seats)]
        self._sides: list[list[list[str]]] = []
        self._centre: list[list[str]] = [[] for _ in range(derived.centre_slots or 0)]
        self._heights = [0] * len(self._centre)
        self._out: list[int] = []
        self._turns = self._seat = 0
        self._moved = self._filling = self._pressed = False
        self._passed: set[int] = set()
        self._read(heard)
        self.record.hands += [hand for hand in self._hands if hand.cells]
        for source, left in self._stock:
            self._leave(source, left)

    def _read(self, heard: Events) -> None:
        place = 0
        while place < len(heard):
            event = heard[place]
            if isinstance(event, Shuffled):
                place += self._shuffle(heard, place)
                continue
            if isinstance(event, Deal):
                self._deal(event)
            elif isinstance(event, Flip):
                self._flip(event)
            elif isinstance(event, Draw):
                self._draw(event)
            elif isinstance(event, CardMoved):
                self._move(event)
            else:
                self._note(event)
            place += 1

    def _note(self, event: Struct) -> None:
        """Read an event that moves no card."""
        if isinstance(event, TurnBegins):
            if not self._turns:
                self.record.starter = event.seat
            self._turns += 1
            self._seat = event.seat
            self._moved = self._filling = False
        elif isinstance(event, Pass):
            self._act(event.seat, "pass")
            if not self._moved:
                self._passed.add(event.seat)
                self._press()
        elif isinstance(event, Count):
            self.record.script.append((event.seat, "count"))
        elif isinstance(event, Out):
            self.record.script.append(event)
            self._out += [ally for ally in self._derived.allies[event.seat] if ally not in self._out]
            if self._seat in self._out:
                self._press()

    def _press(self) -> None:
        """Begin a round of forced plays if all have passed; a second such round ends the game."""
        if self._derived.rules.stalemate == "must_play" and self._list_playing() <= self._passed:
            self._pressed, self._passed = True, set()

    def _list_playing(self) -> set[int]:
        return set(range(self._derived.seats)) - set(self._out)

    # What is shuffled

    def _begin_source(self, cards: Sequence[str], took_up: Sequence[int] = ()) -> int:
        """Begin a source with new lives, and what is left of others; return its number."""
        record, source = self.record, len(self.record.falls)
        record.falls.append([])
        record.rests.append([])
        record.may_hold.append(frozenset({source}).union(*(record.may_hold[other] for other in took_up)))
        record.lives += [Life(card, source) for card in cards]
        return source

    def _leave(self, source: int, count: int, heir: int | None = None) -> None:
        """Take down the cells of a source that nobody has drawn."""
        for _ in range(count):
            cell = Cell(source)
            self.record.rests[source].append(cell)
            self._end(cell, heir)

    def _end(self, cell: Cell, heir: int | None) -> None:
        """Let a life end in a cell, or let a later shuffle take it up."""
        cell.heir = heir
        if heir is None:
            self.record.cells.append(cell)

    def _fall(self, source: int, card: str = HIDDEN) -> Cell:
        """Take the next card of a source."""
        cell = Cell(source)
        cell.card = None if card == HIDDEN else card
        self.record.falls[source].append(cell)
        return cell

    def _deal(self, event: Deal) -> None:
        derived = self._derived
        pack = self._begin_source(derived.payoff_pack) if derived.payoff_pack else None
        deck = self._begin_source(derived.deck)
        for seat, size in enumerate(event.payoffs):
            self._payoffs[seat] = [self._fall(deck if pack is None else pack) for _ in range(size)]
            self.record.cells += [cell for cell in self._payoffs[seat] if isinstance(cell, Cell)]
        self._stock = [(deck, event.stock + sum(map(len, event.hands)))]
        for seat, hand in enumerate(event.hands):
            self._draw(Draw(seat, hand))
        self._sides = [[list(pile) for pile in piles] for piles in event.sides]
        for pile in (pile for piles in self._sides for pile in piles):
            self.record.cells += [self._fall(deck, card) for card in pile]

    def _flip(self, event: Flip) -> None:
        top = self._payoffs[event.seat][-1]
        if isinstance(top, Cell):
            top.card = event.card

    def _draw(self, event: Draw) -> None:
        for card in event.cards:
            if not self._stock:
                raise DataError("events: expected no draw from an empty stock, got one")
            source, left = self._stock[0]
            cell = self._fall(source, card)
            self.record.cells.append(cell)
            self._stock[:1] = [(source, left - 1)] if left > 1 else []
            if event.seat == self._me:
                self._own.append(card)
            else:
                hand = self._hands[event.seat]
                cell.hand = hand
                hand.cells.append(cell)

    def _shuffle(self, heard: Events, place: int) -> int:
        """Read the events of one shuffle; return how many they are."""
        event = heard[place]
        assert isinstance(event, Shuffled)
        if event.source == event.target:
            self._shuffle_payoff(int(event.source[0]))
            return 1
        if event.source[1:] == event.target[1:] == "p":
            return self._shuffle_payoffs(heard, place)
        slot = int(event.source[1:]) if event.source[0] == "c" else None
        if slot is not None and self._heights[slot] == self._derived.stack_top:
            self._recycle(slot, event.target)
            return 1
        group = 1
        while place + group < len(heard) and isinstance(heard[place + group], Shuffled):
            group += 1
        after = heard[place + group : place + group + 2]
        if len(after) == 2 and all(isinstance(each, Draw) for each in after):
            self._redeal()
            return group
        if slot is None:
            cards, self._aside = self._aside, []
            self._stock.append((self._begin_source(cards), len(cards)))
            return 1
        buried = [card for stack in self._centre for card in stack[:-1]]
        self._centre = [stack[-1:] for stack in self._centre]
        self._stock.append((self._begin_source(buried), len(buried)))
        return group

    def _shuffle_payoff(self, seat: int) -> None:
        """Read that a seat shuffles its own pay-off pile, whose top everybody has seen."""
        source, size = self._gather_payoffs([seat])
        pile: list[Cell | str] = [self._fall(source) for _ in range(size)]
        self._payoffs[seat] = pile[::-1]
        self.record.cells += [cell for cell in pile if isinstance(cell, Cell)]

    def _shuffle_payoffs(self, heard: Events, place: int) -> int:
        event = heard[place]
        assert isinstance(event, Shuffled)
        tied = [int(event.target[0])]
        while isinstance(event := heard[place], Shuffled) and event.source[1:] == event.target[1:] == "p":
            if event.target[0] == str(tied[0]):
                tied.append(int(event.source[0]))
            place += 1
        source, size = self._gather_payoffs(tied)
        for seat in tied:
            self._payoffs[seat] = [self._fall(source) for _ in range(size // len(tied))]
            self.record.cells += [cell for cell in self._payoffs[seat] if isinstance(cell, Cell)]
        return 2 * (len(tied) - 1)

    def _gather_payoffs(self, seats: Sequence[int]) -> tuple[int, int]:
        """Take up pay-off piles for a shuffle; return its source and the number of cards."""
        cells = [cell for seat in seats for cell in self._payoffs[seat] if isinstance(cell, Cell)]
        seen = [cell.card for cell in cells if cell.card is not None]
        unseen = [cell for cell in cells if cell.card is None]
        source = self._begin_source(seen, [cell.source for cell in unseen])
        self._take_up(unseen, source)
        return source, len(cells)

    def _take_up(self, cells: Sequence[Cell], heir: int) -> None:
        for cell in cells:
            cell.heir = heir
        gone = set(map(id, cells))
        self.record.cells = [cell for cell in self.record.cells if id(cell) not in gone]

    def _recycle(self, slot: int, target: str) -> None:
        """Read that a completed stack leaves the centre."""
        cards, self._centre[slot], self._heights[slot] = self._centre[slot], [], 0
        if target == "aside":
            self._aside += cards
        elif self._derived.rules.recycle == "bottom":
            self._stock.append((self._begin_source(cards), len(cards)))
        else:
            self._mix(cards, [])

    def _mix(self, cards: Sequence[str], hands: Sequence[Hand]) -> None:
        """Let one shuffle take up the stock, cards that everybody has seen, and what is left of other hands."""
        stock = self._stock
        drawn = [cell.source for hand in hands for cell in hand.cells]
        source = self._begin_source(cards, [each for each, _ in stock] + drawn)
        for each, left in stock:
            self._leave(each, left, source)
        for hand in hands:
            hand.heir = source
            self.record.hands.append(hand)
        size = len(cards) + sum(map(len, hands)) + sum(left for _, left in stock)
        self._stock = [(source, size)] if size else []

    def _redeal(self) -> None:
        """Read that everything but the pay-off piles and the piles of those who left is shuffled."""
        hands: list[Hand] = []
        cards = [*self._aside, *(card for stack in self._centre for card in stack)]
        for seat in self._list_playing():
            cards += [card for pile in self._sides[seat] for card in pile]
            self._sides[seat] = [[] for _ in self._sides[seat]]
            if seat == self._me:
                cards += self._own
                self._own = []
            elif self._hands[seat].cells:
                hands.append(self._hands[seat])
                self._hands[seat] = Hand()
        self._aside = []
        self._centre = [[] for _ in self._centre]
        self._heights = [0] * len(self._heights)
        self._passed = set()
        self._mix(cards, hands)

    # What seats do

    def _move(self, event: CardMoved) -> None:
        seat, source, target, card = event.seat, event.source, event.target, event.card
        own = str(seat)
        name = source[1:] if source[0] == own else source
        self._act(seat, f"{f'h{card}' if name == 'h' else name}-{target[1:] if target[1] == 's' else target}", card)
        self._moved, self._pressed, self._passed = True, False, set()
        owner = int(source[0])
        if name == "h":
            self._take_from_hand(seat, card)
        elif source[1] == "p":
            self._payoffs[owner].pop()
        else:
            self._sides[owner][int(source[2:])].pop()
        self._put(event)

    def _take_from_hand(self, seat: int, card: str) -> None:
        if seat == self._me:
            self._own.remove(card)
            return
        hand = self._hands[seat]
        hand.play(card)
        if not hand:
            self.record.hands.append(hand)
            self._hands[seat] = Hand()

    def _put(self, event: CardMoved) -> None:
        target, card = event.target, event.card
        if target[0] == "c":
            slot = int(target[1:])
            if slot == len(self._centre):
                self._centre.append([])
                self._heights.append(0)
            self._centre[slot].append(card)
            self._heights[slot] += 1
        elif target[1] == "p":
            self._payoffs[int(target[0])].append(card)
        else:
            pile = self._sides[event.seat][int(target[2:])]
            self._filling |= self._derived.rules.fill_empty_sides and not pile
            pile.append(card)

    def _act(self, seat: int, action: str, card: str = "") -> None:
        """Take down an action, and what it tells of the rest of the hand: what would have forbidden it is not there."""
        self.record.script.append((seat, action))
        if seat == self._me or not self._tells_hands:
            return
        hand = self._hands[seat]
        rest = len(hand) - (action[0] == "h")
        for cards in self._list_telling(action) if rest else ():
            held = (card, cards[0]) if action[0] == "h" else cards[:1]
            if action not in self._list_legal(seat, held):
                for other in cards:
                    hand.rule_out(other)

    def _list_telling(self, action: str) -> Iterator[Cards]:
        """Yield the cards that may forbid an action to the hand that holds them, by rank: suits make no difference."""
        ranks = self._derived.rules.compulsory.hand + (STALEMATE_BREAKERS.hand if self._pressed else "")
        for rank, cards in self._ranks.items():
            if action == "pass" or rank in ranks:
                yield cards

    def _list_legal(self, seat: int, held: Cards) -> Cards:
        """List what a seat could do here with other cards in its hand."""
        hands: list[Cards] = [()] * self._derived.seats
        hands[seat] = tuple(sorted(held, key=ORDER.__getitem__))
        tops = tuple(
            ((pile[-1].card or "") if isinstance(pile[-1], Cell) else pile[-1],) if pile else ()
            for pile in self._payoffs
        )
        state = State(
            phase="turn",
            seat=seat,
            turn=self._turns,
            quiet=0,
            hands=tuple(hands),
            payoffs=tops,
            sides=tuple(tuple(map(tuple, piles)) for piles in self._sides),
            centre=tuple(map(tuple, self._centre)),
            heights=tuple(self._heights),
            stock=(),
            out=tuple(self._out),
            filling=self._filling,
            pressed=self._pressed,
        )
        return self._actions.legal(state)
