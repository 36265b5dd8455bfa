"""Replays records that come from other machines, before anything final follows from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from types import TracebackType

import msgspec

from malice.referee.nouns import format_count
from malice.referee.records import Key, Record
from malice.tournaments.errors import Stopped
from malice.tournaments.league.replayers import ReplayPool, count_processors
from malice.tournaments.league.replaying import CHECK
from malice.tournaments.league.store import Store

Judge = Callable[[Record, str], None]
"""Receives a record and what is wrong with it; nothing, if the string is empty."""
NAMED = 5
"""How many wrong games a message names."""

_KILLED = b"its replay was killed"
_encoder = msgspec.json.Encoder()  # unlike msgpack, it takes every number that a worker may send


class CheckPool(ReplayPool[bytes]):
    """As many processes as there are processors; they tell what is wrong with records, which they receive as JSON.

    Each record comes alone, since a forged one may end its process.
    """

    def __init__(self) -> None:
        super().__init__(lambda line: _KILLED, (CHECK,), count_processors(), 1)


class Audit:
    """Replays records of other machines, each once while this run lasts. Use it as a context manager.

    Args:
        store: the league.
        go_on: how to resume after a stop, in words.
        checkers: replay them.
    """

    def __init__(self, store: Store, go_on: str = "", checkers: CheckPool | None = None) -> None:
        self._store = store
        self._go_on = go_on
        self._checkers = checkers or CheckPool()
        self._replayed: set[Key] = set()

    def __enter__(self) -> Audit:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._checkers.__exit__(None, None, None)

    def replay(self, record: Record, judge: Judge) -> None:
        """Replay a record that is not stored yet; `judge` hears of it in another thread."""

        def tell(done: Future[list[bytes]]) -> None:
            if done.cancelled():  # the run is over
                return
            if done.exception():  # that is our own trouble: it is replayed before its part closes
                judge(record, "")
                return
            (why,) = done.result() or [_KILLED]
            if not why:
                self._replayed.add(record.key)
            judge(record, why.decode())

        self._checkers.submit([_encoder.encode(record)]).add_done_callback(tell)

    def check(self, keys: Iterable[Key]) -> None:
        """Replay stored games, unless that was done before.

        Raises:
            Stopped: some of them are wrong; they are taken out of the league, and are open again.
        """
        fresh = [key for key in keys if key not in self._replayed]
        found = self._checkers.replay(map(_encoder.encode, self._store.read_records(fresh)))
        wrong = {key: why.decode() for key, (_, why) in zip(fresh, found, strict=True) if why}
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
