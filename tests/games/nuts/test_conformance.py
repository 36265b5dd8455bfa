"""What holds at every position of every hand, whatever the seats do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from malice.protocol.cards import HIDDEN, Cards, make_french_pack
from malice.referee.errors import IllegalAction
from malice.referee.games.nuts import Nuts
from malice.referee.games.nuts.messages import Burned, CardsMoved, Deal, Flip, Redeal, Turned
from malice.referee.games.nuts.moves import Moves
from malice.referee.games.nuts.state import Side, State
from malice.referee.replay import check_record
from malice.referee.rules import Ask, Events, Result, Rules, Shuffle
from malice.referee.rulesets import list_rulesets
from tests.games.records import make_record

from .tables import Chooser, Moment, choose_lively, choose_uniformly, game, play_moments, wait

PACK = Counter(make_french_pack())


def never_play_nuts(seed: bytes) -> Chooser:
    """Return a chooser that turns and moves cards about, but neither plays to the centre nor plays Nuts as such."""
    random = Random(seed)

    def choose(seat: int, legal: tuple[str, ...]) -> str:
        allowed = [action for action in legal if not action.endswith("-f")] or ["wait"]
        return random.choice(allowed)

    return choose


CHOOSERS: list[Callable[[bytes], Chooser]] = [choose_lively, choose_uniformly, never_play_nuts, lambda seed: wait]
games = st.builds(
    game,
    st.sampled_from(["nuts", "nuts-2"]),
    empty_column=st.sampled_from(["any", "king"]),
    runs=st.sampled_from(["any", "whole"]),
    waste_visible=st.sampled_from(["all", "top"]),
    nuts_out=st.sampled_from(["tick", "at_once"]),
    burn=st.sampled_from(["each", "once", "never"]),
    turned=st.sampled_from([1, 3, 4]),
    turn_ticks=st.sampled_from([1, 2]),
    redeal_ticks=st.sampled_from([0, 2]),
)
bounded = settings(derandomize=True, deadline=None, max_examples=12, database=None)


@bounded
@given(engine=games, number=st.integers(0, 10**6), make=st.sampled_from(CHOOSERS))
def test_a_hand_ends_and_keeps_the_promises_of_the_interface(
    engine: Nuts, number: int, make: Callable[[bytes], Chooser]
) -> None:
    seed = sha256(str(number).encode()).digest()
    random = Random(seed)
    seen = Watched()
    moment = None
    for moment in play_moments(engine, seed, make(seed)):
        seen.follow(moment.events, engine)
        if moment.state.sides:
            assert_cards_are_conserved(moment.state)
            seen.compare(moment.state)
        if random.random() < 0.15:
            assert_seats_can_do_what_is_listed(engine, moment, random)
        if moment.state.sides and random.random() < 0.1:
            assert_hidden_cards_are_hidden(engine, moment.state, random)
    assert moment is not None
    assert isinstance(moment.step, Result)
    assert moment.step.reason in {"nuts", "idle", "max_ticks"}
    assert moment.step.scores == tuple(
        seen.centre[team] - 2 * len(moment.state.sides[team].nuts) for team in engine.teams
    )


def assert_cards_are_conserved(state: State) -> None:
    played = Counter(card for place, height in enumerate(state.heights) for card in PACK_OF[place][:height])
    for side in state.sides:
        cards = Counter((*side.nuts, *side.stock, *side.waste, *(card for pile in side.columns for card in pile)))
        assert cards <= PACK
        assert cards.total() + side.centre == 52
        played += cards
    assert played == PACK + PACK


PACK_OF = tuple(tuple(card for card in make_french_pack() if card[1] == "CDHS"[place // 2]) for place in range(8))


def assert_seats_can_do_what_is_listed(engine: Nuts, moment: Moment, random: Random) -> None:
    lists = [engine.legal(moment.state, seat) for seat in range(engine.seats)]
    asked = tuple(seat for seat, legal in enumerate(lists) if legal)
    if not isinstance(moment.step, Ask):
        assert asked == ()
        return
    assert moment.step.seats == asked
    assert all(legal[-1] == "wait" and 1 < len(set(legal)) == len(legal) for legal in lists if legal)
    cards = random.sample(make_french_pack(), 3)
    strange = {f"{card}-{target}" for card in cards for target in ("f", "t0", "t4", "t9")} | {"turn", "7C", ""}
    moves = Moves(engine.parameters)
    for seat in asked:
        for action in {*strange, *lists[seat][:-1]}:
            side, part = moment.state.sides[engine.teams[seat]], engine.parts[seat]
            if "-" in action or action == "turn":
                assert moves.allows(side, moment.state.heights, part, action) == (action in lists[seat])
            if action not in lists[seat]:
                with pytest.raises(IllegalAction):
                    engine.play(moment.state, dict.fromkeys(asked, "wait") | {seat: action})


def assert_hidden_cards_are_hidden(engine: Nuts, state: State, random: Random) -> None:
    """Exchange what lies face down on each side: no request that could be made now changes by a byte."""
    other = replace(state, sides=tuple(permute_hidden_cards(engine, side, random) for side in state.sides))
    for seat in range(engine.seats):
        encode = msgspec.json.encode
        assert encode(engine.view(other, seat)) == encode(engine.view(state, seat))
        assert engine.legal(other, seat) == engine.legal(state, seat)


def permute_hidden_cards(engine: Nuts, side: Side, random: Random) -> Side:
    open_waste = len(side.waste) if engine.parameters.waste_visible == "all" else 1
    buried = side.waste[: max(0, len(side.waste) - open_waste)]
    hidden = [pile[:count] for pile, count in zip(side.columns, side.hidden, strict=True)]
    pool = [*side.nuts[:-1], *buried, *side.stock, *(card for cards in hidden for card in cards)]
    random.shuffle(pool)

    def some(cards: Cards) -> Cards:
        return tuple(pool.pop() for _ in cards)

    return replace(
        side,
        nuts=some(side.nuts[:-1]) + side.nuts[-1:],
        waste=some(buried) + side.waste[len(buried) :],
        stock=some(side.stock),
        columns=tuple(some(cards) + pile[len(cards) :] for cards, pile in zip(hidden, side.columns, strict=True)),
    )


class Watched:
    """The table as somebody knows it who sees only events, unmasked, and knows no rules."""

    def __init__(self) -> None:
        self.piles: dict[str, list[str]] = {}
        self.shown: set[tuple[str, str]] = set()
        self.centre = [0, 0]

    def follow(self, events: Events, engine: Nuts) -> None:
        for event in events:
            self._follow(event, engine)

    def _follow(self, event: Any, engine: Nuts) -> None:
        match event:
            case Deal(sides):
                self._lay_out(sides)
                masked = engine.mask(event, 0)
                assert isinstance(masked, Deal)
                assert masked == engine.mask(event, 1)
                for side in masked.sides:
                    assert {*side.nuts[:-1], *side.stock, *(card for pile in side.columns for card in pile[:-1])} == {
                        HIDDEN
                    }
            case CardsMoved(seat, source, target, moved):
                pile = self.piles[source]
                assert tuple(pile[-len(moved) :]) == moved
                del pile[-len(moved) :]
                self.piles.setdefault(target, []).extend(moved)
                self.centre[engine.teams[seat]] += target[0] == "f"
            case Flip(pile, card):
                assert self.piles[pile][-1] == card
            case Redeal(seat, count):
                team = engine.teams[seat]
                assert count == len(self.piles[f"{team}w"])
                self.piles[f"{team}s"] = self.piles[f"{team}w"][::-1]
                self.piles[f"{team}w"] = []
            case Turned(seat, turned):
                team = engine.teams[seat]
                assert turned == tuple(self.piles[f"{team}s"].pop() for _ in turned)
                self.piles[f"{team}w"] += turned
                seen = engine.mask(event, 0)
                assert isinstance(seen, Turned)
                assert seen == event or set(seen.cards[:-1]) == {HIDDEN}
            case Burned(redealt):
                for team in (0, 1):
                    self._burn(team, team in redealt)

    def _lay_out(self, sides: Any) -> None:
        for team, side in enumerate(sides):
            self.piles |= {f"{team}n": list(side.nuts), f"{team}s": list(side.stock), f"{team}w": []}
            self.piles |= {f"{team}t{column}": list(pile) for column, pile in enumerate(side.columns)}

    def _burn(self, team: int, thin: bool) -> None:
        stock, waste = self.piles[f"{team}s"], self.piles[f"{team}w"]
        if thin:
            stock[:0] = waste[::-1]
            waste.clear()
        if stock:
            stock.insert(0, stock.pop())

    def compare(self, state: State) -> None:
        for team, side in enumerate(state.sides):
            found = [self.piles[f"{team}{pile}"] for pile in ("n", "s", "w", "t0", "t1", "t2", "t3", "t4")]
            assert found == [list(pile) for pile in (side.nuts, side.stock, side.waste, *side.columns)]
        assert tuple(len(self.piles.get(f"f{place}", [])) for place in range(8)) == state.heights


@bounded
@given(name=st.sampled_from(["nuts", "nuts-2"]), number=st.integers(0, 10**6), after=st.integers(0, 200))
def test_seats_may_leave_at_any_time(name: str, number: int, after: int) -> None:
    engine, seed = game(name), sha256(str(number).encode()).digest()
    random = Random(number)
    leaving = random.sample(range(engine.seats), random.randint(1, engine.seats))
    for count, moment in enumerate(play_moments(engine, seed, choose_uniformly(seed))):
        if count >= after and not isinstance(moment.step, Result | Shuffle):
            break
    state, _ = engine.withdraw(moment.state, leaving) if isinstance(moment.step, Ask) else (moment.state, ())

    result = engine.next(state)
    assert isinstance(result, Result)
    if result.reason == "forfeit":
        left = {engine.teams[seat] for seat in leaving}
        assert list(result.places) == [1 + (team in left and len(left) < 2) for team in engine.teams]


def test_the_engine_is_a_game() -> None:
    rules: Rules[State] = game()

    assert rules.next(rules.start()) == Shuffle(52)


@pytest.mark.parametrize("name", list_rulesets("nuts"))
def test_a_record_replays_to_the_same_digest(name: str) -> None:
    seed = sha256(b"record").digest()
    actions: list[tuple[int, str]] = []
    for moment in play_moments(game(name), seed, choose_lively(seed)):
        actions += sorted(moment.actions.items())
    assert isinstance(moment.step, Result)

    check_record(make_record(name, seed, actions, moment.step))
