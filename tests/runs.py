"""Tournaments that are run for real, in processes of their own, for tests that disturb them."""

from __future__ import annotations

import os
import select
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from referee.digests import compute_tournament_sha
from referee.records import Key, Layer
from tests.processes import Mark
from tournaments.league.store import Store

MALICE = (sys.executable, "-P", "-c", "from tournaments.cli import main; main(prog_name='malice')")


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
        """Write the tournament file; few tests need sandboxes, which take half as long again."""
        (self.folder / "t.toml").write_text(text if "isolation" in text else f'isolation = "{isolation}"\n{text}')

    def start(self, *words: str, malice: Sequence[str] = MALICE) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*malice, "run", "t.toml", "--db", "t.db", *words],
            cwd=self.folder,
            env=self.mark.environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, *words: str, malice: Sequence[str] = MALICE) -> tuple[int, str, str]:
        with self.start(*words, malice=malice) as process:
            out, err = process.communicate(timeout=120)
            return process.returncode, out, err

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
        """Enter when the third game has begun; it goes on at the end."""
        pipe = os.open(self.fifo, os.O_RDONLY | os.O_NONBLOCK)
        try:
            assert select.select([pipe], [], [], 60)[0], "no third game"
            assert os.read(pipe, 5) == b"here\n"
            self.fifo.unlink()
            yield
        finally:
            os.close(pipe)

    @property
    def fifo(self) -> Path:
        return self.folder / "fifo"
