"""Tournaments that are run for real, in processes of their own, for tests that disturb them."""

from __future__ import annotations

import fcntl
import os
import select
import sqlite3
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import chdir, closing, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.referee.records import Batch, Key, Layer, compute_tournament_sha
from malice.tournaments.entries.bots import list_shipped_bots
from malice.tournaments.league.store import Store
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Hooks, Outcome
from tests import command_line
from tests.processes import PATIENCE_S, POLL_S, Mark

FIRST = (list_shipped_bots()["first"] / "bot.py").read_text()
SHORT = 'extends = "standard"\n[rules]\npayoff_size = 5\n'
"""Games of a quarter of the usual length."""
MALICE = (sys.executable, "-P", "-c", "from malice.tournaments.cli import main; main(prog_name='malice')")


def read_until(process: subprocess.Popen[str], beginning: str) -> str:
    """Return the first line on stderr that begins so."""
    assert process.stderr is not None
    return next(line for line in process.stderr if line.startswith(beginning))


class Run:
    """A folder with a tournament in it, and the commands run there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "t.db"
        self.mark = Mark()

    def write(self, text: str, isolation: Layer = "none") -> None:
        """Write the tournament file, with patience for bots on a slow machine, unless it names its times itself.

        Few tests need sandboxes, which take half as long again, or games of full length.
        """
        usual = {
            "isolation": f'"{isolation}"',
            "init_ms": "60_000",
            "clock": "{ move_ms = 60_000 }",
            "rulesets": '["./short.toml"]',
        }
        (self.folder / "short.toml").write_text(SHORT)
        lines = (f"{name} = {value}\n" for name, value in usual.items() if name not in text)
        (self.folder / "t.toml").write_text("".join(lines) + text)

    def start(self, *words: str, malice: Sequence[str] = MALICE) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*malice, "run", "t.toml", "--db", "t.db", *words],
            cwd=self.folder,
            env=self.mark.environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, *words: str, malice: Sequence[str] = ()) -> tuple[int, str, str]:
        """Run the tournament to its end, in this process or in one of a program; return code, stdout and stderr."""
        if malice:
            with self.start(*words, malice=malice) as process:
                out, err = process.communicate(timeout=PATIENCE_S)
                return process.returncode, out, err
        with chdir(self.folder), pytest.MonkeyPatch.context() as environment:
            for name, value in self.mark.variable().items():
                environment.setenv(name, value)
            result = command_line.malice("run", "t.toml", "--db", "t.db", *words)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    def sha(self) -> str:
        return compute_tournament_sha(digest for _, digest in sorted(self.digests().items()))

    def games(self) -> int:
        return len(self.digests())

    def digests(self, *, counting: bool = True) -> dict[Key, str]:
        """Return what is finished, and counts unless it need not; nothing if the league was not founded yet."""
        if not self.db.exists():
            return {}
        with Store(self.db) as store:
            if store.is_empty():
                return {}
            return {game.key: game.digest for game in (store.games() if counting else store.stored_games())}

    def count_games(self) -> int:
        """Return how many games are finished, even while a run goes on."""
        if not self.db.exists():
            return 0
        with closing(sqlite3.connect(f"file:{self.db}?mode=ro", uri=True)) as connection:
            try:
                return int(connection.execute("SELECT count(*) FROM games").fetchone()[0])
            except sqlite3.OperationalError:  # it is being founded
                return 0

    def is_whole(self) -> bool:
        """Tell whether SQLite finds nothing wrong with the file."""
        connection = sqlite3.connect(self.db)
        try:
            found = connection.execute("PRAGMA integrity_check").fetchall()
        finally:
            connection.close()
        return found == [("ok",)]

    @contextmanager
    def in_the_third_game(self) -> Iterator[None]:
        """Enter when the third game has begun and the first two are stored; it goes on at the end."""
        with self.in_a_game():
            self.await_games(2)
            yield

    @contextmanager
    def in_a_game(self) -> Iterator[None]:
        """Enter when a bot says through the named pipe that it waits; it goes on at the end."""
        pipe = os.open(self.fifo, os.O_RDONLY | os.O_NONBLOCK)
        try:
            assert select.select([pipe], [], [], PATIENCE_S)[0], "no bot waits"
            assert os.read(pipe, 5) == b"here\n"
            self.fifo.unlink()
            yield
        finally:
            os.close(pipe)

    def await_games(self, games: int, process: subprocess.Popen[str] | None = None) -> None:
        """Wait until so many games are finished, or until the process ends that plays them."""
        deadline = time.monotonic() + PATIENCE_S
        while self.count_games() < games and (process is None or process.poll() is None):
            assert time.monotonic() < deadline, f"{self.count_games()} games, not {games}"
            time.sleep(POLL_S)

    def find_referees(self) -> list[int]:
        """Return the referee processes."""
        return self.mark.find("malice.referee")

    def await_last_order(self) -> None:
        """Wait until the only referee, in the midst of a game, has been told to end after it."""
        (referee,) = self.find_referees()
        with open(f"/proc/{referee}/fd/0", "rb", buffering=0) as orders:
            deadline = time.monotonic() + PATIENCE_S
            while not struct.unpack("i", fcntl.ioctl(orders, termios.FIONREAD, bytes(4)))[0]:
                assert time.monotonic() < deadline, "no order"
                time.sleep(POLL_S)

    @property
    def fifo(self) -> Path:
        return self.folder / "fifo"


def write_bot(run: Run, label: str, text: str = "") -> None:
    folder = run.folder / "bots" / label
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.toml").write_text('name = "mybot"\nrun = ["{python}", "bot.py"]\n')
    (folder / "bot.py").write_text(f"# {label}\n{text}\n{FIRST}")


def list_versions(run: Run) -> dict[str, int]:
    with Store(run.db) as store:
        return {entry.label: entry.version.number for entry in store.entries()}


def list_titles(run: Run) -> list[str]:
    with Store(run.db) as store:
        return [part.title for part in store.parts()]


class Until:
    """Plays these games, and then is stopped, as by Ctrl-C."""

    def __init__(self, keys: Collection[Key]) -> None:
        self._keys = keys

    def __call__(self, batches: Iterator[Batch], jobs: int, cpus: int, hooks: Hooks) -> Outcome:
        mine = (replace(each, games=tuple(o for o in each.games if o.key in self._keys)) for each in batches)
        outcome = play_batches((each for each in mine if each.games), jobs, cpus, hooks)
        outcome.stopped = "SIGINT"
        return outcome
