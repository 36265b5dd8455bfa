"""`malice merge`: brings back the games that were played on copies of a league."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from malice.referee.nouns import format_count
from malice.tournaments.commands.options import database_argument, jobs_option, json_option, open_store
from malice.tournaments.errors import UnverifiedError

if TYPE_CHECKING:
    from malice.tournaments.league.merging import Taken
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.merged import Merged


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

    from malice.tournaments.running.merged import finish_merge

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
        raise UnverifiedError("\n".join(refused))


def _require_copies(store: Store, copies: tuple[Path, ...]) -> None:
    from malice.tournaments.league.merging import require_copy

    for path in copies:
        with open_store(path, unplayed=True, several=True) as copy:
            require_copy(store, copy)


def _take(store: Store, path: Path, jobs: int | None) -> Taken:
    from malice.tournaments.league.merging import take_games
    from malice.tournaments.league.replayers import count_processors
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
