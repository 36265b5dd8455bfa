"""Opens the file of a league for a command, and takes back one that was made for nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from malice.tournaments.errors import LeagueError

if TYPE_CHECKING:
    from malice.tournaments.league.store import Store


@contextmanager
def open_store(
    db: Path,
    *,
    create: bool = False,
    write: bool = False,
    unplayed: bool = False,
    tournament: str | None = None,
    several: bool = False,
) -> Iterator[Store]:
    """Open a league; a new file is deleted again if it stores no game, nor any that copies of it play.

    Args:
        db: the file.
        create: whether to create it if it does not exist.
        write: whether to write to it; `create` does, too.
        unplayed: whether a league will do that holds no games.
        tournament: the tournament to choose; None for the only one that can be meant.
        several: whether to choose none, if no tournament is named: the command goes through them.

    Raises:
        LeagueError: it cannot be used, has no such tournament, or several that can be meant, or holds no games and
            `create` is off.
    """
    from malice.tournaments.league.file import find_kept_bots
    from malice.tournaments.league.store import Store

    new = create and not db.exists()
    unused = new
    if write and not db.is_file():
        raise LeagueError("no such database", where=db)
    try:
        with Store(db, create=create or write) as store:
            if not (create or unplayed) and store.is_empty():
                raise LeagueError("holds no finished game", where=db)
            if tournament is not None:
                store.select(tournament)
            elif not (create or several):
                store.select(store.tournament().name)  # and stay there, even if a run begins another one
            try:
                yield store
            finally:
                unused = new and store.is_empty() and not any(map(store.has_shared, store.league().tournaments))
    finally:
        if unused:
            db.unlink(missing_ok=True)
            shutil.rmtree(find_kept_bots(db), ignore_errors=True)
