"""What every game promises at each of its positions, and checks that it keeps it."""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

import pytest
from msgspec.structs import replace

from malice.protocol.cards import HIDDEN, ORDER, RANKS, SUITS, Cards
from malice.referee.errors import IllegalAction
from malice.referee.games.spite import SpiteAndMalice
from malice.referee.games.spite.messages import CardMoved, Count, Deal, Draw, Flip, Shuffled, TurnBegins
from malice.referee.games.spite.state import State
from malice.referee.rules import Ask, Events, Result

from .playouts import Chooser, play_moments
from .tables import act, list_legal, to_struct


def play_and_check(engine: SpiteAndMalice, seed: str, choose: Chooser, samples: float = 0.1) -> Result:
    """Play one game and check each position; slow checks run on a share of `samples`."""
    random = Random(seed)
    everything = Counter(engine.derived.payoff_pack + engine.derived.deck)
    shown = SpectatorTable(engine)
    for moment in play_moments(engine, seed, choose):
        state = moment.state
        # The second of two packs is not on the table before it is shuffled.
        assert state.turn == 0 or Counter(all_cards(state)) == everything
        shown.follow(moment.events)
        check_masks_hide_hands(engine, moment.events)
        legal = list_legal(engine, state)
        assert bool(legal) == isinstance(moment.step, Ask)
        if isinstance(moment.step, Ask):
            assert moment.step.seats == (state.seat,)
            assert not any(engine.legal(state, seat) for seat in range(engine.seats) if seat != state.seat)
            assert len(set(legal)) == len(legal)
            assert list(legal) == sorted(legal, key=make_canonical_key(state))
            shown.compare(state)
            if random.random() < samples:
                shown.compare_counts(state)
                check_only_listed_actions_are_accepted(engine, state, random)
                check_views_hide_cards(engine, state, random)
    assert isinstance(moment.step, Result)
    check_result(engine, moment.step)
    return moment.step


def all_cards(state: State) -> Cards:
    piles = (*state.hands, *state.payoffs, *state.centre, state.stock, state.mixing, state.aside)
    return sum(piles, ()) + sum((pile for own in state.sides for pile in own), ())


def make_canonical_key(state: State) -> Callable[[str], tuple[object, ...]]:
    """Return the sort key of legal lists: by source, then by target; `pass` and `count` last."""

    def place(action: str) -> tuple[object, ...]:
        source, _, target = action.partition("-")
        if not target:
            return (9, action == "count")
        end = (("c", "s").index(target[0]), int(target[1:])) if target[0] in "cs" else (2, int(target[:-1]))
        if source == "p":
            return (0, *end)
        if source[0].isdigit():
            return (1, int(source[0]), source[1] == "s", source[2:], *end)
        return (2, ORDER[source[1:]], *end) if source[0] == "h" else (3, int(source[1:]), *end)

    return place


def check_only_listed_actions_are_accepted(engine: SpiteAndMalice, state: State, random: Random) -> None:
    before = to_struct(engine, state)
    legal = list_legal(engine, state)
    for action in legal:
        act(engine, state, action)
    assert to_struct(engine, state) == before, "`play` changed the position that it was given"
    cards = [rank + suit for rank in RANKS for suit in SUITS]
    for _ in range(20):
        seat = random.randrange(engine.seats)
        source = random.choice(["p", f"{seat}p", f"{seat}s0", "s0", "s3", "s4", "c0", f"h{random.choice(cards)}"])
        target = random.choice(["c0", "c3", "c9", "s0", "s3", "s4", f"{seat}p", "stock", ""])
        action = random.choice([f"{source}-{target}", source, "pass", "count", "", " pass"])
        if action not in legal:
            with pytest.raises(IllegalAction):
                act(engine, state, action)


def check_views_hide_cards(engine: SpiteAndMalice, state: State, random: Random) -> None:
    for seat in range(engine.seats):
        other = permute_hidden_cards(to_struct(engine, state), seat, random)
        if engine.view(state, seat).seats[0].payoff.left is None:
            other = move_buried_cards(other, random)
        assert engine.view(other, seat) == engine.view(state, seat)


def permute_hidden_cards(state: State, seat: int, random: Random) -> State:
    """Return the same position, except that the cards which `seat` may not see change places."""
    others = [owner for owner in range(len(state.hands)) if owner != seat]
    pool = [card for owner in others for card in state.hands[owner]]
    pool += [card for pile in state.payoffs for card in pile[:-1]]
    pool += state.stock + state.aside
    random.shuffle(pool)

    def some(count: int) -> Cards:
        return tuple(pool.pop() for _ in range(count))

    hands = tuple(hand if owner == seat else some(len(hand)) for owner, hand in enumerate(state.hands))
    payoffs = tuple(some(max(0, len(pile) - 1)) + pile[-1:] for pile in state.payoffs)
    return replace(state, hands=hands, payoffs=payoffs, stock=some(len(state.stock)), aside=some(len(state.aside)))


