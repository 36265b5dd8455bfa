"""Keeps a site as new as the league that somebody plays, without taking much from the games."""

from __future__ import annotations

import time
from pathlib import Path

from malice.site_pages.build import SiteWriter
from malice.site_pages.contents import DEFAULTS, SiteOptions
from malice.site_pages.live import Live, Speed, list_live_lines
from malice.site_pages.pages import GameCount
from malice.tournaments.league.cache import CachingReader
from malice.tournaments.league.publication import SiteSize
from malice.tournaments.league.store import Store

EVERY_S = 10.0
"""The shortest time from one look at a league to the next."""
SHARE = 0.1
"""The largest share of a processor that looks may take."""


class Follower:
    """Looks at a league now and then, and writes what changed.

    Args:
        store: the league, open for reading.
        out: the folder of its site.
    """

    def __init__(self, store: Store, out: Path) -> None:
        self._store = store
        self._writer = SiteWriter(CachingReader(store), out)
        self._speed = Speed()
        self._running = False
        self._at = 0.0
        self._took_s = 0.0
        self._games = GameCount(0, 0)
        self._mark: object = None
        self._size: SiteSize | None = None

    @property
    def pause_s(self) -> float:
        """How long to wait until the next look, in seconds."""
        return max(EVERY_S - (time.time() - self._at), self._took_s / SHARE - self._took_s)

    def look(self, options: SiteOptions = DEFAULTS, *, running: bool) -> SiteSize:
        """Write the site as the league stands now; if nothing changed in it, only the time.

        Args:
            options: as `SiteWriter.render`.
            running: whether somebody plays it.

        Raises:
            OSError: a file cannot be written; the next look tries again.
        """
        self._at, begin = time.time(), time.process_time()
        self._running = running
        mark = _read_mark(self._store.path)
        if self._size is None or mark != self._mark:
            self._mark = None  # what cannot be written now is written next time
            self._size = self._writer.render(options, self._make_live)
            self._mark = mark
        else:
            self._writer.tell(self._make_live(self._games))
        self._took_s = time.process_time() - begin
        return self._size

    def leave(self) -> None:
        """Tell the pages that nobody keeps them up to date any more.

        Raises:
            OSError: the file cannot be written.
        """
        if self._size is not None:
            self._writer.tell(Live(self._at, words=self._describe_end()))

    def _make_live(self, games: GameCount) -> Live:
        self._games = games
        self._speed.add(self._at, games.played)
        tournament = self._store.tournament()
        if not self._running or tournament.complete:
            return Live(self._at, words=self._describe_end())
        return Live(self._at, True, list_live_lines(games, tournament.config, self._speed.measure()))

    def _describe_end(self) -> tuple[str, ...]:
        return ("finished",) if self._store.tournament().complete else ()


def _read_mark(league: Path) -> object:
    """A value that differs after every change of a league."""
    mark = []
    for path in (league, league.with_name(f"{league.name}-wal")):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        mark.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return mark
