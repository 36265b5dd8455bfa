"""Which words name a bot, and what makes it the same bot."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from malice.protocol.errors import MaliceError
from malice.referee.errors import BotError, DataError
from malice.tournaments.entries.bots import find_bot, list_shipped_bots
from malice.tournaments.league.config import assign_labels

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
    assert {"first", "uniform", "greedy", "planner"} <= set(list_shipped_bots())
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


@pytest.mark.parametrize(
    ("file", "mode", "words", "meant"),
    [
        ("mybot.py", 0o644, "mybot.py", "python3 mybot.py"),
        ("mybot.py", 0o644, "mybot.py --fast", "python3 mybot.py --fast"),
        ("src/mybot.js", 0o644, "src/mybot.js", "node src/mybot.js"),
        ("my bot.jar", 0o644, "my bot.jar", "java -jar 'my bot.jar'"),
        ("mybot.py", 0o755, "mybot.py", "./mybot.py"),
        ("mybot", 0o755, "mybot", "./mybot"),
    ],
)
def test_a_file_that_is_no_command_is_an_error_that_says_how_to_start_it(
    tmp_path: Path, file: str, mode: int, words: str, meant: str
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch(mode)

    with pytest.raises(BotError, match=f'did you mean "{re.escape(meant)}"\\?$'):
        find_bot(words, tmp_path)


def test_a_file_of_an_unknown_kind_has_to_be_executable(tmp_path: Path) -> None:
    (tmp_path / "mybot").touch(0o644)

    with pytest.raises(BotError, match=r"the file \./mybot is not executable"):
        find_bot("./mybot", tmp_path)
    (tmp_path / "mybot").chmod(0o755)
    assert find_bot("./mybot", tmp_path).command == ("./mybot",)


def test_a_word_longer_than_a_file_name_may_be_is_no_file(tmp_path: Path) -> None:
    assert find_bot(f"sh -c 'true {'x' * 5000}'", tmp_path).manifest.name == "sh"


def test_a_folder_without_a_manifest_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(BotError, match=r"empty: the folder has no bot\.toml"):
        find_bot("empty", tmp_path)


def test_an_unknown_field_of_the_manifest_is_an_error_that_lists_the_fields(folder: Path) -> None:
    (folder / "bot.toml").write_text(MANIFEST + 'auhtor = "me"\n')

    with pytest.raises(DataError, match=r"unknown field 'auhtor' \(did you mean 'author'\?\); fields here: name, run"):
        find_bot("mine", folder.parent)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            'run = "a"\nauhtor = "me"\nbuild_s = "x"\n',
            r"mine/bot\.toml: object missing required field `name`; also run: expected a list, .*; also"
            r" unknown field 'auhtor' .*; also build_s: expected `int`, got `str`$",
        ),
        (
            f'{MANIFEST}build_s = 0\nneeds = ["a/b"]\nrulesets = ["standrad"]\n',
            r"bot\.toml: build_s: expected 1 to .*; also needs: .*; also rulesets: no ruleset 'standrad' [^/]*$",
        ),
        (MANIFEST + "".join(f"x{number} = 1\n" for number in range(99)), r"'x8'.*'x9'[^']*$"),
    ],
)
def test_several_faults_of_a_manifest_are_told_at_once(folder: Path, text: str, says: str) -> None:
    (folder / "bot.toml").write_text(text)

    with pytest.raises(DataError, match=says):
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


def test_the_files_of_a_command_line_count(tmp_path: Path) -> None:
    script = tmp_path / "bot.py"
    script.write_text("1")
    before = find_bot(f"{sys.executable} bot.py", tmp_path).hash

    script.write_text("2")

    assert find_bot(f"{sys.executable} bot.py", tmp_path).hash != before


@pytest.mark.parametrize(
    "field", ['run = ["a\\u0000"]', 'run = ["a"]\nbuild = ["\\u0000"]', 'run = ["a"]\nauthor = "\\u0000"']
)
def test_a_nul_in_a_manifest_is_an_error_that_names_the_field(folder: Path, field: str) -> None:
    (folder / "bot.toml").write_text(f'name = "mine"\n{field}\n')

    with pytest.raises(DataError, match=r"bot\.toml: (run\[0\]|build\[0\]|author): expected text without NUL"):
        find_bot("mine", folder.parent)


@pytest.mark.parametrize("words", ["sh \0", "sh \udcff", "\udcff/mine"])
def test_words_that_no_other_process_could_be_told_are_an_error(folder: Path, words: str) -> None:
    with pytest.raises(BotError, match="expected"):
        find_bot(words, folder.parent)


def test_a_folder_whose_path_is_not_utf_8_is_an_error(folder: Path) -> None:
    odd = folder.rename(folder.with_name(os.fsdecode(b"\xff")))
    folder.symlink_to(odd)

    with pytest.raises(BotError, match="in UTF-8"):
        find_bot("mine", folder.parent)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('rulesets = ["standrad"]', r"rulesets: no ruleset 'standrad' \(did you mean 'standard'\?\)"),
        ("rulesets = []", "rulesets: expected at least one, got none; a bot for all rulesets leaves the line out"),
        ('rulesets = ["./mine.toml"]', r"rulesets: no file '\./mine\.toml' in the folder"),
        ("build_s = 0", "build_s: expected 1 to 86400, got 0"),
        ('python = "no-such-python"', "python: no program 'no-such-python' on the PATH"),
        ('python = "~/bin/python"', r"python: no program '~/bin/python' in .*mine"),
        ('python = ".venv/bin/python"', r"python: no program '\.venv/bin/python' in .*mine"),
    ],
)
def test_a_manifest_that_asks_for_what_is_not_there_is_an_error(folder: Path, line: str, says: str) -> None:
    (folder / "bot.toml").write_text(f"{MANIFEST}{line}\n")

    with pytest.raises(MaliceError, match=rf"mine/bot\.toml: {says}"):
        find_bot("mine", folder.parent)


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ('"python3 bot.py -u"', r'run: expected a list, \["{python}", "bot.py", "-u"\], got the text'),
        (
            '["bot.py"]',
            r'run: expected a program .*; write \["{python}", "bot.py"\], or \./bot\.py if it is executable',
        ),
    ],
)
def test_a_command_that_is_almost_right_is_an_error_that_spells_it(folder: Path, run: str, says: str) -> None:
    (folder / "bot.toml").write_text(f'name = "mine"\nrun = {run}\n')

    with pytest.raises(DataError, match=rf"mine/bot\.toml: {says}"):
        find_bot("mine", folder.parent)


def test_the_interpreter_of_a_manifest_stands_for_python_in_run_by_its_own_name(folder: Path) -> None:
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").symlink_to(sys.executable)
    (folder / "bot.toml").write_text(f'{MANIFEST}python = ".venv/bin/python"\n')

    assert find_bot("mine", folder.parent).command == (f"{folder}/.venv/bin/python", "bot.py")


def test_an_interpreter_may_be_any_on_the_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.parent / "bin").mkdir()
    (folder.parent / "bin/mypython").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(folder.parent / "bin"))
    (folder / "bot.toml").write_text(f'{MANIFEST}python = "mypython"\n')

    assert find_bot("mine", folder.parent).command[0] == f"{folder.parent}/bin/mypython"


def test_what_a_bot_is_made_for_is_known_by_the_names_of_the_rulesets(folder: Path) -> None:
    (folder / "mine.toml").write_text("")
    (folder / "bot.toml").write_text(f'{MANIFEST}rulesets = ["book", "./mine.toml"]\n')

    assert find_bot("mine", folder.parent).made_for == ("book", "mine")


def test_twins_get_numbers() -> None:
    assert assign_labels(["a", "b", "a", "a"]) == ["a", "b", "a#2", "a#3"]
