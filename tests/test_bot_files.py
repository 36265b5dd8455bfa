"""What in a folder makes the bot: regular files and links within it, never more than can be read."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from malice.referee.errors import BotError, DataError
from malice.referee.isolation.copies import Copies
from malice.tournaments.entries import bot_files
from malice.tournaments.entries.bot_files import MOST_BYTES, copy_files, hash_file, hash_files, list_files
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.built_copies import copy_as_built

MANIFEST = 'name = "mine"\nrun = ["sh", "bot"]\nignore = ["build", "*.log"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mine = tmp_path / "mine"
    (mine / "src").mkdir(parents=True)
    (mine / "bot.toml").write_text(MANIFEST)
    (mine / "bot").write_text("exit\n")
    (mine / "src/more").write_text("more\n")
    return mine


def hash_of(folder: Path) -> str:
    return find_bot(str(folder)).hash


@pytest.mark.parametrize("name", [".h.py", "src/.h.py", "__pycache__.py", "src/.malice-build", "buildings"])
def test_dot_files_make_another_bot(folder: Path, name: str) -> None:
    before = hash_of(folder)

    (folder / name).write_text("x")

    assert hash_of(folder) != before


@pytest.mark.parametrize(
    "name",
    [".git/x", "src/.cache/deep/x", "__pycache__/x.pyc", "src/__pycache__/x", "build/x.o", "run.log", ".malice-build"],
)
def test_dot_folders_caches_the_stamp_and_what_is_ignored_do_not(folder: Path, name: str) -> None:
    before = hash_of(folder)

    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("x")

    assert hash_of(folder) == before


def test_a_dot_folder_may_lie_elsewhere(folder: Path) -> None:
    before = hash_of(folder)

    (folder / ".venv").symlink_to("/usr")

    assert hash_of(folder) == before


@pytest.mark.parametrize("target", ["/dev/zero", "/etc/passwd", "..", "../other", "/", "src/../../other"])
def test_a_symlink_that_leaves_the_folder_is_an_error_that_names_it(folder: Path, target: str) -> None:
    (folder / "src/link").symlink_to(target if target.startswith("/") else f"../{target}")

    with pytest.raises(BotError, match=r"mine/src/link: a symlink that leaves the bot's folder, to /"):
        hash_of(folder)


def test_a_symlink_to_a_symlink_that_leaves_the_folder_is_an_error(folder: Path) -> None:
    (folder / "a").symlink_to(".b")
    (folder / ".b").symlink_to("/usr")

    with pytest.raises(BotError, match="mine/a: a symlink that leaves"):
        hash_of(folder)


def test_a_symlink_within_the_folder_counts_as_the_place_that_it_leads_to(folder: Path) -> None:
    (folder / "link").symlink_to("bot")
    relative = hash_of(folder)
    (folder / "link").unlink()
    (folder / "link").symlink_to(folder / "bot")
    absolute = hash_of(folder)
    (folder / "link").unlink()
    (folder / "link").symlink_to("src")

    assert relative == absolute
    assert relative != hash_of(folder)


def test_links_that_lead_nowhere_or_round_in_circles_are_never_followed(folder: Path) -> None:
    (folder / "out").symlink_to("build/bot")
    (folder / "self").symlink_to("self")
    (folder / "src/loop").symlink_to("..")
    before = hash_of(folder)

    (folder / "build").mkdir()
    (folder / "build/bot").write_text("x")

    assert hash_of(folder) == before
    assert {each.path for each in list_files(folder, ("build",))} == {
        "bot.toml", "bot", "out", "self", "src/loop", "src/more",
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["a fifo", "a socket"])
def test_what_is_no_file_is_an_error_that_names_it(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "src")  # the path of a socket is short
    if kind == "a fifo":
        os.mkfifo("x")
    else:
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind("x")

    with pytest.raises(BotError, match=f"mine/src/x: expected a regular file in a bot's folder, got {kind}"):
        hash_of(folder)


def test_a_huge_file_is_an_error_that_names_it_before_it_is_read(folder: Path) -> None:
    with (folder / "src/huge").open("wb") as file:
        file.truncate(40 * 1024**3)

    with pytest.raises(BotError, match=r"mine/src/huge: expected at most 2,147,483,648 bytes .* in this one"):
        hash_of(folder)


def test_files_that_are_too_large_together_are_an_error_that_names_the_largest(folder: Path) -> None:
    for name, size in (("one", MOST_BYTES // 2 + 1), ("two", MOST_BYTES // 2)):
        with (folder / name).open("wb") as file:
            file.truncate(size)

    with pytest.raises(BotError, match="mine/one: "):
        hash_of(folder)


def test_a_huge_manifest_is_an_error(folder: Path) -> None:
    with (folder / "bot.toml").open("wb") as file:
        file.truncate(40 * 1024**3)

    with pytest.raises(DataError, match=r"bot\.toml: expected at most 65536 bytes of TOML"):
        hash_of(folder)


def test_a_manifest_that_leads_elsewhere_is_not_read(folder: Path) -> None:
    (folder / "bot.toml").rename(folder.parent / "bot.toml")
    (folder / "bot.toml").symlink_to("../bot.toml")

    with pytest.raises(BotError, match=r"mine/bot\.toml: a symlink that leaves"):
        hash_of(folder)


def test_a_huge_file_of_a_command_line_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_files, "MOST_BYTES", 2 * bot_files.PIECE_BYTES)
    (tmp_path / "bot.py").write_bytes(bytes(2 * bot_files.PIECE_BYTES))
    find_bot("sh bot.py", tmp_path)
    with (tmp_path / "bot.py").open("ab") as file:
        file.write(b"x")

    with pytest.raises(BotError, match=r"bot\.py: expected at most 2,097,152 bytes, got more"):
        find_bot("sh bot.py", tmp_path)


def test_a_fifo_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x")

    with pytest.raises(BotError, match="x: expected a regular file"):
        hash_file(tmp_path / "x")


def test_a_copy_is_the_same_bot(folder: Path) -> None:
    (folder / "bot").chmod(0o555)
    (folder / ".hidden").write_text("x")
    (folder / "src/up").symlink_to(folder / "bot")  # an absolute path
    (folder / "build").mkdir()
    (folder / "build/x").write_text("x")

    copy_files(folder, folder.parent / "copy", ("build",))

    assert hash_files(folder.parent / "copy") == hash_files(folder, ("build",))
    assert (folder.parent / "copy/src/up").resolve() == folder.parent / "copy/bot"


def hash_it(folder: Path, target: Path) -> None:
    hash_files(folder)


def keep_it(folder: Path, target: Path) -> None:
    copy_as_built(folder, target / "mine", ())


def show_a_copy(folder: Path, target: Path) -> None:
    Copies().add(folder)


@pytest.mark.parametrize("read", [hash_it, keep_it, show_a_copy])
def test_a_link_that_takes_the_place_of_a_folder_while_we_look_is_not_followed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path, Path], None]
) -> None:
    private, target, scandir = tmp_path / "private", tmp_path / "target", os.scandir
    private.mkdir()
    target.mkdir()
    (private / "more").write_text("a secret")
    (folder / "src/more").unlink()
    monkeypatch.setattr(tempfile, "tempdir", str(target))

    @contextlib.contextmanager
    def list_and_swap(where: str | int) -> Iterator[Iterator[os.DirEntry[str]]]:
        """List a folder as it is, and put a link into it at once."""
        with scandir(where) as entries:
            listed = list(entries)
        if not (folder / "src").is_symlink():
            (folder / "src").rmdir()
            (folder / "src").symlink_to(private)
        yield iter(listed)

    monkeypatch.setattr(os, "scandir", list_and_swap)
    with pytest.raises((BotError, OSError), match="Not a directory"):
        read(folder, target)
    monkeypatch.undo()

    assert list(target.rglob("more")) == []
