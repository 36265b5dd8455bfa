"""The searching bot in Rust: it builds without warnings or a network, and plays legally whatever the rules are."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import malice
from malice.tournaments.entries.bots import find_bot, list_shipped_bots
from malice.tournaments.entries.builds import ensure_built
from tests import command_line
from tests.samples import sample

UNTIMED: dict[str, Any] = {"isolation": "none", "timed": False}
pytestmark = [pytest.mark.slow, pytest.mark.kit("rust")]

FOLDER = list_shipped_bots()["prompter"]
ODD = ("loading", "partners-4", "massachusetts", "catsatcards")
"""Rulesets that between them have loads, partners, fills, counts, passes, stacks in order and forced cards."""


@pytest.fixture(scope="module")
def prompter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the bot, built by its own command, with warnings as errors and little time spent on speed."""
    home = tmp_path_factory.mktemp("bots") / "prompter"
    shutil.copytree(FOLDER, home, ignore=shutil.ignore_patterns("target", ".*"))
    told = (home / "bot.toml").read_text("utf-8")
    quickly = ["env", "RUSTFLAGS=-Dwarnings", "CARGO_PROFILE_RELEASE_OPT_LEVEL=1", "CARGO_PROFILE_RELEASE_LTO=off"]
    words = "".join(f'"{word}", ' for word in quickly)
    (home / "bot.toml").write_text(told.replace("build = [", f"build = [{words}"), "utf-8")
    ensure_built(find_bot(str(home)))
    return home


def test_the_searching_bot_needs_nothing_but_rust() -> None:
    package = tomllib.loads((FOLDER / "Cargo.toml").read_text("utf-8"))

    assert "dependencies" not in package
    assert "unsafe" not in "".join(path.read_text("utf-8") for path in FOLDER.glob("src/*.rs") if path.stem != "clock")


@pytest.mark.whole
def test_the_searching_bot_passes_its_own_tests(prompter: Path) -> None:
    done = subprocess.run(["cargo", "test", "--offline", "-q"], cwd=prompter, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "running 0 tests" not in done.stdout


@pytest.mark.parametrize("ruleset", sample(ODD, 4))
def test_the_searching_bot_plays_by_rules_of_every_kind(prompter: Path, ruleset: str) -> None:
    players = [f"{prompter}?rollouts=6", "greedy"] * (2 if ruleset == "partners-4" else 1)

    found = malice.match(*players, ruleset=ruleset, deals=1, seed=5, **UNTIMED)

    assert not [game.verdicts for game in found.games if game.verdicts]


@pytest.mark.whole
def test_the_searching_bot_plays_the_same_game_again_with_a_number_of_rollouts(prompter: Path) -> None:
    again = [malice.match(f"{prompter}?rollouts=24", "first", deals=1, seed=3, **UNTIMED).games for _ in range(2)]

    played = [[(each.seat, each.action) for game in games for each in game.actions] for games in again]
    assert played[0] == played[1]


def test_the_searching_bot_keeps_a_clock_that_leaves_it_hardly_any_time(prompter: Path, tmp_path: Path) -> None:
    clock = '[clock]\nkind = "cpu"\nmove_ms = 20\ncap_ms = 60_000\n'  # whatever else the machine does meanwhile
    entries = f"entries = ['{prompter}?think_ms=60000.0', 'first']"
    (tmp_path / "t.toml").write_text(f'{entries}\ndeals = 1\nseed = "4"\nisolation = "none"\n{clock}')
    command_line.malice("run", tmp_path / "t.toml", "--db", tmp_path / "t.db", code=0)

    with malice.League(tmp_path / "t.db") as league:
        assert [game.verdicts for game in league.games()] == [(), ()]


def test_the_searching_bot_beats_greedy(prompter: Path) -> None:
    found = malice.match(f"{prompter}?rollouts=40", "greedy", deals=3, seed=9, **UNTIMED)

    assert "prompter" in found.ranking[0].label
