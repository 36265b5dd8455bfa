"""`malice.Game` steps a game as the referee does."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from random import Random

import pytest

import malice
from malice.referee.course import Course, Dealer, list_asked
from malice.referee.errors import DataError, IllegalAction, RulesetError
from malice.referee.families import load_family, make_rules
from malice.referee.rules import Result
from malice.referee.rulesets import load_ruleset

GAMES = 3
"""Random games of each ruleset below."""
MOST_ACTIONS = 400
RULESETS = ("standard", "skipbo", "klondike-3", "double-solitaire", "nuts")


def _keep_playing(game: malice.Game, seat: int) -> tuple[str, ...]:
    """List the legal actions after which the seat plays on; all of them if there is none."""
    final = load_family(game.ruleset.family).final
    return tuple(action for action in game.legal(seat) if action not in final) or game.legal(seat)


@pytest.mark.parametrize("name", RULESETS)
def test_a_game_copied_at_random_points_goes_as_the_referee_plays_it(name: str) -> None:
    ruleset = load_ruleset(name)
    seats = ruleset.match.players[0]
    for seed in range(GAMES):
        rng = Random(seed)
        game = malice.Game(name, seats, seed)
        rules = make_rules(ruleset.family, ruleset.rules, seats)
        course = Course(rules, Dealer(sha256(f"game\0{seed}".encode()).digest()))
        while not game.over and game.actions < MOST_ACTIONS:
            assert game.to_act == list_asked(course.step)
            actions = {seat: rng.choice(_keep_playing(game, seat)) for seat in game.to_act}
            if rng.random() < 0.1:
                left, game = game, game.copy()
                left.reseed(seed + 1)
                left.play(actions)
            assert game.play(actions) == course.play(actions)
            for seat in range(seats):
                assert game.view(seat) == rules.view(course.state, seat)
        assert game.result == (course.step if isinstance(course.step, Result) else None)
        again = malice.Game.from_position(game.position())
        assert [again.events(seat) for seat in range(seats)] == [game.events(seat) for seat in range(seats)]


def test_a_position_holds_withdrawals_and_new_seeds() -> None:
    game = malice.Game("multi-3", seats=3, seed=7)
    game.play(game.legal()[0])
    game.reseed(8)
    game.withdraw(game.to_act[0])
    again = malice.Game.from_position(game.position())
    while not game.over and game.actions < MOST_ACTIONS:
        assert again.play(game.legal()[-1]) == game.play(game.legal()[-1])
    assert again.result == game.result


def test_an_error_says_what_was_expected() -> None:
    game = malice.Game("standard")
    with pytest.raises(IllegalAction):
        game.play("nonsense")
    with pytest.raises(ValueError, match="expected a seat from 0 to 1, got 2"):
        game.view(2)
    with pytest.raises(RulesetError, match="standard: expected 2 to 2 seats, got 99"):
        malice.Game("standard", seats=99)
    with pytest.raises(DataError, match="expected format 1, got 2"):
        malice.Game.from_position(game.position().replace(b'"format":1', b'"format":2'))
    with pytest.raises(AttributeError):
        _ = malice.Nothing


def test_the_package_is_imported_without_what_only_tournaments_need() -> None:
    heavy = "{'numpy', 'click', 'trio', 'sqlite3', 'msgspec'} & set(sys.modules)"
    code = f"import sys, malice; assert not {heavy}; malice.Game; assert not {heavy} - {{'msgspec'}}, {heavy}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
