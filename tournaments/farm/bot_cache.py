"""The bots that travelled to a worker: verified, unpacked, built once, and kept between runs with a bound on disk."""

from __future__ import annotations

import fcntl
import os
import shlex
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from malice.referee.errors import BotError
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.provenance import describe_build
from malice.tournaments.entries.variants import give_parameters
from malice.tournaments.farm.work import Ticket

FRESH_S = 600
"""What was used so lately may be needed by a run that goes on."""


class Lacking(Exception):
    """A bot is not here, or no longer."""

    def __init__(self, content: str) -> None:
        super().__init__(content)
        self.content = content


class BotCache:
    """Bots by content hash, as the league keeps them; several workers of a machine may share the folder.

    Whoever plays a bot holds a shared lock on it, whoever builds or removes it an exclusive one.

    Args:
        folder: where they lie; it is made if it does not exist.
        most_bytes: when more bytes than this are there, those that were not used for the longest time go.

    Raises:
        OSError: the folder cannot be made or written to.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._kept = KeptBots(folder / "worker.db")
        self._kept.make_folder()
        self._most_bytes = most_bytes
        self._ready: dict[str, Bot] = {}
        """By content: those that this process has verified. Each is verified once, as by a run on one machine: a copy
        in which a bot wrote would else be replaced while others play from it."""
        self._builds: dict[str, str] = {}
        """By content: what built a bot, asked before it first plays."""

    def find_lacking(self, contents: Iterable[str]) -> tuple[str, ...]:
        """The content hashes that are not here; the others count as used now."""
        lacking = []
        for content in contents:
            try:
                os.utime(self._kept.tar(content))
            except OSError:
                lacking.append(content)
        return tuple(lacking)

    def receive(self, content: str, tar: bytes) -> None:
        """Keep the tar file of a bot, and make room for it; raise the errors of `KeptBots.receive`."""
        self._kept.receive(content, tar)
        self._make_room(content)

    @contextmanager
    def hold(self, ticket: Ticket) -> Iterator[Bot]:
        """Yield a bot that is ready to start, and keep it here as long as this context lasts.

        Raises:
            Lacking: it is not here.
            BotError, LeagueError, DataError: it is damaged, does not build, or needs what this machine lacks.
        """
        if ticket.command:
            yield _find_command(ticket)
            return
        with self._lock(ticket.content, fcntl.LOCK_SH) as lock:
            if not self._kept.copy(ticket.content).is_dir():
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._ready.pop(ticket.content, None)
                self._prepare(ticket)
                fcntl.flock(lock, fcntl.LOCK_SH)
            if not self._kept.has(ticket.content):  # it was removed between two locks
                raise Lacking(ticket.content)
            with suppress(OSError):
                os.utime(self._kept.tar(ticket.content))
            yield give_parameters(self._prepare(ticket), ticket.given)

    def describe_build(self, ticket: Ticket) -> str:
        """What built a bot that is held; empty if nothing did, or it is a command line."""
        return self._builds.get(ticket.content, "")

    def _prepare(self, ticket: Ticket) -> Bot:
        """A bot that is verified and built, now or before."""
        if bot := self._ready.get(ticket.content):
            return bot
        if not self._kept.has(ticket.content):
            raise Lacking(ticket.content)
        if ticket.home and Path(ticket.home).is_dir():
            self._kept.notes.note_home(ticket.content, Path(ticket.home))
        bot = self._kept.load(ticket.content)
        self._builds[ticket.content] = describe_build(bot)
        self._ready[ticket.content] = bot
        return bot

    @contextmanager
    def _lock(self, content: str, flags: int) -> Iterator[int]:
        lock = os.open(self._kept.folder / f"{content}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, flags)
            yield lock
        finally:
            os.close(lock)

    def _make_room(self, newcomer: str) -> None:
        """Remove what was not used for the longest time, until the rest is within the bound; skip what is played."""
        sizes = self._kept.list_kept()
        total = sum(sizes.values())
        used = {content: self._find_use(content) for content in sizes}
        for content in sorted(sizes, key=lambda content: used[content]):
            if total <= self._most_bytes or used[content] > time.time() - FRESH_S:
                return
            if content != newcomer and self._remove(content):
                total -= sizes[content]

    def _find_use(self, content: str) -> float:
        """When a bot was last used, in seconds since 1970."""
        try:
            return self._kept.tar(content).stat().st_mtime
        except OSError:
            return 0.0

    def _remove(self, content: str) -> bool:
        with suppress(OSError), self._lock(content, fcntl.LOCK_EX | fcntl.LOCK_NB):
            self._kept.remove(content)
            return True
        return False


def _find_command(ticket: Ticket) -> Bot:
    """The bot of a command line, if it is the same on this machine.

    Raises:
        BotError: it is another one here, or none.
    """
    words = shlex.join(ticket.command)
    bot = find_bot(words, Path(ticket.folder))
    if bot.content != ticket.content:
        raise BotError(
            f"{words}: a command line does not travel, and here its files are others; make it a folder with bot.toml"
        )
    return bot
