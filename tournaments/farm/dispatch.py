"""Plays the games of a run on the workers of a cluster: takes what happens there, one event after the other."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from queue import Empty

from malice.referee.nouns import format_count
from malice.referee.records import Batch, Key, Record
from malice.tournaments.farm.cluster import Answered, Cluster, Event, Introduced, Replayed, Signalled, Unreachable
from malice.tournaments.farm.conditions import Conditions
from malice.tournaments.farm.crew import Crew, Handed, Worker, quote
from malice.tournaments.farm.handout import Handout
from malice.tournaments.farm.receipt import read_answer
from malice.tournaments.farm.recruiting import Recruiting
from malice.tournaments.farm.signals import signals_as_events
from malice.tournaments.farm.work import Answer
from malice.tournaments.running.coordinator import GENTLE, name_stop
from malice.tournaments.running.hooks import Audit, Hooks, Outcome

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
        self.crew = Crew()
        self._cluster = cluster
        self._conditions = conditions
        self._audit = audit
        self._hooks = hooks
        self._handout = Handout(cluster, conditions, self.crew, batches, hooks)
        self._recruiting = Recruiting(cluster, conditions, self.crew, hooks.say, hooks.describe_limit)
        self._arrived: list[Record] = []
        """Records that are good, and not stored yet: the disk takes what arrives together at once."""
        self._held: dict[Key, tuple[Worker, Handed]] = {}
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
                self._recruiting.welcome(address, reply)
            case Unreachable(address, why):
                self._recruiting.hear_nothing(address, why)
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
        for worker in self._recruiting.look_around():
            self._part_with(worker, "has left" if worker.leaving else "is gone", lost=not worker.leaving)
        self._recruiting.require_workers()
        if time.monotonic() - self._reported >= REPORT_EVERY_S:
            self._reported = time.monotonic()
            self._hooks.say(self.crew.describe_work())

    def _part_with(self, worker: Worker, why: str, *, lost: bool = False) -> None:
        """Take a worker's tasks back, and hand them out again; `lost` says that one of them may be why it is gone."""
        tasks = list(worker.tasks.values())
        games = sum(len(handed.left) for handed in tasks)
        self._hooks.say(f"{worker.describe()} {why}: {format_count(games, 'game')} handed out again")
        self._cluster.recall([handed.number for handed in tasks])
        for handed in tasks:
            self._handout.hand_back(handed, lost=lost)
        self._handout.drop_checks(worker.address)
        self.crew.remove(worker)

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
        self._recruiting.refuse(worker, why)
        self._audit.check(self.crew.list_keys(worker.name))

    # What workers return

    def _take_answer(self, handed: Handed, raw: bytes | None) -> None:
        """Take what a worker says of a task; what has no record then is handed out again."""
        worker = self.crew.workers[handed.address]
        if raw is None:
            self._handout.hand_back(handed, lost=True)
            return
        try:
            answer, records = read_answer(raw, handed)
        except (ValueError, RecursionError) as error:
            self._ban(worker, str(error))
            return
        self._measure(worker, handed, len(records), answer.seconds)
        self._handout.drop(handed)
        self._store(worker, handed, records)
        self._take_failures(handed, answer)
        if answer.leaving and not worker.leaving:
            worker.leaving = True
            self._hooks.say(f"{worker.describe()} leaves: it finishes the games that it plays")
        if answer.measured and (line := worker.note_speed(answer.measured)):
            self._hooks.say(line)
        unplayed = handed.left.keys() - {key for key, _ in answer.given_up}
        self._handout.hand_back(handed)
        if answer.rules:  # of the rules, too, it knows no more than anybody else: the others may play on
            self._part_with(worker, "cannot go on")
            self._recruiting.refuse(worker, f"there the rules failed: {answer.rules}")
        elif answer.trouble:
            self._part_with(worker, "cannot go on")
            self._recruiting.refuse(worker, answer.trouble)
        elif answer.lacks:
            self._take_loss(worker, answer)
        elif (
            unplayed and not worker.leaving and not self._handout.ending and not (answer.late and self._is_late(handed))
        ):
            self._ban(worker, f"it left out {format_count(len(unplayed), 'game')}, and does not say why")

    def _take_check(self, handed: Handed, raw: bytes | None) -> None:
        """Compare what a worker played with what another one made of the same block; nothing of it is stored."""
        worker, records = self.crew.workers[handed.address], list[Record]()
        try:
            if raw is not None:
                _, records = read_answer(raw, handed)
        except (ValueError, RecursionError) as error:
            self._handout.cross_check.drop(handed.number)
            self._ban(worker, str(error))
            return
        if line := self._handout.cross_check.take(handed.number, worker, records):
            self._hooks.say(line)

    def _take_loss(self, worker: Worker, answer: Answer) -> None:
        """Let a worker be asked again who it is, and so be sent the bots that it has lost, but not for ever."""
        self._part_with(worker, "has lost a bot")
        self.crew.losses[worker.name] += 1
        if odd := sorted(set(answer.lacks) - {ticket.content for ticket in self._conditions.tickets.values()}):
            self._recruiting.refuse(worker, f"it asks for a bot that is none of this run: {odd[0]}")
        elif self.crew.losses[worker.name] >= LOSSES:
            self._recruiting.refuse(worker, f"it lost the bots that it was sent {LOSSES} times")

    def _is_late(self, handed: Handed) -> bool:
        """Whether a worker may find that it is too late for the games of a task."""
        return min(map(self._hooks.latest_begin, handed.block)) - time.time() < SKEW_S

    def _measure(self, worker: Worker, handed: Handed, games: int, seconds: float) -> None:
        """Learn from a block how long games take, before they are shown."""
        if not games or seconds < LEAST_S:
            return
        self._handout.durations.count([player.label for player in handed.running.batch.players], games, seconds)
        worker.measured += games
        worker.seconds += seconds
        self._hooks.on_rate(self.crew.estimate_rate())

    def _store(self, worker: Worker, handed: Handed, records: Sequence[Record]) -> None:
        """Store records, but for those that are drawn: they are replayed first."""
        free: list[Record] = []
        for record in records:
            self._hooks.on_begin(*handed.left.pop(record.key))
            handed.running.left.discard(record.key)
            if self._conditions.drawn and secrets.randbelow(self._conditions.drawn) == 0:
                self._held[record.key] = worker, handed
                self._audit.replay(record, self._tell_replayed)
            else:
                free.append(record)
        for line in self._handout.cross_check.note(worker, handed, records):
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
        worker, handed = self._held.pop(record.key)
        if not why:
            self._arrived.append(record)
            return
        self._handout.repeat(handed, record.key)
        self._ban(worker, why)

    def _pass_on(self) -> None:
        """Store what has arrived."""
        records, self._arrived = self._arrived, []
        if not records:
            return
        self._hooks.on_burst(records)
        for record in records:
            self._hooks.on_record(record)
        if not self._handout.ending and self._hooks.pauses():
            self._handout.outcome.paused = self._handout.finish()
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
