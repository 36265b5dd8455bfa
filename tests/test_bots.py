"""Which words name a bot, and what makes it the same bot."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from referee.errors import BotError, DataError
from tournaments.bots import find_bot, labels, shipped

MANIFEST = 'name = "mine"\nversion = "2"\nrun = ["{python}", "bot.py"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "bot.toml").write_text(MANIFEST)
    (mine / "bot.py").write_text("print()\n")
    return mine


def test_a_folder_with_a_manifest_is_a_bot(folder: Path) -> None:
    bot = find_bot("mine", folder.parent)

    assert (bot.manifest.name, bot.manifest.version) == ("mine", "2")
    assert bot.command == (sys.executable, "bot.py")
    assert bot.folder == folder


def test_every_shipped_bot_is_found_by_name_and_by_language() -> None:
    assert {"first", "uniform", "greedy", "planner"} <= set(shipped())
    assert find_bot("greedy").hash == find_bot("python/greedy").hash


def test_a_folder_wins_over_a_shipped_bot_of_the_same_name(folder: Path) -> None:
    folder.rename(folder.with_name("greedy"))

    assert find_bot("greedy", folder.parent).manifest.name == "mine"


def test_a_command_line_is_a_bot_named_by_its_program(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text("")

    bot = find_bot(f"{sys.executable} -u my_bot.py", tmp_path)

    assert bot.manifest.name == "my_bot"
    assert bot.command == (sys.executable, "-u", "my_bot.py")


def test_an_unknown_bot_is_an_error_that_lists_those_that_ship() -> None:
    with pytest.raises(BotError, match=r"no bot 'gredy' \(did you mean 'greedy'\?\).*planner"):
        find_bot("gredy")


def test_a_folder_without_a_manifest_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(BotError, match=r"empty: the folder has no bot\.toml"):
        find_bot("empty", tmp_path)


def test_an_unknown_field_of_the_manifest_is_an_error_that_lists_the_fields(folder: Path) -> None:
    (folder / "bot.toml").write_text(MANIFEST + 'auhtor = "me"\n')

    with pytest.raises(DataError, match=r"unknown field 'auhtor' \(did you mean 'author'\?\); fields here: name, run"):
        find_bot("mine", folder.parent)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "bot.py").write_text("print(1)\n"),
        lambda folder: (folder / "more.txt").write_text(""),
        lambda folder: (folder / "bot.py").rename(folder / "other.py"),
        lambda folder: (folder / "bot.py").chmod(0o755),
        lambda folder: (folder / "bot.toml").write_text(MANIFEST + 'author = "me"\n'),
    ],
    ids=["content", "new file", "name", "exec bit", "manifest"],
)
def test_any_change_of_its_files_makes_it_another_bot(folder: Path, change: object) -> None:
    before = find_bot("mine", folder.parent).hash

    assert callable(change)
    change(folder)

    assert find_bot("mine", folder.parent).hash != before


def test_dot_files_caches_and_ignored_files_do_not_count(folder: Path) -> None:
    (folder / "bot.toml").write_text(MANIFEST + 'ignore = ["build", "*.log"]\n')
    before = find_bot("mine", folder.parent).hash

    for name in (".git/x", "__pycache__/x.pyc", "build/deep/x.o", "run.log"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")

    assert find_bot("mine", folder.parent).hash == before


def test_the_files_of_a_command_line_count(tmp_path: Path) -> None:
    script = tmp_path / "bot.py"
    script.write_text("1")
    before = find_bot(f"{sys.executable} bot.py", tmp_path).hash

    script.write_text("2")

    assert find_bot(f"{sys.executable} bot.py", tmp_path).hash != before


def test_twins_get_numbers() -> None:
    assert labels(["a", "b", "a", "a"]) == ["a", "b", "a#2", "a#3"]
