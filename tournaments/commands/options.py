"""What commands share: options, opening a league, planning a tournament, printing."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from malice.tournaments.commands.dates import format_date, parse_date
from malice.tournaments.errors import LeagueError

if TYPE_CHECKING:
    from malice.referee.records import Layer, Record
    from malice.tournaments.league.choice import Choice
    from malice.tournaments.league.comparison import Comparison
    from malice.tournaments.league.config import Config
    from malice.tournaments.league.contents import GameSummary
    from malice.tournaments.league.progression import Changes
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.plan import Plan

F = TypeVar("F", bound=Callable[..., Any])


def database_argument(command: F) -> F:
    """Add the argument that names an existing league."""
    return click.argument("db", type=click.Path(dir_okay=False, path_type=Path))(command)


def json_option(command: F) -> F:
    """Add the option that prints JSON, for scripts."""
    return click.option("--json", "json", is_flag=True, help="Print JSON.")(command)


def jobs_option(command: F) -> F:
    """Add the option that says how many processes replay games."""
    help = "Processes that replay games [default: one for each processor]."
    return click.option("--jobs", type=click.IntRange(1), help=help)(command)


def isolation_options(command: F) -> F:
    """Add the options that choose the isolation of the bots."""
    layers = click.Choice(["auto", "bwrap", "rlimit", "none"])
    required = click.option(
        "--require-isolation", "required", is_flag=True, help="Exit 4 if that isolation is unavailable."
    )
    return click.option("--isolation", type=layers, help="The isolation of each bot [default: auto].")(
        required(command)
    )


def tournament_option(command: F) -> F:
    """Add the option that chooses a tournament of a league."""
    help = "A tournament of the league; a comparison is never meant without."
    return click.option("--tournament", metavar="NAME", help=help)(command)


@contextmanager
def open_store(
    db: Path,
    *,
    create: bool = False,
    write: bool = False,
    unplayed: bool = False,
    tournament: str | None = None,
    several: bool = False,
) -> Iterator[Store]:
    """Open a league; a new file is deleted again if it stores no game, nor any that copies of it play.

    Args:
        db: the file.
        create: whether to create it if it does not exist.
        write: whether to write to it; `create` does, too.
        unplayed: whether a league will do that holds no games.
        tournament: the tournament to choose; None for the only one that can be meant.
        several: whether to choose none, if no tournament is named: the command goes through them.

    Raises:
        LeagueError: it cannot be used, has no such tournament, or several that can be meant, or holds no games and
            `create` is off.
    """
    from malice.tournaments.league.file import find_kept_bots
    from malice.tournaments.league.store import Store

    new = create and not db.exists()
    unused = new
    if write and not db.is_file():
        raise LeagueError(f"{db}: no such database")
    try:
        with Store(db, create=create or write) as store:
            if not (create or unplayed) and store.is_empty():
                raise LeagueError(f"{db}: holds no finished game")
            if tournament is not None:
                store.select(tournament)
            elif not (create or several):
                store.select(store.tournament().name)  # and stay there, even if a run begins another one
            try:
                yield store
            finally:
                unused = new and store.is_empty() and not any(map(store.has_shared, store.league().tournaments))
    finally:
        if unused:
            db.unlink(missing_ok=True)
            shutil.rmtree(find_kept_bots(db), ignore_errors=True)


def with_isolation(config: Config, isolation: Layer | None, required: bool) -> Config:
    """Return the configuration with the isolation that the command line asks for.

    Raises:
        IsolationError: it is required, but unavailable.
    """
    from msgspec.structs import replace

    from malice.tournaments.running.isolation import require_isolation

    config = replace(config, isolation=isolation or config.isolation)
    if required:
        require_isolation(config.isolation)
    return config


def open_plan(
    store: Store,
    config: Config,
    base: Path,
    *,
    required: bool,
    people: bool = False,
    new_versions: bool = False,
    keep_going: bool = False,
    scratch: Path | None = None,
) -> Plan:
    """Return the plan of a tournament, opened on its league.

    Args:
        store: the league.
        config: the tournament.
        base: the folder that the paths of bots are relative to.
        required: whether a game without the isolation of the tournament is refused.
        people: whether somebody plays at the terminal: an entry may be a person, and different bots of one name get
            numbers, since the command line has no labels.
        new_versions: whether bots that changed play in their new version.
        keep_going: whether the others play if entries are absent.
        scratch: as of `Names`.

    Raises:
        BotError, DataError, LeagueError: as the message says.
    """
    from msgspec.structs import replace

    from malice.tournaments.running.names import Names
    from malice.tournaments.running.opening import open_league

    names = Names(store.path, store, people=people, scratch=scratch)
    plan = open_league(
        store, config, base, names.find, new_versions=new_versions, numbered=people, keep_going=keep_going
    )
    plan.isolation = replace(plan.isolation, required=required)
    return plan


def print_standings(store: Store, choice: Choice | None = None) -> None:
    """Print the ranking, and which bots do not play, with the command that lets them play again."""
    from malice.tournaments.league.choice import EVERYTHING
    from malice.tournaments.league.ranking import compute_league_standings, explain_table
    from malice.tournaments.terminal.bracket import describe_rounds
    from malice.tournaments.terminal.entries import describe_absentees
    from malice.tournaments.terminal.results import describe_choice, format_standings

    choice = choice or EVERYTHING
    found = compute_league_standings(store, choice)
    for line in (*describe_choice(store.league(), store.tournament().name), *format_standings(found)):
        click.echo(line)
    if note := explain_table(store, choice):
        click.echo(note)
    for line in (*describe_rounds(store, choice.without), *describe_absentees(store)):
        click.echo(line)


def compute_changes(store: Store, since: str, choice: Choice | None = None, *, publish: bool = False) -> Changes:
    """Return what changed since another league, usually an older copy of this one, or since a day.

    Args:
        store: the league as it is.
        since: the file of the other league, or a day.
        choice: which games of the league as it is to rate.
        publish: whether strangers will read it: then an anonymous tournament is compared only with an anonymous one.

    Raises:
        DataError: the words are neither a file nor a day.
        LeagueError: the file is no league or lacks the tournament, the tournament had not begun on that day, or names
            would be told.
    """
    from malice.tournaments.league.choice import EVERYTHING
    from malice.tournaments.league.past import EarlierContents
    from malice.tournaments.league.progression import Changes, compute_progression

    choice = choice or EVERYTHING
    if Path(since).is_file():
        with open_store(Path(since), several=True) as last:
            last.select(store.tournament().name)
            if publish and store.config().anonymous and not last.config().anonymous:
                raise LeagueError(f"{since}: its tournament is not anonymous, so what changed would tell its names")
            return Changes(Path(since).name, compute_progression(last, store, choice))
    if since.endswith(".db"):
        raise LeagueError(f"{since}: no such database")
    begin = parse_date(since, datetime.now().astimezone(), "--changes-since")
    return Changes(format_date(begin), compute_progression(EarlierContents(store, begin), store, choice))


def take_luck_off(store: Store) -> tuple[Comparison, ...]:
    """Return what the games of every two entries say without luck, with the progress on stderr.

    Raises:
        DamagedLeague, RecordError: a record cannot be read, or does not replay.
    """
    from malice.tournaments.league.adjusted_pairs import compare_without_luck
    from malice.tournaments.running.replay_progress import ReplayProgress

    with ReplayProgress(sys.stderr) as progress:
        return tuple(compare_without_luck(store, progress))


def find_record(store: Store, words: str) -> Record:
    """Return the game that a user names: by its key, after the name of its tournament and a colon if need be.

    Raises:
        DataError: the words are not a key.
        LeagueError: there is no such tournament or game.
    """
    return find_game(store, words)[1]


def find_game(store: Store, words: str) -> tuple[GameSummary, Record]:
    """Return the game that a user names, as `find_record`, with its row."""
    from malice.referee.records import Key

    name, _, key = words.rpartition(":")
    if name:
        store.select(name)
    elif len(meant := store.league().list_meant()) > 1:
        raise LeagueError(
            f"expected a key with its tournament, such as {meant[0]}:{key}; {store.path} has {', '.join(meant)}"
        )
    return store.row(Key.parse(key, len(store.parts())))


def print_stderr(label: str, line: str) -> None:
    """Print a line of a bot's stderr; a closed stderr of our own is no error."""
    from malice.tournaments.terminal.transcript import format_stderr

    with suppress(OSError):
        click.echo(format_stderr(label, line), err=True)
