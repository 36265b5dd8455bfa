"""`malice rate`: how strong is a bot, on a ladder that never moves?"""

from __future__ import annotations

import hashlib
import math
import secrets
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import click

from malice.tournaments.commands.editors import complete_bots
from malice.tournaments.commands.exit_codes import ANSWER_IS_NO, STOPPED, interrupt_on_signals
from malice.tournaments.commands.options import isolation_options, json_option, parse_span
from malice.tournaments.sanitizer import sanitize

if TYPE_CHECKING:
    from malice.referee.records import Isolation, Layer, Player
    from malice.tournaments.entries.bots import Bot
    from malice.tournaments.ladder.climb import Climb, ClimbTerms
    from malice.tournaments.ladder.ladders import Ladder, Rung
    from malice.tournaments.ladder.report import LeftOut, RateReport

MINUTE_S = 60
"""How long it plays, if the command line does not say."""
MOST = 10_000
"""Deals, if nothing else ends it."""
CHECK_GAMES = 2
"""Of the check before it, so that most of the minute is left."""
SHOW_S = 5.0
"""Between two lines on how far it is."""


@click.command()
@click.argument("bot", metavar="[BOT]", required=False, shell_complete=complete_bots)
@click.option("--ladder", "name", metavar="NAME", default="standard-v1", show_default=True, help="The ladder.")
@click.option("--list", "listed", is_flag=True, help="List the ladders and their rungs.")
@click.option("--deals", type=click.IntRange(1, MOST), help="Stop after so many deals, however long they take.")
@click.option("--within", type=click.FloatRange(1), metavar="W", help="Stop once the 95 % interval is within ±W.")
@click.option(
    "--time", "span", metavar="SPAN", help="Stop after 10m, 90s or 1h30m [default: 1m, if nothing else ends it]."
)
@click.option("--seed", help="Determines every card; without it nobody can know them.")
@click.option("--jobs", type=click.IntRange(1), help="Games at a time [default: one for each processor].")
@click.option(
    "--artifacts",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write the worst game, its verdict and the bot's stderr there.",
)
@isolation_options
@json_option
@click.pass_context
def rate(
    ctx: click.Context,
    bot: str | None,
    name: str,
    listed: bool,
    deals: int | None,
    within: float | None,
    span: str | None,
    seed: str | None,
    jobs: int | None,
    artifacts: Path | None,
    isolation: Layer | None,
    required: bool,
    json: bool,
) -> None:
    """Measure a bot against reference bots that never change, and print its rating among them.

    Example: malice rate mybot --within 40

    First it checks the bot. Then it plays a minute, against whichever reference bot tells most, each deal in both
    seats. Exit 0 if there is a rating, 10 if the bot fails its check, 3 if Ctrl-C came first.
    """
    import msgspec
    from msgspec.structs import replace

    from malice.tournaments.ladder.ladders import describe_ladder, list_ladders, load_ladder
    from malice.tournaments.ladder.report import HEAD, format_answer, format_rungs, make_report, write_artifacts
    from malice.tournaments.terminal.tables import format_table

    if listed:
        ladders = [load_ladder(each) for each in list_ladders()]
        if json:
            click.echo(
                msgspec.json.encode([{"ladder": each.name, **msgspec.to_builtins(each.file)} for each in ladders])
            )
        else:
            click.echo("\n".join(map(describe_ladder, ladders)))
        return
    if bot is None:
        raise click.UsageError("expected a bot, as in: malice rate mybot; or --list")
    ladder = load_ladder(name)
    if seed is not None and ladder.alone:
        raise click.UsageError(f"--seed: the deals of {name} are the same for everybody")
    seconds = parse_span(span, "--time").total_seconds() if span else math.inf if deals or within else MINUTE_S
    interrupt_on_signals()
    terms = _make_terms(ladder, seed, deals, within, seconds, jobs, _make_isolation(isolation, required))
    with TemporaryDirectory(prefix="malice-") as folder:
        own = _find_bot(bot, Path(folder, "rate.db"), ladder)
        climb, report = None, _check(own, ladder, terms.climb.isolation)
        if report is None:
            rungs, left_out = _load_rungs(own, ladder)
            climb = _play(ladder, own, rungs, terms)
            report = make_report(own, ladder, climb=climb, left_out=left_out, seed=terms.seed)
            if artifacts:
                report = replace(report, artifacts=write_artifacts(climb, artifacts))
    if json:
        click.echo(msgspec.json.encode(report))
    else:
        click.echo(format_answer(report, ladder))
        for line in format_table(HEAD, format_rungs(report, ladder), left=(0,)) if climb else ():
            click.echo(line)
        if climb and terms.seed:
            click.echo(f"--seed {terms.seed} gives these cards again", err=True)
    if climb is None:
        ctx.exit(ANSWER_IS_NO)
    if climb.stopped:
        ctx.exit(STOPPED)


