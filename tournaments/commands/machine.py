"""`malice doctor` and `bench`: what this machine isolates, and how fast it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from malice.tournaments.commands.options import json_option

if TYPE_CHECKING:
    from malice.tournaments.commands.pages import SiteProgram


@click.command()
@json_option
def doctor(json: bool) -> None:
    """Try every layer of isolation on this machine; exit 4 if none works.

    SECURITY.md says what each layer stops.
    """
    import msgspec

    from malice.tournaments.running.isolation import list_capabilities, require_isolation
    from malice.tournaments.terminal.tables import format_table

    findings = list_capabilities()
    if json:
        click.echo(msgspec.json.encode(findings))
    else:
        rows = [("yes" if finding.works else "no", finding.part, finding.gives, finding.lack) for finding in findings]
        for line in format_table(("works", "part", "what it gives", "what is missing"), rows, left=(0, 1, 2, 3)):
            click.echo(line)
    require_isolation("rlimit")


@click.command()
@click.option(
    "--games",
    type=click.IntRange(min=1000),
    default=100_000,
    show_default=True,
    help="Games of the league whose site is measured.",
)
@json_option
@click.pass_obj
def bench(site: SiteProgram, games: int, json: bool) -> None:
    """Measure what malice costs on this machine; one run measures both sides of each ratio.

    Takes about a quarter of an hour, most of it to play the games of a large league.
    """
    import msgspec

    from malice.tournaments import bench as benches
    from malice.tournaments.bench.engine import measure_engine
    from malice.tournaments.bench.exchange import measure_exchange
    from malice.tournaments.bench.farm import measure_farm
    from malice.tournaments.bench.games import measure_each_game
    from malice.tournaments.bench.hostile import measure_hostile
    from malice.tournaments.bench.isolation import measure_isolation
    from malice.tournaments.bench.leagues import measure_leagues
    from malice.tournaments.bench.pages import measure_pages
    from malice.tournaments.bench.throughput import measure_throughput
    from malice.tournaments.terminal.tables import format_table

    rows = []
    measured = [
        measure_exchange,
        measure_each_game,
        measure_isolation,
        measure_hostile,
        measure_engine,
        measure_throughput,
        measure_leagues,
        measure_farm,
    ]
    for row in benches.run_benchmarks([*measured, lambda: measure_pages(site.open_writer, games)]):
        click.echo(f"{row.what}: {row.value:,.1f} {row.unit}", err=True)
        rows.append(row)
    if json:
        click.echo(msgspec.json.encode(rows))
        return
    for line in format_table(benches.HEAD, [benches.format_row(row) for row in rows], benches.LEFT):
        click.echo(line)
