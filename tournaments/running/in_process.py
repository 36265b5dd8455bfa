"""Games that are played in this process: somebody at the terminal takes part, or watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from referee.exchange import Abandoned
from referee.game_runner import Watch
from referee.playing import BatchSeat, play_batch
from referee.records import Batch, GameOrder, Key, Record, RefereeFault, Report, Started, StderrLine
from tournaments.running.coordinator import Outcome
from tournaments.running.leftovers import ProcessLedger
from tournaments.terminal.watching import Watcher


class InProcess:
    """Plays batches one after the other, by the same referee that plays them elsewhere.

    Ctrl-C is not heard here: it ends the bots, and goes on to whoever called.

    Args:
        guests: by label, who sits at the table without being a bot process.
        watcher: is shown every game.
        on_stderr: takes the lines of stderr, where a batch asks for them.
    """

    def __init__(
        self, guests: Mapping[str, BatchSeat], watcher: Watcher | None, on_stderr: Callable[[StderrLine], None]
    ) -> None:
        self._guests = guests
        self._watcher = watcher
        self._on_stderr = on_stderr

    def __call__(
        self,
        batches: Iterator[Batch],
        jobs: int,
        cpus_per_game: int,
        on_record: Callable[[Record], None],
        running: ProcessLedger,
        wanted: Callable[[Key], bool],
    ) -> Outcome:
        """Play until all is played or somebody leaves; a game that the referee cannot finish is given up."""
        outcome = Outcome()
        for batch in batches:
            games = tuple(order for order in batch.games if wanted(order.key))
            try:
                self._play(replace(batch, games=games), on_record, running, outcome)
            except Abandoned as why:
                outcome.stopped = str(why)
                break
        return outcome

    def _play(
        self, batch: Batch, on_record: Callable[[Record], None], running: ProcessLedger, outcome: Outcome
    ) -> None:
        bots: list[int] = []
        spared: set[Key] = set()

        def tell(report: Report) -> None:
            match report:
                case Started():
                    bots.append(report.pid)
                    running.add(report)
                case Record():
                    if self._watcher:
                        self._watcher.end(report)
                    on_record(report)
                case StderrLine():
                    self._on_stderr(report)
                case RefereeFault(key, memory=True):
                    spared.add(key)
                case RefereeFault(key, sentence):
                    outcome.given_up[key] = sentence

        def watch(order: GameOrder) -> Watch:
            assert self._watcher
            return self._watcher.begin(batch, order)

        try:
            play_batch(batch, None, tell, self._guests, watch if self._watcher else None)
        finally:
            for pid in bots:
                running.drop(pid)
        if spared:
            again = tuple(replace(order, spared=True) for order in batch.games if order.key in spared)
            self._play(replace(batch, games=again), on_record, running, outcome)
