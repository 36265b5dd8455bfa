"""One game from deal to record."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from malice.protocol.messages import Move
from malice.referee.clock import MS, Clock
from malice.referee.connection import BotConnection, await_answers
from malice.referee.course import Dealer, choose_dealer, find_acting, list_asked
from malice.referee.errors import FamilyError, MachineFault, MemoryFault
from malice.referee.families import load_family, make_rules
from malice.referee.game import start_course
from malice.referee.game_faults import blame_actions, check_request, check_rules, name_faults
from malice.referee.packed_events import AskContent, encode_events, pack_asks
from malice.referee.records import Batch, GameOrder, Record, RecordedVerdict, SeatReport, compute_digest
from malice.referee.replay import VERDICT, is_unplayed, make_void_result, replay_contents
from malice.referee.requests import Requests
from malice.referee.rules import Events, Result
from malice.referee.seat import BotSeat, Played, Seat, Watch
from malice.referee.verdicts import Verdict, judge_illegal_move


class GameLog:
    """The actions and the verdicts of one game, in order; whoever runs the game appends to them."""

    def __init__(self, batch: Batch, order: GameOrder) -> None:
        self._batch = batch
        self._order = order
        self.played: list[Played] = []
        self.faults: list[RecordedVerdict] = []
        self._asks: list[AskContent] = []
        self._turns = 0

    def add_ask(self, moves: Sequence[Played], events: Events, turns: int) -> None:
        """Add what the seats did in one ask, none for the deal that opens the game, and what followed.

        Args:
            moves: first the verdicts, then the actions, by seat.
            events: unmasked, up to the next ask.
            turns: how many turns have begun by then.
        """
        content = (tuple((each.seat, each.action) for each in moves), events)
        self._asks.append((*content, turns - self._turns) if turns != self._turns else content)
        self._turns = turns

    def make_record(
        self, result: Result, reports: Iterable[SeatReport], *, started: float, elapsed_ms: float
    ) -> Record:
        """Make the record of the finished game.

        Args:
            result: how it ended.
            reports: what each seat did, by seat.
            started: when the game began, in seconds of the wall clock.
            elapsed_ms: how long it took.

        Raises:
            FamilyError: no league could store the actions.
        """
        batch, played = self._batch, self.played
        self._refuse_actions()
        builds = tuple(batch.players[player].build for player in self._order.seating)
        record = Record(
            key=self._order.key,
            family=batch.family,
            ruleset=batch.ruleset,
            rules=batch.rules,
            entries=tuple((batch.players[player].label, batch.players[player].hash) for player in self._order.seating),
            deal_seed=self._order.deal_seed,
            actions=tuple((each.seat, each.action) for each in played),
            places=result.places,
            scores=result.scores,
            reason=result.reason,
            figures=result.figures,
            digest="",
            micros=tuple(each.micros for each in played),
            cpu_micros=tuple(each.cpu_micros for each in played),
            notes={index: each.note for index, each in enumerate(played) if each.note},
            seats=tuple(reports),
            faults=tuple(self.faults),
            commit=batch.commit,
            clock=batch.clock,
            isolation="none",
            host=platform.node(),
            versions=f"python {platform.python_version()}",
            started=started,
            elapsed_ms=round(elapsed_ms, 3),
            speed=batch.speed,
            builds=builds if any(builds) else (),
            tournament=batch.tournament,
            position=self._order.position,
        )
        return msgspec.structs.replace(record, digest=compute_digest(record), events=self._pack_events(record))

    def _pack_events(self, record: Record) -> bytes:
        # Whether seats that fail before anybody plays do so together only a replay tells, and it is a short one.
        asks = list(replay_contents(record)) if is_unplayed(record) else self._asks
        return encode_events(pack_asks(asks))

    def _refuse_actions(self) -> None:
        """Make sure that a league can store the actions.

        Raises:
            FamilyError: the rules listed one with a blank in it, or one that looks like a verdict.
        """
        actions = [each.action for each in self.played]
        marked = sum(action.startswith(VERDICT) for action in actions)
        if len(" ".join(actions).split()) != len(actions) or marked != len(self.faults):
            raise FamilyError(f"expected actions without blanks that do not begin with {VERDICT!r}, got: {actions}")


def report_seats(seats: Sequence[Seat], clocks: Sequence[Clock]) -> Iterable[SeatReport]:
    """What each seat did, with the times on its clock."""
    return map(_add_times, seats, clocks)


def _add_times(seat: Seat, clock: Clock) -> SeatReport:
    used_ms, cpu_ms = round(clock.used / MS, 3), round(clock.cpu / MS, 3)
    return msgspec.structs.replace(seat.report(), used_ms=used_ms, cpu_ms=cpu_ms)


NOTE_LENGTH = 500
NOTES_BYTES = 16_384
"""The longest note in characters, and the most bytes of all notes of one seat in one game."""


class GameRunner:
    """Plays one game of a batch.

    Args:
        batch: the common data of its games.
        order: the game.
        seats: the players, by seat.
        dealer: chooses the order of every shuffle; a test may script it.
        watch: receives the actions of every ask after they are played.
        checked: whether all that the game of a package returns is checked; those that ship pass the same in our tests.

    Raises:
        GameFault: the rules of the game failed; so does `play`.
    """

    def __init__(
        self,
        batch: Batch,
        order: GameOrder,
        seats: Sequence[Seat],
        dealer: Dealer | None = None,
        watch: Watch | None = None,
        *,
        checked: bool = True,
    ) -> None:
        self._batch = batch
        self._order = order
        self._seats = seats
        self._log = GameLog(batch, order)
        self._played = self._log.played
        self._faults = self._log.faults
        with name_faults(batch, order, self._played):
            family = load_family(batch.family)
            rules = make_rules(batch.family, batch.rules, len(seats))
            self._is_checked = checked and family.package != ""
            if self._is_checked:
                rules = check_rules(rules, family, batch.rules, len(seats))
            match = family.match(batch.rules)
            dealer = dealer or choose_dealer(bytes.fromhex(order.deal_seed))
            self._course = start_course(rules, dealer, order.position or None)
        self._rules = rules
        self._may_ask_several = match.simultaneous
        self._max_actions = match.max_actions
        # Whoever examines a bot, or plays in this process, reads views.
        self._reads_lines = [type(seat) is BotSeat for seat in seats]
        self._requests = Requests(rules, batch, order.key, order.rngs, order.position)
        self._post = self._requests.post
        self._clocks = self._requests.clocks
        self._watch = watch
        self._wants_legal = [True] * len(seats)
        self._notes_left = [NOTES_BYTES] * len(seats)
        self._asked_at = [0] * len(seats)
        """By seat: when the request that it has not answered was made, monotonic nanoseconds; 0 if there is none."""
        self._unstarted: dict[int, Verdict] = {}
        """By seat: the verdicts on bots that could not start, and leave with those that fail in the first ask."""

    def play(self) -> Record:
        """Play the game and return its record, whatever the bots do."""
        with name_faults(self._batch, self._order, self._played):
            return self._play()

    def _play(self) -> Record:
        started, begin = time.time(), time.monotonic_ns()
        self._follow((), self._course.dealt)
        failed = self._start()
        result = self._make_void(failed) if self._is_void(failed) else self._play_on(failed)
        farewells = self._end(result)
        elapsed_ms = (time.monotonic_ns() - begin) / MS
        reports = [
            replace(report, farewell=farewells[number][0], farewell_stderr=farewells[number][1])
            if number in farewells
            else report
            for number, report in enumerate(report_seats(self._seats, self._clocks))
        ]
        return self._log.make_record(result, reports, started=started, elapsed_ms=elapsed_ms)

    def measure_used_ms(self) -> tuple[float, ...]:
        """The time of each seat so far, with the request that it has not answered."""
        now = time.monotonic_ns()
        return tuple(
            (clock.used + (now - asked if asked else 0)) / MS
            for clock, asked in zip(self._clocks, self._asked_at, strict=True)
        )

    def _is_void(self, failed: Iterable[int]) -> bool:
        """Whether nobody has played, and with these seats every team has failed."""
        teams = self._rules.teams
        gone = {teams[number] for number in (*failed, *(fault.seat for fault in self._faults))}
        return len(self._faults) == len(self._played) and gone == set(teams)

    def _make_void(self, failed: Mapping[int, Verdict]) -> Result:
        self._report(self._judge(failed))
        return make_void_result(len(self._seats))

    def _play_on(self, unstarted: Mapping[int, Verdict]) -> Result:
        """Withdraw the seats that could not start, and ask the others until the game is over."""
        for number, verdict in unstarted.items():
            asked = list_asked(self._course.step)
            if number in asked and len(asked) > 1:
                self._unstarted[number] = verdict
            else:
                self._withdraw_alone(number, verdict)
        while not isinstance(step := self._course.step, Result):
            if len(self._played) >= self._max_actions:
                return make_void_result(len(self._seats))
            if self._unstarted and (strangers := self._unstarted.keys() - step.seats):
                stranger = min(strangers)
                self._withdraw_alone(stranger, self._unstarted.pop(stranger))
            elif len(step.seats) == 1 and not self._unstarted:
                self._ask_one(step.seats[0])
            elif void := self._ask_several(step.seats):
                return void
        for number in sorted(self._unstarted):
            self._withdraw_alone(number, self._unstarted.pop(number))
        return step

    def _ask_one(self, number: int) -> None:
        """Ask a seat for an action and play it, or withdraw the seat."""
        legal = self._rules.legal(self._course.state, number)
        self._send_move(number, self._make_move(number, legal))
        try:
            played = self._collect_move(number, legal)
        except (Verdict, MemoryFault) as failure:
            self._withdraw_alone(number, self._to_verdict(failure))
            return
        self._played.append(played)
        self._clocks[number].spend(played.micros * 1000, played.cpu_micros * 1000)
        self._follow((played,), self._course.play({number: played.action}))
        if self._watch:
            self._watch((played,))

    def _ask_several(self, asked: Sequence[int]) -> Result | None:
        """Ask seats for an action at the same time; withdraw those that fail, and play the actions of the others.

        Returns:
            The result, if that makes the game void.
        """
        if len(asked) > 1 and not self._may_ask_several:
            raise FamilyError(f"seats {asked} were asked together, but `match` does not say that it is simultaneous")
        failed, self._unstarted = self._unstarted, {}
        legal = {number: self._rules.legal(self._course.state, number) for number in asked if number not in failed}
        # All requests are made before the first is sent: no clock runs while we make another seat's.
        requests = [self._make_move(number, actions) for number, actions in legal.items()]
        connections = [self._send_move(*each) for each in zip(legal, requests, strict=True)]
        await_answers([connection for connection in connections if connection])
        answers: dict[int, Played] = {}
        for number, actions in legal.items():
            try:
                answers[number] = self._collect_move(number, actions)
            except (Verdict, MemoryFault) as failure:
                failed[number] = self._to_verdict(failure)
        if failed and self._is_void(failed):
            return self._make_void(failed)
        news, events = self._withdraw(failed) if failed else ([], ())
        acting = [answers[number] for number in self._find_acting(answers)]
        if acting:
            events += self._play_actions(acting)
        self._follow([*news, *acting], events)
        self._report([*news, *acting])
        return None

    def _make_move(self, number: int, legal: tuple[str, ...]) -> Move:
        if not legal:
            raise FamilyError(f"legal: expected an action of seat {number}, which is asked, got none")
        if type(legal) is not tuple:
            raise FamilyError(f"legal: expected a tuple, got {legal!r}")
        id = self._seats[number].next_id()
        listed, for_line = self._wants_legal[number], self._reads_lines[number]
        request = self._requests.move(number, id, self._course.state, legal, listed, for_line=for_line)
        if self._is_checked:
            check_request(request, number)
        return request

    def _send_move(self, number: int, request: Move) -> BotConnection | None:
        clock = self._clocks[number]
        self._asked_at[number] = time.monotonic_ns()
        return self._seats[number].send_move(request, clock.time_limit_ns(), clock.cpu_limit_ns())

    def _collect_move(self, number: int, legal: tuple[str, ...]) -> Played:
        """Collect the action of a seat; raise its `Verdict` if it fails."""
        answer, wall, cpu = self._seats[number].collect_move()
        self._asked_at[number] = 0
        if answer.move not in legal:
            blame_actions(legal, number)
            verdict = judge_illegal_move(answer.move, legal)
            verdict.wall, verdict.cpu = wall, cpu
            raise verdict
        note = "" if answer.note is None else self._cut_note(number, answer.note)
        # Whole microseconds, as in the record, so that a replay computes the same clock.
        return Played(number, answer.move, wall // 1000, cpu // 1000, note)

    def _follow(self, moves: Sequence[Played], events: Events) -> None:
        """Tell everybody what the seats did in an ask, and what followed."""
        self._log.add_ask(moves, events, self._rules.turn(self._course.state))
        self._post(events)

    def _play_actions(self, moves: Sequence[Played]) -> Events:
        """Play actions of one ask; return the events."""
        self._played += moves
        actions = {}
        for each in moves:
            self._clocks[each.seat].spend(each.micros * 1000, each.cpu_micros * 1000)
            actions[each.seat] = each.action
        return self._course.play(actions)

    def _withdraw(self, failed: Mapping[int, Verdict]) -> tuple[list[Played], Events]:
        """Judge seats and withdraw them together; return the verdicts as they are recorded, and the events."""
        news = self._judge(failed)
        codes = {number: verdict.code for number, verdict in sorted(failed.items())}
        return news, self._course.withdraw(codes)

    def _withdraw_alone(self, number: int, verdict: Verdict) -> None:
        news, events = self._withdraw({number: verdict})
        self._follow(news, events)
        self._report(news)

    def _find_acting(self, answers: Mapping[int, Played]) -> tuple[int, ...]:
        """The seats whose answers are played although others have failed.

        Raises:
            FamilyError: the rules ask some of them again, and others with them.
        """
        step = self._course.step
        acting = find_acting(step, tuple(answers))
        if not acting and (again := [seat for seat in list_asked(step) if seat in answers]):
            raise FamilyError(
                f"withdraw: expected that it asks no more seats than before, got {step} when {again} had answered"
            )
        return acting

    def _report(self, news: Sequence[Played]) -> None:
        if self._watch:
            self._watch(news)

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
            self._asked_at[number] = time.monotonic_ns()
            try:
                seat.ask(request)
                self._asked_at[number] = 0
            except (Verdict, MemoryFault) as failure:
                failed[number] = self._to_verdict(failure)
        return dict(sorted(failed.items()))

    def _cut_note(self, number: int, note: object) -> str:
        if not isinstance(note, str):
            return ""
        text = note[:NOTE_LENGTH].encode()[: self._notes_left[number]].decode("utf-8", "ignore")
        self._notes_left[number] -= len(text.encode())
        return text

    def _to_verdict(self, failure: Verdict | MemoryFault) -> Verdict:
        """The verdict; a second kill for lack of memory in the same game becomes one too.

        Raises:
            MemoryFault: this was the first such kill, and the game is to be played again.
        """
        if isinstance(failure, Verdict):
            return failure
        if not self._order.spared:
            raise failure
        return Verdict("crash", f"{failure}, and so in the game before, which this one replaces")

    def _judge(self, failed: Mapping[int, Verdict]) -> list[Played]:
        """Record verdicts with their evidence, by seat, and end the bots."""
        before = sum(not each.action.startswith(VERDICT) for each in self._played)
        news = []
        for number, verdict in sorted(failed.items()):
            self._asked_at[number] = 0
            exit, lines, stderr = self._seats[number].dismiss()
            took, limit = (each / MS for each in verdict.late) if verdict.late else (None, None)
            seen = exit, lines, stderr, took, limit
            self._faults.append(RecordedVerdict(number, verdict.code, before, verdict.sentence, *seen))
            played = Played(number, VERDICT + verdict.code, verdict.wall // 1000, verdict.cpu // 1000)
            self._clocks[number].spend(played.micros * 1000, played.cpu_micros * 1000)
            news.append(played)
        self._played += news
        return news

    def _end(self, result: Result) -> dict[int, tuple[str, str]]:
        """Send the result to the remaining seats; their answers change nothing.

        Returns:
            By seat: what was wrong with its answer, and its stderr.
        """
        farewells = {}
        out = {fault.seat for fault in self._faults}
        for number, seat in enumerate(self._seats):
            if number in out:
                continue
            request = self._requests.game_end(number, seat.next_id(), result)
            try:
                seat.ask(request)
            except Verdict as verdict:
                _, _, stderr = seat.dismiss()
                farewells[number] = f"{verdict.code} at game_end: {verdict.sentence}", stderr
            except MachineFault:
                seat.dismiss()
        return farewells
