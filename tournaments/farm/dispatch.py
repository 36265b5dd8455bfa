"""Plays the games of a run on the workers of a cluster: takes what happens there, one event after the other."""

from __future__ import annotations

import contextlib
import secrets
import signal
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from malice.referee.nouns import format_count
from malice.referee.records import Batch, Key, Record
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.farm.cluster import (
    PATIENCE_S,
    Answered,
    Cluster,
    Conditions,
    Event,
    Introduced,
    Replayed,
    Signalled,
)
from malice.tournaments.farm.crew import Crew, Handed, Worker, quote
from malice.tournaments.farm.handout import Handout
from malice.tournaments.farm.work import Answer, Need, make_ticket, read_answer, read_identity
from malice.tournaments.running.coordinator import GENTLE, STOPS, name_stop
from malice.tournaments.running.hooks import Audit, Hooks, Outcome
from malice.tournaments.running.opening import Playing
from malice.tournaments.running.plan import Plan

LOOK_EVERY_S = 0.5
REPORT_EVERY_S = 30.0
BURST = 500
"""Most games that wait to be stored at once, but for those of one answer."""
SKEW_S = 60.0
"""How much earlier than ours the clock of a worker may say that it is too late for a game."""
LEAST_S = 1e-6
"""Games that took less were not measured."""
LOSSES = 3
"""How often a worker may lose a bot that it was sent."""


@dataclass(frozen=True)
class Farm:
    """Plays batches on the workers of a cluster.

    Args:
        cluster: the workers.
        kept: where the bots are kept.
        min_factor: workers that are slower get no work.
        slots: how many games all workers play at a time, as far as they are there now.
        patience_s: how long there may be no worker.
    """

    cluster: Cluster
    kept: KeptBots
    min_factor: float = 0.0
    slots: int = 1
    patience_s: float = PATIENCE_S

    def __call__(self, plan: Plan) -> Playing:
        """The way to play the batches of an open plan, with the errors of `Dispatcher.play`."""

        def play(batches: Iterator[Batch], jobs: int, cpus_per_game: int, hooks: Hooks) -> Outcome:
            assert isinstance(hooks.audit, Audit), "what comes from elsewhere is replayed"
            conditions = self._make_conditions(plan, cpus_per_game)
            return Dispatcher(self.cluster, conditions, hooks.audit, batches, hooks).play()

        return play

    def _make_conditions(self, plan: Plan, cpus_per_game: int) -> Conditions:
        tickets = {label: make_ticket(bot) for label, bot in plan.bots.items()}
        tars = {each.content: self.kept.tar(each.content) for each in tickets.values() if not each.command}
        need = Need(
            malice=read_identity(),
            families=tuple({ruleset.family for ruleset in plan.tournament.rulesets.values()}),
            isolation=plan.isolation,
            cpus_per_game=cpus_per_game,
            contents=tuple(tars),
        )
        clock = plan.config.clock
        by_wall = clock.kind == "wall" and not (clock.move_ms is None and clock.bank_ms is None)
        return Conditions(need, tickets, tars, self.min_factor, by_wall, self.patience_s)


