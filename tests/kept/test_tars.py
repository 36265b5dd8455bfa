"""The tar files of kept bots: the same bytes for the same files, and nothing outside of a folder, whoever wrote one."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malice.referee.errors import BotError
from malice.tournaments.entries import bot_files
from malice.tournaments.entries.bot_files import hash_files, list_files, unpack_tar, write_tar
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.errors import LeagueError
from tests.kept.folders import keep, open_place, read_tree, say_nothing, write_bot

NAMES = st.one_of(
    st.sampled_from(["a", "b", "-", " ", "ä", "\udcff", "a" * 120, ".dot"]),
    st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8),
).filter(lambda name: name not in (".", "..") and len(os.fsencode(name)) < 250)
FILES = st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map("/".join), st.tuples(st.binary(), st.booleans()))


def pack(folder: Path) -> bytes:
    stream = io.BytesIO()
    write_tar(folder, list_files(folder), stream)
    return stream.getvalue()


def write_files(folder: Path, files: dict[str, tuple[bytes, bool]]) -> None:
    """Write what can be written: a path below another file cannot."""
    folder.mkdir()
    for path, (content, executable) in files.items():
        try:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue
        (folder / path).chmod(0o755 if executable else 0o644)


@settings(deadline=None, max_examples=20)
@given(FILES, st.data())
def test_every_bot_comes_out_of_its_tar_as_it_went_in(
    files: dict[str, tuple[bytes, bool]], data: st.DataObject
) -> None:
    with TemporaryDirectory() as place:
        folder, again = Path(place, "bot"), Path(place, "again")
        write_files(folder, files)
        targets = [file.path for file in list_files(folder)]
        for number in range(data.draw(st.integers(0, 2)) if targets else 0):
            (folder / f"link{number}").symlink_to(data.draw(st.sampled_from(targets)))
        (Path(place) / "tar").write_bytes(pack(folder))

        unpack_tar(Path(place) / "tar", again)

        assert hash_files(again) == hash_files(folder)
        assert pack(again) == pack(folder)


def test_a_tar_holds_no_time_owner_or_order(tmp_path: Path) -> None:
    for name, order in (("one", "ab"), ("two", "ba")):
        (tmp_path / name).mkdir()
        for file in order:
            (tmp_path / name / file).write_text(file)
    os.utime(tmp_path / "one" / "a", (1, 1))
    (tmp_path / "two" / "b").chmod(0o600)

    assert pack(tmp_path / "one") == pack(tmp_path / "two")
    with tarfile.open(fileobj=io.BytesIO(pack(tmp_path / "one"))) as tar:
        assert [(each.name, each.mtime, each.uid, each.gid, each.mode) for each in tar] == [
            ("a", 0, 0, 0, 0o644), ("b", 0, 0, 0, 0o644)
        ]  # fmt: skip


# hostile ones
Entry = tuple[str, bytes, str]
FILE, LINK, HARD, FIFO, DEVICE, FOLDER = (
    tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE
)  # fmt: skip


def write_members(path: Path, *members: Entry) -> Path:
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, kind, target in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            member.size = 1 if kind == FILE else 0
            tar.addfile(member, io.BytesIO(b"x"))
    return path


@pytest.mark.parametrize(
    "members",
    [
        [("/etc/x", FILE, "")],
        [("../x", FILE, "")],
        [("a/../../x", FILE, "")],
        [("a/../x", FILE, "")],
        [("./x", FILE, "")],
        [("a//x", FILE, "")],
        [("..", FOLDER, "")],
        [("x", LINK, "/etc/passwd")],
        [("x", LINK, "..")],
        [("a/x", LINK, "../../x")],
        [("a", LINK, "."), ("b", LINK, "a/..")],
        [("a", LINK, ".."), ("a/x", FILE, "")],
        [("a", LINK, "b"), ("b/x", FILE, ""), ("a/x", FILE, "")],
        [("a/x", FILE, ""), ("a", LINK, "b")],
        [("x", FILE, ""), ("x", FILE, "")],
        [("x", FILE, ""), ("x/y", FILE, "")],
        [("x", LINK, "y"), ("x", FILE, "")],
        [("x", FILE, ""), ("x", LINK, "y")],
        [("x", FILE, ""), ("y", HARD, "x")],
        [("x", HARD, "/etc/passwd")],
        [("x", FIFO, "")],
        [("x", DEVICE, "")],
        [("x" * 2000, FILE, "")],
        [("x", LINK, "y/" * 1000)],
    ],
    ids=lambda members: " ".join(f"{name[:9]}>{target[:9]}" for name, _, target in members),
)
def test_a_hostile_tar_is_refused_and_writes_nothing_outside(tmp_path: Path, members: list[Entry]) -> None:
    source = write_members(tmp_path / "tar", *members)
    (tmp_path / "deep").mkdir()

    with pytest.raises(ValueError, match="expected"):
        unpack_tar(source, tmp_path / "deep" / "tree")

    assert not (tmp_path / "x").exists()
    assert not (tmp_path / "deep" / "x").exists()


def test_no_path_may_grow_so_long_that_the_kernel_cannot_resolve_it(tmp_path: Path) -> None:
    """A symlink through such a path would look as if it led nowhere."""
    name = "d" * 240
    members: list[Entry] = []
    for depth, letter in enumerate("abcdefghijklmnop"):
        members += [("/".join([name] * (depth + 1)), FOLDER, ""), ("/".join([name] * depth + [letter]), LINK, name)]
    way = "/".join("abcdefghijklmnop")
    source = write_members(tmp_path / "tar", *members, ("out", LINK, f"{way}/{'../' * 17}x"))

    with pytest.raises(ValueError, match=r"^expected the path of a folder inside, got 'ddd"):
        unpack_tar(source, tmp_path / "tree")


@pytest.mark.parametrize(("name", "most"), [("MOST_BYTES", 1), ("MOST_FILES", 1)])
def test_a_tar_that_would_fill_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(bot_files, name, most)

    with pytest.raises(ValueError, match="expected at most 1 "):
        unpack_tar(write_members(tmp_path / "tar", ("x", FILE, ""), ("y", FILE, "")), tmp_path / "tree")


# damage


def load_damaged(damage: Callable[[bytes], bytes]) -> None:
    """Damage the tar of a kept bot; it must be named as damaged, or give the very same bot."""
    with open_place() as place:
        _, bot = keep(place, write_bot(place / "bot"))
        assert bot.folder is not None
        tar, before = bot.folder.with_suffix(".tar"), read_tree(bot.folder)
        bot.folder.rename(place / "copy")
        tar.write_bytes(damage(tar.read_bytes()))
        try:
            kept = KeptBots(place / "friday.db", say_nothing)
            assert kept.load(bot.hash) == bot
        except LeagueError as error:
            assert str(error).startswith(f"{tar}: damaged: ")  # noqa: PT017
            assert not bot.folder.exists()
        else:
            assert read_tree(bot.folder) == before
        assert sorted(path.name for path in place.iterdir()) == ["bot", "copy", "friday.bots"]


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(0, 10_239), st.integers(0, 7))
def test_whatever_bit_flips_the_bot_is_the_same_or_the_tar_is_named(byte: int, bit: int) -> None:
    load_damaged(lambda tar: tar[:byte] + bytes([tar[byte] ^ 1 << bit]) + tar[byte + 1 :])


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_239))
def test_wherever_a_tar_ends_the_bot_is_the_same_or_the_tar_is_named(end: int) -> None:
    load_damaged(lambda tar: tar[:end])


def test_a_tar_that_cannot_be_read_is_an_error() -> None:
    with open_place() as place:
        kept, bot = keep(place, write_bot(place / "bot"))
        assert bot.folder is not None
        bot.folder.rename(place / "copy")
        bot.folder.with_suffix(".tar").unlink()
        bot.folder.with_suffix(".tar").mkdir()

        with pytest.raises(BotError, match=r"cannot be kept in .*Is a directory"):
            kept.load(bot.hash)
