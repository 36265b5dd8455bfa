"""`malice.Game` steps a game as the referee does."""

from __future__ import annotations

import subprocess
import sys

import pytest

import malice
from malice.protocol.messages import Out
from malice.referee.course import Course
from malice.referee.errors import DataError, IllegalAction, RulesetError
from tests.games.random_games import MOST_ACTIONS, compare_with_referee
from tests.samples import sample

GAMES = 3
"""Random games of each ruleset."""
TABLES = {"standard": 2, "skipbo": 2, "skipbo-short": 6, "klondike-3": 2, "double-solitaire": 2, "nuts": 4}


@pytest.mark.parametrize("name", sample(TABLES, 3))
def test_a_game_copied_at_random_points_goes_as_the_referee_plays_it(name: str) -> None:
    for seed in range(GAMES):
        compare_with_referee(name, TABLES[name], seed)


def test_a_game_of_six_whose_hidden_cards_hardly_fit_is_dealt_anew() -> None:
    compare_with_referee("partners-6", 6, 1275004433)


def test_a_position_holds_withdrawals_and_new_seeds() -> None:
    game = malice.Game("multi-4", seats=4, seed=7)
    game.play(game.legal()[0])
    game.reseed(8)
    game.withdraw(game.to_act[0])
    game.play(game.legal()[0])
    game._withdraw({game.to_act[0]: "timeout"})
    again = malice.Game.from_position(game.position())
    assert [event.code for event in again.events(0) if isinstance(event, Out)] == ["withdrawn", "timeout"]
    while not game.over and game.actions < MOST_ACTIONS:
        again.play(game.legal()[-1])
        game.play(game.legal()[-1])
        assert again._course.events == game._course.events
    assert again.result == game.result


def test_a_game_that_changed_engines_goes_on_like_its_copy() -> None:
    game = malice.Game("multi-4", seats=4, seed=3)
    for _ in range(40):
        game.play(game.legal()[0])
    other = malice.Game.from_position(game.position())
    other.withdraw(2)
    game.withdraw(2)
    assert isinstance(game._course, Course)
    for _ in range(40):
        assert game.legal() == other.legal()
        game.play(game.legal()[-1])
        other.play(other.legal()[-1])
    assert game._course.events == other._course.events
    assert game.encode().tobytes() == other.encode().tobytes()


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
