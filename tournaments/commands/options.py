"""What commands share: options, opening a league, planning a tournament, printing."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from referee.nouns import format_count
from tournaments.errors import LeagueError

if TYPE_CHECKING:
    from referee.records import Layer
    from tournaments.league.config import Config
    from tournaments.league.publication import Publication
    from tournaments.league.store import Store
    from tournaments.running.plan import Plan

    class SiteSummary(Protocol):
        """The size of a site, and what was left out of it."""

        @property
        def pages(self) -> int:
            """The number of pages."""

        @property
        def games(self) -> int:
            """The number of games on them."""

        @property
        def bytes(self) -> int:
            """The size of all files together."""

        @property
        def withheld(self) -> int:
            """Verdicts without their evidence."""

    class Render(Protocol):
        """Writes the pages of a league into a folder."""

        def __call__(self, store: Store, out: Path, publication: Publication | None = None) -> SiteSummary:
            """Write them."""


F = TypeVar("F", bound=Callable[..., Any])


def database_argument(command: F) -> F:
    """Add the argument that names an existing league."""
    return click.argument("db", type=click.Path(dir_okay=False, path_type=Path))(command)


def json_option(command: F) -> F:
    """Add the option that prints JSON, for scripts."""
    return click.option("--json", "json", is_flag=True, help="Print JSON.")(command)


def isolation_options(command: F) -> F:
    """Add the options that choose the isolation of the bots."""
    layers = click.Choice(["auto", "bwrap", "rlimit", "none"])
    required = click.option(
        "--require-isolation", "required", is_flag=True, help="Exit 4 if that isolation is unavailable."
    )
    return click.option("--isolation", type=layers, help="The isolation of each bot [default: auto].")(
        required(command)
    )


@contextmanager
def open_store(db: Path, *, create: bool = False) -> Iterator[Store]:
    """Open a league; a new file is deleted again if it stores no game.

    Raises:
        LeagueError: it cannot be used, or it holds no games and `create` is off.
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
        IsolationError: it is required, but unavailable.
    """
    from msgspec.structs import replace

    from tournaments.running.isolation import require_isolation

    config = replace(config, isolation=isolation or config.isolation)
    if required:
        require_isolation(config.isolation)
    return config


def open_plan(store: Store, config: Config, base: Path, *, required: bool, people: bool = False) -> Plan:
    """Return the plan of a tournament, opened on its league.

    Args:
        store: the league.
        config: the tournament.
        base: the folder that the paths of bots are relative to.
        required: whether a game without the isolation of the tournament is refused.
        people: whether an entry may be a person.

    Raises:
        BotError, DataError, LeagueError: as the message says.
    """
    from msgspec.structs import replace

    from tournaments.entries.bots import find_bot, find_player
    from tournaments.running.plan import open_league

    plan = open_league(store, config, base, find_player if people else find_bot)
    plan.isolation = replace(plan.isolation, required=required)
    return plan


def print_standings(store: Store, again: Sequence[str] = ()) -> None:
    """Print the ranking, and which bots are suspended.

    Args:
        store: the league.
        again: the words of the command that resumes the tournament, if it is known.
    """
    from tournaments.league.standings import compute_league_standings
    from tournaments.league.suspension import find_suspended_entries
    from tournaments.sanitizer import sanitize
    from tournaments.terminal.results import format_standings

    for line in format_standings(compute_league_standings(store)):
        click.echo(line)
    for entry in store.entries():
        if entry.absence:
            code, sentence = entry.absence.code, sanitize(entry.absence.sentence)
            click.echo(f"{sanitize(entry.label)} is absent, and its open games wait: {code}: {sentence}")
    if suspended := find_suspended_entries(store):
        played = "complete but for the games" if store.tournament().complete else "left out are the remaining games"
        labels = ", ".join(map(sanitize, suspended))
        words = again or ("malice", "run", "TOURNAMENT.toml", "--db", str(store.path))
        command = sanitize(shlex.join([*words, *(word for label in suspended for word in ("--readmit", label))]))
        click.echo(f"{played} of suspended bots: {labels} ({command})")


def print_stderr(label: str, line: str) -> None:
    """Print a line of a bot's stderr; a closed stderr of our own is no error."""
    from tournaments.terminal.transcript import format_stderr

    with suppress(OSError):
        click.echo(format_stderr(label, line), err=True)


def write_site(render: Render, store: Store, out: Path, evidence: Sequence[str] = ()) -> None:
    """Write the pages, and print their address, and what they leave out.

    Args:
        render: writes them.
        store: the league.
        out: the folder to write.
        evidence: labels of the entries whose stderr is published; an empty label stands for all entries.

    Raises:
        LeagueError: a label is no entry, or the tournament is anonymous.
    """
    from tournaments.league.publication import choose_publication

    publication = choose_publication(store, evidence)
    rendered = render(store, out, publication)
    click.echo(f"{format_count(rendered.games, 'game')} on {format_count(rendered.pages, 'page')}", err=True)
    if rendered.withheld:
        verdicts = format_count(rendered.withheld, "verdict")
        words = ["malice", "site", str(store.path), "--out", str(out), "--with-stderr"]
        how = "" if publication.anonymous else f" (add it: {shlex.join(words)}, or {words[-1]} LABEL for one bot)"
        click.echo(f"left out: stderr and the last lines of {verdicts}{how}", err=True)
    click.echo((out.resolve() / "index.html").as_uri())
