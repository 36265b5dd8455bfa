"""What a dry run says, and that it stores nothing."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from malice.tournaments.entries.bots import list_shipped_bots
from malice.tournaments.league.config import ClockLines, Config
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.trial import estimate_tournament
from malice.tournaments.terminal.tables import format_bytes
from tests.kept.folders import commit, start_repository
from tests.runs import Run
from tests.tables import BOTS

pytestmark = pytest.mark.slow


def bot(name: str) -> str:
    return f"{sys.executable} {BOTS / name}.py"


def test_a_dry_run_stores_nothing(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write('entries = ["uniform", "first"]\nseed = "dry"\ndeals = 2')

    code, out, err = run.finish("--dry-run")

    assert code == 0, err
    assert "4 games in 4 batches" in out
    assert "by the clocks, likely " in out
    assert {path.name for path in tmp_path.iterdir()} == {"short.toml", "t.toml"}
    assert run.mark.await_end() == []


@pytest.mark.whole
def test_a_dry_run_of_a_played_tournament_leaves_its_league_alone(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write('entries = ["uniform", "first"]\nseed = "dry"\ndeals = 1')
    assert run.finish()[0] == 0
    before = run.db.read_bytes()

    code, out, _ = run.finish("--dry-run")

    assert code == 0
    assert "2 games are already played" in out
    assert run.db.read_bytes() == before


def test_the_estimate_is_that_of_the_games_that_follow(tmp_path: Path) -> None:
    plan = Plan.prepare(Config(entries=("first", "uniform"), deals=4, seed="x"), tmp_path)
    more = Plan.prepare(Config(entries=("first", "uniform"), deals=400, seed="x"), tmp_path)

    few, many = estimate_tournament(plan, 1), estimate_tournament(more, 1)

    assert few.likely_ms
    assert many.likely_ms
    assert few.likely_ms < many.likely_ms
    assert few.game_bytes is not None
    assert 500 < few.game_bytes < 20_000


@pytest.mark.parametrize(
    ("clock", "least", "most"), [(ClockLines(None, 60_000), 30_000, 360_000), (ClockLines(200, 60_000), 100, 20_000)]
)
def test_a_bot_that_is_cut_off_costs_its_whole_time_and_one_that_loses_in_time_does_not(
    clock: ClockLines, least: int, most: int, tmp_path: Path
) -> None:
    plan = Plan.prepare(Config(entries=("first", bot("stubborn")), deals=1, clock=clock, seed="x"), tmp_path)

    estimate = estimate_tournament(plan, 2)

    assert estimate.likely_ms is not None
    assert least < estimate.likely_ms < most


def test_nothing_is_known_if_no_bot_finishes_a_game(tmp_path: Path) -> None:
    plan = Plan.prepare(Config(entries=(bot("nan"), bot("nan")), deals=1, seed="x"), tmp_path)

    assert estimate_tournament(plan, 2).likely_ms is None


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 B"), (999, "999 B"), (2400, "2.4 kB"), (58_000_000, "58 MB"), (7e12, "7000 GB")]
)
def test_bytes_are_written_as_people_write_them(count: float, said: str) -> None:
    assert format_bytes(count) == said


def test_a_dry_run_takes_what_a_run_takes(tmp_path: Path) -> None:
    run = Run(tmp_path)
    shutil.copytree(list_shipped_bots()["first"], tmp_path / "mine")
    start_repository(tmp_path / "mine")
    commit(tmp_path / "mine")
    run.write('entries = ["planner?danger=0", "mine@HEAD", "uniform", "false"]\nseed = "dry"\ndeals = 1\n')
    before = sorted(path.name for path in run.folder.iterdir())

    code, out, err = run.finish("--dry-run", "--keep-going")

    assert code == 0, err
    assert "1 of 4 entries is broken; the others play without it" in err
    assert "4 entries" in out
    assert sorted(path.name for path in run.folder.iterdir()) == before
