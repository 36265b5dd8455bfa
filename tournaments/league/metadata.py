"""Compares the tournament's own row with its configuration, schedule and games."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping

from referee.nouns import format_count
from referee.records import Key
from tournaments.errors import UnverifiedError
from tournaments.league.contents import Game, Readmission, Tournament
from tournaments.league.schedule import Schedule
from tournaments.league.store import Store
from tournaments.league.suspension import is_left_out, list_suspensions


def verify_tournament(store: Store, tournament: Tournament, plan: Schedule, suspended: Mapping[str, int]) -> None:
    """Check that the tournament's row, readmissions and games agree.

    Raises:
        UnverifiedError: they do not; the message names the contradiction.
    """
    games = {game.number: game for game in store.games()}
    config = store.config()
    if config.seed is not None and hashlib.sha256(config.seed.encode()).digest() != store.seed():
        raise UnverifiedError(f"{store.path}: table tournament: the seed is not the one that the configuration gives")
    _verify_planned(store, tournament, plan, len(games), suspended)
    _verify_readmissions(store, tournament.complete, games)
    if tournament.complete:
        for game in games.values():
            if is_left_out(game.number, game.labels, suspended):
                raise UnverifiedError(f"game {game.key}: is stored, although one of its bots was suspended before it")


def _verify_planned(
    store: Store, tournament: Tournament, plan: Schedule, games: int, suspended: Collection[str]
) -> None:
    where = f"{store.path}: table tournament: planned"
    series = any(table.ruleset.match.target for table in plan.tables)
    if not series and tournament.planned != plan.total:
        total = format_count(plan.total, "game")
        raise UnverifiedError(f"{where}: expected {total}, as scheduled, got {tournament.planned}")
    if tournament.planned < games:
        raise UnverifiedError(
            f"{where}: expected at least {games}, the number of games played, got {tournament.planned}"
        )
    if tournament.complete and not suspended and tournament.planned != games:
        planned = format_count(tournament.planned, "game")
        raise UnverifiedError(f"the league is complete, but holds {games} of {planned}")


def _verify_readmissions(store: Store, complete: bool, games: Mapping[int, Game]) -> None:
    """Check that every readmission lifts a real suspension.

    A bot may be readmitted after a stop, while games before its suspension are still open, which can move the
    suspension. So in an incomplete league a readmission needs only a verdict.
    """
    readmitted = store.readmissions()
    if not readmitted:
        return
    after = store.config().suspend_after
    real: set[Readmission] = set()
    if complete:
        real = {(label, number) for label, number in list_suspensions(games.values(), after, readmitted)}
    elif after:
        real = {
            (label, game.number)
            for game in games.values()
            for label, verdict in zip(game.labels, game.verdicts, strict=True)
            if verdict
        }
    for label, number in sorted(readmitted - real):
        key: Key | int = games[number].key if number in games else number
        raise UnverifiedError(
            f"{store.path}: table readmissions: {label!r} is readmitted after game {key}, which did not suspend it"
        )
