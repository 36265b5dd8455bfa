"""A run of a tournament, or of a share of it: greet the entries, print the plan, play, store; always resumable."""

from __future__ import annotations

import io
import math
import shlex
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Protocol, TextIO

from malice.referee.nouns import format_count
from malice.referee.records import Batch, GameOrder, Key, Record, TimeUp
from malice.referee.replay import is_endless
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.errors import Stopped
from malice.tournaments.league.contents import Finished, GameSummary
from malice.tournaments.league.counting import Suspensions, find_counted_games
from malice.tournaments.league.journal import Overrun, ShareChosen
from malice.tournaments.league.parts import Schedule
from malice.tournaments.league.store import Store
from malice.tournaments.running.announcements import (
    describe_bound,
    describe_endless,
    describe_endless_game,
    describe_finish,
    describe_part,
    describe_suspensions,
    print_doubts,
    print_line,
    print_plan,
    require_all_played,
    stop_on_errors,
)
from malice.tournaments.running.coordinator import count_default_jobs, play_batches
from malice.tournaments.running.deadline import Deadline
from malice.tournaments.running.events import Events
from malice.tournaments.running.hooks import Audit, Hooks, Outcome, Running
from malice.tournaments.running.leftovers import ProcessLedger, end_leftovers
from malice.tournaments.running.open_parts import OpenParts
from malice.tournaments.running.plan import Plan, list_certain
from malice.tournaments.running.progress import ComparisonProgress, Progress, compute_comparison_state, format_duration
from malice.tournaments.running.registration import close_parts
from malice.tournaments.running.reporter import Reporter
from malice.tournaments.running.roll_call import call_roll, count_waiting, describe_waiting
from malice.tournaments.running.trial import estimate_rest
from malice.tournaments.sanitizer import sanitize


class Playing(Protocol):
    """A way to play batches, as `coordinator.play_batches` does."""

    def __call__(self, batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks, /) -> Outcome:
        """Play all batches and return what happened."""


@dataclass(frozen=True)
class RunTerms:
    """How a tournament is run."""

    jobs: int = 0
    """Referee processes; 0 for as many as there are processors for."""
    again: Sequence[str] = ()
    """The words of the command that resumes the tournament after a stop; none if nothing is kept."""
    until: float = math.inf
    """When the run is to be over, in seconds since 1970."""
    grace_s: float = math.inf
    """How much longer games may run that have begun."""
    now: Callable[[], float] = time.time
    """The clock of these times."""
    kept: KeptBots | None = None
    """Where the bots are kept and play from; by default they play where they lie."""
    playing: Playing | None = None
    """Plays the batches and has a display of its own; by default referee processes play, with a bar."""
    elsewhere: Playing | None = None
    """Plays the batches on other machines, under our bar."""
    events: Events = field(default_factory=Events)
    """Receives what happens."""


def run_tournament(store: Store, plan: Plan, out: TextIO, terms: RunTerms) -> int:
    """Play the open games of a tournament, part by part; return how many are left because the time is up.

    Args:
        store: the league.
        plan: the tournament, opened on that store.
        out: where progress is printed.
        terms: how to run it.

    Raises:
        BotError: an entry cannot be built or does not answer `hello`; no game was played.
        Stopped: a signal came, the disk is full, or games could not be played; the message says how to resume.
    """
    end_earlier_run(store, out)
    run = Run(store, plan, out, terms)
    try:
        with run.audit:
            left = run.play()
    finally:
        choice = store.league().choose(plan.config.name)
        for line in describe_suspensions(run.parts.list_suspended(), plan.config.suspend_after, store.path, choice):
            print_line(line, out)
        for line in describe_endless(run.endless):
            print_line(line, out)
    if not left and (waiting := count_waiting(plan, run.parts.done)):
        print_line(describe_waiting(waiting, sorted(plan.tournament.waiting()), terms.again), out)
    return left


def end_earlier_run(store: Store, out: TextIO) -> None:
    """End what an earlier run left that was killed."""
    if ended := end_leftovers(_ledger_path(store)):
        print_line(f"an earlier run was killed: ended {format_count(ended, 'process group')} that it left", out)


