"""Everything that a league claims, checked anew: cards, actions, results, digests."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Struct

from referee.errors import DataError
from referee.games import game
from referee.records import Key, Record, tournament_sha
from referee.replay import check
from tournaments.config import Config
from tournaments.errors import UnverifiedError
from tournaments.league import Entry, game_of
from tournaments.plan import schedule
from tournaments.schedule import Schedule, Seeds
from tournaments.store import Store
from tournaments.suspension import left_out


class Verified(Struct, frozen=True):
    """What was checked."""

    games: int
    planned: int
    complete: bool
    commit: str
    seed: str | None
    """32 bytes, hex; None until the tournament is complete."""
    sha: str
    """The tournament SHA: SHA-256 of all digests in key order."""
    suspended: tuple[str, ...]
    """Bots whose open games are not played."""


def verify(store: Store, on_game: Callable[[], None] = lambda: None) -> Verified:
    """Replay every game of the league and compare it with what is stored.

    Raises:
        UnverifiedError: a record is missing, the seed is not the one that was committed to, a game's cards
            were not dealt by it, or a game does not replay; the message names the game's key.
    """
    with store.snapshot():
        return _verified(store, on_game)


def _verified(store: Store, on_game: Callable[[], None]) -> Verified:
    tournament = store.tournament()
    seeds = Seeds(store.seed())
    if seeds.commit != tournament.commit:
        raise UnverifiedError(f"the seed's commit is {seeds.commit}, the tournament says {tournament.commit}")
    entries = store.entries()
    config = msgspec.json.decode(store.config(), type=Config)
    plan = schedule(config, store.rulesets(), [entry.label for entry in entries], seeds)
    tables = plan.tables
    games = 0
    digests: dict[Key, str] = {}
    for row, record in store.rows():
        if not record.key.table < len(tables):
            raise UnverifiedError(f"game {record.key}: there is no such table")
        table = tables[record.key.table]
        _verify_game(record, seeds, [entries[entry] for entry in table.entries])
        teams = game(record.rules, len(table.entries)).teams
        if row != game_of(record, row.number, teams):
            raise UnverifiedError(f"game {record.key}: what standings are made from is not what the game says")
        digests[record.key] = record.digest
        games += 1
        on_game()
    stored = len(store.keys())
    if games != stored:
        raise UnverifiedError(f"the league holds the records of {games} of its {stored} games")
    if tournament.complete:
        _verify_complete(plan, [entry.label for entry in entries], store.keys(), tournament.suspended)
        if games != tournament.planned and not tournament.suspended:
            raise UnverifiedError(f"the league is complete, but holds {games} of {tournament.planned} games")
    sha = tournament_sha(digest for _, digest in sorted(digests.items()))
    return Verified(
        games,
        tournament.planned,
        tournament.complete,
        tournament.commit,
        tournament.seed,
        sha,
        tuple(tournament.suspended),
    )


def _verify_complete(plan: Schedule, labels: list[str], done: set[Key], suspended: dict[str, int]) -> None:
    for batch in plan.batches():
        table = [labels[entry] for entry in plan.tables[batch.table].entries]
        for key in batch.games():
            if key not in done and not left_out(plan.number(key), table, suspended):
                raise UnverifiedError(f"game {key}: is missing, though the tournament is said to be complete")


def _verify_game(record: Record, seeds: Seeds, table: list[Entry]) -> None:
    key = record.key
    if record.deal_seed != seeds.deal_seed(key).hex():
        raise UnverifiedError(f"game {key}: its cards were not dealt by the tournament's seed")
    seated = [table[player] for player in seeds.seating(key, len(table))]
    for seat, ((label, hash), entry) in enumerate(zip(record.entries, seated, strict=True)):
        if (label, hash) != (entry.label, entry.hash):
            raise UnverifiedError(
                f"game {key}: expected {entry.label!r} (content {entry.hash[:12]}) at seat {seat},"
                f" the record says {label!r} ({hash[:12]})"
            )
    try:
        check(record)
    except DataError as error:
        raise UnverifiedError(str(error)) from None
