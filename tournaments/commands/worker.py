"""`malice worker`: lends this machine to runs elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import click

from malice.tournaments.commands.cluster import require_scheduler
from malice.tournaments.commands.exit_codes import interrupt_on_signals

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
def worker(
    scheduler: str, slots: int | None, cpus_per_slot: int, name: str | None, cache: Path | None, cache_mb: int
) -> None:
    """Play games for `malice run --dask` wherever that runs, until Ctrl-C.

    ADDRESS is that of a `dask scheduler`, SCHEDULER.json the file that its --scheduler-file wrote. First the worker
    tries what isolation this machine offers, and measures how fast it is with all slots at work. Exit 4 without any
    isolation, 3 if for a minute no scheduler answers, or none takes it, 2 if the file is broken, if the address is open
    to other machines and not encrypted, or if it needs certificates that are not set.
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

    from malice.tournaments.farm.calibration import measure_speed
    from malice.tournaments.farm.station import Terms
    from malice.tournaments.farm.worker import choose_slots, run_worker

    cpu_sets = choose_slots(slots or 0, cpus_per_slot, sorted(os.sched_getaffinity(0)))
    speed = measure_speed(cpu_sets)
    name = name or f"{platform.node()}-{os.getpid()}"
    click.echo(f"{name}: {len(cpu_sets)} at a time, factor {speed:g}", err=True)
    folder = (cache or _find_cache()).resolve()
    run_worker(scheduler, name, Terms(cpu_sets, cpus_per_slot, speed, str(folder), cache_mb * 1_000_000))


def _find_cache() -> Path:
    if os.geteuid() == 0:
        return Path("/var/cache/malice")  # bots have users of their own, who may not enter the home of root
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "malice"
