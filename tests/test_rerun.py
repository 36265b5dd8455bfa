"""A stored game rerun with a bot: the same requests, and where it plays differently."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.command_line import malice
from tests.samples import sample

pytestmark = pytest.mark.slow

BOTS = Path(__file__).parent / "bots"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    db = tmp_path_factory.mktemp("rerun") / "t.db"
    result = malice("play", "greedy", "uniform", "first", "--ruleset", "multi-3", "--seed", "again", "--db", db)
    assert result.exit_code == 0, result.output
    return db


def rerun(db: Path, *words: str) -> dict[str, object]:
    result = malice("rerun", db, "0.0.0", *words, "--json")
    assert result.exit_code == 0, result.output
    told: dict[str, object] = json.loads(result.stdout)
    return told


@pytest.mark.parametrize("bot", sample(["greedy", "uniform", "first"], 3))
def test_a_bot_that_draws_all_chance_from_rng_agrees_with_itself(db: Path, bot: str) -> None:
    told = rerun(db, bot)

    assert (told["label"], told["bot"], told["verdict"], told["choices"]) == (bot, bot, None, [])
    assert told["agreed"] == told["moves"] != 0


def test_another_bot_is_shown_with_every_move_that_differs(db: Path) -> None:
    greedy = rerun(db, "greedy")
    seat = str(greedy["seat"])
    other = rerun(db, "first", "--seat", seat)
    everything = rerun(db, "first", "--seat", seat, "--all")

    assert (other["label"], other["bot"], other["moves"]) == ("greedy", "first", greedy["moves"])
    assert isinstance(other["choices"], list)
    assert isinstance(everything["choices"], list)
    assert len(everything["choices"]) == other["moves"]
    assert [choice for choice in everything["choices"] if not choice["agrees"]] == other["choices"] != []
    assert all(choice["played"] != choice["plays"] for choice in other["choices"])


def test_the_table_ends_with_how_often_they_agree(db: Path) -> None:
    seat = str(rerun(db, "greedy")["seat"])
    told = rerun(db, "first", "--seat", seat)
    lines = malice("rerun", db, "0.0.0", "first", "--seat", seat).stdout.splitlines()

    assert lines[1].split() == ["action", "turn", "played", "would", "play", "note"]
    assert lines[-1] == f"agrees in {told['agreed']} of {told['moves']} moves"
    assert isinstance(told["choices"], list)
    assert len(lines) == 3 + len(told["choices"])


def test_a_bot_that_is_nobody_of_the_game_sits_in_seat_0(db: Path) -> None:
    told = rerun(db, "planner")

    assert (told["seat"], told["bot"]) == (0, "planner")


def test_a_verdict_is_shown_and_ends_it(db: Path, tmp_path: Path) -> None:
    bot = f"{sys.executable} -I {BOTS / 'scribe.py'} {tmp_path / '0.log'} fails 3"
    words = ("rerun", str(db), "0.0.0", bot, "--isolation", "none")

    result, told = malice(*words), json.loads(malice(*words, "--json").stdout)

    assert (told["verdict"], told["moves"], told["stderr"]) == ("illegal", 2, "it went wrong\n")
    assert result.exit_code == 0
    assert "scribe: illegal after 2 moves: expected one of " in result.stdout
    assert "  | it went wrong" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nobody"], "no bot 'nobody'"),
        (["false"], "false: crash: the bot exited with status 1"),
        (["first", "--seat", "3"], "--seat: expected 0 to 2, got 3"),
    ],
)
def test_what_cannot_be_run_is_one_clear_line_and_exit_2(db: Path, words: list[str], said: str) -> None:
    result = malice("rerun", db, "0.0.0", *words)

    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""
