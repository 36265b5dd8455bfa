"""A run of a tournament, or of a share of it: open the plan, play, store, close parts; always resumable."""

from __future__ import annotations

import io
import math
import shlex
import time
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NoReturn, TextIO

from malice.referee.nouns import format_count
from malice.referee.records import Batch, GameOrder, Key, Record, TimeUp
from malice.referee.replay import is_endless
from malice.tournaments.errors import Stopped
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.counting import measure_progress
from malice.tournaments.league.desk import take_up
from malice.tournaments.league.journal import Overrun, ShareChosen
from malice.tournaments.league.parts import Part
from malice.tournaments.league.store import Store
from malice.tournaments.running.announcements import (
    NAMED,
    describe_bound,
    describe_endless,
    describe_endless_game,
    describe_finish,
    describe_part,
    describe_suspensions,
    describe_waiting,
    print_line,
    require_all_played,
    stop_on_errors,
)
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.desk import describe_effects, make_note
from malice.tournaments.running.hooks import Audit, Hooks, Outcome, Running
from malice.tournaments.running.leftovers import ProcessLedger, end_leftovers
from malice.tournaments.running.open_parts import OpenParts, SharedParts
from malice.tournaments.running.opening import RunTerms, open_plan
from malice.tournaments.running.plan import Plan
from malice.tournaments.running.progress import (
    ComparisonProgress,
    Progress,
    compute_comparison_state,
    format_bound,
    format_duration,
)
from malice.tournaments.running.registration import close_parts
from malice.tournaments.running.reporter import Reporter
from malice.tournaments.sanitizer import sanitize


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
    run = _begin(store, plan, out, terms)
    try:
        with run.audit:
            left = run.play()
    finally:
        choice = store.league().choose(plan.config.name)
        for line in describe_suspensions(run.parts.list_suspended(), plan.config.suspend_after, store.path, choice):
            print_line(line, out)
        for line in describe_endless(run.endless):
            print_line(line, out)
    if not left and (waiting := run.plan.count_waiting(run.parts.done)):
        print_line(describe_waiting(waiting, sorted(run.plan.tournament.waiting()), terms.again), out)
    return left


def _begin(store: Store, plan: Plan, out: TextIO, terms: RunTerms, *, shared: bool = False) -> Run:
    """End what an earlier run left that was killed, and open the plan."""
    if ended := end_leftovers(_ledger_path(store)):
        print_line(f"an earlier run was killed: ended {format_count(ended, 'process group')} that it left", out)
    return Run(store, open_plan(store, plan, out, terms, shared=shared), out, terms)


