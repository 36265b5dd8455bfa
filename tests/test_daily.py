"""The deal of a day: the same for everybody, kept where the player leaves it, with best values."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from click.testing import Result

from malice.referee.rulesets import load_ruleset
from malice.tournaments.terminal.daily import find_seed
from tests.command_line import malice
from tests.samples import sample

DAY = "2026-01-01"
TABLE = "\n-- you --"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data" / "malice" / "daily"


def daily(*words: str, typed: str = "", code: int = 0) -> Result:
    result = malice("play", "you", "--daily", "--day", DAY, *words, input=typed)
    assert result.exit_code == code, result.output
    return result


def test_a_day_has_one_deal_for_everybody() -> None:
    ruleset = load_ruleset("klondike-1")

    assert find_seed(ruleset, date(2026, 1, 1)).hex()[:16] == "590b284e6a766aee"
    assert find_seed(load_ruleset("klondike-3"), date(2026, 1, 1)) != find_seed(ruleset, date(2026, 1, 1))


@pytest.mark.parametrize("leave", sample(["q\n", ""], 2))
def test_a_game_that_the_player_leaves_goes_on_where_it_was(leave: str) -> None:
    left = daily(typed="turn\n" + leave).output.rpartition(TABLE)[2]

    again = daily(typed="q\n").output.rpartition(TABLE)[2]

    assert "1 move," in again
    assert again.splitlines()[:9] == left.splitlines()[:9]


def test_what_is_no_choice_is_told_how_to_leave() -> None:
    assert "q to keep this game and leave; got: 'xyz'" in daily(typed="xyz\nq\n").output


def test_the_end_tells_best_values_and_the_deal_is_played_once(home: Path) -> None:
    daily(typed="turn\nturn\ndone\ndone\n")

    again = daily().output

    assert "already" in again
    assert "deals solved: 0 of 1 daily deal" in again
    bests = json.loads((home / "bests.json").read_text())
    assert bests == {"klondike-1": {"played": 1, "shares": {"solved": 0}, "values": {"cards": 0}}}


@pytest.mark.whole
@pytest.mark.parametrize("second", ["turn\n", ""])
def test_the_end_is_asked_for_twice(second: str) -> None:
    assert "The game is over" not in daily(typed="done\n" + second).output
    assert f"{int(bool(second))} move" in daily(typed="q\n").output


def test_best_values_are_kept_from_deal_to_deal(home: Path) -> None:
    home.mkdir(parents=True)
    before = {"played": 3, "shares": {"solved": 2}, "values": {"cards": 52, "moves": 90, "time_ms": 1000}}
    (home / "bests.json").write_text(json.dumps({"klondike-3": before}))

    daily("--ruleset", "klondike-3", typed="done\ndone\n")

    assert json.loads((home / "bests.json").read_text())["klondike-3"] == before | {"played": 4}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["play", "you", "dabbler", "--daily"], "--daily is for a person alone"),
        (["play", "dabbler", "--daily"], "--daily is for a person alone"),
        (
            ["play", "you", "--daily", "--deals", "2"],
            "--db, --as and --web, got --deals",
        ),
        (["play", "you", "dabbler", "--ruleset", "klondike-1", "--day", DAY], "--day needs --daily"),
        (["play", "you", "--daily", "--ruleset", "standard"], "standard: there is no daily deal of this game"),
    ],
)
def test_the_daily_deal_is_for_one_person_and_for_games_that_have_one(words: list[str], sentence: str) -> None:
    result = malice(*words)

    assert result.exit_code == 2
    assert sentence in result.output


@pytest.mark.parametrize(
    "content", sample([b'{"ruleset":"klondike-1","day":"2026-01-01","actions":["w-t0"]}', b"{}"], 2)
)
def test_a_damaged_game_is_refused_and_its_file_named(home: Path, content: bytes) -> None:
    daily(typed="turn\nq\n")
    (path,) = home.glob("*.json")
    path.write_bytes(content)

    assert str(path) in daily(code=2).output.replace("\n", "")
