"""`malice check`: examines a bot and says what its author has to mend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tournaments.commands.options import isolation_options, json_option

if TYPE_CHECKING:
    from referee.records import Layer

FAILED = 10
"""The exit code when a step failed."""
LEAST_MS, MOST_MS = 1, 600_000


@click.command(short_help="Examine a bot step by step.")
@click.argument("bot")
@click.option("--fuzz", type=click.IntRange(1), metavar="N", help="Also ask N rare situations, written oddly.")
@click.option(
    "--rulesets", metavar="NAMES", help="What to play, separated by commas, or all [default: rulesets in bot.toml]."
)
@click.option(
    "--move-ms", type=click.IntRange(LEAST_MS, MOST_MS), default=1000, show_default=True, help="For an action."
)
@click.option(
    "--init-ms",
    type=click.IntRange(LEAST_MS, MOST_MS),
    default=5000,
    show_default=True,
    help="To start, and for every other answer.",
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

    A step that fails shows the lines exchanged, what was expected, and a hint. The cards are the same every
    time. Example: malice check "node mybot.js" --fuzz 200
    """
    import msgspec

    from referee.records import Isolation
    from tournaments.check.exam_log import Times
    from tournaments.check.examination import Examination
    from tournaments.check.games import syllabus_of
    from tournaments.check.text import report_text
    from tournaments.commands.exit_codes import interrupt_on_signals
    from tournaments.entries.bots import find_bot
    from tournaments.entries.builds import ensure_built
    from tournaments.running.isolation import describe_shortcomings, require_isolation

    interrupt_on_signals()
    layer: Layer = isolation or "auto"
    if required:
        require_isolation(layer)
    named = find_bot(bot)
    syllabus = syllabus_of(named, rulesets)
    found = ensure_built(named)
    for line in describe_shortcomings(layer, [found.make_player(found.manifest.name)]):
        click.echo(line, err=True)
    report = Examination(
        found,
        Times(move_ms, init_ms),
        Isolation(layer, required=required),
        rare=fuzz or 0,
        syllabus=syllabus,
        tell=lambda part: click.echo(f"{part} ...", err=True),
    ).run()
    if json:
        click.echo(msgspec.json.encode(report))
    else:
        for line in report_text(report):
            click.echo(line)
    if not report.passed:
        ctx.exit(FAILED)
