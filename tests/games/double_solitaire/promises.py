"""What every game promises at each of its positions, and checks that it keeps it."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from msgspec.json import encode
from msgspec.structs import replace

from malice.protocol.cards import RANKS, Cards
from malice.referee.errors import IllegalAction
from malice.referee.games.double_solitaire import DoubleSolitaire
from malice.referee.games.double_solitaire.messages import CardsMoved, Deal, Draw, Exchanged, TurnedOver, View
from malice.referee.games.double_solitaire.parameters import Parameters
from malice.referee.games.double_solitaire.state import CARDS, State
from malice.referee.rules import Ask, Events, Result

from .tables import Chooser, act, play_moments


def play_and_check(parameters: Parameters, seed: str, choose: Chooser) -> Result:
    """Play one game and check each of its positions."""
    engine, random = DoubleSolitaire(parameters, 2), Random(seed)
    shown, seen = ShownTable(), set[bytes]()
    for moment in play_moments(engine, seed, choose):
        state, view = moment.state, engine.view(moment.state, None)
        assert Counter(list_cards(state)) == Counter(CARDS)
        shown.follow(moment.events)
        assert (shown.stocks, shown.discards) == (
            [seat.stock for seat in view.seats],
            [seat.discard for seat in view.seats],
        )
        assert (tuple(shown.table), shown.card) == (view.table, view.card)
        assert tuple(shown.heights) == view.foundations
        if any(isinstance(event, Draw) for event in moment.events):
            seen = set()
        if isinstance(moment.step, Ask):
            assert moment.step.seats == (state.seat,)
            assert engine.legal(state, 1 - state.seat) == ()
            legal = engine.legal(state, state.seat)
            assert list(legal) == list(list_expected(parameters, view, seen))
            seen.add(identify(view, view.table))
            if random.random() < 0.1:
                refuse_others(engine, state, random)
                hide_stocks(engine, state, random)
    result = moment.step
    assert isinstance(result, Result)
    assert engine.legal(moment.state, moment.state.seat) == ()
    return result


def list_cards(state: State) -> Iterator[str]:
    """Yield all cards of a position."""
    for piles in (state.stocks, state.discards, state.table):
        yield from (card for pile in piles for card in pile)
    yield from [state.card] if state.card else []
    for suit, height in zip("CDHS", state.heights, strict=True):
        yield from (rank + suit for rank in RANKS[:height])


def identify(view: View, table: tuple[Cards, ...]) -> bytes:
    """Return what is equal for positions of a turn that are the same, whatever the places of table piles."""
    return encode((sorted(table), view.foundations, view.seats, view.card))


class ShownTable:
    """The table as the events alone tell it."""

    def __init__(self) -> None:
        self.stocks: list[int] = []
        self.discards: list[Cards] = [(), ()]
        self.table: list[Cards] = []
        self.heights = [0, 0, 0, 0]
        self.card: str | None = None

    def follow(self, events: Events) -> None:
        for event in events:
            match event:
                case Deal(table, stocks):
                    self.table, self.stocks = list(table), list(stocks)
                case Exchanged():
                    self.stocks.reverse()
                case TurnedOver(seat, count):
                    assert (self.stocks[seat], len(self.discards[seat])) == (0, count)
                    self.stocks[seat], self.discards[seat] = count, ()
                case Draw(seat, card):
                    assert self.card is None
                    self.stocks[seat] -= 1
                    self.card = card
                case CardsMoved(_, source, target, cards):
                    self._move(source, target, cards)

    def _move(self, source: str, target: str, cards: Cards) -> None:
        if source == "h":
            assert (self.card,) == cards
            self.card = None
        else:
            piles, index = self._find(source)
            assert piles[index][-len(cards) :] == cards
            piles[index] = piles[index][: -len(cards)]
        if target == "f":
            (card,) = cards
            self.heights["CDHS".index(card[1])] += 1
        else:
            piles, index = self._find(target)
            piles[index] += cards

    def _find(self, name: str) -> tuple[list[Cards], int]:
        return (self.table, int(name[1:])) if name[0] == "t" else (self.discards, int(name[0]))


def list_expected(rules: Parameters, view: View, seen: set[bytes]) -> Iterator[str]:
    """Yield the legal actions as the rules say it, from what a seat sees and the positions of its turn."""
    if not view.turn:
        yield from ("exchange", "keep")
        return
    plays = [play for play in _list_plays(rules, view) if not _recurs(play, view, seen)]
    building = [play for play in plays if play.endswith("f")]
    if rules.compulsory == "foundation" and building:
        yield from building
        return
    yield from plays
    yield "h-d" if view.card else "end"


def _list_plays(rules: Parameters, view: View) -> Iterator[str]:
    own, other = view.seats[view.seat].discard, view.seats[1 - view.seat].discard
    sources: list[tuple[str, str, int]] = []
    if view.card:
        sources.append(("h", view.card, -1))
    if own:
        sources.append(("d", own[-1], -1))
    for place, pile in enumerate(view.table):
        sources += [(f"t{place}", pile[-1], place)] if pile else []
    for name, card, place in sources:
        suit = "CDHS".index(card[1])
        if RANKS.index(card[0]) == view.foundations[suit]:
            yield f"{name}-f"
        yield from _list_moves(rules, view, name, card, place)
        loads = rules.loading == "all" or (rules.loading == "pack" and place < 0)
        if loads and other and other[-1][1] == card[1] and abs(_rank(other[-1]) - _rank(card)) == 1:
            yield f"{name}-o"


def _list_moves(rules: Parameters, view: View, name: str, card: str, place: int) -> Iterator[str]:
    size = len(view.table[place]) if place >= 0 else 1
    counts = {"top": {1}, "top_or_pile": {1, size}, "run": set(range(1, size + 1))}[rules.table_moves]
    for target, pile in enumerate(view.table):
        for count in sorted(counts):
            moved = view.table[place][-count] if place >= 0 else card
            action = f"{name}x{count}-t{target}" if count > 1 else f"{name}-t{target}"
            if pile:
                fits = _is_red(pile[-1]) != _is_red(moved) and _rank(pile[-1]) == _rank(moved) + 1
            else:
                changes = () not in view.table[:target] and not (place >= 0 and count == size)
                fits = changes and (rules.empty_pile == "any" or (rules.empty_pile == "king" and moved[0] == "K"))
            if fits:
                yield action


def _recurs(play: str, view: View, seen: set[bytes]) -> bool:
    """Tell whether a play on the table leads to a position of this turn; other plays never do."""
    source, target = play.split("-")
    if source[0] != "t" or target[0] != "t":
        return False
    name, _, count = source.partition("x")
    piles = list(view.table)
    pile, size = piles[int(name[1:])], int(count or 1)
    piles[int(name[1:])] = pile[:-size]
    piles[int(target[1:])] += pile[-size:]
    return identify(view, tuple(piles)) in seen


def _rank(card: str) -> int:
    return RANKS.index(card[0])


def _is_red(card: str) -> bool:
    return card[1] in "DH"


def refuse_others(engine: DoubleSolitaire, state: State, random: Random) -> None:
    """Check that `play` takes what `legal` lists and nothing else, and leaves the position as it was."""
    legal, before = engine.legal(state, state.seat), encode(state)
    for action in legal:
        act(engine, state, action)
    assert encode(state) == before
    for _ in range(10):
        source = random.choice(["h", "d", "o", "t0", "t3", "t4", "t0x2", "t0x1", "t-1", "f", ""])
        action = f"{source}-{random.choice(['f', 'o', 'd', 't0', 't1', 't9', 's', ''])}"
        for wrong in {action, source, "end", "h-d", " end"} - set(legal):
            with pytest.raises(IllegalAction):
                act(engine, state, wrong)


def hide_stocks(engine: DoubleSolitaire, state: State, random: Random) -> None:
    """Check that no seat can tell this position from one whose stocks hold the same cards in another order."""
    hidden = [card for stock in state.stocks for card in stock]
    random.shuffle(hidden)
    size = len(state.stocks[0])
    other = replace(state, stocks=(tuple(hidden[:size]), tuple(hidden[size:])))
    for action in ("", *engine.legal(state, state.seat)):
        one, events = act(engine, state, action) if action else (state, ())
        two, others = act(engine, other, action) if action else (other, ())
        if one.turn == state.turn or one.result:
            assert tell(engine, one, events) == tell(engine, two, others)


def tell(engine: DoubleSolitaire, state: State, events: Events) -> bytes:
    """Return all that the seats and a spectator hear of a position and of what led to it."""
    heard = [engine.mask(event, seat) for event in events for seat in (0, 1)]
    return encode((heard, [engine.view(state, seat) for seat in (0, 1, None)], engine.legal(state, state.seat)))
