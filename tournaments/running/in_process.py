"""Games played in this process, for somebody at the terminal who takes part or watches, or for a Python program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from malice.referee.batch import BatchSeat, play_batch
from malice.referee.errors import Abandoned, GameFault
from malice.referee.records import Batch, GameBegun, GameOrder, Key, Record, RefereeFault, Report, Started, StderrLine
from malice.referee.seat import Watch
from malice.tournaments.running.hooks import Hooks, Outcome
from malice.tournaments.terminal.watching import Watcher


class InProcess:
    """Plays batches one after the other in this process, with the same referee as in referee processes.

    It handles no signal: Ctrl-C ends the bots and reaches the caller as an exception.

    Args:
        guests: by label, the players that are not bot processes.
        watcher: shows every game.
        on_stderr: receives lines of stderr from batches that ask for them.
        guard: a descriptor whose hang-up means that nobody waits for the games.
    """

    def __init__(
        self,
        guests: Mapping[str, BatchSeat],
        watcher: Watcher | None = None,
        on_stderr: Callable[[StderrLine], None] = lambda report: None,
        guard: int | None = None,
    ) -> None:
        self._guests = guests
        self._watcher = watcher
        self._on_stderr = on_stderr
        self._guard = guard

    def __call__(self, batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks) -> Outcome:
        """Play all batches, or stop when somebody leaves; give up a game that the referee cannot finish."""
        outcome = Outcome()
        for batch in batches:
            if hooks.now() >= hooks.latest_begin(batch):
                _note_late(hooks, outcome)
                break
            games = tuple(order for order in batch.games if hooks.wants(order.key))
            try:
                self._play(replace(batch, games=games), hooks, outcome)
            except Abandoned as why:
                outcome.stopped = str(why)
                break
        return outcome

    def _play(self, batch: Batch, hooks: Hooks, outcome: Outcome) -> None:
        orders = {order.key: order for order in batch.games}
        pids: list[int] = []
        spared: set[Key] = set()

        def on_report(report: Report) -> None:
            match report:
                case Started():
                    pids.append(report.pid)
                    hooks.ledger.add(report)
                case GameBegun(key):
                    hooks.on_begin(batch, orders[key])
                case Record():
                    if self._watcher:
                        self._watcher.end(report)
                    del orders[report.key]
                    hooks.on_record(report)
                case StderrLine():
                    self._on_stderr(report)
                case RefereeFault(_, sentence, rules=True):
                    raise GameFault(sentence, report.report)
                case RefereeFault(key, sentence, memory=True):
                    spared.add(key)
                    hooks.on_failure(key, sentence, again=True)
                case RefereeFault(key, sentence):
                    hooks.on_failure(key, sentence, again=False)
                    outcome.given_up[key] = sentence

        def watch(order: GameOrder) -> Watch:
            assert self._watcher
            return self._watcher.begin(batch, order)

        def is_ended() -> bool:
            if hooks.now() >= hooks.latest_begin(batch):
                _note_late(hooks, outcome)
            return outcome.late or not any(map(hooks.wants, orders))

        try:
            play_batch(batch, self._guard, on_report, self._guests, watch if self._watcher else None, is_ended)
        finally:
            for pid in pids:
                hooks.ledger.remove(pid)
        if spared:
            again = tuple(replace(order, spared=True) for order in batch.games if order.key in spared)
            self._play(replace(batch, games=again), hooks, outcome)


def _note_late(hooks: Hooks, outcome: Outcome) -> None:
    if not outcome.late:
        outcome.late = True
        hooks.on_late()
