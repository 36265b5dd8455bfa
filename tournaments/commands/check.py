"""`malice check`: examines a bot, and says what its author must fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tournaments.commands.options import isolation_options, json_option

if TYPE_CHECKING:
    from referee.records import Layer

FAILED = 10
"""The exit code when a step failed."""
SHORTEST_MS, LONGEST_MS = 1, 600_000


@click.command(short_help="Examine a bot step by step.")
@click.argument("bot")
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
@isolation_options
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    bot: str,
    fuzz: int | None,
    rulesets: str | None,
    move_ms: int,
    init_ms: int,
    isolation: Layer | None,
    required: bool,
    json: bool,
) -> None:
    """Examine a bot in named steps; exit 10 if one fails.

    For each failed step it prints the lines exchanged, what was expected, and a hint. The cards are the same
    every time. Example: malice check "node mybot.js" --fuzz 200
    """
    import msgspec

    from referee.records import Isolation
    from tournaments.check.exam_log import Times
    from tournaments.check.examination import Examination
    from tournaments.check.games import choose_syllabus
    from tournaments.check.text import format_report
    from tournaments.commands.exit_codes import interrupt_on_signals
    from tournaments.entries.bots import find_bot
    from tournaments.entries.builds import ensure_built
    from tournaments.running.isolation import describe_shortcomings, require_isolation

    interrupt_on_signals()
    layer: Layer = isolation or "auto"
    if required:
        require_isolation(layer)
    spec = find_bot(bot)
    syllabus = choose_syllabus(spec, rulesets)
    built = ensure_built(spec)
    for line in describe_shortcomings(layer, [built.make_player(built.manifest.name)]):
        click.echo(line, err=True)
    report = Examination(
        built,
        Times(move_ms, init_ms),
        Isolation(layer, required=required),
        rare=fuzz or 0,
        syllabus=syllabus,
    ).run(lambda title: click.echo(f"{title} ...", err=True))
    if json:
        click.echo(msgspec.json.encode(report))
    else:
        for line in format_report(report):
            click.echo(line)
    if not report.passed:
        ctx.exit(FAILED)