class _Terms(NamedTuple):
    climb: ClimbTerms
    seed: str
    """The word behind the seed; empty where the ladder has its own."""
    seconds: float
    """How long to play, once the bots are built."""


def _make_terms(
    ladder: Ladder,
    seed: str | None,
    deals: int | None,
    within: float | None,
    seconds: float,
    jobs: int | None,
    isolation: Isolation,
) -> _Terms:
    from malice.tournaments.ladder.climb import THOUSAND, ClimbTerms
    from malice.tournaments.running.coordinator import count_default_jobs

    word = "" if ladder.alone else seed or secrets.token_hex(16)
    most = deals or (THOUSAND if ladder.alone else MOST)
    digest = hashlib.sha256((word or ladder.file.seed).encode()).digest()
    return _Terms(ClimbTerms(digest, most, jobs or count_default_jobs(1), within, isolation=isolation), word, seconds)


def _make_isolation(layer: Layer | None, required: bool) -> Isolation:
    from malice.referee.records import Isolation
    from malice.tournaments.running.isolation import require_isolation

    if required:
        require_isolation(layer or "auto")
    return Isolation(layer or "auto", required=required)


def _find_bot(words: str, league: Path, ladder: Ladder) -> Bot:
    """Find and build the bot; it must play the game of the ladder."""
    from malice.tournaments.entries.builds import ensure_built
    from malice.tournaments.entries.lookup import require_games
    from malice.tournaments.entries.names import Names

    bot = Names(league).find(words)
    require_games(bot, bot.manifest.name, [ladder.ruleset.family])
    return ensure_built(bot)


def _check(bot: Bot, ladder: Ladder, isolation: Isolation) -> RateReport | None:
    """Examine the bot; return what there is to print if it fails."""
    from malice.tournaments.check.examination import Examination
    from malice.tournaments.check.games import choose_syllabus
    from malice.tournaments.check.report import format_report
    from malice.tournaments.check.seat import Times
    from malice.tournaments.ladder.report import make_report
    from malice.tournaments.running.isolation import describe_shortcomings

    for line in describe_shortcomings(isolation.layer, [bot.make_player(bot.manifest.name)]):
        click.echo(line, err=True)
    click.echo(f"checks {sanitize(bot.manifest.name)} ...", err=True)
    clock = ladder.file.clock
    times = Times(clock.move_ms or clock.bank_ms or Times().move_ms, ladder.file.init_ms)
    syllabus = choose_syllabus(bot, ladder.ruleset.name)
    report = Examination(bot, times, isolation, games=CHECK_GAMES, syllabus=syllabus).run()
    if report.passed:
        return None
    for line in format_report(report):
        click.echo(line, err=True)
    failed = [f"{step.title}: {step.line}" for step in report.steps if step.result == "failed"]
    return make_report(bot, ladder, failed=failed)


def _load_rungs(bot: Bot, ladder: Ladder) -> tuple[list[tuple[Rung, Player]], list[LeftOut]]:
    """Load the rungs that can play here, and tell of the others; the bot itself is none of its opponents."""
    from malice.referee.errors import BotError
    from malice.tournaments.commands.machine import find_cache
    from malice.tournaments.entries.kept_bots import KeptBots
    from malice.tournaments.ladder.ladders import load_rung
    from malice.tournaments.ladder.report import LeftOut

    cache = find_cache()
    cache.mkdir(parents=True, exist_ok=True)
    kept = KeptBots(cache / "ladder.db", lambda line: click.echo(line, err=True))
    rungs: list[tuple[Rung, Player]] = []
    left_out: list[LeftOut] = []
    for rung in ladder.rungs:
        try:
            loaded = load_rung(rung, kept)
        except BotError as error:
            left_out.append(LeftOut(rung.label, str(error)))
            continue
        if loaded.hash == bot.hash and not ladder.alone:
            left_out.append(LeftOut(rung.label, "it is the same bot"))
        else:
            rungs.append((rung, loaded.make_player(rung.label)))
    for each in left_out:
        click.echo(f"without {each.label}: {sanitize(each.why)}", err=True)
    if not rungs:
        raise BotError(f"{ladder.name}: none of its rungs can play here")
    return rungs, left_out


def _play(ladder: Ladder, bot: Bot, rungs: list[tuple[Rung, Player]], terms: _Terms) -> Climb:
    """Play, and say every few seconds how far it is."""
    from msgspec.structs import replace

    from malice.tournaments.ladder.climb import Climb
    from malice.tournaments.ladder.report import describe_placement

    shown = time.monotonic()

    def show(climb: Climb) -> None:
        nonlocal shown
        if time.monotonic() >= shown + SHOW_S:
            shown = time.monotonic()
            click.echo(f"{climb.deals} deals, {describe_placement(climb.place())}", err=True)

    timed = replace(terms.climb, until=time.time() + terms.seconds)
    climb = Climb(ladder, bot.make_player(bot.manifest.name), rungs, timed, show)
    climb.play()
    return climb
