"""Brings the games that were played on copies of a league back into it."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable, Sequence
from itertools import islice

from msgspec import Struct

from malice.referee.nouns import format_count
from malice.referee.records import Key
from malice.tournaments.errors import DamagedLeague, LeagueError, Stopped, UnverifiedError
from malice.tournaments.league.journal import ShareChosen
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.replay_pool import replay_rows
from malice.tournaments.league.store import Store
from malice.tournaments.league.stored_games import DigestRow, pick_games

BURST = 100
"""Games that are stored in one transaction."""
NAMED = 20
"""How many games are named that two files tell differently."""


class Taken(Struct, frozen=True):
    """What came of a copy."""

    file: str
    taken: int = 0
    """Games that were new, and replayed."""
    known: int = 0
    """Games that the league had already, with the same digest."""
    late: int = 0
    """Games of parts that the league has closed meanwhile; they are not taken."""
    refused: tuple[str, ...] = ()
    """Why nothing of the copy was taken: a line for each game, or for the damage; empty if all is well."""


class _Comparison(Struct, frozen=True):
    """The games of a tournament in a copy, beside those of the league."""

    new: Sequence[int]
    """The numbers of those that the league lacks, in playing order."""
    known: int
    late: int
    clashes: tuple[str, ...]


def require_copy(league: LeagueReader, copy: LeagueReader) -> None:
    """Make sure that a file is a copy of a league: their journals are the same, or the league has gone on since.

    Raises:
        LeagueError: it is not; the message says why.
        DamagedLeague: one of the journals is damaged.
    """
    if copy.path.samefile(league.path):
        raise LeagueError(where=copy.path, expected="a copy of the league", got="the league itself")
    if not copy.league().tournaments:
        copy.tournament()  # it says what a file without a tournament is
    ours, theirs = map(_list_events, (league, copy))
    same = next((number for number, pair in enumerate(zip(ours, theirs, strict=False)) if len({*pair}) > 1), None)
    if same is not None:
        other = "another league" if same == 0 else f"its journal differs from event {same} on"
        raise LeagueError(where=copy.path, expected=f"a copy of {league.path}", got=other)
    if len(theirs) > len(ours):
        events = format_count(len(theirs) - len(ours), "event")
        raise LeagueError(
            where=copy.path,
            expected=f"a copy of {league.path}",
            got=f"{events} more in its journal",
            hint="a run without --shard, or another command, went on with it as with a league of its own",
        )


def _list_events(league: LeagueReader) -> list[tuple[str, float, str]]:
    """What makes an event the same in two files; which share a file plays is its own affair."""
    return [(row.tournament, row.at, row.event) for row, event in league.events() if not isinstance(event, ShareChosen)]


def take_games(league: Store, copy: Store, jobs: int = 1, on_game: Callable[[], None] = lambda: None) -> Taken:
    """Store the games of a copy that the league lacks, all of them or none; every one is replayed before.

    Args:
        league: the league, open for writing.
        copy: a copy of it, as `require_copy` says.
        jobs: how many processes replay games, if there are many.
        on_game: told of every game that was replayed, or did not need it.

    Raises:
        Stopped: the disk is full or fails; the games that were taken before are stored.
    """
    file = str(copy.path)
    try:
        with copy.snapshot():
            views = {name: copy.view(name) for name in copy.league().tournaments}
            found = {name: _compare(league.view(name), view) for name, view in views.items()}
            if clashes := [clash for each in found.values() for clash in each.clashes]:
                return Taken(file, refused=tuple(_shorten(clashes)))
            for _ in range(sum(each.known + each.late for each in found.values())):
                on_game()
            for name, view in views.items():
                _examine(view, found[name].new, jobs, on_game)
            for name, view in views.items():
                _store(league, view, found[name].new)
    except UnverifiedError as error:
        where = "" if isinstance(error, DamagedLeague) else f"{copy.path}: "
        return Taken(file, refused=(f"{where}{error}",))
    counts = list(found.values())
    taken = sum(len(each.new) for each in counts)
    return Taken(file, taken, sum(each.known for each in counts), sum(each.late for each in counts))


def _compare(league: LeagueReader, copy: LeagueReader) -> _Comparison:
    """Compare the games of the chosen tournament; the journals are the same, so that numbers name the same games."""
    closed = league.tournament().closed
    new, known, late, clashes = array("q"), 0, 0, []
    ours = league.list_digests()
    own = next(ours, None)
    for row in copy.list_digests():
        while own and own.number < row.number:
            own = next(ours, None)
        if own is None or own.number > row.number:
            if row.part in closed:
                late += 1
            else:
                new.append(row.number)
        elif own.digest == row.digest:
            known += 1
        else:
            clashes.append(_describe_clash(league, copy, row, own.digest))
    for _ in ours:  # to the end, where a game that damage hides is noticed
        pass
    return _Comparison(new, known, late, tuple(clashes))


def _describe_clash(league: LeagueReader, copy: LeagueReader, row: DigestRow, ours: str) -> str:
    key = Key(row.part, row.table, row.deal, row.rotation)
    name = f"{league.tournament().name}:" if len(league.league().tournaments) > 1 else ""
    return f"{copy.path}: game {name}{key}: expected the digest {ours[:12]}, as in {league.path}, got {row.digest[:12]}"


def _shorten(lines: list[str]) -> list[str]:
    more = len(lines) - NAMED
    return [*lines[:NAMED], f"and {format_count(more, 'more game')}"] if more > 0 else lines


def _examine(copy: LeagueReader, numbers: Sequence[int], jobs: int, on_game: Callable[[], None]) -> None:
    """Replay games as `malice verify` does."""
    pieces = ((row, None) for row in pick_games(copy.list_recorded(), numbers))
    with replay_rows(copy, "examine", len(numbers), jobs) as replayers:
        for _, why in replayers.replay(pieces):
            if why:
                raise UnverifiedError(why.decode())
            on_game()


def _store(league: Store, copy: LeagueReader, numbers: Sequence[int]) -> None:
    games = map(copy.unpack, pick_games(copy.list_recorded(), numbers))
    try:
        while burst := list(islice(games, BURST)):
            league.add_all(burst)
    except sqlite3.Error as error:
        raise Stopped(f"{league.path}: cannot store a game: {error}; merge again to go on") from None
