"""The examination itself: parts that are gone through one after the other, and which steps each of them proves."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from protocol.codec import excerpt
from referee.isolation.layers import name_common_isolation
from referee.records import Isolation
from tournaments.check import exits, fuzz, repetition
from tournaments.check.causes import TO_STDERR, Failed, find_step, is_broken_answer, make_finding
from tournaments.check.exam_log import Stray, Times, Trouble
from tournaments.check.games import OPPONENT, Games, Syllabus, everything
from tournaments.check.odd_json import LATER_TYPES, with_unknown
from tournaments.check.report import TITLES, Finding, Report, Step
from tournaments.check.seat import ExaminedSeat
from tournaments.entries.bots import BotSpec

GAMES = 20
SLOWEST = 5
PLAIN = ("restart", "reuse", "bye", "eof")
"""Parts that start the bot as it was started before."""
UNKNOWN_DEAL = 1000
"""A deal that is played in no other part."""


class Part:
    """Something that is tried in one go.

    Args:
        name: that of its step, or of the step that fails when nothing else is to blame.
        needs: steps that have to have passed before.
        run: tries it; raises `Trouble` or `Failed` when it does not work.
        own: whether trouble in it is always of its own step, whatever kind it is.
    """

    def __init__(self, name: str, needs: tuple[str, ...], run: Callable[[], None], *, own: bool = False) -> None:
        self.name, self.needs, self.run, self.own = name, needs, run, own


class Examination:
    """Examines one bot.

    Args:
        bot: built, if it has to be.
        times: how long it may take.
        isolation: what is to be around it.
        rare: how many rare situations it gets.
        games: how many games of the main ruleset.
        syllabus: what is played; by default something of every family of rulesets.
        tell: is told of each part as it begins.
    """

    def __init__(
        self,
        bot: BotSpec,
        times: Times,
        isolation: Isolation,
        *,
        rare: int = 0,
        games: int = GAMES,
        syllabus: Syllabus | None = None,
        tell: Callable[[str], None] = lambda part: None,
    ) -> None:
        self._bot = bot
        self._times = times
        self._rare_count = rare
        self._games_count = games
        self._tell = tell
        self._syllabus = syllabus = syllabus or everything()
        titles = TITLES | {"games": f"plays {games} games of {syllabus.main.name} against {OPPONENT}"}
        if not syllabus.whole:
            titles["families"] = "plays what it is made for"
        names = [name for name in titles if rare or name != "fuzz"]
        self._steps = {name: Step(name, titles[name], "not reached", "") for name in names}
        self._broken = False
        """Whether a line that is no JSON was meant as an answer; then it is no stray one."""
        self._games = Games(bot, times, isolation, syllabus)
        self._seat = self._games.seat()

    def run(self) -> Report:
        """Go through all parts and return what was found."""
        with self._games:
            for part in self._parts():
                self._try(part)
        self._judge_all()
        steps, journal = tuple(self._steps.values()), self._games.journal
        return Report(
            bot=self._bot.manifest.name,
            passed=all(step.result == "passed" for step in steps),
            isolation=name_common_isolation([journal.isolation]),
            steps=steps,
            slowest=tuple(heapq.nlargest(SLOWEST, journal.thoughts, key=lambda thought: thought.ms)),
        )

    def _parts(self) -> Iterator[Part]:
        yield Part("starts", (), self._greeting)
        yield Part("games", ("hello",), self._standard)
        yield Part("families", ("games",), self._families)
        yield Part("unknown", ("answers",), self._unknown, own=True)
        yield Part("restart", ("games",), self._restart, own=True)
        yield Part("reuse", ("families", "restart"), self._reuse, own=True)
        if self._rare_count:
            yield Part("fuzz", ("answers",), self._rare, own=True)
        yield Part("bye", ("hello",), lambda: self._exit("bye"), own=True)
        yield Part("eof", ("hello",), lambda: self._exit("eof"), own=True)

    def _try(self, part: Part) -> None:
        """Go through a part, unless a step that it needs has not passed."""
        lack = next((need for need in part.needs if self._steps[need].result != "passed"), None)
        if lack is not None:
            self._reach(part.name, f"needs: {self._steps[lack].title}")
            return
        self._tell(self._steps[part.name].title)
        try:
            part.run()
        except Failed as failed:
            self._fail(part.name, failed.fault)
        except Trouble as trouble:
            self._broken = self._broken or is_broken_answer(trouble)
            step = part.name if part.own else find_step(trouble, part.name)
            if part.name in PLAIN and trouble.what == "hello":
                step = "restart"  # it could start before
            fault = make_finding(trouble, self._bot, self._games.journal.where)
            self._fail(step, fault)
            if step != part.name:
                so_far = self._steps[part.name].line
                self._reach(part.name, f"{so_far}{', ' if so_far else ''}then: {self._steps[step].title}")
        finally:
            self._games.dismiss_opponents()

    # The parts.

    def _greeting(self) -> None:
        self._games.journal.where = "before any game"
        self._seat.greet()
        told = ascii(self._seat.name) + (f", version {self._seat.version!a}" if self._seat.version else "")
        self._pass("starts", f"{self._seat.greeted_ms:.0f} ms to the answer to hello")
        self._pass("flushes", "answers come while the process lives")
        self._pass("hello", told)

    def _standard(self) -> None:
        won, count = 0, self._games_count
        for deal in range(count):
            self._reach("games", f"{deal} of {count} games")
            record = self._games.play_main(self._seat, deal)
            own = record.entries.index(self._games.entry)
            won += record.places[own] == 1 and max(record.places) > 1
        self._pass("games", f"{won} won, {count - won} lost or drawn")
        self._pass("answers", "")

    def _families(self) -> None:
        told = self._syllabus.others
        for number, (ruleset, seats) in enumerate(told):
            self._reach("families", f"{number} of {len(told)}, up to {ruleset.name}")
            self._games.play(self._seat, ruleset, seats, UNKNOWN_DEAL + number)
        self._seat.retire()
        fewest, most = min(seats for _, seats in told), max(seats for _, seats in told)
        seats_told = f"of {fewest} seats" if fewest == most else f"of {fewest} to {most} seats"
        names = "" if self._syllabus.whole else f": {', '.join(ruleset.name for ruleset, _ in told)}"
        self._pass("families", f"{len(told)} {'game' if len(told) == 1 else 'games'}, {seats_told}{names}")

    def _unknown(self) -> None:
        seat = self._games.seat()
        seat.dress = with_unknown
        self._games.play_main(seat, UNKNOWN_DEAL)
        seat.retire()
        seat = self._games.seat()
        seat.after_answer = _ask_unknown
        self._games.play_main(seat, UNKNOWN_DEAL + 1)
        seat.retire()
        self._pass("unknown", f"unknown fields, events, and {len(LATER_TYPES)} types of request")

    def _restart(self) -> None:
        repetition.break_off(self._games)
        self._games.journal.where = "a new process, after one was killed in the middle of a game"
        seat = self._games.seat()
        seat.greet()
        seat.retire()
        self._pass("restart", "killed in the middle of a game, and started again")

    def _reuse(self) -> None:
        found = repetition.compare(self._games)
        self._pass("reuse", found.line, found.remarks)

    def _rare(self) -> None:
        self._pass("fuzz", fuzz.ask_all(self._games, self._rare_count, self._bot))

    def _exit(self, step: str) -> None:
        plays = self._steps["games"].result == "passed"
        left = exits.leave(self._games, bye=step == "bye", plays=plays)
        self._pass(step, f"{left.heard.ns / 1e6:.0f} ms to its exit", tuple(exits.remarks(left)))

    def _judge_all(self) -> None:
        """Judge what no part proves alone."""
        journal, steps = self._games.journal, self._steps
        if journal.first_stray and not self._broken:
            self._fail("stdout", _stray_fault(journal.strays, journal.first_stray))
        if steps["answers"].result == "passed":
            self._pass("answers", f"{journal.answers} requests")
            self._pass("stdout", f"nothing but {journal.answers} answers")
        if steps["families"].result == "passed":
            slowest = max(thought.ms for thought in journal.thoughts)
            most = self._times.move_ms
            remarks = (f"more than half of the time is used: {most} ms",) if slowest > most / 2 else ()
            self._pass("clock", f"{slowest:.1f} ms of {most} for the slowest action", remarks)
        first = next((step for step in steps.values() if step.result == "failed"), None)
        for name, step in steps.items():
            if step.result == "not reached" and first and not step.line:
                self._reach(name, f"needs: {first.title}")

    # How results are noted: what has failed stays so.

    def _note(self, name: str, step: Step) -> None:
        if self._steps[name].result != "failed":
            self._steps[name] = step

    def _reach(self, name: str, line: str) -> None:
        self._note(name, replace(self._steps[name], line=line))

    def _pass(self, name: str, line: str, remarks: tuple[str, ...] = ()) -> None:
        self._note(name, replace(self._steps[name], result="passed", line=line, remarks=remarks))

    def _fail(self, name: str, fault: Finding) -> None:
        self._note(name, replace(self._steps[name], result="failed", line=fault.cause, fault=fault))


def _ask_unknown(seat: ExaminedSeat) -> None:
    """Ask a request of each unknown type in turn, one after each answer."""
    kind, fields = LATER_TYPES[len(seat.spoken) % len(LATER_TYPES)]
    seat.ask_unknown(kind, fields)


def _stray_fault(count: int, first: Stray) -> Finding:
    lines = "a line on stdout that is" if count == 1 else f"{count} lines on stdout that are"
    return Finding(
        cause=f"{lines} no JSON, the first: {excerpt(first.text, 80)}",
        expected="nothing on stdout but one line of JSON for each request",
        hint=TO_STDERR,
        where=first.where,
        lines=first.lines,
    )