class Run:
    """One run of a tournament: it plays the open games, and can be resumed after any of them.

    While it plays, its `audit` must be open.

    Args: as of `run_tournament`; `audit` checks the games of other machines, by default in processes of its own.
    """

    def __init__(self, store: Store, plan: Plan, out: TextIO, terms: RunTerms, audit: Audit | None = None) -> None:
        self.parts = OpenParts(plan)
        self._deadline = Deadline(plan, terms.until, terms.grace_s, terms.now)
        self.endless: dict[Key, str] = {}
        """Games that are void because they had no end, each with how far it came, in words."""
        self._stored: dict[Key, GameSummary] = {}
        """Games on the disk that are not taken into account yet."""
        self._store = store
        self._plan = plan
        self._jobs = terms.jobs or count_default_jobs(plan.config.cpus_per_game)
        self._out = out
        self._terms = terms
        self._go_on = f"resume with: {shlex.join(terms.again)}" if terms.again else "no game was kept"
        self.audit = audit or Audit(store, self._go_on)
        self._play_batches = terms.playing or terms.elsewhere or play_batches
        self._bar_out = io.StringIO() if terms.playing else out
        self._reporter = Reporter(plan, terms.events)

    def play(self) -> int:
        """Play until no game is open or the time is up; return how many games are left.

        Only when no game of a part is open is it certain which games a suspension leaves out.
        """
        self._begin()
        while True:
            outcome = self._play() if next(self._list_open(), None) else Outcome()
            if (outcome.late or self._deadline.too_long) and not outcome.stopped and (left := self.parts.count_left()):
                if outcome.late and len(self.parts.done) == len(self._plan.finished):
                    print_line(self._deadline.describe_lack_of_time(), self._out)
                return left
            if outcome.stopped and self.parts.count_left():
                self._stop(outcome.stopped)
            require_all_played(outcome, self._go_on)
            if not self._close_parts():
                return 0
            if outcome.stopped:
                self._stop(outcome.stopped)

    def _stop(self, reason: str) -> NoReturn:
        games = format_count(len(self.parts.done) + self.parts.count_left(), "game")
        raise Stopped(f"stopped by {reason} after {len(self.parts.done)} of {games}; {self._go_on}")

    def _begin(self, *, shared: bool = False) -> None:
        """Greet the entries if there is a game to play, and write what the plan adds to the league.

        Args:
            shared: whether copies of the league will play the new parts.
        """
        if self._plan.count_open(self.parts.done) or self._plan.list_broken():
            if self._terms.kept:
                self._plan.keep_bots(self._terms.kept)
            call_roll(self._plan, self.parts.list_suspended(), self._out)
            elsewhere = self._terms.elsewhere is not None
            may_try = not elsewhere and (self.parts.done or self._play_batches is play_batches)
            likely_ms = estimate_rest(self._plan, self._store, self.parts.done, self._jobs) if may_try else None
            print_plan(self._plan, self.parts.done, None if elsewhere else self._jobs, self._out, likely_ms)
            if not elsewhere:
                print_doubts(self._plan, self._jobs, self._out)
        created = list(self._plan.parts)
        self._plan.write(self._store, shared=shared)
        self.parts.watch()
        self._deadline.begin(self._store, self.parts.done)
        for line in self._deadline.describe():
            print_line(line, self._out)
        self._reporter.report_start(self._jobs, len(self.parts.done), self._plan.count_open(self.parts.done))
        self._reporter.report_parts(created)
        for part in self.parts.tests:
            self._report_changes(part)

    def _close_parts(self) -> bool:
        """Close the parts without an open game, and create those that follow; return whether there are new ones.

        A part with games that wait for absent entries stays open.
        """
        patient = self._plan.tournament.format.grows
        waiting = self._plan.tournament.waiting() if patient else set()
        over = [
            schedule.part.number
            for schedule in self._plan.tournament.open_parts
            if not waiting or not count_waiting(self._plan, self.parts.done, schedule.part.number)
        ]
        if not over:
            return False
        finished = sorted(self.parts.finished, key=lambda game: game.number)
        postponed = self._plan.list_postponed()
        with stop_on_errors(self._store.path, self._go_on):
            self.audit.close(over)
        created = close_parts(self._store, finished, over, create=not postponed)
        self._reporter.report_closed(over)
        if postponed:
            names = ", ".join(map(sanitize, postponed))
            raise Stopped(f"the round is over; {names} plays on in the new version; {self._go_on}")
        self.parts.watch()
        self._reporter.report_parts(created)
        for part in created:
            print_line(describe_part(self._plan.tournament, part), self._out)
        return bool(created)

    def _play(self) -> Outcome:
        left, done = self._plan.count_open(self.parts.done), len(self.parts.done)
        jobs = max(1, min(self._jobs, left))
        with self._make_progress(done + left, done) as progress, self._terms.events.read_by(progress.read):

            def on_record(record: Record) -> None:
                self._keep(record, done + left)

            def on_finishing(running: Collection[Running]) -> None:
                progress.say(describe_finish(self._plan, running))

            def on_late() -> None:
                progress.say("no other game begins: the longest would not end in time")

            def on_overrun(batch: Batch, order: GameOrder, report: TimeUp) -> None:
                progress.say(self._note_overrun(batch, order, report))

            ledger = ProcessLedger(_ledger_path(self._store))
            hooks = Hooks(
                on_record,
                self._wants,
                ledger,
                self.parts.may_begin,
                self._deadline.latest_begin,
                on_late,
                self._deadline.over,
                on_overrun,
                self._terms.now,
                on_finishing=on_finishing if self._terms.again else None,
                on_begin=self._reporter.report_begin,
                on_failure=self._reporter.report_failure,
                say=progress.say,
                audit=self.audit,
                on_burst=self._store_all,
                on_rate=progress.set_rate,
                describe_limit=lambda slots: describe_bound(self._plan, self.parts.done, slots),
            )
            try:
                with stop_on_errors(self._store.path, self._go_on):
                    return self._play_batches(self._list_open(), jobs, self._plan.config.cpus_per_game, hooks)
            finally:
                ledger.close()

    def _make_progress(self, total: int, done: int) -> Progress:
        test = next((test for test in self.parts.tests.values() if test), None)
        if test is None:
            return Progress(total, done, self._bar_out)
        most, until = self._plan.config.deals, self._terms.until
        return ComparisonProgress(compute_comparison_state(test), most, (total, done), until, self._bar_out)

    def _store_all(self, records: Sequence[Record]) -> None:
        """Store games that arrived together."""
        games = [self._plan.make_game(record) for record in records]
        self._store.add_all(zip(games, records, strict=True))
        self._stored |= {game.key: game for game in games}

    def _keep(self, record: Record, total: int) -> None:
        """Store a finished game unless that is done, take it into account, and report it."""
        if record.key not in self._stored:
            self._store_all([record])
        finished = self._stored.pop(record.key).finish()
        self.parts.add(finished)
        self._deadline.measure(record)
        if is_endless(record):
            self.endless[record.key] = describe_endless_game(record)
        self._reporter.report_game(record, len(self.parts.done), total)
        self._report_changes(finished.key.part)

    def _report_changes(self, part: int) -> None:
        """Report whom a part suspends now, and how its comparison stands."""
        self._reporter.report_suspensions(part, self.parts.suspensions[part].suspended)
        if test := self.parts.tests[part]:
            self._reporter.report_test(part, test)

    def _wants(self, key: Key) -> bool:
        return key not in self._deadline.too_long and self.parts.wants(key)

    def _list_open(self) -> Iterator[Batch]:
        return self._plan.open_batches(self.parts.done, self._wants)

    def _note_overrun(self, batch: Batch, order: GameOrder, report: TimeUp) -> str:
        """Write to the league that a game was given up; return a line on it."""
        used = [(used, batch.players[player].label) for used, player in zip(report.used_ms, order.seating, strict=True)]
        most, label = max(used)
        self._store.append(self._plan.tournament.name, [Overrun(order.key, label, report.ms)])
        self._reporter.report_failure(order.key, "the time of the run was over", again=False)
        took, most_of_it = format_duration(report.ms / 1000), format_duration(most / 1000)
        return f"game {order.key} is given up after {took}, of which {sanitize(label)} used {most_of_it}"


