"""A run of a tournament: print the plan, greet the entries, play, store; resumable at any moment."""

from __future__ import annotations

import contextlib
import io
import math
import shlex
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import Protocol, TextIO

from referee.errors import FamilyError
from referee.nouns import format_count
from referee.records import Batch, Key, Record
from tournaments.errors import DamagedLeague, LeagueError, LockedLeague, Stopped
from tournaments.league.contents import Game
from tournaments.league.store import Store
from tournaments.league.suspension import (
    Suspensions,
    find_idle_readmissions,
    find_suspended_entries,
    is_left_out,
)
from tournaments.running.announcement import print_doubts, print_line, print_plan
from tournaments.running.coordinator import Hooks, Outcome, Running, default_jobs, play_batches
from tournaments.running.leftovers import ProcessLedger, end_leftovers
from tournaments.running.pace import Pace, make_pace
from tournaments.running.plan import Plan
from tournaments.running.progress import Progress, format_duration
from tournaments.running.roll_call import call_roll, count_waiting, describe_waiting
from tournaments.sanitizer import sanitize

SAMPLE = 20
"""From how many finished games a run estimates the time of the others."""
NAMED = 20
"""How many games a run names that it could not play."""


class Playing(Protocol):
    """A way to play batches, as `coordinator.play_batches` does."""

    def __call__(self, batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks, /) -> Outcome:
        """Play all batches and return what happened."""


def run_tournament(
    store: Store,
    plan: Plan,
    jobs: int,
    out: TextIO,
    again: Sequence[str],
    playing: Playing | None = None,
    until: float = math.inf,
) -> int:
    """Play the open games of a tournament, and complete it; return how many are left because the time is up.

    Args:
        store: the league.
        plan: the tournament, opened on that store.
        jobs: the number of referee processes; 0 takes as many as there are processors for.
        out: where progress is printed.
        again: the words of the command that resumes the tournament after a stop.
        playing: plays the batches and has a display of its own; by default referee processes play, with a bar.
        until: no game begins that the clocks may not let finish by this time, in seconds since 1970.

    Raises:
        BotError: an entry cannot be built or does not answer `hello`; no game was played.
        Stopped: a signal came, the disk is full, or games could not be played; the message says how to resume.
    """
    if ended := end_leftovers(_ledger_path(store)):
        print_line(f"an earlier run was killed: ended {format_count(ended, 'process group')} that it left", out)
    run = Run(store, plan, jobs or default_jobs(plan.config.cpus_per_game), out, again, playing, until)
    try:
        left = run.play()
    finally:
        for line in describe_suspensions(run.suspensions.suspended, plan.config.suspend_after, again):
            print_line(line, out)
    if not left and (waiting := count_waiting(store, plan, run.suspensions.suspended)):
        print_line(describe_waiting(waiting, plan.absences, again), out)
    elif not left and not store.tournament().complete:
        struck = {game.number for game in store.games() if run.leaves_out(game)}
        store.complete(struck, find_idle_readmissions(store, struck))
    return left


