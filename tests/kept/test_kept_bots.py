"""Bots kept by content: what a copy holds, what its command says, and what becomes of edits and damage."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from malice.referee.errors import BotError
from malice.referee.isolation import limits
from malice.tournaments.entries import built_copies, kept_bots
from malice.tournaments.entries.bot_files import STAMP
from malice.tournaments.entries.bots import PERSON, find_bot
from malice.tournaments.entries.builds import build
from malice.tournaments.entries.kept_bots import MANY_BYTES, KeptBots, explain_large_size
from malice.tournaments.entries.lookup import find_twins
from malice.tournaments.errors import LeagueError
from tests.kept.folders import find_built, keep, open_place, read_tree, write_bot, write_built_bot


@pytest.fixture
def place() -> Iterator[Path]:
    with open_place() as place:
        yield place


def builds(folder: Path) -> int:
    return (folder / "out" / "log").read_text().count("built")


# what a copy holds


def test_a_copy_holds_all_that_a_sandbox_shows_and_the_tar_what_counts(place: Path) -> None:
    folder = write_built_bot(place / "bot")
    for name in (".venv/bin/python", "__pycache__/x.pyc", "lib/.cache/x", ".hidden", "lib/data"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")

    kept, bot = keep(place, folder)

    assert bot.folder == place / "friday.bots" / bot.hash
    assert sorted(read_tree(bot.folder)) == [
        ".hidden", STAMP, "bot.toml", "lib/data", "out/bot", "out/log", "source"
    ]  # fmt: skip
    shutil.rmtree(bot.folder)
    again = kept.load(bot.hash)
    assert again.folder is not None
    assert not (again.folder / "lib/.cache").exists()
    assert again == bot


def test_a_bot_is_kept_as_it_was_found(place: Path) -> None:
    folder = write_built_bot(place / "bot")
    found = find_built(folder)

    _, bot = keep(place, folder)

    assert (bot.hash, bot.manifest, bot.command) == (found.hash, found.manifest, ("sh", "out/bot"))
    assert find_bot(str(bot.folder)).hash == found.hash
    assert not build(bot).ran


def test_exec_bits_and_symlinks_stay_and_everybody_may_read(place: Path) -> None:
    folder = write_bot(place / "bot", more='ignore = ["venv"]\n')
    (folder / "lib").mkdir(mode=0o700)
    (folder / "lib" / "run").write_text("exit\n")
    (folder / "lib" / "run").chmod(0o700)
    (folder / "bot.py").chmod(0o600)
    (folder / "near").symlink_to("lib/run")
    (folder / "far").symlink_to(folder / "lib")
    (folder / "venv").mkdir()
    (folder / "venv" / "python").symlink_to("/usr/bin/env")
    (folder / "venv" / "python3").symlink_to("python")

    _, bot = keep(place, folder)

    assert bot.folder is not None
    assert {name: os.readlink(bot.folder / name) for name in ("near", "far", "venv/python", "venv/python3")} == {
        "near": "lib/run", "far": "lib", "venv/python": "/usr/bin/env", "venv/python3": "python"
    }  # fmt: skip
    modes = {name: (bot.folder / name).stat().st_mode & 0o777 for name in (".", "lib", "lib/run", "bot.py")}
    assert modes == {".": 0o755, "lib": 0o755, "lib/run": 0o755, "bot.py": 0o644}


@pytest.mark.parametrize(("own_users", "mode"), [(True, 0o711), (False, 0o700)])
def test_nobody_else_may_list_what_is_kept_nor_read_a_tar(
    place: Path, monkeypatch: pytest.MonkeyPatch, own_users: bool, mode: int
) -> None:
    monkeypatch.setattr(kept_bots, "explain_missing_uids", lambda: None if own_users else "asked")

    kept, bot = keep(place, write_bot(place / "bot"))

    assert kept.folder.stat().st_mode & 0o777 == mode
    assert (kept.folder / f"{bot.hash}.tar").stat().st_mode & 0o777 == 0o600
    assert limits.find_unreadable([place]) is None, "else the modes above would not matter"


def test_the_league_in_a_bots_folder_is_not_copied_with_it(place: Path) -> None:
    folder = write_bot(place / "bot", more='ignore = ["friday.*"]\n')
    (folder / "friday.db").write_text("the seed")

    _, bot = keep(folder, folder)

    assert bot.folder is not None
    assert sorted(read_tree(bot.folder)) == ["bot.py", "bot.toml"]


def test_a_league_in_a_folder_whose_hash_it_would_change_is_refused(place: Path) -> None:
    with pytest.raises(BotError, match=r"mine: expected a league outside of the bot's folder"):
        keep(place / "bot", write_bot(place / "bot"))


# what its command says


def test_words_that_name_what_was_copied_name_the_copy_and_others_stay(place: Path) -> None:
    folder = place / "bot"
    for name in (".venv/bin/python", "tools/run"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    words = [".venv/bin/python", str(folder / "tools/run"), "tools/run", "..", "missing", "-x", "", "/usr/bin"]
    (folder / "bot.toml").write_text(f'name = "mine"\nrun = {words}\n'.replace("'", '"'))

    kept, bot = keep(place, folder)

    placed = (
        str(folder / ".venv/bin/python"), f"{bot.folder}/tools/run", "tools/run", "..", "missing", "-x", "", "/usr/bin",
    )  # fmt: skip
    assert bot.command == placed
    assert kept.load(bot.hash) == bot


def test_the_interpreter_of_a_virtual_environment_stays_where_it_is(place: Path) -> None:
    folder = write_bot(place / "bot", more='python = ".venv/bin/python"\nbuild = ["{python}", "-c", "1"]\n')
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").symlink_to(sys.executable)

    kept, bot = keep(place, folder)
    assert bot.folder is not None
    shutil.rmtree(bot.folder)
    again = kept.load(bot.hash)

    assert again.command == (str(folder / ".venv/bin/python"), "-I", "bot.py")
    assert again == bot
    shutil.rmtree(folder)
    with pytest.raises(BotError, match=r"python: no program '\.venv/bin/python' in"):
        kept.load(bot.hash)


@pytest.mark.parametrize("words", ["sh bot.sh", "./bot.sh x"])
def test_a_command_line_is_not_kept(place: Path, words: str) -> None:
    write_bot(place)  # even where the folder around is a bot's
    (place / "bot.sh").write_text("#!/bin/sh\n")
    (place / "bot.sh").chmod(0o755)
    kept = KeptBots(place / "friday.db")
    found = find_bot(words, place)

    assert kept.keep(found) == found
    assert kept.keep(PERSON) == PERSON
    assert kept.list_kept() == {}
    assert not kept.folder.exists()


# once, and again


def test_what_is_kept_is_not_copied_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_built_bot(place / "bot")
    kept, bot = keep(place, folder)
    monkeypatch.setattr(kept_bots, "copy_as_built", None)

    assert keep(place, folder)[1] == bot
    assert kept.keep(bot) == bot
    assert kept.load(bot.hash) == bot


def test_a_folder_may_be_edited_and_every_version_stays(place: Path) -> None:
    folder = write_built_bot(place / "bot")
    kept, old = keep(place, folder)
    (folder / "source").write_text("echo two\n")
    _, new = keep(place, folder)
    shutil.rmtree(folder)

    bots = {kept.load(each.hash).folder: (kept.folder / each.hash / "out/bot").read_text() for each in (old, new)}

    assert bots == {old.folder: "echo one\n", new.folder: "echo two\n"}


def test_a_version_whose_copy_is_gone_is_built_from_its_tar(place: Path) -> None:
    kept, bot = keep(place, write_built_bot(place / "bot"))
    assert bot.folder is not None
    shutil.rmtree(bot.folder)

    assert kept.load(bot.hash) == bot
    assert kept.load(bot.hash) == bot
    assert builds(bot.folder) == 1


def test_a_copy_of_an_older_build_is_replaced(place: Path) -> None:
    folder = write_built_bot(place / "bot")
    keep(place, folder)
    # As after a build with another interpreter: the content is the same, and the stamp is not.
    (folder / "out" / "more").write_text("")
    (folder / STAMP).write_bytes((folder / STAMP).read_bytes() + b" ")

    _, bot = keep(place, folder)

    assert bot.folder is not None
    assert (bot.folder / "out" / "more").exists()


@pytest.mark.parametrize("name", ["bot.toml", "source", "new"])
def test_a_copy_that_a_bot_has_changed_is_replaced_and_that_is_said(place: Path, name: str) -> None:
    folder = write_built_bot(place / "bot")
    _, bot = keep(place, folder)
    assert bot.folder is not None
    said: list[str] = []
    kept = KeptBots(place / "friday.db", said.append)

    (bot.folder / name).write_text("[changed")
    assert kept.keep(find_built(folder)) == bot
    (bot.folder / name).write_text("[changed")
    assert kept.load(bot.hash) == bot

    sentence = f"{bot.folder}: something has changed this copy of a bot; it is replaced"
    assert [line for line in said if "building" not in line] == [sentence] * 2
    assert find_bot(str(bot.folder)).hash == bot.hash


def test_an_edit_while_it_is_copied_is_an_error(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_bot(place / "bot")

    def edit_and_copy(source: Path, target: Path, apart: set[Path]) -> None:
        (folder / "bot.py").write_text("edited")
        built_copies.copy_as_built(source, target, apart)

    monkeypatch.setattr(kept_bots, "copy_as_built", edit_and_copy)

    with pytest.raises(BotError, match=rf"^mine: {folder} was edited while it was copied"):
        keep(place, folder)
    assert list((place / "friday.bots").iterdir()) == []


def test_a_build_that_changes_what_counts_cannot_make_an_old_version(place: Path) -> None:
    folder = place / "bot"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "mine"\nbuild = ["sh", "-c", "date +%s%N > stray"]\nrun = ["sh"]\n')
    kept, bot = keep(place, folder)
    assert bot.folder is not None
    assert kept.load(bot.hash) == bot
    shutil.rmtree(bot.folder)

    with pytest.raises(BotError, match=r"^mine: its build makes another bot of what was kept"):
        kept.load(bot.hash)


# damage


@pytest.mark.parametrize("hash", ["", "0" * 63, "0" * 64, "../friday", "0" * 64 + "\n", "A" * 64, "\0"])
def test_what_was_never_kept_is_an_error(place: Path, hash: str) -> None:
    kept, _ = keep(place, write_bot(place / "bot"))

    with pytest.raises(BotError, match=r"^no bot with the content '.*' is kept in /.*friday\.bots$"):
        kept.load(hash)


def test_a_tar_of_another_content_is_named(place: Path) -> None:
    kept, bot = keep(place, write_bot(place / "bot"))
    _, other = keep(place, write_bot(place / "bot", "2"))
    shutil.rmtree(kept.folder / bot.hash)
    shutil.copy(kept.folder / f"{other.hash}.tar", kept.folder / f"{bot.hash}.tar")

    with pytest.raises(LeagueError, match=rf"{bot.hash}\.tar: damaged: expected the content {bot.hash[:12]}, got"):
        kept.load(bot.hash)
    assert not (kept.folder / bot.hash).exists()


def test_a_changed_copy_without_a_tar_is_lost_and_named(place: Path) -> None:
    kept, bot = keep(place, write_bot(place / "bot"))
    (kept.folder / f"{bot.hash}.tar").unlink()
    (kept.folder / bot.hash / "bot.py").write_text("")

    with pytest.raises(BotError, match=rf"{bot.hash}: expected the bot that was kept, got another"):
        kept.load(bot.hash)


@pytest.mark.parametrize("home", [b"relative", b"", b"\xff", b"/\0"])
def test_a_damaged_note_on_the_home_is_named(place: Path, home: bytes) -> None:
    kept, bot = keep(place, write_bot(place / "bot"))
    (kept.folder / f"{bot.hash}.home").write_bytes(home)

    with pytest.raises(LeagueError, match=rf"{bot.hash}\.home: damaged"):
        kept.load(bot.hash)


def test_a_disk_that_is_full_is_an_error_that_says_what_was_tried(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept_bots, "settle", fail)

    with pytest.raises(BotError, match=r"^mine: cannot be kept in /.*friday\.bots: No space left on device$"):
        keep(place, write_bot(place / "bot"))


def test_a_build_that_would_fill_the_disk_is_refused_before_it_is_copied(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[Path] = []
    monkeypatch.setattr(built_copies, "MOST_BYTES", 1000)
    monkeypatch.setattr(built_copies, "_copy_file", lambda source, path, _: copied.append(source / path))
    folder = write_bot(place / "bot", more='ignore = ["out"]\n')
    (folder / "out").write_bytes(bytes(1001))

    with pytest.raises(
        BotError, match=rf"^{folder}: expected at most 1,000 bytes with the output of the build, got more"
    ):
        keep(place, folder)
    assert folder / "out" not in copied


# sizes and twins


def test_the_sizes_are_of_tar_and_copy(place: Path) -> None:
    kept, bot = keep(place, write_bot(place / "bot"))
    sizes = [path.stat().st_size for path in kept.folder.rglob("*") if path.is_file()]

    assert kept.list_kept() == {bot.hash: sum(sizes)}
    assert len(sizes) == 3


def test_only_a_large_bot_gets_a_line(place: Path) -> None:
    assert explain_large_size("greedy", MANY_BYTES) is None
    assert explain_large_size("greedy", 312_345_678) == (
        "greedy: 312 MB are kept of this version; a build that leaves behind only what `run` needs takes less, and what"
        " `ignore` in bot.toml lists is kept once, not twice"
    )


def test_twins_are_the_labels_of_one_content() -> None:
    assert find_twins(["a", "b", "c", "d", "e"], ["1", "2", "1", "3", "2"]) == [("a", "c"), ("b", "e")]
    assert find_twins(["a", "b"], ["1", "2"]) == []


# a build that runs at the same time


def test_a_folder_is_not_copied_while_another_process_builds_in_it(place: Path) -> None:
    folder = write_built_bot(place / "bot")
    find_built(folder)
    with open(folder / STAMP, "rb") as stamp:
        fcntl.flock(stamp, fcntl.LOCK_EX)
        (folder / "out" / "bot").write_text("half")
        with ThreadPoolExecutor(1) as pool:
            later = pool.submit(keep, place, folder)
            assert wait([later], timeout=0.2).not_done
            (folder / "out" / "bot").write_text("whole")
            fcntl.flock(stamp, fcntl.LOCK_UN)

            assert (later.result()[0].folder / later.result()[1].hash / "out" / "bot").read_text() == "whole"
