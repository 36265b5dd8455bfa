"""A league as one file: its database as it is at one moment, its kept bots, and who is who in an anonymous one.

Bots are kept before the journal names them, so that a copy of the database, and then of its bots, lacks none.
"""

from __future__ import annotations

import os
import re
import shutil
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from malice.referee.errors import DataError
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.errors import LeagueError, UnverifiedError
from malice.tournaments.league.file import find_kept_bots, find_name_list, list_league_files
from malice.tournaments.league.store import Store

LEAGUE, NAMES, BOTS = "league.db", "names.csv", "bots"
_MEMBER = re.compile(rf"{LEAGUE}|{NAMES}|{BOTS}/[0-9a-f]{{64}}\.(?:tar|home|variant)", re.ASCII)
"""What a backup holds; copies of bots as built are made again."""


class Backup(Struct, frozen=True):
    """What a backup holds."""

    file: str
    league: str
    games: int
    """Finished games, those of all tournaments."""
    bots: int
    bytes: int
    """The size of the backup."""


def back_up(store: Store, file: Path) -> Backup:
    """Write a league to a new file, even while a run goes on.

    Raises:
        DataError: the file exists.
        UnverifiedError: the league is damaged; nothing is written.
        OSError: the file cannot be written.
    """
    if file.exists():
        raise DataError(where=file, expected="the name of a new file", got="one that exists")
    file.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".malice-", dir=file.parent) as work:
        copy, draft = Path(work, LEAGUE), Path(work, "draft")
        store.copy(copy)
        with Store(copy) as copied:
            if problem := copied.integrity():
                raise UnverifiedError(f"{store.path}: {problem}")
            games = sum(copied.view(name).count_stored() for name in copied.league().tournaments)
        kept = [
            path for path in sorted(find_kept_bots(store.path).glob("*")) if _MEMBER.fullmatch(f"{BOTS}/{path.name}")
        ]
        with open(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
            with tarfile.open(fileobj=out, mode="w") as tar:
                tar.add(copy, LEAGUE)
                if (names := find_name_list(store.path)).is_file():
                    tar.add(names, NAMES)
                for path in kept:
                    tar.add(path, f"{BOTS}/{path.name}")
            out.flush()
            os.fsync(out.fileno())
        os.link(draft, file)  # unlike a rename, it never replaces what somebody wrote there meanwhile
        bots = sum(path.suffix == ".tar" for path in kept)
        return Backup(str(file), str(store.path), games, bots, file.stat().st_size)


def restore(file: Path, league: Path) -> Backup:
    """Write a league anew as a backup holds it.

    Raises:
        DataError: the file is no backup.
        LeagueError: there is a league of this name, or something of one.
        UnverifiedError: the backup is damaged; nothing is written.
        OSError: the league cannot be written.
    """
    for path in map(Path, list_league_files(league)):
        if path.exists():
            raise LeagueError(f"{path}: exists already; restore under another name, or move it away")
    league.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".malice-", dir=league.resolve().parent) as work:
        _unpack(file, Path(work))
        copy, bots = Path(work, LEAGUE), sorted(Path(work, BOTS).glob("*"))
        with Store(copy) as store:
            if problem := store.integrity():
                raise UnverifiedError(f"{file}: {problem}")
            games = sum(store.view(name).count_stored() for name in store.league().tournaments)
        folder = KeptBots(league).make_folder() if bots else Path()
        for path in bots:
            path.rename(folder / path.name)
        if Path(work, NAMES).exists():
            Path(work, NAMES).rename(find_name_list(league))
        copy.rename(league)  # last, since it is the league
        return Backup(str(file), str(league), games, sum(path.suffix == ".tar" for path in bots), file.stat().st_size)


def _unpack(file: Path, folder: Path) -> None:
    """Write the members of a backup to an empty folder."""
    (folder / BOTS).mkdir()
    try:
        with tarfile.open(file, "r:") as tar:
            for member in tar:
                source = tar.extractfile(member) if member.isfile() and _MEMBER.fullmatch(member.name) else None
                if source is None:
                    raise DataError(
                        where=file, expected="what `malice backup` writes", got=f"{member.name!r:.80} in it"
                    )
                path = folder / member.name
                with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
                    shutil.copyfileobj(source, out)
                    out.flush()
                    os.fsync(out.fileno())
    except (tarfile.TarError, FileExistsError, EOFError) as error:
        raise DataError(
            where=file, expected="what `malice backup` writes", got=f"what cannot be read: {error}"
        ) from None
    if not (folder / LEAGUE).is_file():
        raise DataError(where=file, expected="what `malice backup` writes", got=f"no {LEAGUE} in it")