class Run:
    """One run of a tournament: it plays the open games, and can be resumed after any of them.

    While it plays, its `audit` must be open.

    Args: as of `run_tournament`, but that the plan is open; `audit` checks the games of other machines, by default in
    processes of its own.
    """

    def __init__(self, store: Store, plan: Plan, out: TextIO, terms: RunTerms, audit: Audit | None = None) -> None:
        self._terms = terms
        self._reporter = Reporter(plan, terms.events)
        self._follow(plan)
        self._before = len(plan.finished)
        self.endless: dict[Key, str] = {}
        """Games that are void because they had no end, each with how far it came, in words."""
        self._deadline = Deadline(plan, terms.until, terms.grace_s, terms.now)
        self._stored: dict[Key, GameSummary] = {}
        """Games on the disk that are not taken into account yet."""
        self._store = store
        self._jobs = terms.count_jobs(plan)
        self._out = out
        self._go_on = f"resume with: {shlex.join(terms.again)}" if terms.again else "no game was kept"
        self.audit = audit or Audit(store, self._go_on)
        self._bar_out = io.StringIO() if terms.playing else out
        self._decides = terms.playing is None and not plan.share and not plan.tournament.format.compares
        """Whether decisions that come meanwhile are taken up."""
        self._finishing: set[tuple[int, int, int]] | None = None
        """By part and table: the only deals that are played, since a decision waits for their end."""

    def _follow(self, plan: Plan) -> None:
        self.plan = self._reporter.plan = plan
        self.parts = SharedParts(plan) if plan.share else OpenParts(plan)
        elsewhere = self._terms.elsewhere
        self._play_batches = self._terms.playing or (elsewhere(plan) if elsewhere else play_batches)

    def play(self) -> int:
        """Play until no game is open or the time is up; return how many games are left.

        Only when no game of a part is open is it certain which games a suspension leaves out.
        """
        self._begin()
        while True:
            outcome = self._play() if next(self._list_open(), None) else Outcome()
            if not outcome.stopped and self._take_up(outcome):
                continue
            if (outcome.late or self._deadline.too_long) and not outcome.stopped and (left := self.parts.count_left()):
                if outcome.late and len(self.parts.done) == self._before:
                    print_line(self._deadline.describe_lack_of_time(), self._out)
                return left
            if outcome.stopped and self.parts.count_left():
                self._stop(outcome.stopped)
            require_all_played(outcome, self._go_on)
            if not self._close_parts():
                return 0
            if outcome.stopped:
                self._stop(outcome.stopped)

    def _take_up(self, outcome: Outcome) -> bool:
        """Take up what the organiser decided, once the deals at play are over in all rotations; tell whether to go on.

        It is as if the run had been stopped there, and gone on with: what the decisions lack becomes a new part.
        """
        if outcome.paused and self._finishing is None:
            self._finishing = {(key.part, key.table, key.deal) for key in self.parts.done}
            return True
        late = outcome.late and next(self._list_open(), None)
        if not self._decides or not (waiting := self._store.list_waiting()) or late:
            self._finishing = None
            return False
        for line in describe_effects(effects := list(take_up(self._store, waiting))):
            print_line(f"{line}, after {format_count(len(self.parts.done), 'game')}", self._out)
        self._finishing = None
        if any(each.tournaments for each in effects):
            self._follow(self.plan.catch_up(self._store))
            created = close_parts(self._store, self.parts.list_finished(), (), create=not self.plan.list_postponed())
            self._report_created(created)
        return True

    def _report_created(self, created: Sequence[Part]) -> None:
        self.parts.watch()
        self._reporter.report_parts(created)
        for part in created:
            print_line(describe_part(self.plan.tournament, part), self._out)

    def _stop(self, reason: str) -> NoReturn:
        games, planned = measure_progress(self.plan.tournament, self.parts.list_finished())
        raise Stopped(f"stopped by {reason} after {games} of {format_count(planned, 'game')}; {self._go_on}")

    def create(self) -> int:
        """Create what can be created now, play nothing, and return how many games are open."""
        self._begin()
        while not (left := self.parts.count_left()) and self._close_parts():
            pass
        return left

    def _begin(self) -> None:
        name, now = self.plan.tournament.name, self._terms.now()
        self._store.note_run(make_note(name, len(self.parts.done), self._terms.until, now))
        self._deadline.begin(self._store, self.parts.done)
        for line in self._deadline.describe():
            print_line(line, self._out)
        self._reporter.report_start(self._jobs, len(self.parts.done), self.plan.count_open(self.parts.done))
        self._reporter.report_parts(self.plan.parts)
        for part in self.parts.tests:
            self._report_changes(part)

    def _close_parts(self) -> bool:
        """Close the parts without an open game, and create those that follow; return whether there are new ones.

        A part with games that wait for absent entries stays open. A share closes none: a later merge judges its games.
        """
        if self.plan.share:
            return False
        patient = self.plan.tournament.format.grows
        waiting = self.plan.tournament.waiting() if patient else set()
        over = [
            schedule.part.number
            for schedule in self.plan.tournament.open_parts
            if not waiting or not self.plan.count_waiting(self.parts.done, schedule.part.number)
        ]
        if not over:
            return False
        postponed = self.plan.list_postponed()
        with stop_on_errors(self._store.path, self._go_on):
            self.audit.close(over)
        created = close_parts(self._store, self.parts.list_finished(), over, create=not postponed)
        self._reporter.report_closed(over)
        if postponed:
            names = ", ".join(map(sanitize, postponed))
            raise Stopped(f"the round is over; {names} plays on in the new version; {self._go_on}")
        self._report_created(created)
        return bool(created)

    def _play(self) -> Outcome:
        left, done = self.plan.count_open(self.parts.done), len(self.parts.done)
        jobs = max(1, min(self._jobs, left))
        with self._make_progress(done + left, done) as progress, self._terms.events.read_by(progress.read):

            def on_record(record: Record) -> None:
                self._keep(record, done + left)

            def on_finishing(running: Collection[Running]) -> None:
                progress.say(describe_finish(self.plan, running))

            def pauses() -> bool:
                if not self._decides or self._finishing is not None or not self._store.list_waiting():
                    return False
                progress.say("a decision waits until the deals at play are over")
                return True

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
                pauses=pauses,
                on_finishing=on_finishing if self._terms.again else None,
                on_begin=self._reporter.report_begin,
                on_failure=self._reporter.report_failure,
                say=progress.say,
                audit=self.audit,
                on_burst=self._store_all,
                on_rate=progress.set_rate,
                count_left=lambda: done + left - len(self.parts.done),
                describe_limit=lambda slots: describe_bound(self.plan, self.parts.done, slots),
            )
            try:
                with stop_on_errors(self._store.path, self._go_on):
                    return self._play_batches(self._list_open(), jobs, self.plan.config.cpus_per_game, hooks)
            finally:
                ledger.close()

    def _make_progress(self, total: int, done: int) -> Progress:
        test = next((test for test in self.parts.tests.values() if test), None)
        if test is None:
            return Progress(total, done, self._bar_out)
        most, until = self.plan.config.deals, self._terms.until
        return ComparisonProgress(compute_comparison_state(test), most, (total, done), until, self._bar_out)

    def _store_all(self, records: Sequence[Record]) -> None:
        """Store games that arrived together."""
        games = [self.plan.make_game(record) for record in records]
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
        if self._finishing is not None and (key.part, key.table, key.deal) not in self._finishing:
            return False
        return key not in self._deadline.too_long and self.parts.wants(key)

    def _list_open(self) -> Iterator[Batch]:
        return self.plan.open_batches(self.parts.done, self._wants)

    def _note_overrun(self, batch: Batch, order: GameOrder, report: TimeUp) -> str:
        """Write to the league that a game was given up; return a line on it."""
        used = [(used, batch.players[player].label) for used, player in zip(report.used_ms, order.seating, strict=True)]
        most, label = max(used)
        self._store.append(self.plan.tournament.name, [Overrun(order.key, label, report.ms)])
        self._reporter.report_failure(order.key, "the time of the run was over", again=False)
        took, most_of_it = format_duration(report.ms / 1000), format_duration(most / 1000)
        return f"game {order.key} is given up after {took}, of which {sanitize(label)} used {most_of_it}"


