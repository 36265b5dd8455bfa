"""Second opinions: what a bot would have played in stored games, asked once and kept beside the league."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import BotError, FamilyError, RecordError
from malice.referee.records import Key, Player, Record
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.file import find_opinions
from malice.tournaments.league.store import Store
from malice.tournaments.running.rerun import Rerun, Surroundings, rerun_game

FORMAT = 1
"""Part of every name of a kept opinion: a higher number asks anew."""
ABSENT = "absent"
"""The code of a bot that could not be started; it is asked again next time."""


class Adviser(Struct, frozen=True):
    """Who gives the opinion, as pages name it."""

    name: str
    version: str
    """As in its bot.toml."""
    hash: str
    """SHA-256 of what plays, hex; empty where it would tell whose bot it is."""


class Opinion(Struct, frozen=True):
    """What a bot would have played in a game, by seat."""

    key: Key
    seats: tuple[Rerun, ...]


class Counts(Protocol):
    """Counts games as the bot is asked about them."""

    def expect(self, games: int) -> None:
        """Learn that so many more games follow."""

    def count_game(self) -> None:
        """Count a game."""


class Opinions:
    """A bot that says what it would have played in the games of a league.

    Opinions are kept in a folder `friday.opinions` beside `friday.db`, by the content of the bot and of what it was
    asked; nothing is asked twice.

    Args:
        store: the league.
        player: the bot.
        around: the conditions under which it plays.
        most: about how many games to ask it; None for all.
        counts: counts them.
    """

    def __init__(
        self, store: Store, player: Player, around: Surroundings, most: int | None = None, counts: Counts | None = None
    ) -> None:
        self.most = most
        self.adviser = _name_adviser(store, player)
        self.games = self.moves = self.agreed = 0
        """What it was asked about so far, and in how many moves it agreed."""
        self.faults: list[Rerun] = []
        """What ended with a verdict on it."""
        self._store = store
        self._player = player
        self._around = around
        self._counts = counts
        self._folder = find_opinions(store.path) / player.hash

    def ask(self, keys: Sequence[Key]) -> Iterator[Opinion]:
        """Yield the opinion on each of these games, in this order; on one that does not replay there is none.

        A verdict on the bot ends its opinion on a seat, and nothing else.

        Raises:
            LeagueError: a kept opinion is damaged.
            OSError: an opinion cannot be kept.
        """
        if self._counts:
            self._counts.expect(len(keys))
        for record in self._store.read_records(keys):
            with suppress(FamilyError, RecordError):  # its own replay page tells what is wrong with it
                opinion = Opinion(record.key, tuple(self._ask_seats(record)))
                self._tally(opinion)
                yield opinion
            if self._counts:
                self._counts.count_game()

    def _tally(self, opinion: Opinion) -> None:
        self.games += 1
        self.moves += sum(rerun.moves for rerun in opinion.seats)
        self.agreed += sum(rerun.agreed for rerun in opinion.seats)
        self.faults += [replace(rerun, choices=()) for rerun in opinion.seats if rerun.verdict]

    def _ask_seats(self, record: Record) -> Iterable[Rerun]:
        rngs = self._store.tournament().seeds(record.key.part).order(record.key, len(record.entries)).rngs
        for seat in range(len(record.entries)):
            path = self._folder / f"{_hash_requests(record, rngs, seat)}.json"
            rerun = _read_opinion(path)
            if rerun is None:
                rerun = self._rerun(record, rngs, seat)
                if rerun.verdict != ABSENT:
                    _keep_opinion(path, rerun)
            yield rerun

    def _rerun(self, record: Record, rngs: Sequence[int], seat: int) -> Rerun:
        try:
            return rerun_game(record, rngs, seat, self._player, self._around)
        except BotError as error:
            names = str(record.key), record.ruleset, seat, record.entries[seat][0], self._player.label
            return Rerun(*names, 0, 0, (), ABSENT, "it did not start", str(error))


def _name_adviser(store: Store, player: Player) -> Adviser:
    """Name the bot; in an anonymous tournament, one that plays has its label there: its agreement tells who it is."""
    if not store.config().anonymous:
        return Adviser(player.label, player.version, player.hash)
    versions = (version for own in store.league().versions.values() for version in own)
    label = next((version.label for version in versions if version.hash == player.hash), player.label)
    return Adviser(label, "", "")


def _hash_requests(record: Record, rngs: Sequence[int], seat: int) -> str:
    """Return a digest of all that decides the requests to a seat: beside the game its clocks, which they tell."""
    times = record.clock, record.micros, record.cpu_micros
    content = msgspec.json.encode((FORMAT, record.digest, times, rngs, seat))
    return hashlib.sha256(content).hexdigest()


def _read_opinion(path: Path) -> Rerun | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Rerun)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise LeagueError(f"{path}: damaged: {error}; delete it, and the bot is asked again") from None


def _keep_opinion(path: Path, rerun: Rerun) -> None:
    """Write an opinion, whole or not at all; nobody else may read what a bot wrote to stderr."""
    path.parent.parent.mkdir(mode=0o700, exist_ok=True)
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(msgspec.json.encode(rerun))
        os.replace(draft, path)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
