"""Bots that have to be built: by one process at a time, and only when what they are made from has changed."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import select
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.errors import BotError
from referee.verdicts import describe_exit
from tournaments.entries import bots
from tournaments.entries.bot_files import STAMP, hash_bot, hash_files
from tournaments.entries.bots import KIT, BotSpec, fill_in_python, load_bot_folder
from tournaments.entries.programs import explain_missing_programs
from tournaments.sanitizer import sanitize

NAMED = 5
"""Files that a warning names."""

TAIL = 2000
"""Characters of a failed build's output that are shown."""

STDERR = 2

Say = Callable[[str], None]


class Stamp(Struct, frozen=True):
    """What a build that worked leaves beside its output."""

    made_from: str
    """The hash of the bot's files and its build command."""
    left: tuple[str, ...]
    """What stood there afterwards of that which `run` and `ignore` name; without it the bot is built again."""


class Build(Struct, frozen=True):
    """A bot as it can be started, and what it took."""

    bot: BotSpec
    ran: bool
    """Whether its build command ran; otherwise there is none, or what it left is up to date."""


def print_progress(text: str) -> None:
    """Say something on standard error, if anybody listens."""
    with contextlib.suppress(OSError):
        print("\n".join(map(sanitize, text.split("\n"))), file=sys.stderr, flush=True)


def ensure_built(bot: BotSpec, say: Say = print_progress) -> BotSpec:
    """Return the bot as it can be started, built if that is due.

    Raises:
        BotError: as `build`.
    """
    return build(bot, say).bot


def build(bot: BotSpec, say: Say = print_progress, *, force: bool = False, shown: bool = False) -> Build:
    """Run a bot's build command, if it has one and anything changed since it ran.

    Args:
        bot: as it was found; its hash afterwards may be another if it leaves files that it does not ignore.
        say: told what is built, and what is odd about it.
        force: whether to build though nothing changed.
        shown: whether the command may write to our standard error; otherwise its last words are in the error.

    Raises:
        BotError: a program that it needs is missing, its folder cannot be written, or the command fails or takes
            longer than `build_s` seconds.
    """
    folder = bot.folder
    if not bot.manifest.build or folder is None:
        _require_programs(bot)
        return Build(bot, False)
    if not force and _is_up_to_date(bot, folder):
        return Build(bot, False)
    _require_programs(bot)
    with _lock_folder(bot, folder, say) as stamp:
        bot = load_bot_folder(folder)  # another process may have built it, or somebody changed it, while we waited
        if not force and _is_up_to_date(bot, folder):
            return Build(bot, False)
        return Build(_make(bot, folder, stamp, say, shown), True)


def _require_programs(bot: BotSpec) -> None:
    if what := explain_missing_programs(bot.manifest.needs):
        raise BotError(f"{bot.manifest.name}: {what}")


def _is_up_to_date(bot: BotSpec, folder: Path) -> bool:
    try:
        stamp = msgspec.json.decode((folder / STAMP).read_bytes(), type=Stamp)
    except (OSError, ValueError):
        return False
    return stamp.made_from == _hash_inputs(bot) and all(os.path.lexists(folder / path) for path in stamp.left)


def _hash_inputs(bot: BotSpec) -> str:
    """Hash what a build depends on; `{python}` in its command may be another one tomorrow."""
    return hashlib.sha256("\0".join((bot.hash, *_build_command(bot))).encode()).hexdigest()


def _build_command(bot: BotSpec) -> tuple[str, ...]:
    assert bot.folder is not None
    return fill_in_python(bot.manifest.build, bot.manifest, bot.folder)


@contextlib.contextmanager
def _lock_folder(bot: BotSpec, folder: Path, say: Say) -> Iterator[int]:
    """Keep every other process from building in a folder; yields the descriptor of its stamp."""
    try:
        stamp = os.open(folder / STAMP, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        way = "copy it to where you may write"
        if folder.name == KIT and folder.is_relative_to(bots.SHIPPED):
            way = f"make a copy of your own with: malice new DIR --language {folder.parent.name}"
        raise BotError(f"{bot.manifest.name}: cannot build in {folder}: {error.strerror}; {way}") from None
    try:
        try:
            fcntl.flock(stamp, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{bot.manifest.name}: another process builds it, waiting")
            fcntl.flock(stamp, fcntl.LOCK_EX)
        yield stamp
    finally:
        os.close(stamp)


def _make(bot: BotSpec, folder: Path, stamp: int, say: Say, shown: bool) -> BotSpec:
    """Build it; the stamp is empty from before the first step until after the last."""
    manifest = bot.manifest
    command = _build_command(bot)
    os.ftruncate(stamp, 0)
    say(f"{manifest.name}: building: {shlex.join(command)}")
    before = hash_files(folder, manifest.ignore)
    _run(bot, command, folder, shown)
    after = hash_files(folder, manifest.ignore)
    bot = replace(bot, hash=hash_bot(after))
    if strays := [path for path, told in sorted(after.items()) if before.get(path) != told]:
        say(
            f"{manifest.name}: warning: the build writes {_name_some(strays)}, which `ignore` in bot.toml does not name:"
            " each build may make another bot of it"
        )
    # A file that changed meanwhile may have been edited after it was compiled: then nobody knows what was built.
    if all(after.get(path) == told for path, told in before.items()):
        os.write(stamp, msgspec.json.encode(Stamp(_hash_inputs(bot), _list_outputs(bot, folder))))
    return bot


def _run(bot: BotSpec, command: tuple[str, ...], folder: Path, shown: bool) -> None:
    name = bot.manifest.name
    # Into a file, as the end of a pipe may never come: some compilers leave a server behind that holds it.
    with tempfile.TemporaryFile() as said:
        out, err = (STDERR, STDERR) if shown else (said.fileno(), subprocess.STDOUT)
        try:
            builder = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise BotError(f"{name}: cannot build: {error}") from None
        in_time = _wait(builder, bot.manifest.build_s)
        if in_time and not builder.returncode:
            return
        how = describe_exit(builder.returncode)
        if not in_time:
            how = f"was killed: it took longer than {bot.manifest.build_s} s (build_s in bot.toml)"
        said.seek(max(0, os.fstat(said.fileno()).st_size - 4 * TAIL))
        told = said.read().decode(errors="replace").strip()[-TAIL:]
        raise BotError(f"{name}: the build {shlex.join(command)} {how}{':' if told else ''}\n{told}".rstrip())


def _wait(builder: subprocess.Popen[bytes], limit_s: int) -> bool:
    """Wait until a build ends, and end all of its group; return whether it ended in time, by itself."""
    pidfd = os.pidfd_open(builder.pid)
    try:
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        # Not reaped: until the group is ended the number belongs to nobody else.
        return bool(poll.poll(limit_s * 1000))
    finally:
        os.close(pidfd)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(builder.pid, signal.SIGKILL)
        builder.wait()


def _list_outputs(bot: BotSpec, folder: Path) -> tuple[str, ...]:
    """Name what stands there of that which is started and that which is ignored: most of it is the build's."""
    named = sorted({*bot.manifest.run, *bot.manifest.ignore})
    return tuple(word for word in named if not word.startswith("/") and os.path.lexists(folder / word))


def _name_some(paths: list[str]) -> str:
    rest = len(paths) - NAMED
    return ", ".join(paths[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
