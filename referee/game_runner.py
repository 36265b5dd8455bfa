"""One game from deal to record."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from protocol.messages import GameEnd, GameStart, Move, MoveAnswer, Out
from referee.clock import MS, Clock
from referee.dealer import Dealer
from referee.errors import MachineFault, MemoryFault
from referee.games import make_rules
from referee.records import Batch, Fault, GameOrder, Record, SeatReport, compute_digest
from referee.replay import VERDICT, make_void_result
from referee.requests import Requests
from referee.rules import Result, Shuffle, Turn
from referee.verdicts import Verdict, judge_illegal_move

NOTE_LENGTH = 500
NOTES_BYTES = 16_384
"""The longest note in characters, and the most bytes of all notes of one seat in one game."""

Watch = Callable[[int, str, int, str], None]
"""Receives every action: the seat, the action or `!` and the code of a verdict, its microseconds, the note."""


class Seat(Protocol):
    """The methods that a bot, a person and a script share."""

    def begin(self) -> int:
        """Get ready for a game; return its number, counted in this player's process; raises `Verdict`."""

    def next_id(self) -> int:
        """Return the number of the next request."""

    def ask_move(self, request: Move, limit: int | None, cpu_limit: int | None) -> tuple[MoveAnswer, int, int]:
        """Return the answer, and the wall and CPU time it took, all in nanoseconds; raises `Verdict`."""

    def ask(self, request: GameStart | GameEnd) -> None:
        """Wait for the bare answer; raises `Verdict`."""

    def dismiss(self) -> tuple[str | None, tuple[str, ...], str]:
        """End the bot; return its exit status if it had already ended, the last messages, and its stderr."""

    def report(self) -> SeatReport:
        """Return who sits here and what it did in this game; the times of its answers stay 0."""


