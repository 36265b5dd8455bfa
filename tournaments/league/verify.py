"""Verifies a league: cards, actions, results, digests, and the tournament's own row."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Struct

from protocol.messages import ClockRules
from referee.errors import DataError
from referee.records import Key, Record, compute_tournament_sha
from referee.replay import VERDICT, check_record
from tournaments.errors import UnverifiedError
from tournaments.league.config import Config
from tournaments.league.contents import Entry, Game, summarize_record
from tournaments.league.metadata import verify_tournament
from tournaments.league.schedule import Schedule, Seeds, count_most_deals, make_schedule
from tournaments.league.store import Store
from tournaments.league.suspension import find_suspended_entries, is_left_out

NOT_COVERED = (
    "what bots say of themselves (name, version, author, language, command)",
    "texts of rulesets",
    "time of creation",
    "thinking and CPU times",
    "notes",
    "sentences and stderr of verdicts",
    "isolation and machine",
    "why bots are absent",
    "name and settings that no game shows",
)
"""What nothing else in a league can contradict, so that an edit goes unnoticed."""


class Verified(Struct, frozen=True):
    """The result of a verification."""

    games: int
    planned: int
    complete: bool
    commit: str
    seed: str | None
    """32 bytes, hex; None until the tournament is complete."""
    sha: str
    """The tournament SHA: SHA-256 of all digests in key order."""
    suspended: tuple[str, ...]
    """Bots whose open games stay unplayed."""
    absent: tuple[str, ...]
    """Bots that could not be built or started, and whose open games wait."""
    not_covered: tuple[str, ...] = NOT_COVERED
    """What was not checked, because nothing else in a league can contradict it."""


def verify_league(store: Store, on_game: Callable[[], None] = lambda: None) -> Verified:
    """Replay every game of the league and compare it with what is stored.

    Raises:
        UnverifiedError: the file is damaged, a record is missing, the seed does not match its commitment, it did not
            deal a game's cards, a game does not replay, or the tournament's row contradicts its games; the message
            names the game's key or the place in the file.
    """
    with store.snapshot():
        return _verify_snapshot(store, on_game)


def _verify_snapshot(store: Store, on_game: Callable[[], None]) -> Verified:
    if problem := store.integrity():
        raise UnverifiedError(f"{store.path}: {problem}")
    examiner = _Examiner(store)
    digests: dict[Key, str] = {}
    for row, record in store.rows():
        examiner.examine(row, record)
        digests[record.key] = record.digest
        on_game()
    tournament = store.tournament()
    suspended = find_suspended_entries(store)
    if tournament.complete:
        labels = [entry.label for entry in examiner.entries]
        _verify_complete(examiner.schedule, labels, set(digests), suspended)
    verify_tournament(store, tournament, examiner.schedule, suspended)
    return Verified(
        games=len(digests),
        planned=tournament.planned,
        complete=tournament.complete,
        commit=tournament.commit,
        seed=tournament.seed,
        sha=compute_tournament_sha(digest for _, digest in sorted(digests.items())),
        suspended=tuple(suspended),
        absent=tuple(entry.label for entry in examiner.entries if entry.absence),
    )


def _verify_complete(plan: Schedule, labels: list[str], done: set[Key], suspended: dict[str, int]) -> None:
    for batch in plan.batches():
        table = [labels[entry] for entry in plan.tables[batch.table].entries]
        for key in batch.games():
            if key not in done and not is_left_out(plan.number(key), table, suspended):
                raise UnverifiedError(f"game {key}: is missing, although the tournament is marked as complete")


class _Examiner:
    """Compares each game with its tournament."""

    def __init__(self, store: Store) -> None:
        self._config: Config = store.config()
        self._seeds = Seeds(store.seed())
        self._clock = msgspec.convert(msgspec.to_builtins(self._config.clock), ClockRules)
        self.entries = store.entries()
        labels = [entry.label for entry in self.entries]
        self.schedule = make_schedule(self._config, store.rulesets(), labels, self._seeds)

    def examine(self, row: Game, record: Record) -> None:
        """Check that the seed dealt a game, and that its schedule, seats and play are as the record says."""
        key = record.key
        self._verify_place(key, row, record)
        table = [self.entries[entry] for entry in self.schedule.tables[key.table].entries]
        if record.deal_seed != self._seeds.deal_seed(key).hex():
            raise UnverifiedError(f"game {key}: its cards were not dealt by the tournament's seed")
        self._verify_seats(record, table)
        if record.clock != self._clock:
            raise UnverifiedError(
                f"game {key}: expected the clock of the tournament, {self._clock}, got {record.clock}"
            )
        _verify_verdicts(record)
        if row != summarize_record(record, row.number, row.teams):
            raise UnverifiedError(f"game {key}: the summary for standings does not match the record")
        try:
            check_record(record)
        except DataError as error:
            raise UnverifiedError(str(error)) from None

    def _verify_place(self, key: Key, row: Game, record: Record) -> None:
        if key.table >= len(self.schedule.tables):
            raise UnverifiedError(f"game {key}: there is no such table")
        ruleset = self.schedule.tables[key.table].ruleset
        if record.ruleset != ruleset.name:
            raise UnverifiedError(f"game {key}: expected the ruleset {ruleset.name}, got {record.ruleset}")
        if key.deal >= (most := count_most_deals(self.schedule, ruleset)):
            raise UnverifiedError(f"game {key}: expected a deal below {most}")
        if row.number != (number := self.schedule.number(key)):
            raise UnverifiedError(f"game {key}: expected the number {number}, got {row.number}")

    def _verify_seats(self, record: Record, table: list[Entry]) -> None:
        key = record.key
        if len(record.entries) != len(table):
            raise UnverifiedError(f"game {key}: expected {len(table)} seats, the record has {len(record.entries)}")
        seated = [table[player] for player in self._seeds.seating(key, len(table))]
        for seat, ((label, hash), entry) in enumerate(zip(record.entries, seated, strict=True)):
            if (label, hash) != (entry.label, entry.hash):
                raise UnverifiedError(
                    f"game {key}: expected {entry.label!r} (content {entry.hash[:12]}) at seat {seat},"
                    f" the record says {label!r} ({hash[:12]})"
                )


def _verify_verdicts(record: Record) -> None:
    """Compare the verdicts, which decide suspensions, with the actions, which the digest covers."""
    played = 0
    expected: list[tuple[int, str, int]] = []
    for seat, action in record.actions:
        if action.startswith(VERDICT):
            expected.append((seat, action.removeprefix(VERDICT), played))
        else:
            played += 1
    verdicts = [(fault.seat, fault.code, fault.action) for fault in record.faults]
    if verdicts != expected:
        raise UnverifiedError(
            f"game {record.key}: expected the verdicts {expected} (seat, code, action), got {verdicts}"
        )