def _ledger_path(store: Store) -> Path:
    return store.path.with_name(f"{store.path.name}-running")


def create_games(store: Store, plan: Plan, out: TextIO, terms: RunTerms) -> int:
    """Bring the league up to its tournament file as a run does, and play nothing; return how many games are open.

    Args, Raises: as of `run_tournament`.
    """
    run = _begin(store, plan, out, terms, shared=True)
    with run.audit:
        return run.create()


def play_share(store: Store, plan: Plan, out: TextIO, terms: RunTerms) -> int:
    """Play the open games of the plan's share, and remember it; return how many are left because the time is up.

    Args, Raises: as of `run_tournament`.
    """
    if plan.tournament.open_parts and not plan.tournament.share:
        store.append(plan.tournament.name, [ShareChosen(str(plan.share))])
    run = _begin(store, plan, out, terms)
    with run.audit:
        return run.play()


SHARE = 0.99
"""The share of the measured games that are no longer than what must be left when another one begins."""
SAMPLE = 200
"""From how many games of earlier runs their lengths are known."""


class Deadline:
    """What a time limit lets a run begin.

    A game begins while the longest measured ones still fit. What runs on when the grace is over is given up, and
    played another time, unless a whole run is too short for it.

    Args:
        plan: the tournament.
        until: when the run is to be over, in seconds since 1970; infinite for no limit.
        grace_s: how much longer games may run that have begun.
        now: the clock.
    """

    def __init__(self, plan: Plan, until: float, grace_s: float, now: Callable[[], float] = time.time) -> None:
        self._plan = plan
        self._until = until
        self._grace_s = grace_s
        self._measured: dict[str, list[float]] = defaultdict(list)
        """By ruleset: how long games took, in seconds, sorted."""
        self.now = now
        self.over = until + grace_s
        """When the games that run are given up."""
        self.too_long: dict[Key, float] = {}
        """The games that ran longer in an earlier run than this one lasts, each with its time in seconds."""

    def begin(self, store: Store, done: Collection[Key]) -> None:
        """Learn from earlier runs how long games take, and which of them are too long for this one.

        Args:
            store: the league, with the tournament chosen.
            done: its finished games.
        """
        if math.isinf(self._until):
            return
        keys = sorted(done)
        for key in keys[:: -(-len(keys) // SAMPLE) or 1]:
            self.measure(store.record(key))
        left = self.over - self.now()
        overruns = self._plan.tournament.overruns
        self.too_long = {
            each.key: each.ms / 1000 for each in overruns if each.ms / 1000 >= left and each.key not in done
        }

    def measure(self, record: Record) -> None:
        """Learn from a game how long games take."""
        insort(self._measured[record.ruleset], record.elapsed_ms / 1000)

    def latest_begin(self, batch: Batch) -> float:
        """The time, in seconds since 1970, from which on no game of a batch may begin."""
        return self._until - self._find_longest(batch.ruleset)

    def _find_longest(self, ruleset: str) -> float:
        """In seconds; nothing if no game under the ruleset was measured."""
        measured = self._measured[ruleset]
        return measured[math.ceil(SHARE * len(measured)) - 1] if measured else 0.0

    def describe(self) -> Iterator[str]:
        """Say when the last game may begin, and why, what becomes of games that run on, and which are left out."""
        if math.isinf(self._until):
            return
        rulesets = self._plan.tournament.rulesets
        for name in rulesets:
            longest, games = self._find_longest(name), format_count(len(self._measured[name]), "game")
            why = "no game was measured yet, so the last may end later"
            if self._measured[name]:
                why = f"the longest took {format_duration(longest)} (99 % of {games})"
            head = f"{sanitize(name)}: " if len(rulesets) > 1 else ""
            yield f"{head}no game begins after {_format_time(self._until - longest)}: {why}"
        if not math.isinf(self.over):
            over = _format_time(self.over)
            yield f"{self._describe_clocks()}; what runs on at {over} is given up, and played another time"
        if self.too_long:
            named = [f"{key} ({format_duration(took)})" for key, took in sorted(self.too_long.items())]
            named[NAMED:] = [f"and {len(named) - NAMED} more"] if len(named) > NAMED else []
            yield f"not tried again, since they ran longer before than this run lasts: {', '.join(named)}"

    def _describe_clocks(self) -> str:
        limits = [self._plan.compute_game_ms(name) for name in self._plan.tournament.rulesets]
        known = [limit for limit in limits if limit is not None]
        if len(known) < len(limits):
            return "the clocks do not limit how long a game takes"
        return f"by the clocks a game takes at most {format_bound(max(known) / 1000)}"

    def describe_lack_of_time(self) -> str:
        """Say why no game began."""
        longest = min(map(self._find_longest, self._plan.tournament.rulesets))
        if not longest:
            return "no game was played: the time was up before the first"
        return f"no game was played: the longest took {format_duration(longest)}, and so much time was not left"


def _format_time(at: float) -> str:
    return datetime.fromtimestamp(at).isoformat(" ", "seconds")
