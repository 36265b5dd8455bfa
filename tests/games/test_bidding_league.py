"""A tournament of a game that asks several seats at once: its clocks, and every command that shows its games."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from malice.tournaments.league.config import read_config
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.games.conftest import BIDDER

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("bidding")]


def write_tournament(folder: Path, text: str = "", *, seats: int = 2, how: str = "") -> Path:
    """Write a tournament of bidders into the working folder; return its file."""
    shutil.copy(BIDDER, folder / "bidder.py")
    command = f"{sys.executable} -I bidder.py"
    entries = [f'{{ bot = "{command} {how if seat == 1 else ""}", label = "b{seat}" }}' for seat in range(seats)]
    path = folder / "bids.toml"
    path.write_text(
        f'name = "bids"\nentries = [{", ".join(entries)}]\nrulesets = ["bidding"]\nseats = {seats}\ndeals = 2\n'
        f'seed = "bids"\nsuspend_after = 0\n{text}'
    )
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.mark.parametrize(
    ("text", "kind"),
    [("", "cpu"), ("[clock]\nmove_ms = 500\n", "cpu"), ('[clock]\nkind = "wall"\n', "wall")],
)
def test_cpu_time_counts_unless_the_file_says_otherwise(folder: Path, text: str, kind: str) -> None:
    assert read_config(write_tournament(folder, text)).clock.kind == kind


def test_a_game_that_asks_one_seat_at_a_time_has_clocks_of_wall_time(folder: Path) -> None:
    (folder / "plain.toml").write_text('entries = ["greedy", "uniform"]\n')

    assert read_config(folder / "plain.toml").clock.kind == "wall"


@pytest.mark.parametrize("text", ["", "cpus_per_game = 1000\n"])
def test_wall_clocks_without_a_processor_for_each_seat_are_refused(folder: Path, text: str) -> None:
    path = write_tournament(folder, text + '[clock]\nkind = "wall"\n')

    result = malice("run", str(path), *(["--jobs", "1000"] if text else []), code=2)

    assert "cpus_per_game = 2" in result.output
    assert not (folder / "bids.db").exists()


def test_wall_clocks_with_a_processor_for_each_seat_are_accepted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    path = write_tournament(folder, 'cpus_per_game = 2\njobs = 1\nisolation = "none"\n[clock]\nkind = "wall"\n')

    malice("run", str(path), code=0)

    malice("run", str(path), "--jobs", "3", code=2)


@pytest.mark.whole
def test_every_command_shows_its_games(folder: Path) -> None:
    path = write_tournament(folder, seats=3, how="fails=3:illegal")
    malice("run", str(path), code=0)
    with Store(folder / "bids.db") as store:
        records = list(store.records())
    assert len(records) == 6
    assert all(record.clock.kind == "cpu" for record in records)
    assert [fault.code for record in records for fault in record.faults][:1] == ["illegal"]

    assert "all of them replay" in malice("verify", "bids.db", code=0).output
    malice("standings", "bids.db", code=0)
    for record in records[:2]:
        shown = malice("replay", "bids.db", str(record.key), code=0).output
        assert "bids" in shown
        assert shown.count(" ms") == len(record.actions)
        assert f"{record.key}" in malice("log", "bids.db", str(record.key), code=0).output
        for other in range(3):
            words = (f"{sys.executable} -I bidder.py", "--seat", str(other), "--all", "--json")
            rerun = json.loads(malice("rerun", "bids.db", str(record.key), *words, code=0).output)
            asked = [action for number, action in record.actions if number == other]
            assert [choice["played"] for choice in rerun["choices"]] == asked
            assert rerun["agreed"] == len([action for action in asked if action != "!illegal"])


def test_games_are_watched_ask_by_ask(folder: Path) -> None:
    write_tournament(folder)
    bot = f"{sys.executable} -I bidder.py"

    shown = malice(
        "play",
        bot,
        f"{bot} fails=2:illegal",
        "--ruleset",
        "bidding",
        "--watch",
        "--isolation",
        "none",
        "--seed",
        "1",
        code=0,
    ).output

    assert "round 2" in shown
    assert "is out: illegal" in shown
