"""Replays records that come from other machines, before anything final follows from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from types import TracebackType

from referee.nouns import format_count
from referee.records import Key, Record
from tournaments.errors import Stopped
from tournaments.league.store import Store
from tournaments.running.replays import Judge, Replays

NAMED = 5
"""How many wrong games a message names."""


class Audit:
    """Replays records of other machines, each once while this run lasts. Use it as a context manager.

    Args:
        store: the league.
        go_on: how to resume after a stop, in words.
        replays: where they are replayed; by default in processes of their own.
    """

    def __init__(self, store: Store, go_on: str = "", replays: Replays | None = None) -> None:
        self._store = store
        self._go_on = go_on
        self._replays = replays or Replays()
        self._replayed: set[Key] = set()

    def __enter__(self) -> Audit:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._replays.__exit__(None, None, None)

    def replay(self, record: Record, judge: Judge) -> None:
        """Replay a record that is not stored yet; `judge` hears of it in another thread."""

        def note(record: Record, why: str) -> None:
            if not why:
                self._replayed.add(record.key)
            judge(record, why)

        self._replays.submit(record, note)

    def check(self, keys: Iterable[Key]) -> None:
        """Replay stored games, unless that was done before.

        Raises:
            Stopped: some of them are wrong; they are taken out of the league, and are open again.
        """
        fresh = [key for key in keys if key not in self._replayed]
        wrong = dict(self._replays.find_faults(self._store.read_records(fresh)))
        self._replayed.update(key for key in fresh if key not in wrong)
        if wrong:
            self._store.take_back(wrong)
            named = "".join(f"\n  {why}" for _, why in sorted(wrong.items())[:NAMED])
            games = format_count(len(wrong), "game")
            raise Stopped(f"{games} of other machines did not replay, and must be played again; {self._go_on}{named}")

    def close(self, parts: Collection[int]) -> None:
        """Replay all games of other machines in parts that are over, with the errors of `check`."""
        for part in parts:
            self.check(self._store.list_foreign(part))
