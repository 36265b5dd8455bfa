"""Verifies a tournament: cards, actions, results, digests, and the parts that its journal creates."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct

from protocol.messages import ClockRules
from referee.digests import compute_tournament_sha
from referee.errors import DataError
from referee.records import Key, Record
from referee.replay import VERDICT, check_record
from tournaments.errors import UnverifiedError
from tournaments.league.contents import Game, summarize_record
from tournaments.league.extent import count_games, measure_extent
from tournaments.league.league import League
from tournaments.league.parts import Entrant
from tournaments.league.recreation import Recreation
from tournaments.league.store import Store

NOT_COVERED = (
    "what bots say of themselves (name, version, author, language, command, parameters)",
    "texts of rulesets",
    "time of creation",
    "thinking and CPU times",
    "notes",
    "sentences and stderr of verdicts",
    "isolation and machine",
    "why bots are absent, withdrawn or disqualified",
    "settings that no game shows",
)
"""What nothing else in a league can contradict, so that whoever writes the journal anew goes unnoticed."""


class VerifiedPart(Struct, frozen=True):
    """The result of the verification of a part."""

    number: int
    title: str
    games: int
    """Games that count."""
    planned: int
    closed: bool
    commit: str
    seed: str | None
    """32 bytes, hex; None until the part is closed."""
    sha: str
    """SHA-256 of the digests of its games in key order."""


class Verified(Struct, frozen=True):
    """The result of a verification."""

    tournament: str
    games: int
    """Games that count."""
    left_out: int
    """Games that were played ahead of a suspension, or of the end of a test, and count for nobody."""
    planned: int
    complete: bool
    sha: str
    """The tournament SHA: SHA-256 of all digests in key order."""
    parts: tuple[VerifiedPart, ...]
    suspended: tuple[str, ...]
    """Bots whose open games stay unplayed."""
    absent: tuple[str, ...]
    """Bots that could not be built or started, and whose open games wait."""
    not_covered: tuple[str, ...] = NOT_COVERED
    """What was not checked, because nothing else in a league can contradict it."""


def verify_league(store: Store, on_game: Callable[[], None] = lambda: None) -> Verified:
    """Replay every game of the chosen tournament, compare it with what is stored, and create its parts again.

    Raises:
        UnverifiedError: the file is damaged, a record is missing, a seed does not match its commitment, it did not deal
            a game's cards, a game does not replay, or the format asks for other parts; the message names the game's
            key or the place in the file.
    """
    with store.snapshot():
        return _verify_snapshot(store, on_game)


def _verify_snapshot(store: Store, on_game: Callable[[], None]) -> Verified:
    if problem := store.integrity():
        raise UnverifiedError(f"{store.path}: {problem}")
    store.refuse_strays()
    examiner = _Examiner(store)
    digests: dict[Key, str] = {}
    for row, record in store.stored_rows():
        examiner.examine(row, record)
        digests[record.key] = record.digest
        on_game()
    tournament, finished = store.tournament(), store.finished()
    recreation = Recreation(League(), tournament.name, finished, lambda name: store.view(name).stored_games())
    for event_row, event in store.events():
        recreation.check(event_row.tournament, event, event_row.at)
    judgement = store.judgement()
    counted = {game.key: digests[game.key] for game in judgement.counted}
    return Verified(
        tournament=tournament.name,
        games=len(counted),
        left_out=len(digests) - len(counted),
        planned=measure_extent(tournament, count_games(digests)).games,
        complete=tournament.complete,
        sha=_compute_sha(counted.items()),
        parts=tuple(_describe_part(store, number, counted) for number in range(len(tournament.parts))),
        suspended=tuple(judgement.suspended),
        absent=tuple(entry.label for entry in store.entries() if entry.waits),
    )


def _describe_part(store: Store, number: int, counted: dict[Key, str]) -> VerifiedPart:
    tournament = store.tournament()
    part, closed = tournament.parts[number], number in tournament.closed
    mine = [(key, digest) for key, digest in counted.items() if key.part == number]
    return VerifiedPart(
        number=number,
        title=part.title,
        games=len(mine),
        planned=tournament.schedules[number].total,
        closed=closed,
        commit=part.commit,
        seed=tournament.seeds(number).seed.hex() if closed else None,
        sha=_compute_sha(mine),
    )


def _compute_sha(digests: Iterable[tuple[Key, str]]) -> str:
    return compute_tournament_sha(digest for _, digest in sorted(digests))


class _Examiner:
    """Compares each game with its part."""

    def __init__(self, store: Store) -> None:
        self._tournament = store.tournament()
        self._seeds = [self._tournament.seeds(part.number) for part in self._tournament.parts]
        self._clock = msgspec.convert(msgspec.to_builtins(self._tournament.config.clock), ClockRules)

    def examine(self, row: Game, record: Record) -> None:
        """Check that the seed dealt a game, and that its seats and its play are as the record says."""
        key, seeds = record.key, self._seeds[record.key.part]
        entrants = self._tournament.parts[key.part].tables[key.table].entrants
        if record.deal_seed != seeds.deal_seed(key).hex():
            raise UnverifiedError(f"game {key}: its cards were not dealt by the seed of its part")
        seated = [entrants[player] for player in seeds.seating(key, len(entrants))]
        self._verify_seats(record, seated)
        if record.clock != self._clock:
            raise UnverifiedError(
                f"game {key}: expected the clock of the tournament, {self._clock}, got {record.clock}"
            )
        _verify_verdicts(record)
        versions = tuple(each.version for each in seated)
        if row != summarize_record(record, row.number, row.teams, versions, once=row.once):
            raise UnverifiedError(f"game {key}: the summary for standings does not match the record")
        try:
            check_record(record)
        except DataError as error:
            raise UnverifiedError(str(error)) from None

    def _verify_seats(self, record: Record, seated: list[Entrant]) -> None:
        key = record.key
        if len(record.entries) != len(seated):
            raise UnverifiedError(f"game {key}: expected {len(seated)} seats, the record has {len(record.entries)}")
        for seat, ((label, hash), entrant) in enumerate(zip(record.entries, seated, strict=True)):
            version = self._tournament.version(entrant)
            if (label, hash) != (version.label, version.hash):
                raise UnverifiedError(
                    f"game {key}: expected {version.label!r} (content {version.hash[:12]}) at seat {seat},"
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