def move_buried_cards(state: State, random: Random) -> State:
    """Return the same position, except for the number of cards under each pay-off top."""
    buried = [card for pile in state.payoffs for card in pile[:-1]]
    piles = [list(pile[-1:]) for pile in state.payoffs]
    while buried and any(piles):
        random.choice([pile for pile in piles if pile]).insert(0, buried.pop())
    return replace(state, payoffs=tuple(map(tuple, piles)))


def check_masks_hide_hands(engine: SpiteAndMalice, events: Events) -> None:
    for item in events:
        for seat in range(engine.seats):
            seen = engine.mask(item, seat)
            if isinstance(seen, Draw) and seen.seat != seat:
                assert set(seen.cards) <= {HIDDEN}
            elif isinstance(seen, Deal):
                assert {card for owner, hand in enumerate(seen.hands) if owner != seat for card in hand} <= {HIDDEN}
            else:
                assert seen == item


def check_result(engine: SpiteAndMalice, result: Result) -> None:
    assert len(result.places) == len(result.scores) == engine.seats
    assert min(result.places) == 1
    assert all(score >= 0 for score in result.scores)
    assert all(place == 1 for place, score in zip(result.places, result.scores, strict=True) if score)
    for seat, team in enumerate(engine.teams):
        assert result.places[seat] == result.places[engine.teams.index(team)]


class SpectatorTable:
    """The table as somebody knows it who sees only events, unmasked, and knows no rules."""

    def __init__(self, engine: SpiteAndMalice) -> None:
        self.engine = engine
        self.piles: dict[str, list[str]] = {}
        self.payoff = [0] * engine.seats
        self.top: list[str | None] = [None] * engine.seats
        self.stock = self.aside = 0
        self.counting_seat: int | None = None
        self.counts: tuple[int, ...] | None = None

    def follow(self, events: Events) -> None:
        for item in events:
            match item:
                case Deal():
                    self._deal(item)
                case TurnBegins():
                    self.counting_seat = None
                case Count():
                    self.counting_seat, self.counts = item.seat, item.left
                case Draw():
                    self.stock -= len(item.cards)
                    self.piles[f"{item.seat}h"] += item.cards
                case Flip():
                    self.top[item.seat] = item.card
                case CardMoved():
                    self._take(item)
                    self._put(item)
                case Shuffled():
                    self._gather(item)
                case _:
                    pass

    def _deal(self, dealt: Deal) -> None:
        self.payoff, self.stock = list(dealt.payoffs), dealt.stock
        for seat, hand in enumerate(dealt.hands):
            self.piles[f"{seat}h"] = list(hand)
            for index, pile in enumerate(dealt.sides[seat]):
                self.piles[f"{seat}s{index}"] = list(pile)

    def _take(self, moved: CardMoved) -> None:
        if moved.source.endswith("p") or moved.target.endswith("p"):
            self.counts = None
        if moved.source.endswith("p"):
            seat = int(moved.source[0])
            assert self.top[seat] == moved.card
            self.payoff[seat] -= 1
            self.top[seat] = None
        elif moved.source.endswith("h"):
            self.piles[moved.source].remove(moved.card)
        else:
            assert self.piles[moved.source].pop() == moved.card

    def _put(self, moved: CardMoved) -> None:
        if moved.target.endswith("p"):
            seat = int(moved.target[0])
            self.payoff[seat] += 1
            self.top[seat] = moved.card
        else:
            self.piles.setdefault(moved.target, []).append(moved.card)

    def _gather(self, moved: Shuffled) -> None:
        if moved.source == moved.target:
            return
        if moved.source.endswith("p"):  # pay-off piles that are dealt anew together
            self.payoff[int(moved.source[0])] -= moved.count
            self.payoff[int(moved.target[0])] += moved.count
            return
        if moved.source == "aside":
            self.aside -= moved.count
        else:
            del self.piles[moved.source][: moved.count]
        if moved.target == "aside":
            self.aside += moved.count
        else:
            self.stock += moved.count

    def compare(self, state: State) -> None:
        view = self.engine.view(state, None)
        assert (view.stock, view.aside) == (self.stock, self.aside)
        assert [list(stack.cards) for stack in view.centre] == [
            self.piles.get(f"c{slot}", []) for slot in range(len(view.centre))
        ]
        for seat, seen in enumerate(view.seats):
            assert (seen.payoff.top, seen.payoff.left) == (self.top[seat], self.payoff[seat])
            assert sorted(state.hands[seat]) == sorted(self.piles[f"{seat}h"])
            for index, pile in enumerate(seen.side):
                assert list(pile) == self.piles[f"{seat}s{index}"]

    def compare_counts(self, state: State) -> None:
        """Check that each view has the counts that its seat knows, and no others."""
        for seat in range(self.engine.seats):
            expected: Sequence[int | None] | None = {
                "public": self.payoff,
                "on_request": self.counts,
                "on_request_own": self.payoff if self.counting_seat == seat else None,
            }[self.engine.derived.rules.payoff_count]
            seen = [shown.payoff.left for shown in self.engine.view(state, seat).seats]
            assert seen == list(expected or [None] * self.engine.seats)
