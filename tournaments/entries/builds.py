"""Builds of bots: one process at a time, and only if the bot's files or its build command changed."""

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
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import Abandoned, BotError
from malice.referee.verdicts import describe_exit
from malice.tournaments.entries import bots
from malice.tournaments.entries.bot_files import STAMP, hash_bot, hash_files
from malice.tournaments.entries.bots import KIT, Bot, load_bot_folder
from malice.tournaments.entries.manifests import fill_in_python
from malice.tournaments.entries.programs import explain_missing_programs
from malice.tournaments.entries.variants import give_parameters
from malice.tournaments.sanitizer import sanitize

NAMED = 5
"""How many files a warning names."""

TAIL = 2000
"""How many characters of a failed build's output are shown."""

MOST_STAMP_BYTES = 1024 * 1024

STDERR = 2

Say = Callable[[str], None]


class Stamp(Struct, frozen=True):
    """The record of a successful build."""

    made_from: str
    """The hash of the bot's files and its build command."""
    left: tuple[str, ...]
    """The files named by `run` or `ignore` that existed afterwards; if one is gone, the bot is built again."""


class Build(Struct, frozen=True):
    """A bot that can be started, and whether that took a build."""

    bot: Bot
    ran: bool
    """Whether its build command ran; if not, it has none, or its output is up to date."""


def print_progress(text: str) -> None:
    """Print a text to standard error; a closed one is no error."""
    with contextlib.suppress(OSError):
        print("\n".join(map(sanitize, text.split("\n"))), file=sys.stderr, flush=True)


def ensure_built(bot: Bot, say: Say = print_progress) -> Bot:
    """Build the bot if necessary, so that it is ready to start; raise the errors of `build`."""
    return build(bot, say).bot


def build(
    bot: Bot,
    say: Say = print_progress,
    *,
    force: bool = False,
    shown: bool = False,
    guard: int | None = None,
) -> Build:
    """Run a bot's build command, if it has one and anything changed since it ran.

    Args:
        bot: the bot; the build changes its hash if it writes files that `ignore` does not list.
        say: receives a line on each build, and warnings.
        force: whether to build even if nothing changed.
        shown: whether the command writes to our standard error; otherwise an error quotes the end of its output.
        guard: a descriptor whose hang-up means that nobody waits for the build.

    Raises:
        BotError: a program that it needs is missing, its folder is not writable, or the command fails or takes longer
            than `build_s` seconds.
        ParameterError: the bot was edited meanwhile, and has lost a parameter that it was given.
        Abandoned: nobody waits for the build; its processes are killed.
    """
    folder = bot.folder
    if not bot.manifest.build or folder is None:
        _require_programs(bot)
        return Build(bot, False)
    if not force and _is_up_to_date(bot, folder):
        return Build(bot, False)
    _require_programs(bot)
    try:
        with _lock_folder(bot, folder, say) as stamp:
            # Another process may have built or edited it while we waited.
            bot = give_parameters(load_bot_folder(folder, bot.home), bot.given)
            if not force and _is_up_to_date(bot, folder):
                return Build(bot, False)
            return Build(_make(bot, stamp, say, shown, guard), True)
    except OSError as error:
        raise BotError(f"{bot.manifest.name}: cannot be built in {folder}: {error.strerror}") from None