@contextlib.contextmanager
def signals_as_events(events: SimpleQueue[Event]) -> Iterator[None]:
    """Put each signal that stops a run into the queue while this context lasts."""
    # A signal that is ignored stays ignored: nohup and a shell's background jobs rely on it.
    numbers = [each for each in STOPS if signal.getsignal(each) != signal.SIG_IGN]
    before = {each: signal.signal(each, lambda number, frame: events.put(Signalled(number))) for each in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Dispatcher:
    """Plays batches on the workers of a cluster, once.

    Args:
        cluster: the workers.
        conditions: under which they play.
        audit: replays records.
        batches: the games to play.
        hooks: called while the games are played.
    """

    def __init__(
        self, cluster: Cluster, conditions: Conditions, audit: Audit, batches: Iterable[Batch], hooks: Hooks
    ) -> None:
        self.crew = Crew(cluster, conditions, hooks.say, hooks.describe_limit)
        self._cluster = cluster
        self._conditions = conditions
        self._audit = audit
        self._hooks = hooks
        self._handout = Handout(cluster, conditions, self.crew, batches, hooks)
        self._arrived: list[Record] = []
        """Records that are good, and not stored yet: the disk takes what arrives together at once."""
        self._held: dict[Key, Handed] = {}
        """Where the records come from that wait for their replay."""
        self._failed: Counter[Key] = Counter()
        self._ending: str | None = None
        """The signal after which only the running games finish."""
        self._reported = time.monotonic()

    def play(self) -> Outcome:
        """Play all batches; return what happened.

        Raises:
            Stopped: there is no worker, or records that were stored do not replay.
        """
        outcome = self._handout.outcome
        with signals_as_events(self._cluster.events):
            try:
                self._look_around()
                while not outcome.stopped and (self._held or not self._handout.is_over()):
                    self._handout.hand_out()
                    for event in self._await_events():
                        self._handle(event)
                    self._pass_on()
                    self._look_around()
            finally:
                self._cluster.recall([*self._handout.tasks, *self._handout.checks])
        outcome.stopped = outcome.stopped or self._ending
        for line in self.crew.describe_shares():
            self._hooks.say(line)
        return outcome

    # What happens

    def _await_events(self) -> Iterator[Event]:
        """Wait a while for an event; yield all that are there."""
        with contextlib.suppress(Empty):
            yield self._cluster.events.get(timeout=LOOK_EVERY_S)
            while True:
                yield self._cluster.events.get_nowait()

    def _handle(self, event: Event) -> None:
        match event:
            case Introduced(address, reply):
                self.crew.welcome(address, reply)
            case Answered(number, answer):
                if handed := self._handout.tasks.get(number):  # a task that was taken back may still be answered
                    self._take_answer(handed, answer)
                elif handed := self._handout.checks.pop(number, None):
                    self._take_check(handed, answer)
            case Replayed(record, why):
                self._take_replayed(record, why)
            case Signalled(number):
                self._stop(number)

    def _stop(self, number: int) -> None:
        """Let the running games finish after a first Ctrl-C; else stop at once."""
        name, running = name_stop(number), self.crew.list_running()
        pausing = self._handout.outcome.paused and self._ending is None
        if number in GENTLE and self._hooks.on_finishing and (pausing or self._handout.finish()):
            self._ending = name
            self._hooks.on_finishing(running)
        else:
            self._handout.outcome.stopped = name

    # Who plays

    def _look_around(self) -> None:
        """Hand out again what those had in hand that are gone, and see who came."""
        for worker in self.crew.look_around():
            self._part_with(worker, "has left" if worker.leaving else "is gone", lost=not worker.leaving)
        self.crew.require_workers()
        if time.monotonic() - self._reported >= REPORT_EVERY_S:
            self._reported = time.monotonic()
            self._hooks.say(self.crew.describe_work())

    def _part_with(self, worker: Worker, why: str, refusal: str = "", *, lost: bool = False) -> None:
        """Take a worker's tasks back, and hand them out again.

        Args:
            worker: that one.
            why: in words.
            refusal: why it gets no more work, in its own words; empty if it may come back.
            lost: whether one of the tasks may be why it is gone.
        """
        tasks = list(worker.tasks.values())
        games = sum(len(handed.left) for handed in tasks)
        self._hooks.say(f"{worker.describe()} {why}: {format_count(games, 'game')} handed out again")
        self._cluster.recall([handed.number for handed in tasks])
        for handed in tasks:
            self._handout.hand_back(handed, lost=lost)
        self._handout.drop_checks(worker.address)
        self.crew.remove(worker)
        if refusal:
            self.crew.refuse(worker.address, worker.describe(), refusal)

    def _ban(self, worker: Worker, why: str) -> None:
        """Give a worker no more work after a wrong answer, also if it came back, and replay what else it sent.

        Raises:
            Stopped: more of its records are wrong.
        """
        if worker.name in self.crew.banned:
            return
        self._pass_on()
        self.crew.banned.add(worker.name)
        for each in [each for each in self.crew.workers.values() if each.name == worker.name]:
            self._part_with(each, "sent a wrong answer")
        self.crew.refuse(worker.address, worker.describe(), why)
        self._audit.check(self.crew.list_keys(worker.name))

    # What workers return

    def _take_answer(self, handed: Handed, raw: bytes | None) -> None:
        """Take what a worker says of a task; what has no record then is handed out again."""
        worker = handed.worker
        if raw is None:
            self._handout.hand_back(handed, lost=True)
        if not (read := self._read(handed, raw)):
            return
        answer, records = read
        if records and answer.seconds >= LEAST_S:  # before they are shown
            self._hooks.on_rate(self._handout.note_time(handed, len(records), answer.seconds))
        self._handout.drop(handed)
        self._store(handed, list(records.values()))
        self._take_failures(handed, answer)
        if answer.leaving and not worker.leaving:
            worker.leaving = True
            self._hooks.say(f"{worker.describe()} leaves: it finishes the games that it plays")
        if answer.measured and (line := worker.note_speed(answer.measured)):
            self._hooks.say(line)
        unplayed = handed.left.keys() - {key for key, _ in answer.given_up}
        self._handout.hand_back(handed)
        if answer.rules:  # of the rules, too, it knows no more than anybody else: the others may play on
            self._part_with(worker, "cannot go on", f"there the rules failed: {answer.rules}")
        elif answer.trouble:
            self._part_with(worker, "cannot go on", answer.trouble)
        elif answer.lacks:  # it is asked again who it is, and so sent what it has lost, but not for ever
            self.crew.losses[worker.name] += 1
            too_often = self.crew.losses[worker.name] >= LOSSES
            refusal = f"it lost the bots that it was sent {LOSSES} times" if too_often else ""
            self._part_with(worker, "has lost a bot", refusal)
        elif (
            unplayed and not worker.leaving and not self._handout.ending and not (answer.late and self._is_late(handed))
        ):
            self._ban(worker, f"it left out {format_count(len(unplayed), 'game')}, and does not say why")

    def _read(self, handed: Handed, raw: bytes | None) -> tuple[Answer, dict[Key, Record]] | None:
        """Read an answer; a worker that sends a wrong one gets no more work."""
        try:
            return None if raw is None else read_answer(raw, handed.number, handed.left)
        except (ValueError, RecursionError) as error:
            self._ban(handed.worker, str(error))
            return None

    def _take_check(self, handed: Handed, raw: bytes | None) -> None:
        """Compare what a worker played with what another one made of the same block; nothing of it is stored."""
        if not (read := self._read(handed, raw)):
            self._handout.cross_check.drop(handed.number)
        elif line := self._handout.cross_check.take(handed.number, handed.worker, read[1]):
            self._hooks.say(line)

    def _is_late(self, handed: Handed) -> bool:
        """Whether a worker may find that it is too late for the games of a task."""
        return min(map(self._hooks.latest_begin, handed.block)) - time.time() < SKEW_S

    def _store(self, handed: Handed, records: Sequence[Record]) -> None:
        """Store records, but for those that are drawn: they are replayed first."""
        worker, free = handed.worker, list[Record]()
        for record in records:
            self._hooks.on_begin(*handed.left.pop(record.key))
            handed.running.left.discard(record.key)
            if self._conditions.drawn and secrets.randbelow(self._conditions.drawn) == 0:
                self._held[record.key] = handed
                self._audit.replay(record, self._tell_replayed)
            else:
                free.append(record)
        for line in self._handout.cross_check.note(handed, records):
            self._hooks.say(line)
        worker.games += len(records)
        worker.keys += [record.key for record in free]
        self._arrived += free
        if len(self._arrived) >= BURST:
            self._pass_on()

    def _tell_replayed(self, record: Record, why: str) -> None:
        self._cluster.events.put(Replayed(record, why))

    def _take_replayed(self, record: Record, why: str) -> None:
        """Store a record that was replayed, or let another worker play the game."""
        handed = self._held.pop(record.key)
        if not why:
            self._arrived.append(record)
            return
        self._handout.repeat(handed, record.key)
        self._ban(handed.worker, why)

    def _pass_on(self) -> None:
        """Store what has arrived."""
        records, self._arrived = self._arrived, []
        if not records:
            return
        self._hooks.on_burst(records)
        for record in records:
            self._hooks.on_record(record)
        if not self._handout.ending and self._hooks.pauses():
            self._handout.outcome.paused = True
            self._handout.finish()
        self._handout.recall_unwanted()

    def _take_failures(self, handed: Handed, answer: Answer) -> None:
        """Take what a worker could not play: another try follows, and then the game is given up."""
        for key, sentence in answer.given_up:
            if key not in handed.left:
                continue
            sentence = quote(sentence)
            self._failed[key] += 1
            if self._failed[key] < 2:
                self._hooks.on_failure(key, sentence, again=True)
            else:
                del handed.left[key]
                self._handout.give_up(key, sentence)
        for report in answer.overruns:
            if report.key in handed.left and len(report.used_ms) == len(handed.left[report.key][1].seating):
                self._hooks.on_overrun(*handed.left.pop(report.key), report)
        if answer.late:
            self._handout.note_late()
