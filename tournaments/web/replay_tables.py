"""Tables that go on from a replay of a served site: each a `malice play --web` that ends with the server."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Annotated, Self

import msgspec
from msgspec import Meta, Struct

from malice.referee.bot import prepare_parent_death_signal
from malice.referee.errors import DataError
from malice.referee.records import Key
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.league.positions import MARK
from malice.tournaments.league.publication import read_site_owner
from malice.tournaments.league.store import Store

MOST_TABLES = 4
"""So many are open at a time; one more ends the oldest."""


class Wish(Struct, frozen=True, forbid_unknown_fields=True):
    """What a page asks for."""

    key: Annotated[str, Meta(max_length=100)]
    """Of the game."""
    actions: Annotated[int, Meta(ge=0, le=10**6)]
    """After how many of its actions to go on."""
    seat: Annotated[int, Meta(ge=0, le=7)]
    """Whose place to take."""
    anew: bool
    """Whether the cards that this seat cannot know are dealt anew, at a table of two."""


class ReplayTables:
    """Opens tables, and ends them when it is left.

    Args:
        league: the file whose games go on.
        site: the folder of its site, or of the sites of its tournaments.
    """

    def __init__(self, league: Path, site: Path) -> None:
        self._league = league
        self._site = site
        self._tables: deque[subprocess.Popen[bytes]] = deque()
        # A child asks for its end with the thread that started it: this one lives until the last table ends.
        self._thread = ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.submit(self._end_oldest, 0).result()
        self._thread.shutdown()

    def open(self, page: str, body: bytes) -> str:
        """Open a table that goes on as a page asks; return its address.

        Args:
            page: the folder of the page below that of the site.
            body: a `Wish` as JSON.

        Raises:
            DataError: it cannot; the message says why.
            LeagueError: there is no such game.
        """
        try:
            wish = msgspec.json.decode(body, type=Wish)
        except msgspec.MsgspecError as error:
            raise DataError(f"expected a place in a replay: {error}") from None
        owner = read_site_owner(self._site / page)
        tournament = owner.tournament if owner else ""
        with Store(self._league) as store:
            if tournament:
                store.select(tournament)
            chosen = store.tournament()
            key = Key.parse(wish.key, len(chosen.parts))
            labels = store.row(key)[0].labels
            known = {each.label: each.number for each in chosen.parts[key.part].tables[key.table].versions}
            players = [self._name_player(store, label, known[label]) for label in labels]
        if wish.seat >= len(players):
            raise DataError(f"expected a seat below {len(players)}, got {wish.seat}")
        players[wish.seat] = "you"
        place = "/".join(filter(None, (tournament, wish.key, str(wish.actions))))
        words = [*players, "--from", f"{self._league}{MARK}{place}"]
        return self._thread.submit(self._start, words + ["--new-cards"] * wish.anew).result()

    def _name_player(self, store: Store, label: str, number: int) -> str:
        """The version that played, if it is kept; a shipped bot or a command line may still be found by its label."""
        version = store.league().versions[label][number - 1]
        return f"{label}@{number}" if KeptBots(self._league).has(version.hash) else label

    def _start(self, words: list[str]) -> str:
        self._end_oldest(MOST_TABLES - 1)
        command = [sys.executable, "-P", "-m", "malice.tournaments.cli", "play", *words]
        with ExitStack() as stack:
            said: IO[bytes] = stack.enter_context(TemporaryFile())
            child = subprocess.Popen(
                [*command, "--web", "--no-browser", "--port", "0"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
                start_new_session=True,  # Ctrl-C reaches only the server, which ends its tables
                preexec_fn=prepare_parent_death_signal(signal.SIGTERM),
            )
            assert child.stdout
            with child.stdout:
                address = child.stdout.readline().decode().strip()
            if address:
                self._tables.append(child)
                return address
            child.wait()
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            raise DataError(lines[-1].removeprefix("Error: ").strip() if lines else "the table ended at once")

    def _end_oldest(self, most: int) -> None:
        """End tables until there are no more than so many; those that have ended by themselves do not count."""
        self._tables = deque(table for table in self._tables if table.poll() is None)
        while len(self._tables) > most:
            table = self._tables.popleft()
            table.terminate()
            table.wait()
