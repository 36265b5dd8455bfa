"""A run of a tournament: print the plan, greet the entries, play, store; resumable at any moment."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TextIO

from referee.errors import FamilyError
from referee.nouns import format_count, inflect
from referee.records import Batch, Key, Record
from tournaments.errors import DamagedLeague, LeagueError, LockedLeague, Stopped
from tournaments.league.contents import Game
from tournaments.league.draw import measure_spread
from tournaments.league.store import Store
from tournaments.league.suspension import (
    Suspensions,
    find_idle_readmissions,
    find_suspended_entries,
    is_left_out,
)
from tournaments.running.coordinator import Hooks, Outcome, default_jobs, play_batches
from tournaments.running.isolation import describe_shortcomings
from tournaments.running.leftovers import ProcessLedger, end_leftovers
from tournaments.running.load import describe_doubts, measure_load
from tournaments.running.plan import Plan
from tournaments.running.progress import Progress, format_duration
from tournaments.running.roll_call import call_roll, count_waiting, describe_waiting
from tournaments.sanitizer import sanitize

NAMED = 20
"""How many games a run names that it could not play."""


class Playing(Protocol):
    """A way to play batches, as `coordinator.play_batches` does."""

    def __call__(self, batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks, /) -> Outcome:
        """Play all batches and return what happened."""


def run_tournament(
    store: Store, plan: Plan, jobs: int, out: TextIO, again: Sequence[str], playing: Playing | None = None
) -> None:
    """Play the open games of a tournament, and complete it.

    Args:
        store: the league.
        plan: the tournament, opened on that store.
        jobs: the number of referee processes; 0 takes as many as there are processors for.
        out: where progress is printed.
        again: the words of the command that resumes the tournament after a stop.
        playing: plays the batches and has a display of its own; by default referee processes play, with a bar.

    Raises:
        BotError: an entry cannot be built or does not answer `hello`; no game was played.
        Stopped: a signal came, the disk is full, or games could not be played; the message says how to resume.
    """
    if ended := end_leftovers(_ledger_path(store)):
        _print(f"an earlier run was killed: ended {format_count(ended, 'process group')} that it left", out)
    run = Run(store, plan, jobs or default_jobs(plan.config.cpus_per_game), out, again, playing)
    try:
        run.play()
    finally:
        for line in describe_suspensions(run.suspensions.suspended, plan.config.suspend_after, again):
            _print(line, out)
    if waiting := count_waiting(store, plan, run.suspensions.suspended):
        _print(describe_waiting(waiting, plan.absences, again), out)
    elif not store.tournament().complete:
        struck = {game.number for game in store.games() if run.leaves_out(game)}
        store.complete(struck, find_idle_readmissions(store, struck))


class Run:
    """One run of a tournament: it plays the open games, and can be resumed after any of them.

    Args: as `run_tournament`, with at least one job.
    """

    def __init__(
        self, store: Store, plan: Plan, jobs: int, out: TextIO, again: Sequence[str], playing: Playing | None = None
    ) -> None:
        self.suspensions = Suspensions(store.games(), plan.config.suspend_after, store.readmissions())
        self._store = store
        self._plan = plan
        self._jobs = jobs
        self._out = out
        self._go_on = f"resume with: {shlex.join(again)}" if again else "no game was kept"
        self._play_batches = playing or play_batches
        self._bar_out = io.StringIO() if playing else out
        self._greeted = False

    def play(self) -> None:
        """Play until no game is open; only then is it certain which games a suspension leaves out."""
        if self._plan.absences:
            self._begin(len(self._store.keys()))
        while self._play_open() or self._play_more_series():
            pass

    def leaves_out(self, game: Game) -> bool:
        """Tell whether a game does not count because one of its entries was suspended before it."""
        return is_left_out(game.number, game.labels, self.suspensions.suspended)

    def _wants(self, key: Key) -> bool:
        labels = self._plan.list_labels(key)
        return self._plan.is_playable(key) and not is_left_out(
            self._plan.schedule.number(key), labels, self.suspensions.suspended
        )

    def _play_open(self) -> bool:
        """Play the open games of the schedule; return whether there were any."""
        done = self._store.keys()
        if next(self._plan.open_batches(done, self._wants), None) is None:
            return False
        self._begin(len(done))
        self._play(self._plan.open_batches(done, self._wants), self._plan.schedule.total)
        return True

    def _play_more_series(self) -> bool:
        """Play the next block of deals of every series that is still open; return whether there was any."""
        batches = self._plan.more_batches(
            list(self._store.games()), {*self.suspensions.suspended, *self._plan.absences}
        )
        if not batches:
            return False
        done = len(self._store.keys())
        planned = done + sum(len(batch.games) for batch in batches)
        self._begin(done)
        self._store.plan(planned)
        _print(f"series are open: {format_count(planned, 'game')} by now", self._out)
        self._play(iter(batches), planned)
        return True

    def _begin(self, done: int) -> None:
        """Print the plan and greet the entries, once, and only if there is a game to play."""
        if not self._greeted:
            print_plan(self._plan, done, self._jobs, self._out)
            call_roll(self._store, self._plan, self.suspensions.suspended, self._out)
            self._greeted = True

    def _play(self, batches: Iterator[Batch], planned: int) -> None:
        done = len(self._store.keys())
        jobs = max(1, min(self._jobs, planned - done))
        with Progress(planned, done, self._bar_out) as progress:

            def on_record(record: Record) -> None:
                game = self._plan.make_game(record)
                self._store.add(game, record)
                self.suspensions.add(game)
                progress.count_game(len(record.faults))

            ledger = ProcessLedger(_ledger_path(self._store))
            hooks = Hooks(on_record, self._wants, ledger)
            try:
                with self._stop_on_errors():
                    outcome = self._play_batches(batches, jobs, self._plan.config.cpus_per_game, hooks)
            finally:
                ledger.close()
        self._require_all_played(outcome, planned)

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

    def _require_all_played(self, outcome: Outcome, planned: int) -> None:
        if outcome.stopped:
            finished = len(self._store.keys())
            raise Stopped(
                f"stopped by {outcome.stopped} after {finished} of {format_count(planned, 'game')}; {self._go_on}"
            )
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


def _print(text: str, out: TextIO) -> None:
    """Print a line; a closed terminal does not end a tournament."""
    with contextlib.suppress(OSError):
        print(text, file=out, flush=True)


def print_plan(plan: Plan, done: int, jobs: int, out: TextIO) -> None:
    """Print the size of a tournament, and what its author may want to change before it begins."""
    schedule = plan.schedule
    _print(
        f"{plan.config.name}: {format_count(len(plan.players), 'entry', 'entries')},"
        f" {format_count(len(schedule.tables), 'table')},"
        f" {format_count(schedule.deals, 'deal')} in every rotation of seats: {format_count(schedule.total, 'game')} in"
        f" {format_count(schedule.batch_count(), 'batch', 'batches')}, {jobs} at a time, {_describe_limit(plan, jobs)}",
        out,
    )
    for line in (*_describe_drawn_tables(plan), *_describe_twins(plan)):
        _print(line, out)
    if done:
        _print(f"{format_count(done, 'game')} {inflect(done, 'is', 'are')} already played", out)
    for line in describe_shortcomings(plan.config.isolation, plan.players):
        _print(line, out)
    if plan.config.seed is not None:
        _print("the seed is set by hand: anyone who knows it, even a bot, knows every card", out)
    processors = len(os.sched_getaffinity(0))
    for line in describe_doubts(plan.config.clock, jobs * plan.config.cpus_per_game, processors, measure_load()):
        _print(line, out)


def _describe_limit(plan: Plan, jobs: int) -> str:
    """Say how long all games can take, or else which clocks there are."""
    longest = plan.compute_longest_ms()
    if longest is not None:
        return f"at most {format_duration(longest / 1000 / jobs)} by the clocks"
    clock = plan.config.clock
    unit = "ms of CPU time" if clock.kind == "cpu" else "ms"
    limits = {"each action": clock.move_ms, "each game": clock.bank_ms}
    words = [f"{limit} {unit} for {what}" for what, limit in limits.items() if limit is not None]
    if not words:
        return "no time limit"
    people = f", no limit for {', '.join(map(sanitize, plan.people))}" if plan.people else ""
    return f"{' and '.join(words)}, plus {clock.margin_ms} ms margin{people}"


def _describe_drawn_tables(plan: Plan) -> Iterator[str]:
    """Yield lines on how evenly drawn tables let the entries meet, and how many tables would connect them all."""
    if not plan.config.tables:
        return
    for name in plan.teams:
        tables = [table.entries for table in plan.schedule.tables if table.ruleset.name == name]
        spread = measure_spread(tables, len(plan.players))
        often = f"{spread.fewest} to {spread.most}" if spread.fewest < spread.most else f"{spread.most}"
        yield f"{sanitize(name)}: any two entries meet at {often} of {format_count(len(tables), 'drawn table')}"
        if spread.groups > 1:
            enough = -(-(len(plan.players) - 1) // (len(tables[0]) - 1))
            yield (
                f"{sanitize(name)}: the tables leave {spread.groups} groups that never meet and cannot be compared;"
                f" tables = {enough} would connect all"
            )


def _describe_twins(plan: Plan) -> Iterator[str]:
    """Yield, for bots that share a name and differ by a number, the words of their entries."""
    words = [entry if isinstance(entry, str) else entry.bot for entry in plan.config.entries]
    names = [player.label.partition("#")[0] for player in plan.players]
    for name, player, word in zip(names, plan.players, words, strict=True):
        if len({other for other, its_name in zip(words, names, strict=True) if its_name == name}) > 1:
            yield f"{sanitize(player.label)} is {sanitize(word)}"
