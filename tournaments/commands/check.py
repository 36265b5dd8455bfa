"""`malice check`: examines bots, and says what their authors must fix."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from malice.tournaments.commands.cluster import dask_option
from malice.tournaments.commands.editors import complete_bots
from malice.tournaments.commands.exit_codes import ANSWER_IS_NO
from malice.tournaments.commands.options import isolation_options, json_option

if TYPE_CHECKING:
    from malice.referee.records import Layer, Player
    from malice.tournaments.check.examination import Course, ExamTerms
    from malice.tournaments.check.report import Report
    from malice.tournaments.entries.bots import Bot
    from malice.tournaments.entries.kept_bots import KeptBots
    from malice.tournaments.entries.names import Names
    from malice.tournaments.farm.exams import ExamSender
    from malice.tournaments.farm.work import ExamAnswer

SHORTEST_MS, LONGEST_MS = 1, 600_000


@click.command()
@click.argument("bots", metavar="BOT... | TOURNAMENT.toml", nargs=-1, required=True, shell_complete=complete_bots)
@click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write JUnit XML: a test case for each step of each bot.",
)
@click.option("--fuzz", type=click.IntRange(1), metavar="N", help="Also try N rare situations, each in unusual JSON.")
@click.option(
    "--rulesets",
    metavar="NAMES",
    help="Rulesets to play, separated by commas, or all [default: as bot.toml says].",
)
@click.option(
    "--move-ms",
    type=click.IntRange(SHORTEST_MS, LONGEST_MS),
    default=1000,
    show_default=True,
    help="Time for an action.",
)
@click.option(
    "--init-ms",
    type=click.IntRange(SHORTEST_MS, LONGEST_MS),
    default=5000,
    show_default=True,
    help="Time to start, and for every other answer.",
)
@dask_option
@isolation_options
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    bots: tuple[str, ...],
    junit: Path | None,
    fuzz: int | None,
    rulesets: str | None,
    move_ms: int,
    init_ms: int,
    scheduler: str | None,
    isolation: Layer | None,
    required: bool,
    json: bool,
) -> None:
    """Examine bots in named steps; exit 10 if one fails.

    For each failed step it prints the lines exchanged, what was expected, and a hint. The cards are the same
    every time. Several bots, or all entries of a tournament file, get a line each, and details where one fails.
    Example: malice check "node mybot.js" --fuzz 200
    """
    from malice.referee.records import Isolation
    from malice.tournaments.check.examination import ExamTerms, find_course_bots, is_tournament_file
    from malice.tournaments.check.seat import Times
    from malice.tournaments.commands.exit_codes import interrupt_on_signals
    from malice.tournaments.entries.kept_bots import KeptBots
    from malice.tournaments.entries.names import Names
    from malice.tournaments.running.isolation import require_isolation

    interrupt_on_signals()
    layer: Layer = isolation or "auto"
    if required and not scheduler:
        require_isolation(layer)
    terms = ExamTerms(Times(move_ms, init_ms), Isolation(layer, required=required), fuzz or 0, rulesets)
    # Revisions that are named with an @ are built here, and gone afterwards.
    with TemporaryDirectory(prefix="malice-") as folder:
        names = Names(Path(folder, "check.db"))
        if scheduler:
            sender = _make_exam_sender(KeptBots(Path(folder, "check.db")), terms)
        alone = len(bots) == 1 and not is_tournament_file(bots[0])
        if scheduler and alone:
            reports = _check_one_elsewhere(names.find(bots[0]), sender, scheduler, json)
        elif scheduler:
            reports = _check_elsewhere(find_course_bots(bots, names.find), sender, scheduler, json)
        elif alone:
            reports = _check_one(names.find(bots[0]), terms, json)
        else:
            reports = _check_several(bots, names, terms, json)
    if junit:
        from malice.tournaments.check.report import encode_junit

        junit.write_bytes(encode_junit(reports))
    if not all(report.passed for report in reports):
        ctx.exit(ANSWER_IS_NO)


def _check_one(bot: Bot, terms: ExamTerms, json: bool) -> list[Report]:
    """Examine a bot, and print all of its report."""
    from malice.tournaments.check.games import choose_syllabus
    from malice.tournaments.entries.builds import ensure_built
    from malice.tournaments.entries.lookup import FoundBot

    choose_syllabus(bot, terms.rulesets)  # a typo must not cost a build
    built = ensure_built(bot)
    _print_shortcomings(terms, [built.make_player(built.manifest.name)])
    report = terms.examine(FoundBot(built), lambda title: click.echo(f"{title} ...", err=True))
    _print_report(report, json)
    return [report]


def _print_report(report: Report, json: bool) -> None:
    import msgspec

    from malice.tournaments.check.report import format_report

    if json:
        click.echo(msgspec.json.encode(report))
    else:
        for line in format_report(report):
            click.echo(line)


def _check_several(words: tuple[str, ...], names: Names, terms: ExamTerms, json: bool) -> list[Report]:
    """Examine bots one after the other, and print a line for each."""
    from malice.tournaments.check.examination import examine_course, find_course_bots
    from malice.tournaments.sanitizer import sanitize

    def tell(label: str, title: str) -> None:
        click.echo(f"{sanitize(label)}: {title} ...", err=True)

    course = find_course_bots(words, names.find)
    _print_shortcomings(terms, [each.bot.make_player(label) for label, each in course if not each.absence])
    reports = list(examine_course(course, terms, tell))
    _print_course(reports, json)
    return reports


def _make_exam_sender(kept: KeptBots, terms: ExamTerms) -> ExamSender:
    from malice.tournaments.farm.exams import ExamSender

    options = ["--move-ms", terms.times.move_ms, "--init-ms", terms.times.init_ms, "--isolation", terms.isolation.layer]
    options += ["--require-isolation"] * terms.isolation.required
    options += ["--fuzz", terms.rare] * bool(terms.rare) + ["--rulesets", terms.rulesets] * bool(terms.rulesets)
    return ExamSender(kept, terms.isolation, tuple(map(str, options)), lambda line: click.echo(line, err=True))


def _check_one_elsewhere(bot: Bot, sender: ExamSender, scheduler: str, json: bool) -> list[Report]:
    """Examine a bot on a worker of a cluster, and print all of its report.

    Raises:
        BotError: it cannot be examined there.
    """
    label = bot.manifest.name
    report = _read_report(sender.examine(scheduler, {label: bot})[label])
    _print_report(report, json)
    return [report]


def _read_report(answer: ExamAnswer) -> Report:
    """Decode the report of a worker.

    Raises:
        BotError: there is none; the message is in the words of the worker, so that no line of it can pass for ours.
    """
    import msgspec

    from malice.referee.errors import BotError
    from malice.tournaments.check.report import Report
    from malice.tournaments.farm.crew import quote

    if answer.trouble:
        raise BotError(quote(answer.trouble.removeprefix("Error: ")))
    try:
        return msgspec.json.decode(answer.report, type=Report)
    except (ValueError, RecursionError) as error:
        raise BotError(f"the worker sent no report: {error}") from None


def _check_elsewhere(course: Course, sender: ExamSender, scheduler: str, json: bool) -> list[Report]:
    """Examine bots on the workers of a cluster, side by side, and print a line for each."""
    from msgspec.structs import replace

    from malice.referee.errors import BotError
    from malice.tournaments.check.examination import report_absence
    from malice.tournaments.league.journal import Absence

    answers = sender.examine(scheduler, {label: each.bot for label, each in course if not each.absence})
    reports = []
    for label, each in course:
        if each.absence:
            reports.append(report_absence(label, each.absence))
        else:
            try:
                reports.append(replace(_read_report(answers[label]), bot=label))
            except BotError as error:
                reports.append(report_absence(label, Absence("bot", str(error), "")))
    _print_course(reports, json)
    return reports


def _print_course(reports: list[Report], json: bool) -> None:
    import msgspec

    from malice.tournaments.check.report import format_course

    if json:
        click.echo(msgspec.json.encode(reports))
    else:
        for line in format_course(reports):
            click.echo(line)


def _print_shortcomings(terms: ExamTerms, players: list[Player]) -> None:
    from malice.tournaments.running.isolation import describe_shortcomings

    for line in describe_shortcomings(terms.isolation.layer, players):
        click.echo(line, err=True)