class Run:
    """One run of a tournament: it plays the open games, and can be resumed after any of them.

    Args: as `run_tournament`, with at least one job.
    """

    def __init__(
        self,
        store: Store,
        plan: Plan,
        jobs: int,
        out: TextIO,
        again: Sequence[str],
        playing: Playing | None,
        until: float,
    ) -> None:
        self.suspensions = Suspensions(store.games(), plan.config.suspend_after, store.readmissions())
        self._store = store
        self._plan = plan
        self._jobs = jobs
        self._out = out
        self._again = again
        self._go_on = f"resume with: {shlex.join(again)}" if again else "no game was kept"
        self._play_batches = playing or play_batches
        self._bar_out = io.StringIO() if playing else out
        self._until = until
        self._greeted = False

    def play(self) -> int:
        """Play until no game is open or the time is up; return how many games are left.

        Only when no game is open is it certain which games a suspension leaves out.
        """
        done = self._store.keys()
        if self._plan.absences:
            self._begin(len(done))
        while next(self._list_open(done), None):
            self._begin(len(done))
            outcome = self._play_open(done)
            done = self._store.keys()
            if outcome.stopped or outcome.late:
                left = sum(len(batch.games) for batch in self._list_open(done))
                if left and not outcome.stopped:
                    return left
                if left:
                    planned = format_count(self._store.tournament().planned, "game")
                    raise Stopped(f"stopped by {outcome.stopped} after {len(done)} of {planned}; {self._go_on}")
            self._require_all_played(outcome)
        return 0

    def leaves_out(self, game: Game) -> bool:
        """Tell whether a game does not count because one of its entries was suspended before it."""
        return is_left_out(game.number, game.labels, self.suspensions.suspended)

    def _wants(self, key: Key) -> bool:
        labels = self._plan.list_labels(key)
        return self._plan.is_playable(key) and not is_left_out(
            self._plan.schedule.number(key), labels, self.suspensions.suspended
        )

    def _list_open(self, done: set[Key]) -> Iterator[Batch]:
        """List what must be played now: what is open of the schedule, and then the next deals of open series."""
        batches = self._plan.open_batches(done, self._wants)
        if first := next(batches, None):
            return chain([first], batches)
        absent = {*self.suspensions.suspended, *self._plan.absences}
        return iter(self._plan.more_batches(list(self._store.games()), absent))

    def _play_open(self, done: set[Key]) -> Outcome:
        """Play what is open of the schedule; after it, the next block of deals of every series that is still open."""
        if next(self._plan.open_batches(done, self._wants), None):
            pace = make_pace(self._plan, self._store.games(), self.suspensions)
            return self._play(self._list_open(done), len(done), self._plan.schedule.total, pace)
        batches = list(self._list_open(done))
        planned = len(done) + sum(len(batch.games) for batch in batches)
        self._store.plan(planned)
        print_line(f"series are open: {format_count(planned, 'game')} by now", self._out)
        return self._play(iter(batches), len(done), planned, None)

    def _begin(self, done: int) -> None:
        """Print the plan and greet the entries, once, and only if there is a game to play."""
        if not self._greeted:
            print_plan(self._plan, done, self._jobs, self._out, self._estimate_rest(done))
            print_doubts(self._plan, self._jobs, self._out)
            call_roll(self._store, self._plan, self.suspensions.suspended, self._out)
            self._greeted = True

    def _estimate_rest(self, done: int) -> float | None:
        """Return the likely time of the open games, played one by one, from some of the finished ones."""
        if not done:
            return None
        keys = sorted(self._store.keys())
        sample = keys[:: -(-len(keys) // SAMPLE)]
        elapsed = mean(self._store.record(key).elapsed_ms for key in sample)
        return elapsed * self._plan.schedule.missing(keys)

    def _play(self, batches: Iterator[Batch], done: int, planned: int, pace: Pace | None) -> Outcome:
        jobs = max(1, min(self._jobs, planned - done))
        with Progress(planned, done, self._bar_out) as progress:

            def on_record(record: Record) -> None:
                game = self._plan.make_game(record)
                self._store.add(game, record)
                self.suspensions.add(game)
                if pace:
                    pace.count(game.labels)
                progress.count_game(len(record.faults))

            def on_finishing(running: Collection[Running]) -> None:
                progress.say(self._describe_finish(running))

            def on_late() -> None:
                progress.say("no other game begins that the clocks may not let finish in time")

            ledger = ProcessLedger(_ledger_path(self._store))
            hooks = Hooks(
                on_record,
                self._wants,
                ledger,
                pace.allows if pace else lambda batch, running: True,
                self._find_latest_begin,
                on_late,
                on_finishing if self._again else None,
            )
            try:
                with self._stop_on_errors():
                    return self._play_batches(batches, jobs, self._plan.config.cpus_per_game, hooks)
            finally:
                ledger.close()

    def _find_latest_begin(self, batch: Batch) -> float:
        return self._until - (self._plan.compute_game_ms(batch.ruleset) or 0) / 1000

    def _describe_finish(self, running: Collection[Running]) -> str:
        longest = [self._plan.compute_game_ms(each.batch.ruleset) for each in running]
        limits = [limit for limit in longest if limit is not None]
        bound = f"at most {format_duration(max(limits) / 1000)} by the clocks"
        if len(limits) < len(longest):
            bound = "the clocks do not limit how long that takes"
        return f"finishing {format_count(len(running), 'game')}, {bound}; Ctrl-C again stops at once"

    @contextlib.contextmanager
    def _stop_on_errors(self) -> Iterator[None]:
        """Turn errors of the disk and the league into `Stopped`, with the command that resumes."""
        try:
            yield
        except* sqlite3.Error as errors:
            error = _find_first_error(errors)
            raise Stopped(f"{self._store.path}: cannot store a game: {error}; {self._go_on}") from None
        except* (DamagedLeague, FamilyError) as errors:
            raise _find_first_error(errors) from None
        except* LockedLeague as errors:
            raise Stopped(f"{_find_first_error(errors)}; {self._go_on}") from None
        except* OSError as errors:
            raise Stopped(f"cannot continue: {_find_first_error(errors)}; {self._go_on}") from None

    def _require_all_played(self, outcome: Outcome) -> None:
        if outcome.given_up:
            lines = [f"  {key}: {why}" for key, why in sorted(outcome.given_up.items())]
            lines[NAMED:] = [f"  and {len(lines) - NAMED} more"] if len(lines) > NAMED else []
            games = "\n".join(lines)
            raise Stopped(f"{format_count(len(outcome.given_up), 'game')} could not be played:\n{games}\n{self._go_on}")


def readmit(store: Store, labels: Iterable[str], out: TextIO) -> None:
    """Let suspended bots play again; print a warning if the cards of their games are no longer secret.

    Raises:
        LeagueError: one of them is not suspended.
    """
    suspended = find_suspended_entries(store)
    published = store.tournament().seed is not None
    for label in labels:
        if label not in suspended:
            known = f"suspended: {', '.join(sorted(suspended))}" if suspended else "no bot is"
            raise LeagueError(f"{label}: is not suspended; {known}")
        store.readmit(label, suspended[label])
        if published:
            warning = "the seed is already published: anyone who read it knows every card"
            print(f"{sanitize(label)} plays again; {warning}", file=out)


def describe_suspensions(suspended: Iterable[str], after: int, again: Sequence[str]) -> Iterator[str]:
    """Yield a line on each suspended bot, with the command that readmits it."""
    for label in suspended:
        command = shlex.join(
            [*(again or ("malice", "run", "TOURNAMENT.toml", "--db", "LEAGUE.db")), "--readmit", label]
        )
        yield (
            f"{sanitize(label)} is suspended: it ended {format_count(after, 'game')} in a row by a verdict;"
            f" let it play again with: {sanitize(command)}"
        )


def _ledger_path(store: Store) -> Path:
    return store.path.with_name(f"{store.path.name}-running")


def _find_first_error(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error inside the groups in which concurrent tasks wrap it."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
