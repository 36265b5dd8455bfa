"""What commands have in common: options, a league that is opened, games that are played, standings that are printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from tournaments.errors import LeagueError

if TYPE_CHECKING:
    from referee.records import Layer
    from tournaments.league.config import Config
    from tournaments.league.store import Store
    from tournaments.running.run import Playing

F = TypeVar("F", bound=Callable[..., Any])


def database_argument(command: F) -> F:
    """Add the argument that names an existing league."""
    return click.argument("db", type=click.Path(dir_okay=False, path_type=Path))(command)


def json_option(command: F) -> F:
    """Add the option that prints for scripts."""
    return click.option("--json", "json", is_flag=True, help="Print JSON.")(command)


def isolation_options(command: F) -> F:
    """Add the options that say what is put around the bots."""
    layers = click.Choice(["auto", "bwrap", "rlimit", "none"])
    required = click.option(
        "--require-isolation", "required", is_flag=True, help="End with 4 when that isolation is not to be had."
    )
    return click.option("--isolation", type=layers, help="What is put around each bot [default: auto].")(
        required(command)
    )


@contextmanager
def open_store(db: Path, *, create: bool = False) -> Iterator[Store]:
    """Open a league; a file that was made for it goes again if no game came into it.

    Raises:
        LeagueError: it cannot be used, or holds no games and is not to be made.
    """
    from tournaments.league.store import Store

    new = create and not db.exists()
    unused = new
    try:
        with Store(db, create=create) as store:
            if not create and store.is_empty():
                raise LeagueError(f"{db}: holds no tournament with games")
            try:
                yield store
            finally:
                unused = new and store.is_empty()
    finally:
        if unused:
            db.unlink(missing_ok=True)


def with_isolation(config: Config, isolation: Layer | None, required: bool) -> Config:
    """Return the configuration with the isolation that the command line asks for.

    Raises:
        IsolationError: it is insisted on, and not to be had.
    """
    from msgspec.structs import replace

    from tournaments.running.isolation import require_isolation

    config = replace(config, isolation=isolation or config.isolation)
    if required:
        require_isolation(config.isolation)
    return config


def play_open(
    store: Store,
    config: Config,
    base: Path,
    jobs: int,
    again: list[str],
    required: bool,
    readmitted: tuple[str, ...] = (),
    at_terminal: Callable[[Sequence[str]], Playing] | None = None,
    *,
    stderr: bool = False,
    out: TextIO | None = None,
) -> None:
    """Play what is open of a tournament.

    Args:
        store: its league.
        config: the tournament.
        base: the folder that bots are named from.
        jobs: referee processes; 0 for as many as there are processors for.
        again: the words of the command that goes on after a stop.
        required: whether isolation is insisted on.
        readmitted: suspended bots that are to play again.
        at_terminal: from the people among the entries to how batches are played; without it nobody is a person.
        stderr: whether the bots' stderr is reported; `at_terminal` has to give a way to play that shows it.
        out: where progress is told; stderr by default.

    Raises:
        BotError, DataError, LeagueError, IsolationError, Stopped: as the message says.
    """
    from msgspec.structs import replace

    from tournaments.entries.bots import find_bot, find_player
    from tournaments.running.plan import open_league
    from tournaments.running.run import readmit
    from tournaments.running.run import run_tournament as run_tournament

    plan = open_league(store, config, base, find_player if at_terminal else find_bot)
    plan.isolation = replace(plan.isolation, required=required)
    plan.stderr = stderr
    readmit(store, readmitted, sys.stderr)
    playing = at_terminal(plan.people) if at_terminal else None
    run_tournament(store, plan, jobs, out or sys.stderr, again, playing)


def print_standings(store: Store) -> None:
    """Print the ranking, and who is suspended."""
    from tournaments.league.standings import compute_league_standings
    from tournaments.league.suspension import find_suspended_entries
    from tournaments.sanitizer import sanitize
    from tournaments.terminal.tables import format_standings

    for line in format_standings(compute_league_standings(store)):
        click.echo(line)
    if suspended := find_suspended_entries(store):
        played = "complete but for" if store.tournament().complete else "left out are"
        who = ", ".join(map(sanitize, suspended))
        click.echo(f"{played} the games of suspended bots: {who} (malice run TOURNAMENT.toml --readmit LABEL)")