def _ledger_path(store: Store) -> Path:
    return store.path.with_name(f"{store.path.name}-running")


class Creation(Run):
    """A run that creates what can be created now, and plays nothing."""

    def create(self) -> int:
        """Greet the entries, write what is new into the league, and return how many games are open."""
        self._begin(shared=True)
        while not (left := self.parts.count_left()) and self._close_parts():
            pass
        return left


def create_games(store: Store, plan: Plan, out: TextIO, terms: RunTerms) -> int:
    """Bring the league up to its tournament file as a run does, and play nothing; return how many games are open.

    Args, Raises: as of `run_tournament`.
    """
    end_earlier_run(store, out)
    creation = Creation(store, plan, out, terms)
    with creation.audit:
        return creation.create()


class KnownSuspensions(Suspensions):
    """The suspensions that are certain when a run begins; nothing that it plays adds one."""

    def add(self, game: Finished) -> None:
        """Take no game into account: those between it and the next ones may be on another machine."""


class SharedParts(OpenParts):
    """Parts of which other machines play games too: only what is certain when the run begins decides."""

    def list_suspended(self) -> dict[str, int]:
        """The entries whose suspension is certain, each with the number of the game that suspended it."""
        return find_counted_games(
            self._plan.tournament, list_certain(self._plan.tournament, self._plan.finished)
        ).suspended

    def watch_part(self, schedule: Schedule, games: Sequence[Finished]) -> None:
        """Keep track of nothing but the suspensions that are certain."""
        tournament, number = self._plan.tournament, schedule.part.number
        certain = list_certain(tournament, games)
        self.suspensions[number] = KnownSuspensions(certain, tournament.config.suspend_after, tournament.lifted)
        self.paces[number] = None


class ShareRun(Run):
    """One run of a share. It closes no part and creates none; a later merge judges what was played."""

    def __init__(self, store: Store, plan: Plan, out: TextIO, terms: RunTerms) -> None:
        super().__init__(store, plan, out, terms)
        self.parts = SharedParts(plan)

    def _close_parts(self) -> bool:
        return False


def play_share(store: Store, plan: Plan, out: TextIO, terms: RunTerms) -> int:
    """Play the open games of the plan's share, and remember it; return how many are left because the time is up.

    Args, Raises: as of `run_tournament`.
    """
    end_earlier_run(store, out)
    if plan.tournament.open_parts and not plan.tournament.share:
        store.append(plan.tournament.name, [ShareChosen(str(plan.share))])
    run = ShareRun(store, plan, out, terms)
    with run.audit:
        return run.play()
