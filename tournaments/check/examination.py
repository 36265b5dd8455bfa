"""The examination: its parts, one after the other, and the steps that each of them proves; of one bot or of many."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.codec import excerpt
from malice.referee.errors import DataError, GameFault
from malice.referee.families import load_family
from malice.referee.isolation.boxes import name_common_isolation
from malice.referee.nouns import format_count
from malice.referee.records import Isolation
from malice.tournaments.check import fuzz, repetition
from malice.tournaments.check.causes import TO_STDERR, Failed, find_step, is_broken_answer, is_stray, make_finding
from malice.tournaments.check.fuzz import LATER_TYPES, add_unknown
from malice.tournaments.check.games import ExamGames, Syllabus, choose_syllabus, cover_everything
from malice.tournaments.check.report import TITLES, Finding, Report, Step
from malice.tournaments.check.seat import ExaminedSeat, Stray, Times, Trouble
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.lookup import Find, FoundBot, expand_entries, find_and_build_bots
from malice.tournaments.league.config import LabelledBot, assign_labels, read_config
from malice.tournaments.league.journal import Absence

GAMES = 20
SLOWEST = 5
PLAIN = ("restart", "reuse", "bye", "eof")
"""Parts that start the bot in the same way as an earlier part."""
UNKNOWN_DEAL = 1000
"""A deal that no other part plays."""


class ExamPart:
    """One part of the examination.

    Args:
        name: the name of its step, which fails if the trouble belongs to no other step.
        needs: the steps that must pass first.
        run: carries it out; raises `Trouble` or `Failed` if the bot fails.
        own: whether trouble in this part fails its own step; stray lines fail theirs all the same.
        comment: follows the hint if this step fails.
    """

    def __init__(
        self, name: str, needs: tuple[str, ...], run: Callable[[], None], *, own: bool = False, comment: str = ""
    ) -> None:
        self.name, self.needs, self.run, self.own, self.comment = name, needs, run, own, comment


class Examination:
    """Examines one bot.

    Args:
        bot: the bot, built.
        times: how long it may take.
        isolation: the isolation of the bot.
        rare: the number of rare situations.
        games: the number of games of the main ruleset.
        syllabus: the games to play; by default one of every family of rulesets.
    """

    def __init__(
        self,
        bot: Bot,
        times: Times,
        isolation: Isolation,
        *,
        rare: int = 0,
        games: int = GAMES,
        syllabus: Syllabus | None = None,
    ) -> None:
        self._bot = bot
        self._times = times
        self._rare_count = rare
        self._games_count = games
        self._syllabus = syllabus = syllabus or cover_everything()
        opponent = load_family(syllabus.main.family).opponent
        titles = TITLES | {"games": f"plays {format_count(games, 'game')} of {syllabus.main.name} against {opponent}"}
        if not syllabus.every_ruleset:
            titles["families"] = "plays its rulesets"
        names = [name for name in titles if rare or name != "fuzz"]
        self._steps = {name: Step(name, titles[name], "not reached", "") for name in names}
        self._broken = False
        """Whether a line that is not JSON was meant as an answer; it is then not a stray line."""
        self._games = ExamGames(bot, times, isolation, syllabus)
        self._seat = self._games.seat()

    def run(self, on_part: Callable[[str], None] = lambda title: None) -> Report:
        """Run all parts, and return the report.

        Args:
            on_part: receives the title of each part as it begins.
        """
        self._on_part = on_part
        with self._games:
            for part in self._parts():
                self._try(part)
        self._judge_all()
        steps, log = tuple(self._steps.values()), self._games.log
        return Report(
            bot=self._bot.manifest.name,
            passed=all(step.result == "passed" for step in steps),
            isolation=name_common_isolation([log.isolation]),
            steps=steps,
            slowest=tuple(heapq.nlargest(SLOWEST, log.thoughts, key=lambda thought: thought.ms)),
        )

    def _parts(self) -> Iterator[ExamPart]:
        yield ExamPart("starts", (), self._greet)
        yield ExamPart("games", ("hello",), self._play_main)
        yield ExamPart("families", ("games",), self._play_families)
        yield ExamPart("unknown", ("answers",), self._send_unknown, own=True)
        yield ExamPart("restart", ("games",), self._restart, own=True)
        yield ExamPart("reuse", ("families", "restart"), self._reuse, own=True)
        if self._rare_count:
            yield ExamPart("fuzz", ("answers",), self._ask_rare, own=True, comment=fuzz.COMMENT)
        yield ExamPart("bye", ("hello",), lambda: self._exit("bye"), own=True)
        yield ExamPart("eof", ("hello",), lambda: self._exit("eof"), own=True)

    def _try(self, part: ExamPart) -> None:
        """Run a part, if the steps that it needs have passed."""
        missing = next((need for need in part.needs if self._steps[need].result != "passed"), None)
        if missing is not None:
            self._reach(part.name, f"needs: {self._steps[missing].title}")
            return
        self._on_part(self._steps[part.name].title)
        try:
            part.run()
        except Failed as failed:
            self._fail(part.name, failed.finding)
        except Trouble as trouble:
            self._broken = self._broken or is_broken_answer(trouble)
            step = _choose_step(trouble, part)
            finding = make_finding(trouble, self._bot, self._games.log.where)
            if step == part.name and part.comment:
                finding = replace(finding, hint=f"{finding.hint}; {part.comment}")
            self._fail(step, finding)
            if step != part.name:
                so_far = self._steps[part.name].line
                self._reach(part.name, f"{so_far}{', ' if so_far else ''}then: {self._steps[step].title}")
        finally:
            self._games.dismiss_opponents()

    # The parts.

    def _greet(self) -> None:
        self._games.log.where = "before any game"
        self._seat.greet()
        self._pass("starts", f"{self._seat.greeted_ms:.0f} ms to the answer to hello")
        self._pass("flushes", "answers come while the process lives")
        self._pass("hello", _format_name(self._seat))

    def _play_main(self) -> None:
        won = sum(self._wins_game(deal) for deal in range(self._games_count))
        self._pass("games", f"{won} won, {self._games_count - won} lost or drawn")
        self._pass("answers", "")

    def _wins_game(self, deal: int) -> bool:
        """Play a game of the main ruleset; return whether the bot won it."""
        self._reach("games", f"{deal} of {format_count(self._games_count, 'game')}")
        record = self._games.play_main(self._seat, deal)
        own = record.entries.index(self._games.entry)
        return record.places[own] == 1 and max(record.places) > 1

    def _play_families(self) -> None:
        for number, (ruleset, seats) in enumerate(self._syllabus.others):
            self._reach("families", f"{number} of {len(self._syllabus.others)}, up to {ruleset.name}")
            self._games.play(self._seat, ruleset, seats, UNKNOWN_DEAL + number)
        self._seat.retire()
        self._pass("families", self._describe_families())

    def _describe_families(self) -> str:
        games = self._syllabus.others
        seats = _format_seats([seats for _, seats in games])
        names = "" if self._syllabus.every_ruleset else f": {', '.join(ruleset.name for ruleset, _ in games)}"
        return f"{format_count(len(games), 'game')}, {seats}{names}"

    def _send_unknown(self) -> None:
        self._send_unknown_fields()
        self._send_unknown_types()
        self._pass("unknown", f"unknown fields, events, and {len(LATER_TYPES)} types of request")

    def _send_unknown_fields(self) -> None:
        seat = self._games.seat()
        seat.dress = add_unknown
        self._games.play_main(seat, UNKNOWN_DEAL)
        seat.retire()

    def _send_unknown_types(self) -> None:
        seat = self._games.seat()
        seat.after_answer = _ask_unknown
        self._games.play_main(seat, UNKNOWN_DEAL + 1)
        seat.retire()

    def _restart(self) -> None:
        repetition.break_off(self._games)
        self._start_and_end()
        self._pass("restart", "killed in the middle of a game, and started again")

    def _start_and_end(self) -> None:
        self._games.log.where = "a new process, after one was killed in the middle of a game"
        seat = self._games.seat()
        seat.greet()
        seat.retire()

    def _reuse(self) -> None:
        comparison = repetition.compare(self._games)
        self._pass("reuse", comparison.line, comparison.remarks)

    def _ask_rare(self) -> None:
        self._pass("fuzz", fuzz.ask_all(self._games, self._rare_count))

    def _exit(self, step: str) -> None:
        plays = self._steps["games"].result == "passed"
        leaving = repetition.leave(self._games, bye=step == "bye", plays=plays)
        self._pass(step, f"{leaving.heard.ns / 1e6:.0f} ms to its exit", tuple(repetition.list_remarks(leaving)))

    def _judge_all(self) -> None:
        """Judge the steps that no single part proves."""
        log, steps = self._games.log, self._steps
        if log.first_stray and not self._broken:
            self._fail("stdout", _make_stray_finding(log.strays, log.first_stray))
        if steps["answers"].result == "passed":
            self._pass("answers", format_count(log.answers, "request"))
            self._pass("stdout", f"nothing but {format_count(log.answers, 'answer')}")
        if steps["families"].result == "passed":
            slowest = max(thought.ms for thought in log.thoughts)
            limit = self._times.move_ms
            remarks = (f"more than half of the time is used: {limit} ms",) if slowest > limit / 2 else ()
            self._pass("clock", f"{slowest:.1f} ms of {limit} for the slowest action", remarks)
        first = next((step for step in steps.values() if step.result == "failed"), None)
        for name, step in steps.items():
            if step.result == "not reached" and first and not step.line:
                self._reach(name, f"needs: {first.title}")

    # Notes on steps; a step that has failed stays failed.

    def _note(self, name: str, step: Step) -> None:
        if self._steps[name].result != "failed":
            self._steps[name] = step

    def _reach(self, name: str, line: str) -> None:
        self._note(name, replace(self._steps[name], line=line))

    def _pass(self, name: str, line: str, remarks: tuple[str, ...] = ()) -> None:
        self._note(name, replace(self._steps[name], result="passed", line=line, remarks=remarks))

    def _fail(self, name: str, finding: Finding) -> None:
        self._note(name, replace(self._steps[name], result="failed", line=finding.cause, finding=finding))


def _choose_step(trouble: Trouble, part: ExamPart) -> str:
    """The step that fails for trouble in a part: a stray line fails one step, wherever it comes."""
    if is_stray(trouble):
        return find_step(trouble, part.name)
    if part.name in PLAIN and trouble.what == "hello":
        return "restart"  # it started before
    return part.name if part.own else find_step(trouble, part.name)


def _ask_unknown(seat: ExaminedSeat) -> None:
    """Send one request of an unknown type; each answer is followed by the next type."""
    kind, fields = LATER_TYPES[len(seat.spoken) % len(LATER_TYPES)]
    seat.ask_unknown(kind, fields)


def _format_name(seat: ExaminedSeat) -> str:
    return ascii(seat.name) + (f", version {seat.version!a}" if seat.version else "")


def _format_seats(numbers: Sequence[int]) -> str:
    fewest, most = min(numbers), max(numbers)
    return f"of {fewest} seats" if fewest == most else f"of {fewest} to {most} seats"


def _make_stray_finding(count: int, first: Stray) -> Finding:
    lines = "a line on stdout that is not JSON"
    if count > 1:
        lines = f"{count} lines on stdout that are not JSON, the first"
    return Finding(
        cause=f"{lines}: {excerpt(first.text, 80)}",
        expected="nothing on stdout but one line of JSON for each request",
        hint=TO_STDERR,
        where=first.where,
        lines=first.lines,
    )


HINTS = {
    "bot": "name a folder with a bot.toml, a bot that ships, or a command line",
    "build": "malice build BOT runs the build alone and shows all that it prints",
}


Course = Sequence[tuple[str, FoundBot]]
"""Bots with their labels."""


class ExamTerms(Struct, frozen=True):
    """How every bot of a course is examined."""

    times: Times
    isolation: Isolation
    rare: int = 0
    """The number of rare situations."""
    rulesets: str | None = None
    """What it plays, as for `choose_syllabus`."""

    def examine(self, bot: FoundBot, on_part: Callable[[str], None]) -> Report:
        """Examine a bot that is ready to start.

        Raises:
            DataError: there is no such ruleset.
        """
        syllabus = choose_syllabus(bot.bot, self.rulesets)
        exam = Examination(bot.bot, self.times, self.isolation, rare=self.rare, syllabus=syllabus)
        return exam.run(on_part)


def is_tournament_file(words: str) -> bool:
    """Whether words name a tournament file rather than a bot."""
    return words.endswith(".toml") and Path(words).is_file()


def find_course_bots(words: Sequence[str], find: Find = find_bot) -> Course:
    """Find and build all bots that words name; return them with labels that are all different.

    Args:
        words: each names a bot, or a tournament file and with it all of its entries.
        find: returns the bot that words name.

    Raises:
        DataError: a tournament file is not valid.
    """
    names: list[str | None] = []
    found: list[FoundBot] = []
    for each in words:
        lines, base = [LabelledBot(each)], Path()
        if is_tournament_file(each):
            config, base = read_config(Path(each)), Path(each).parent.resolve()
            entries = expand_entries(config.entries, base)
            lines = [LabelledBot(entry) if isinstance(entry, str) else entry for entry in entries]
        names += [line.label for line in lines]
        found += find_and_build_bots([line.bot for line in lines], base, find)
    labels = assign_labels(name or each.bot.manifest.name for name, each in zip(names, found, strict=True))
    return list(zip(labels, found, strict=True))


def examine_course(course: Course, terms: ExamTerms, on_part: Callable[[str, str], None]) -> Iterator[Report]:
    """Examine the bots of a course one after the other, so that none slows another down.

    Args:
        course: the bots with their labels.
        terms: how.
        on_part: receives the label of a bot and the title of the part that begins.

    Raises:
        DataError: there is no ruleset of the name that the terms give.
    """
    for label, each in course:
        if each.absence:
            yield report_absence(label, each.absence)
            continue
        try:
            report = terms.examine(each, partial(on_part, label))
        except GameFault:
            raise  # no bot is to blame
        except DataError as error:
            if terms.rulesets is not None:
                raise
            yield report_absence(label, Absence("bot", str(error), ""))
        else:
            yield replace(report, bot=label)


def report_absence(label: str, absence: Absence) -> Report:
    """The report of a bot that cannot be examined: a single step, which failed."""
    title = "is a bot" if absence.code == "bot" else "builds"
    expected = "a bot that can be started"
    finding = Finding(absence.sentence, expected, HINTS[absence.code], stderr=absence.output)
    return Report(label, False, "", (Step(absence.code, title, "failed", absence.sentence, finding=finding),), ())
