"""`malice run`: plays the tournament that a file describes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.nouns import format_count
from tournaments.commands.exit_codes import interrupt_on_signals
from tournaments.commands.options import (
    isolation_options,
    open_plan,
    open_store,
    print_standings,
    with_isolation,
    write_site,
)
from tournaments.errors import Stopped

if TYPE_CHECKING:
    from referee.records import Layer
    from tournaments.commands.options import Render


@click.command(short_help="Play a tournament, or resume it.")
@click.argument("tournament", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The league [default: named like the TOML file, .db].",
)
@click.option("--jobs", type=click.IntRange(1), help="Games at a time [default: one for each processor].")
@click.option("--site", type=click.Path(file_okay=False, path_type=Path), help="Write the pages here at the end.")
@click.option("--readmit", multiple=True, metavar="LABEL", help="Let this suspended bot play again; may be repeated.")
@click.option("--keep-going", is_flag=True, help="Play without the bots that cannot be built or started.")
@isolation_options
@click.pass_obj
def run(
    render: Render,
    tournament: Path,
    db: Path | None,
    jobs: int | None,
    site: Path | None,
    readmit: tuple[str, ...],
    keep_going: bool,
    isolation: Layer | None,
    required: bool,
) -> None:
    """Play the tournament that a TOML file describes, or resume it.

    Every finished game is on disk; the same command resumes after Ctrl-C, a crash or a power cut.
    """
    from msgspec.structs import replace

    from tournaments.league.config import read_config
    from tournaments.league.file import find_name_list
    from tournaments.running import run as running

    interrupt_on_signals()
    config = with_isolation(read_config(tournament), isolation, required)
    config = replace(config, jobs=jobs or config.jobs)
    db = db or Path(f"{tournament.stem}.db")
    resume = ["malice", "run", str(tournament), "--db", str(db)]
    resume += ["--jobs", str(jobs)] if jobs else []
    resume += ["--site", str(site)] if site else []
    resume += ["--keep-going"] if keep_going else []
    resume += ["--isolation", isolation] if isolation else []
    resume += ["--require-isolation"] if required else []
    with _stop_on_interrupt(resume), open_store(db, create=True) as store:
        plan = open_plan(store, config, tournament.parent.resolve(), required=required)
        if config.anonymous:
            click.echo(f"anonymous: {find_name_list(db)} says which bot is which; it is for you alone", err=True)
        plan.keep_going = keep_going
        running.readmit(store, readmit, sys.stderr)
        running.run_tournament(store, plan, config.jobs, sys.stderr, resume)
        click.echo(f"{db}: {format_count(len(store.keys()), 'game')}", err=True)
        print_standings(store, resume)
        if site:
            write_site(render, store, site)


@contextmanager
def _stop_on_interrupt(resume: list[str]) -> Iterator[None]:
    """Stop cleanly if a signal comes before the first game, or after the last."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped(f"interrupted; resume with: {shlex.join(resume)}") from None
