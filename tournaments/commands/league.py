"""What an organiser does with a league: `malice entry`, `status`, `stop`, `forget`, `merge`, `backup`, `restore`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from malice.referee.nouns import format_count
from malice.tournaments.commands.exit_codes import find_exit_code
from malice.tournaments.commands.options import (
    database_argument,
    jobs_option,
    json_option,
    tournament_option,
)
from malice.tournaments.errors import UnverifiedError
from malice.tournaments.league.opening import open_store

if TYPE_CHECKING:
    from malice.tournaments.entries.backups import Backup
    from malice.tournaments.league.merge import Taken
    from malice.tournaments.league.notes import Ruling
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.registration import Merged


@click.group()
def entry() -> None:
    """List the entries of a league, and decide which of them play on.

    A decision holds in every tournament that has the entry, but for comparisons, or in the one that is named. While a
    run plays it waits until the deals at play are over in all rotations; the journal keeps that point, and who decided.
    Otherwise, the command that began the tournament goes on with it: open games of an entry that left are not
    played, and a part without open games closes; what a reinstated entry missed becomes a new part.
    """


def _change(name: Literal["withdraw", "disqualify", "reinstate"], help: str) -> click.Command:
    @click.command(name, help=help, short_help=help.split(":")[0] + ".")
    @database_argument
    @click.argument("label")
    @click.option("--reason", default="", help="Why, for people; standings and pages show it.")
    @tournament_option
    @json_option
    def command(db: Path, label: str, reason: str, tournament: str | None, json: bool) -> None:
        from malice.tournaments.league.desk import name_user
        from malice.tournaments.league.notes import Ruling

        _decide(db, Ruling(name, label, (tournament,) if tournament else (), reason, name_user()), json=json)

    return command


def _decide(db: Path, decision: Ruling, *, json: bool) -> None:
    """Let a decision hold, or wait for the run that plays."""
    import msgspec

    from malice.tournaments.league.desk import submit
    from malice.tournaments.running.desk import describe_effects
    from malice.tournaments.sanitizer import sanitize

    effects = submit(db, decision)
    if json:
        changed = [name for each in effects if each.decision == decision for name in each.tournaments]
        answer = {"label": decision.label, "what": decision.what, "tournaments": changed, "waits": not effects}
        click.echo(msgspec.json.encode(answer))
    for line in describe_effects(effects):
        click.echo(line, err=True)
    if not effects:
        click.echo(f"{sanitize(decision.label)}: waits until the deals at play are over; the run goes on", err=True)


@entry.command("list", short_help="Print the entries with their versions.")
@database_argument
@tournament_option
@json_option
def list_entries(db: Path, tournament: str | None, json: bool) -> None:
    """Print every entry: the version that plays, its state, how many games it played, and its content hash."""
    import msgspec

    from malice.tournaments.entries.kept_bots import KeptBots, explain_large_size
    from malice.tournaments.terminal.league import format_entries, list_entry_statuses
    from malice.tournaments.terminal.results import describe_choice
    from malice.tournaments.terminal.tables import format_bytes

    with open_store(db, tournament=tournament, several=True) as store, store.snapshot():
        kept = KeptBots(db)
        sizes = kept.list_kept()
        variants = kept.list_variants()
        league, tables = store.league(), {}
        for name in [tournament] if tournament else league.list_meant():
            store.select(name)
            tables[name] = list_entry_statuses(store, sizes, variants)
    if json:
        click.echo(msgspec.json.encode([line for lines in tables.values() for line in lines]))
        return
    for number, (name, lines) in enumerate(tables.items()):
        for line in (*([""] if number else []), *describe_choice(league, name), *format_entries(lines)):
            click.echo(line)
    if sizes:
        click.echo(f"{format_bytes(sum(sizes.values()))} of bots are kept in {kept.folder.name}", err=True)
    for each in {line.label: line for lines in tables.values() for line in lines}.values():
        size = sizes.get(variants.get(each.hash, each.hash), 0)
        if advice := explain_large_size(each.label, size):
            click.echo(advice, err=True)


entry.add_command(_change("withdraw", "Let an entry play no more: the games that it played count on"))
entry.add_command(_change("disqualify", "Let an entry play no more: its games count for nobody"))
entry.add_command(_change("reinstate", "Let an entry play again: one that was suspended, withdrawn or disqualified"))


@entry.command("rename", short_help="Let an entry go on under another label.")
@database_argument
@click.argument("label", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--reason", default="", help="Why, for people.")
@json_option
def rename(db: Path, label: str, new: str, reason: str, json: bool) -> None:
    """Let an entry go on under another label, with its versions and all that it played, in all tournaments.

    The tournament file may say either label. What was played before keeps the old one in its records and replays.
    While a run plays, this waits as other decisions do.
    """
    from malice.tournaments.league.desk import name_user
    from malice.tournaments.league.notes import Ruling

    _decide(db, Ruling("rename", label, (), reason, name_user(), new), json=json)


@click.command()
@database_argument
@click.option("--now", is_flag=True, help="Give up the games at play, as a second Ctrl-C does.")
@json_option
def stop(db: Path, now: bool, json: bool) -> None:
    """End the run that plays a league, as Ctrl-C does: the games at play finish first."""
    import msgspec

    from malice.tournaments.running.desk import find_status, stop_run

    with open_store(db, unplayed=True, several=True) as store:
        run = stop_run(store, now=now)
        if json:
            click.echo(msgspec.json.encode(find_status(store, running=True)))
    click.echo(f"{db}: told the run of {run.user or run.pid} to stop{' now' if now else ''}", err=True)


@click.command()
@database_argument
@json_option
def status(db: Path, json: bool) -> None:
    """Print who plays a league, since when, how far it is, until when, and what waits for a decision to hold."""
    import msgspec

    from malice.tournaments.league.store import is_played
    from malice.tournaments.running.desk import describe_status, find_status

    running = db.is_file() and is_played(db)
    with open_store(db, unplayed=True, several=True) as store, store.snapshot():
        found = find_status(store, running=running)
    if json:
        click.echo(msgspec.json.encode(found))
        return
    for line in describe_status(found):
        click.echo(line)


@click.command()
@database_argument
@click.argument("copies", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@jobs_option
@json_option
def merge(db: Path, copies: tuple[Path, ...], jobs: int | None, json: bool) -> None:
    """Take the games that a league lacks from copies of it, on which `malice run --shard` played.

    Every game is replayed before it is stored, and checked as `malice verify` does. A copy may be merged again at any
    time. A game that league and copy hold with different digests, or one that does not replay, is named: then nothing
    of that copy is taken, the others are, and the exit code is 5. A file that is no copy of the league is refused
    before anything is taken, exit code 2.

    Parts without open games are closed then, and those that follow are created, as `malice run` does.
    """
    import msgspec

    from malice.tournaments.running.registration import finish_merge

    with open_store(db, write=True, unplayed=True, several=True) as store:
        _require_copies(store, copies)
        taken = [_take(store, copy, jobs) for copy in copies]
        merged = finish_merge(store, taken)
    if json:
        click.echo(msgspec.json.encode(merged))
    else:
        for line in _describe(merged, db):
            click.echo(line)
    if refused := [line for each in taken for line in each.refused]:
        error = UnverifiedError("\n".join(refused))
        if json:  # which says what was refused, too
            click.echo(f"Error: {error}", err=True)
            click.get_current_context().exit(find_exit_code(error))
        raise error


def _require_copies(store: Store, copies: tuple[Path, ...]) -> None:
    from malice.tournaments.league.merge import require_copy

    for path in copies:
        with open_store(path, unplayed=True, several=True) as copy:
            require_copy(store, copy)


def _take(store: Store, path: Path, jobs: int | None) -> Taken:
    from malice.tournaments.league.merge import take_games
    from malice.tournaments.league.replay_pool import count_processors
    from malice.tournaments.running.progress import Progress

    with open_store(path, unplayed=True, several=True) as copy:
        games = sum(copy.view(name).count_stored() for name in copy.league().tournaments)
        with Progress(games, 0, sys.stderr) as progress:
            return take_games(store, copy, jobs or count_processors(), progress.count_game)


def _describe(merged: Merged, db: Path) -> Iterator[str]:
    """Yield a line on each copy, and one on what each tournament holds now."""
    from malice.tournaments.sanitizer import sanitize

    for copy in merged.copies:
        words = [f"{format_count(copy.taken, 'game')} taken"]
        words += [f"{copy.known} known already"] if copy.known else []
        words += [f"{copy.late} left out: their part is closed"] if copy.late else []
        yield f"{copy.file}: {'nothing taken' if copy.refused else ', '.join(words)}"
    for each in merged.tournaments:
        words = [f"{each.games} of {format_count(each.planned, 'game')}"]
        words += [f"closed: {', '.join(map(sanitize, each.closed))}"] if each.closed else []
        words += [f"created: {', '.join(map(sanitize, each.created))}"] if each.created else []
        name = f"{sanitize(each.tournament)}: " if len(merged.tournaments) > 1 else ""
        yield f"{db}: {name}{'; '.join(words)}"


@click.command()
@database_argument
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def backup(db: Path, file: Path, json: bool) -> None:
    """Write a league to one new FILE: its database as it is now, its kept bots, and the list of names if any.

    A run may go on meanwhile. What bots would have played (--second-opinion) is left out: it can be asked again.
    """
    from malice.tournaments.entries.backups import back_up

    with open_store(db, unplayed=True, several=True) as store:
        _print_backup(back_up(store, file), file, json=json)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@database_argument
@json_option
def restore(file: Path, db: Path, json: bool) -> None:
    """Write the league that a backup FILE holds to DB, which must not exist yet."""
    from malice.tournaments.entries.backups import restore

    _print_backup(restore(file, db), db, json=json)


def _print_backup(done: Backup, written: Path, *, json: bool) -> None:
    import msgspec

    if json:
        click.echo(msgspec.json.encode(done))
    else:
        click.echo(f"{written}: {format_count(done.games, 'game')}, {format_count(done.bots, 'bot')}", err=True)
