"""Worlds: games as they may have gone for all that a seat knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

import malice
from malice.protocol.messages import ClockRules, GameStart, SeatName
from malice.referee.errors import DataError
from malice.referee.families import load_family
from malice.referee.rulesets import list_rulesets, load_ruleset, read_ruleset
from tests.games.random_games import MOST_ACTIONS, keep_playing
from tests.games.samples import is_uneven

WORLDS = 400
RULESETS = ("standard", "catsatcards", "partners-4", "skipbo", "klondike-3", "double-solitaire-exchange", "nuts")


def _play_some(name: str, seed: int, actions: int) -> malice.Game:
    game, rng = malice.Game(name, seed=seed), Random(seed)
    while not game.over and game.actions < actions:
        game.play({seat: rng.choice(keep_playing(game, seat)) for seat in game.to_act})
    return game


@pytest.mark.parametrize("name", RULESETS)
def test_a_world_is_one_game_from_its_deal_to_an_end(name: str) -> None:
    game, rng = _play_some(name, 5, 30), Random(5)
    seat = game.seats - 1
    before = game.position()
    other = game.copy()
    other.resample(seat, rng)
    assert (other.view(seat), other.events(seat)) == (game.view(seat), game.events(seat))
    assert (other.to_act, other.turn, other.actions) == (game.to_act, game.turn, game.actions)
    if seat in game.to_act:
        assert other.legal(seat) == game.legal(seat)
    assert game.position() == before
    again = malice.Game.from_position(other.position())
    while not other.over and other.actions < MOST_ACTIONS:
        actions = {seat: rng.choice(keep_playing(other, seat)) for seat in other.to_act}
        again.play(actions)
        other.play(actions)
        if rng.random() < 0.02 and not other.over:
            other.resample(rng.randrange(other.seats), rng)
            again = malice.Game.from_position(other.position())
    assert again.result == other.result
    assert [again.events(seat) for seat in range(game.seats)] == [other.events(seat) for seat in range(game.seats)]


@pytest.mark.parametrize("name", RULESETS)
def test_a_bot_builds_a_world_from_its_requests_alone(name: str) -> None:
    game = _play_some(name, 8, 15)
    (seat, *_) = game.to_act
    start = {
        "ruleset": "of a stranger",
        "family": game.ruleset.family,
        "rules": msgspec.to_builtins(game.ruleset.rules),
        "seats": [{"name": "me"}] * game.seats,
    }
    view, events = msgspec.json.decode(msgspec.json.encode((game.view(seat), game.events(seat))))

    world = malice.Game.from_view(start, view, events, Random(1))

    assert (world.view(seat), world.events(seat), world.legal(seat)) == (
        game.view(seat),
        game.events(seat),
        game.legal(seat),
    )
    again = malice.Game.from_position(world.position())
    assert again.view(seat) == world.view(seat)
    with pytest.raises(DataError):
        malice.Game.from_view(start, view, events[1:], Random(1))


def test_the_message_that_a_player_of_this_program_gets_leads_to_a_world_too() -> None:
    game = _play_some("standard", 8, 15)
    (seat,) = game.to_act
    names, rules = (SeatName("a", 0), SeatName("b", 1)), msgspec.to_builtins(game.ruleset.rules)
    start = GameStart(2, 1, "spite", "standard", rules, seat, names, 1, "", ClockRules(None, None, 0))

    world = malice.Game.from_view(start, game.view(seat), game.events(seat), Random(1))

    assert (world.view(seat), world.seats) == (game.view(seat), 2)


@pytest.mark.parametrize(
    ("name", "show"),
    [
        ("klondike-1", lambda state: state.tables[0].layout.downs[6][0]),
        ("double-solitaire", lambda state: state.stocks[0][0]),
        ("nuts", lambda state: state.sides[0].stock[0]),
    ],
)
def test_what_nobody_saw_is_any_of_the_unseen_cards(name: str, show: Callable[[Any], object]) -> None:
    game, rng = _play_some(name, 3, 20), Random(3)
    found: Counter[str] = Counter()
    for _ in range(WORLDS):
        game.resample(0, rng)
        found[str(show(game._course.state))] += 1
    assert len(found) > 10
    assert not is_uneven(found)


def test_a_position_may_be_edited() -> None:
    game = _play_some("standard", 2, 30)
    game.resample(0, Random(2))
    position = msgspec.json.decode(game.position())
    hands = position["beginning"]["state"]["hands"]
    hands[0], hands[1] = hands[1], hands[0]
    edited = malice.Game.from_position(msgspec.json.encode(position))
    assert edited.view(0).hand == game.view(1).hand
    position["beginning"]["events"] = []
    with pytest.raises(DataError, match="expected all that the seat has heard"):
        malice.Game.from_position(msgspec.json.encode(position)).resample(0, Random(1))
    hands[0] = 7
    with pytest.raises(DataError, match=r"beginning\.state: Expected `array`, got `int` - at `\$\.hands\[0\]`"):
        malice.Game.from_position(msgspec.json.encode(position))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"out": [0, 1]}, "a seat that plays"),
        ({"out": [0, 0]}, "each seat that is out once"),
        ({"seat": 7}, "seats from 0 to 1"),
        ({"hands": [["4C"]]}, "hands, payoffs and sides of 2 seats"),
        ({"hands": [["4C", "zz"], []]}, "cards of the pack"),
        ({"heights": [99, 0, 0]}, "heights from 0 to 11"),
        ({"mixing": ["4C"]}, "what its phase takes up"),
        ({"phase": "over"}, "a result if the game is over"),
        ({"turn": -1}, "counts of 0 and more"),
    ],
    ids=str,
)
def test_a_position_from_which_no_game_goes_on_is_refused(change: dict[str, Any], expected: str) -> None:
    game = malice.Game("standard")
    game.resample(0, Random(2))
    position = msgspec.json.decode(game.position())
    position["beginning"]["state"] |= change
    with pytest.raises(DataError, match=rf"^position: beginning\.state: expected {expected}"):
        malice.Game.from_position(msgspec.json.encode(position))


def test_a_position_holds_the_parameters_of_a_ruleset_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('extends = "standard"\n[rules]\nhand_size = 3\n')
    game = malice.Game(read_ruleset(tmp_path / "mine.toml"))
    game.play(game.legal()[0])
    again = malice.Game.from_position(game.position())
    assert again.ruleset.rules.hand_size == 3
    assert again.view(0) == game.view(0)


def test_every_family_that_ships_deals_anew() -> None:
    assert all(load_family(load_ruleset(name).family).resample for name in list_rulesets())