class GameRunner:
    """Plays one game of a batch.

    Args:
        batch: the common data of its games.
        order: the game.
        seats: the players, by seat.
        dealer: chooses the order of every shuffle; a test may script it.
        watch: receives every action after it is played.
    """

    def __init__(
        self,
        batch: Batch,
        order: GameOrder,
        seats: Sequence[Seat],
        dealer: Dealer | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._batch = batch
        self._order = order
        self._seats = seats
        self._dealer = dealer or Dealer(bytes.fromhex(order.deal_seed))
        self._rules = make_rules(batch.rules, len(seats))
        self._state = self._rules.start()
        self._requests = Requests(self._rules, batch, order.key, order.rngs)
        self._post = self._requests.post
        self._clocks = self._requests.clocks
        self._watch = watch
        self._wants_legal = [True] * len(seats)
        self._notes_left = [NOTES_BYTES] * len(seats)
        self._actions: list[tuple[int, str]] = []
        self._micros: list[int] = []
        self._cpu_micros: list[int] = []
        self._notes: dict[int, str] = {}
        self._faults: list[Fault] = []

    def play(self) -> Record:
        """Play the game and return its record, whatever the bots do."""
        started, begin = time.time(), time.monotonic_ns()
        self._shuffle()
        failed = self._start()
        if {self._rules.teams[number] for number in failed} == set(self._rules.teams):
            for number in failed:
                self._judge(number, failed[number])
            result = make_void_result(len(self._seats))
        else:
            for number in failed:
                self._withdraw(number, failed[number])
            result = self._play_on()
        self._end(result)
        return self._make_record(result, started, (time.monotonic_ns() - begin) / MS)

    def _play_on(self) -> Result:
        while not isinstance(step := self._rules.next(self._state), Result):
            assert isinstance(step, Turn)
            self._act(step.seat)
        return step

    def _start(self) -> dict[int, Verdict]:
        """Greet the seats and announce the game; return the verdicts on those that fail."""
        failed: dict[int, Verdict] = {}
        games: dict[int, int] = {}
        for number, seat in enumerate(self._seats):
            try:
                games[number] = seat.begin()
            except (Verdict, MemoryFault) as failure:
                failed[number] = self._to_verdict(failure)
        reports = [seat.report() for seat in self._seats]
        names = [report.name for report in reports]
        self._wants_legal = [report.wants_legal for report in reports]
        for number, game in games.items():
            seat = self._seats[number]
            request = self._requests.game_start(number, seat.next_id(), game, names)
            try:
                seat.ask(request)
            except (Verdict, MemoryFault) as failure:
                failed[number] = self._to_verdict(failure)
        return dict(sorted(failed.items()))

    def _shuffle(self) -> None:
        while isinstance(step := self._rules.next(self._state), Shuffle):
            self._state, events = self._rules.shuffled(self._state, self._dealer.order(step.size))
            self._post(events)

    def _act(self, number: int) -> None:
        """Ask a seat for one action and play it, or withdraw the seat."""
        seat, clock = self._seats[number], self._clocks[number]
        legal = self._rules.legal(self._state)
        request = self._requests.move(number, seat.next_id(), self._state, legal, self._wants_legal[number])
        try:
            answer, wall, cpu = seat.ask_move(request, clock.time_limit_ns(), clock.cpu_limit_ns())
            # Whole microseconds, as in the record, so that a replay computes the same clock.
            micros, cpu_micros = wall // 1000, cpu // 1000
            if answer.move not in legal:
                verdict = judge_illegal_move(answer.move, legal)
                verdict.wall, verdict.cpu = wall, cpu
                raise verdict
            clock.spend(micros * 1000, cpu_micros * 1000)
        except (Verdict, MemoryFault) as failure:
            self._withdraw(number, self._to_verdict(failure))
            return
        if answer.note is not None:
            self._keep_note(number, answer.note)
        self._actions.append((number, answer.move))
        self._micros.append(micros)
        self._cpu_micros.append(cpu_micros)
        self._state, events = self._rules.play(self._state, answer.move)
        self._post(events)
        self._shuffle()
        if self._watch:
            self._watch(number, answer.move, micros, self._notes.get(len(self._actions) - 1, ""))

    def _keep_note(self, number: int, note: object) -> None:
        if not isinstance(note, str):
            return
        text = note[:NOTE_LENGTH].encode()[: self._notes_left[number]].decode("utf-8", "ignore")
        if text:
            self._notes_left[number] -= len(text.encode())
            self._notes[len(self._actions)] = text

    def _to_verdict(self, failure: Verdict | MemoryFault) -> Verdict:
        """Return the verdict; a kill for lack of memory becomes one if an earlier such kill made the game start again.

        Raises:
            MemoryFault: this was the first such kill, and the game is to be played again.
        """
        if isinstance(failure, Verdict):
            return failure
        if not self._order.spared:
            raise failure
        return Verdict("crash", f"{failure}, and so in the game before, which this one replaces")

    def _judge(self, number: int, verdict: Verdict) -> None:
        """Record a verdict with its evidence and end the bot."""
        exit, lines, stderr = self._seats[number].dismiss()
        played = sum(not action.startswith(VERDICT) for _, action in self._actions)
        self._faults.append(Fault(number, verdict.code, played, verdict.sentence, exit, lines, stderr))
        micros, cpu_micros = verdict.wall // 1000, verdict.cpu // 1000
        self._clocks[number].spend(micros * 1000, cpu_micros * 1000)
        self._actions.append((number, VERDICT + verdict.code))
        self._micros.append(micros)
        self._cpu_micros.append(cpu_micros)
        if self._watch:
            self._watch(number, VERDICT + verdict.code, micros, "")

    def _withdraw(self, number: int, verdict: Verdict) -> None:
        self._judge(number, verdict)
        self._post((Out(number, verdict.code),))
        self._state, events = self._rules.withdraw(self._state, number)
        self._post(events)
        self._shuffle()

    def _end(self, result: Result) -> None:
        """Send the result to the remaining seats; their answers change nothing."""
        out = {fault.seat for fault in self._faults}
        for number, seat in enumerate(self._seats):
            if number in out:
                continue
            request = self._requests.game_end(number, seat.next_id(), result)
            try:
                seat.ask(request)
            except (Verdict, MachineFault):
                seat.dismiss()

    def _make_record(self, result: Result, started: float, elapsed_ms: float) -> Record:
        batch = self._batch
        record = Record(
            key=self._order.key,
            ruleset=batch.ruleset,
            rules=batch.rules,
            entries=tuple((batch.players[player].label, batch.players[player].hash) for player in self._order.seating),
            deal_seed=self._order.deal_seed,
            actions=tuple(self._actions),
            places=result.places,
            scores=result.scores,
            reason=result.reason,
            digest="",
            micros=tuple(self._micros),
            cpu_micros=tuple(self._cpu_micros),
            notes=self._notes,
            seats=tuple(map(_add_times, self._seats, self._clocks)),
            faults=tuple(self._faults),
            commit=batch.commit,
            clock=batch.clock,
            isolation="none",
            host=platform.node(),
            versions=f"python {platform.python_version()}",
            started=started,
            elapsed_ms=round(elapsed_ms, 3),
        )
        return msgspec.structs.replace(record, digest=compute_digest(record))


def _add_times(seat: Seat, clock: Clock) -> SeatReport:
    used_ms, cpu_ms = round(clock.used / MS, 3), round(clock.cpu / MS, 3)
    return msgspec.structs.replace(seat.report(), used_ms=used_ms, cpu_ms=cpu_ms)
