"""Examines a whole course: several bots, or all entries of a tournament file; none keeps the others from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from malice.referee.errors import DataError, GameFault
from malice.referee.records import Isolation
from malice.tournaments.check.exam_log import Times
from malice.tournaments.check.examination import Examination
from malice.tournaments.check.games import choose_syllabus
from malice.tournaments.check.report import Finding, Report, Step
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.enrolment import Find, FoundBot, find_and_build_bots
from malice.tournaments.entries.patterns import expand_entries
from malice.tournaments.league.config import LabelledBot, assign_labels, read_config
from malice.tournaments.league.journal import Absence

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
    """Return whether words name a tournament file rather than a bot."""
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
    enrolled: list[FoundBot] = []
    for each in words:
        lines, base = [LabelledBot(each)], Path()
        if is_tournament_file(each):
            config, base = read_config(Path(each)), Path(each).parent.resolve()
            entries = expand_entries(config.entries, base)
            lines = [LabelledBot(entry) if isinstance(entry, str) else entry for entry in entries]
        names += [line.label for line in lines]
        enrolled += find_and_build_bots([line.bot for line in lines], base, find)
    labels = assign_labels(name or each.bot.manifest.name for name, each in zip(names, enrolled, strict=True))
    return list(zip(labels, enrolled, strict=True))


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
    """Return the report of a bot that cannot be examined: a single step, which failed."""
    title = "is a bot" if absence.code == "bot" else "builds"
    expected = "a bot that can be started"
    finding = Finding(absence.sentence, expected, HINTS[absence.code], stderr=absence.output)
    return Report(label, False, "", (Step(absence.code, title, "failed", absence.sentence, finding=finding),), ())