def read_stamp(folder: Path) -> bytes | None:
    """The record of a folder's last build, whatever it says; None without one.

    Builds that differ have different records.
    """
    try:  # a bot's author may have put anything there
        stamp = os.open(folder / STAMP, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(stamp, "rb") as file:
            return file.read(MOST_STAMP_BYTES)
    except OSError:
        return None


@contextlib.contextmanager
def hold_build(folder: Path) -> Iterator[None]:
    """Wait for another process that builds in a folder, and let none begin meanwhile."""
    try:
        stamp = os.open(folder / STAMP, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # it was never built
        yield
        return
    try:
        fcntl.flock(stamp, fcntl.LOCK_SH)
        yield
    finally:
        os.close(stamp)


def _require_programs(bot: Bot) -> None:
    if what := explain_missing_programs(bot.manifest.needs):
        raise BotError(f"{bot.manifest.name}: {what}")


def _is_up_to_date(bot: Bot, folder: Path) -> bool:
    try:
        stamp = msgspec.json.decode(read_stamp(folder) or b"", type=Stamp)
    except ValueError:
        return False
    return stamp.made_from == _hash_inputs(bot) and all(os.path.lexists(folder / path) for path in stamp.left)


def _hash_inputs(bot: Bot) -> str:
    """Hash the inputs of a build: no parameters, but the interpreter behind `{python}`, which may change."""
    return hashlib.sha256("\0".join((bot.content, *_build_command(bot))).encode()).hexdigest()


def _build_command(bot: Bot) -> tuple[str, ...]:
    assert bot.folder is not None
    return fill_in_python(bot.manifest.build, bot.manifest, bot.home or bot.folder)


@contextlib.contextmanager
def _lock_folder(bot: Bot, folder: Path, say: Say) -> Iterator[int]:
    """Keep other processes from building in a folder; yield the descriptor of its stamp."""
    try:
        stamp = os.open(folder / STAMP, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        way = "copy it to a folder that you can write to"
        if folder.name == KIT and folder.is_relative_to(bots.SHIPPED):
            way = f"make your own copy with: malice new DIR --language {folder.parent.name}"
        raise BotError(f"{bot.manifest.name}: cannot build in {folder}: {error.strerror}; {way}") from None
    try:
        try:
            fcntl.flock(stamp, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{bot.manifest.name}: another process is building it, waiting")
            fcntl.flock(stamp, fcntl.LOCK_EX)
        yield stamp
    finally:
        os.close(stamp)


def _make(bot: Bot, stamp: int, say: Say, shown: bool, guard: int | None) -> Bot:
    """Build a bot; its stamp stays empty from before the first step until after the last."""
    manifest, folder = bot.manifest, bot.folder
    assert folder is not None
    command = _build_command(bot)
    os.ftruncate(stamp, 0)
    say(f"{manifest.name}: building: {shlex.join(command)}")
    before = hash_files(folder, manifest.ignore)
    _run(bot, command, shown, guard)
    after = hash_files(folder, manifest.ignore)
    bot = replace(bot, content=hash_bot(after))
    if strays := [path for path, digest in sorted(after.items()) if before.get(path) != digest]:
        say(
            f"{manifest.name}: warning: the build writes {_name_some(strays)}, not listed in `ignore` in bot.toml:"
            " each build may make it a different bot"
        )
    # No stamp if a file changed meanwhile: it may have been edited after it was compiled.
    if all(after.get(path) == digest for path, digest in before.items()):
        os.write(stamp, msgspec.json.encode(Stamp(_hash_inputs(bot), _list_outputs(bot, folder))))
    return bot


def _run(bot: Bot, command: tuple[str, ...], shown: bool, guard: int | None) -> None:
    name = bot.manifest.name
    # Into a file: a pipe may never end, since some compilers leave behind a server that holds it open.
    with tempfile.TemporaryFile() as output:
        out, err = (STDERR, STDERR) if shown else (output.fileno(), subprocess.STDOUT)
        # A signal that interrupts us has to wait until the build is ours to kill.
        held = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP, signal.SIGINT, signal.SIGTERM))
        try:
            builder = subprocess.Popen(
                command,
                cwd=bot.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, held),
            )
        except (OSError, ValueError) as error:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
            raise BotError(f"{name}: cannot build: {error}") from None
        in_time = _wait(builder, bot.manifest.build_s, held, guard)
        if in_time and not builder.returncode:
            return
        how = describe_exit(builder.returncode)
        if not in_time:
            how = f"was killed: it took longer than {bot.manifest.build_s} s (build_s in bot.toml)"
        output.seek(max(0, os.fstat(output.fileno()).st_size - 4 * TAIL))
        tail = output.read().decode(errors="replace").strip()[-TAIL:]
        raise BotError(f"{name}: the build {shlex.join(command)} {how}{':' if tail else ''}\n{tail}".rstrip())


def _wait(builder: subprocess.Popen[bytes], limit_s: int, held: Iterable[int], guard: int | None) -> bool:
    """Wait until a build ends, then kill its whole group; return whether it ended in time.

    Args:
        builder: the build, started while signals were blocked.
        limit_s: how many seconds it may take.
        held: the signals that were blocked before, and are the only ones from now on.
        guard: a descriptor whose hang-up means that nobody waits for the build.

    Raises:
        Abandoned: nobody waits for it.
    """
    pidfd = os.pidfd_open(builder.pid)
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        if guard is not None:
            poll.register(guard, 0)  # a hang-up is always reported
        # Not reaped yet: until its group is killed, the number must not be reused.
        ended = [descriptor for descriptor, _ in poll.poll(limit_s * 1000)]
        if guard in ended:
            raise Abandoned
        return bool(ended)
    finally:
        os.close(pidfd)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(builder.pid, signal.SIGKILL)
        builder.wait()


def _list_outputs(bot: Bot, folder: Path) -> tuple[str, ...]:
    """The existing files that `run` and `ignore` name: most are the output of the build."""
    named = sorted({*bot.manifest.run, *bot.manifest.ignore})
    return tuple(word for word in named if not word.startswith("/") and os.path.lexists(folder / word))


def _name_some(paths: list[str]) -> str:
    rest = len(paths) - NAMED
    return ", ".join(paths[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
