"""Folders that want to stop a whole run: each is absent and named, and the others play."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from malice.referee.errors import BotError, DataError, MachineFault
from malice.referee.toml_files import MOST_LEVELS, read_toml
from malice.tournaments.entries import bot_files, lookup
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.lookup import find_and_build_bots
from malice.tournaments.league.config import Config
from malice.tournaments.running import opening
from malice.tournaments.running.opening import keep_bots
from malice.tournaments.running.plan import Plan
from tests.kept.folders import PROGRAM, write_bot
from tests.runs import Run

RUN = ["{python}", "-I", "bot.py"]


def say(run: list[str] | None = None, more: str = "") -> Callable[[Path], None]:
    """Return what writes a bot.toml."""

    def write(folder: Path) -> None:
        (folder / "bot.toml").write_text(f'name = "evil"\nrun = {json.dumps(run or RUN)}\n{more}\n')

    return write


def write_own_ruleset(folder: Path) -> None:
    say(more='rulesets = ["./mine.toml"]')(folder)
    (folder / "mine.toml").write_text('family = "nope"')


def write_circle(folder: Path) -> None:
    say(["./run"], 'ignore = ["run"]')(folder)
    (folder / "run").symlink_to("run")


def write_stamp(folder: Path) -> None:
    say(more='build = ["true"]')(folder)
    os.mkfifo(folder / ".malice-build")


def write_deep_folders(folder: Path) -> None:
    say()(folder)
    inner = os.open(folder, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=inner)
        outer, inner = inner, os.open("d" * 200, os.O_RDONLY, dir_fd=inner)
        os.close(outer)
    os.close(inner)


ATTACKS: dict[str, tuple[Callable[[Path], None], str]] = {
    "parameters": (
        say(more="[parameters]\n" + "\n".join(f"p{number} = 1" for number in range(3000))),
        "parameters: expected at most 256, got 3,000",
    ),
    "words": (say([*RUN, *["x"] * 9000]), "run: expected at most 256, got 9,003"),
    "size": (say([*RUN, "x" * 70_000]), "expected at most 65536 bytes of TOML, got more"),
    "environ": (say([*RUN, "/proc/1/environ"]), "got '/proc/1/environ'"),
    "memory": (say([*RUN, "/proc/self/mem"]), "got '/proc/self/mem'"),
    "keys": (say(more="a." * 5000 + "a = 1"), "expected keys of at most 32 parts, got more"),
    "arrays": (say(more=f"needs = {'[' * 5000}{']' * 5000}"), "not TOML: maximum recursion depth exceeded"),
    "integer": (say(more=f"build_s = 0x{'f' * 20_000}"), "build_s: expected an integer of 64 bits, got one of 80,000"),
    "name": (say(more=f'author = "{"n" * 201}"'), "author: expected at most 200 characters, got 201"),
    "pattern": (say(more=f'ignore = ["{"[" * 20_000}"]'), "ignore: expected at most 200 characters, got 20,000"),
    "game": (say(more='games = ["nope"]'), "games: no game 'nope'"),
    "ruleset": (write_own_ruleset, "unknown game 'nope'"),
    "circle": (write_circle, "the bot cannot be started: "),
    "stamp": (write_stamp, "cannot be built in"),
    "depth": (write_deep_folders, "File name too long"),
}


@pytest.mark.slow
def test_every_hostile_folder_is_absent_and_named_and_the_others_play(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for name, (write, _) in ATTACKS.items():
        folder = tmp_path / "submissions" / name
        folder.mkdir(parents=True)
        (folder / "bot.py").write_text(PROGRAM.replace("VERSION", "'1'"))
        write(folder)
    run.write('entries = [{bot = "submissions/*", label = "{folder}"}, "uniform", "greedy"]\ndeals = 1\nseed = "x"\n')

    refused = run.finish()
    code, _, err = run.finish("--keep-going")

    assert (refused[0], code) == (2, 0), err
    assert "Traceback" not in refused[2] + err
    assert len(run.digests()) == 2
    lines = err.splitlines()
    for name, (_, says) in ATTACKS.items():
        assert [line for line in lines if line.startswith(f"  {name}: ") and says in line], err


def test_a_fault_of_ours_while_a_bot_is_read_built_kept_or_started_is_that_bots_absence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_bot(tmp_path / "mine")

    def fail(*_: object, **__: object) -> Bot:
        raise RecursionError("too deep")

    def lack(*_: object, **__: object) -> None:
        raise MachineFault("no room")

    (unread,) = find_and_build_bots(["mine"], tmp_path, fail)
    (found,) = find_and_build_bots([str(folder)], tmp_path, find_bot)
    plan = Plan.prepare(Config(entries=("mine", "uniform")), tmp_path)
    monkeypatch.setattr(lookup, "build", fail)
    monkeypatch.setattr(KeptBots, "keep", fail)
    monkeypatch.setattr(opening, "greet_bot", lack)
    (unbuilt,) = find_and_build_bots([str(folder)], tmp_path, lambda *_: found.bot)
    _, unkept = keep_bots({"mine": found.bot}, KeptBots(tmp_path / "x.db"))

    told = [unread.absence, unbuilt.absence, unkept["mine"], opening.greet_entries(plan)["mine"]]
    assert [(each.code, each.sentence) for each in told if each] == [
        ("bot", "RecursionError: too deep"),
        ("build", "RecursionError: too deep"),
        ("bot", "RecursionError: too deep"),
        ("start", "no room"),
    ]


def test_a_folder_of_too_many_files_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_files, "MOST_FILES", 3)
    folder = write_bot(tmp_path / "mine")
    assert len(list(bot_files.list_files(folder))) == 2
    for name in ("a", "b"):
        (folder / name).mkdir()

    with pytest.raises(BotError, match="mine: expected at most 3 files in a bot's folder, got more"):
        list(bot_files.list_files(folder))


@pytest.mark.parametrize("key", ["a.", "a . ", '"a b".', "'a'\t."])
def test_a_key_of_very_many_parts_is_refused_before_it_costs_time(tmp_path: Path, key: str) -> None:
    path = tmp_path / "x.toml"
    text = "A sentence. Its end... " * 900
    path.write_text(f"{key * (MOST_LEVELS - 1)}a = 1\ntext = '{text}'\n# {'.' * 9000}\n{'a' * 90_000} = 1")
    assert read_toml(path)
    for start in ("", "[", "x = {"):
        path.write_text(f"{start}{key * MOST_LEVELS}a = 1")
        with pytest.raises(DataError, match="expected keys of at most 32 parts, got more"):
            read_toml(path)
