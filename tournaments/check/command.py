"""`malice check`: examines a bot and says what its author has to mend."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from referee.records import Layer

FAILED = 10
"""The exit code when a step failed."""
LEAST_MS, MOST_MS = 1, 600_000


@click.command()
@click.argument("bot")
@click.option("--fuzz", type=click.IntRange(1), metavar="N", help="Also ask N rare situations, written oddly.")
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
@click.option(
    "--isolation",
    type=click.Choice(["auto", "bwrap", "rlimit", "none"]),
    default="auto",
    show_default=True,
    help="What is put around the bot.",
)
@click.option("--require-isolation", "required", is_flag=True, help="End with 4 when that isolation is not to be had.")
@click.option("--json", "json", is_flag=True, help="Print JSON.")
@click.pass_context
def check(
    ctx: click.Context,
    bot: str,
    fuzz: int | None,
    move_ms: int,
    init_ms: int,
    isolation: Layer,
    required: bool,
    json: bool,
) -> None:
    """Examine a bot in named steps; exit 10 if one fails.

    A step that fails shows the lines exchanged, what was expected, and a hint. The cards are the same every
    time. Example: malice check "node mybot.js" --fuzz 200
    """
    import msgspec

    from referee.records import Isolation
    from tournaments.bots import built, find_bot
    from tournaments.check.examination import Examination
    from tournaments.check.seat import Times
    from tournaments.check.text import report_text
    from tournaments.endings import interrupt_on_signals
    from tournaments.isolation import require, short_of

    interrupt_on_signals()
    if required:
        require(isolation)
    found = built(find_bot(bot), bot, Path())
    if short := short_of(isolation):
        click.echo(short, err=True)
    report = Examination(
        found,
        Times(move_ms, init_ms),
        Isolation(isolation, required=required),
        rare=fuzz or 0,
        tell=lambda part: click.echo(f"{part} ...", err=True),
    ).run()
    if json:
        click.echo(msgspec.json.encode(report))
    else:
        for line in report_text(report):
            click.echo(line)
    if not report.passed:
        ctx.exit(FAILED)
