"""`malice doctor`, `bench` and `worker`: what this machine isolates, how fast it is, and lending it to runs
elsewhere.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import click

from malice.tournaments.commands.cluster import patience_option, read_patience, require_scheduler
from malice.tournaments.commands.exit_codes import interrupt_on_signals
from malice.tournaments.commands.options import json_option


def describe_version() -> str:
    """The version of malice, and which engine plays."""
    from malice.referee.compiled import VERSION, name_engine

    return f"malice {VERSION}, {name_engine()}"


@click.command()
@json_option
def doctor(json: bool) -> None:
    """Try every layer of isolation on this machine, and the compiled rules; exit 4 if no layer works.

    SECURITY.md says what each layer stops.
    """
    import msgspec

    from malice.referee.compiled import explain_missing_core
    from malice.tournaments.running.isolation import (
        describe_capabilities,
        list_capabilities,
        make_capability,
        require_isolation,
    )
    from malice.tournaments.terminal.tables import format_table

    findings = list_capabilities()
    findings.append(make_capability("core", "the same rules, compiled", explain_missing_core()))
    if json:
        click.echo(msgspec.json.encode(findings))
    else:
        rows = [("yes" if finding.works else "no", finding.part, finding.gives, finding.lack) for finding in findings]
        for line in format_table(("works", "part", "what it gives", "what is missing"), rows, left=(0, 1, 2, 3)):
            click.echo(line)
        click.echo(describe_capabilities(findings))
    require_isolation("rlimit")


@click.command()
@click.option(
    "--games",
    type=click.IntRange(min=1000),
    default=100_000,
    show_default=True,
    help="Games of the league whose site is measured.",
)
@click.option(
    "--stored",
    type=click.IntRange(min=1000),
    metavar="GAMES",
    help="Measure only what a league of so many made-up games costs; 700 bytes of disk each.",
)
@json_option
def bench(games: int, stored: int | None, json: bool) -> None:
    """Measure what malice costs on this machine; one run measures both sides of each ratio.

    Takes about a quarter of an hour, most of it to play the games of a large league.
    """
    import msgspec

    from malice.tournaments import bench as benches
    from malice.tournaments.bench.engines import measure_engines
    from malice.tournaments.bench.environments import measure_environments
    from malice.tournaments.bench.games import measure_each_game, measure_engine, measure_exchange, measure_stepping
    from malice.tournaments.bench.isolation import measure_hostile, measure_isolation
    from malice.tournaments.bench.leagues import measure_growth, measure_leagues, measure_pages
    from malice.tournaments.bench.tables import measure_tables
    from malice.tournaments.bench.throughput import measure_farm, measure_shares, measure_throughput
    from malice.tournaments.terminal.tables import format_table

    rows = []
    measured = [
        measure_exchange,
        measure_each_game,
        measure_isolation,
        measure_hostile,
        measure_engine,
        measure_stepping,
        lambda: measure_engines(partial(click.echo, err=True)),
        lambda: measure_environments(partial(click.echo, err=True)),
        measure_throughput,
        measure_leagues,
        measure_growth,
        measure_farm,
        measure_shares,
        measure_tables,
        lambda: measure_pages(games),
    ]
    for row in benches.run_benchmarks([partial(measure_growth, stored)] if stored else measured):
        click.echo(f"{row.what}: {row.value:,.1f} {row.unit}", err=True)
        rows.append(row)
    if json:
        click.echo(msgspec.json.encode(rows))
        return
    for line in format_table(benches.HEAD, [benches.format_row(row) for row in rows], benches.LEFT):
        click.echo(line)


CACHE_MB = 5000


@click.command()
@click.argument("scheduler", metavar="ADDRESS|SCHEDULER.json", callback=require_scheduler)
@click.option("--slots", type=click.IntRange(1), help="Games at a time [default: one for each --cpus-per-slot].")
@click.option("--cpus-per-slot", type=click.IntRange(1), default=1, show_default=True, help="Processors for a game.")
@click.option("--name", help="What progress calls it; no two alike [default: host and process number].")
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where its bots lie [default: malice in ~/.cache, or /var/cache for root].",
)
@click.option("--cache-mb", type=click.IntRange(1), default=CACHE_MB, show_default=True, help="How much they may take.")
@patience_option("How long a scheduler may be away [default: 60s].")
@click.option("--dashboard", metavar="ADDRESS:PORT", help="Where Dask shows its own pages, such as 127.0.0.1:8790.")
def worker(
    scheduler: str,
    slots: int | None,
    cpus_per_slot: int,
    name: str | None,
    cache: Path | None,
    cache_mb: int,
    patience: str | None,
    dashboard: str | None,
) -> None:
    """Play games for `malice run --dask` wherever that runs, until Ctrl-C; after SIGTERM its games finish first.

    ADDRESS is that of a `dask scheduler`, SCHEDULER.json the file that its --scheduler-file wrote. First the worker
    tries what isolation this machine offers, and measures how fast it is with all slots at work. Exit 4 without any
    isolation, 3 if for --patience no scheduler answers, or for a minute none takes it, 2 if the file is broken, if the
    address is open to other machines and not encrypted, or if it needs certificates that are not set.
    """
    import platform

    from malice.tournaments.farm.scheduler import is_file, require_usable
    from malice.tournaments.running.isolation import explain_weaker_isolation, require_isolation

    interrupt_on_signals()
    require_usable(scheduler, "worker")
    if is_file(scheduler) and not Path(scheduler).exists():
        click.echo(f"waiting for {scheduler}, which is not there yet", err=True)
    require_isolation("rlimit")
    if weaker := explain_weaker_isolation("auto"):
        click.echo(weaker, err=True)

    from malice.tournaments.farm.machine import measure_speeds, read_allowance
    from malice.tournaments.farm.station import Terms
    from malice.tournaments.farm.worker import CONNECT_S, choose_slots, run_worker

    allowance = read_allowance()
    if bounds := allowance.describe():
        click.echo(f"the control groups here allow {bounds}", err=True)
    cpu_sets = choose_slots(slots or 0, cpus_per_slot, sorted(os.sched_getaffinity(0)), allowance)
    speeds = measure_speeds(cpu_sets)
    name = name or f"{platform.node()}-{os.getpid()}"
    click.echo(
        f"{name}: {len(cpu_sets)} at a time, factor {speeds.cpu:g} by CPU time, {speeds.wall:g} by wall time", err=True
    )
    terms = Terms(
        cpu_sets=cpu_sets,
        cpus_per_slot=cpus_per_slot,
        speed=speeds.cpu,
        cache=str((cache or find_cache()).resolve()),
        cache_bytes=cache_mb * 1_000_000,
        wall_speed=speeds.wall,
        memory=allowance.memory,
    )
    run_worker(scheduler, name, terms, read_patience(patience) or CONNECT_S, dashboard or "")


def find_cache() -> Path:
    """Find the folder for what malice can make again: built bots."""
    if os.geteuid() == 0:
        return Path("/var/cache/malice")  # bots have users of their own, who may not enter the home of root
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "malice"
