"""A league as JSON Lines, one line per game or decision, for analysis and machine learning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from malice.referee.records import Record
from malice.referee.replay import VERDICT
from malice.referee.requests import replay_decisions
from malice.tournaments.league.publication import Publication
from malice.tournaments.league.series import Score


class ExportedAction(Struct, frozen=True):
    """An action with the time that it took."""

    seat: int
    action: str
    """`!` and a verdict's code, where a verdict ended the game for the seat."""
    ms: float
    cpu_ms: float
    note: str | UnsetType = UNSET
    """The bot's note; left out if there is none."""


class ExportedEntry(Struct, frozen=True):
    """The entry at a seat."""

    label: str
    hash: str | UnsetType
    """Left out if the tournament is anonymous."""


class ExportedSeat(Struct, frozen=True):
    """The time that a seat used in the whole game."""

    used_ms: float
    """Thinking time."""
    cpu_ms: float
    """CPU time on turn."""
    idle_ms: float
    """CPU time off turn."""
    slowest_ms: float
    """The time of its slowest action."""


class ExportedVerdict(Struct, frozen=True):
    """Why a seat left the game."""

    seat: int
    code: str
    action: int
    """The number of actions before it."""
    sentence: str
    exit: str | None
    """How its process ended; None if it was still alive."""


class ExportedGame(Struct, frozen=True):
    """A game for export; lists over seats are in the order of seats."""

    tournament: str
    key: str
    ruleset: str
    family: str
    rules: Any
    """Every parameter of the ruleset."""
    entries: tuple[ExportedEntry, ...]
    deal_seed: str
    actions: tuple[ExportedAction, ...]
    places: tuple[int, ...]
    scores: tuple[int, ...]
    series: tuple[int, ...] | None
    """Points in the series after this game; None if games are single."""
    reason: str
    digest: str | UnsetType
    """Left out if the tournament is anonymous: it is made from the hashes."""
    seats: tuple[ExportedSeat, ...]
    verdicts: tuple[ExportedVerdict, ...]
    isolation: str
    """The isolation of the bots."""


class ExportedDecision(Struct, frozen=True):
    """An action with everything that its seat saw when it chose."""

    key: str
    ruleset: str
    action: int
    """Its number in the game, from 0."""
    seat: int
    label: str
    view: Struct
    """As in the request to the bot."""
    legal: tuple[str, ...]
    """The legal actions, even if the bot declined the list."""
    played: str
    place: int
    """Of this seat at the end of the game; 1 is best."""
    score: int
    """Of this seat at the end of the game."""


_encoder = msgspec.json.Encoder()


def encode_game(record: Record, series: Score | None, publication: Publication | None = None) -> bytes:
    """Return a game as one line of JSON, LF included; `publication` limits it if the tournament is anonymous."""
    anonymous = publication is not None and publication.anonymous
    if publication and anonymous:
        record = publication.redact_record(record)
    return _encode_line(
        ExportedGame(
            tournament=record.tournament,
            key=str(record.key),
            ruleset=record.ruleset,
            family=record.family,
            rules=record.old_rules.parameters if record.old_rules else record.rules,
            entries=tuple(ExportedEntry(label, UNSET if anonymous else hash) for label, hash in record.entries),
            deal_seed=record.deal_seed,
            actions=tuple(_list_actions(record)),
            places=record.places,
            scores=record.scores,
            series=series.points if series else None,
            reason=record.reason,
            digest=UNSET if anonymous else record.digest,
            seats=tuple(_list_seats(record)),
            verdicts=tuple(
                ExportedVerdict(each.seat, each.code, each.action, each.sentence, each.exit) for each in record.faults
            ),
            isolation=record.isolation,
        )
    )


def _list_seats(record: Record) -> Iterator[ExportedSeat]:
    slowest = [0] * len(record.seats)
    for (seat, _), micros in zip(record.actions, record.micros, strict=True):
        slowest[seat] = max(slowest[seat], micros)
    for report, micros in zip(record.seats, slowest, strict=True):
        yield ExportedSeat(report.used_ms, report.cpu_ms, report.idle_ms, micros / 1000)


def _list_actions(record: Record) -> Iterator[ExportedAction]:
    timed = zip(record.actions, record.micros, record.cpu_micros, strict=True)
    for index, ((seat, action), micros, cpu_micros) in enumerate(timed):
        yield ExportedAction(seat, action, micros / 1000, cpu_micros / 1000, record.notes.get(index, UNSET))


def encode_decisions(record: Record) -> Iterator[bytes]:
    """Return the decisions of a game, each as one line of JSON, LF included; a verdict is not a decision.

    Raises:
        RecordError: the record does not replay.
    """
    key = str(record.key)
    for each in replay_decisions(record):
        if not each.played.startswith(VERDICT):
            label, _ = record.entries[each.seat]
            end = record.places[each.seat], record.scores[each.seat]
            seen = each.view, each.legal, each.played
            yield _encode_line(ExportedDecision(key, record.ruleset, each.index, each.seat, label, *seen, *end))


def _encode_line(exported: ExportedGame | ExportedDecision) -> bytes:
    return _encoder.encode(exported) + b"\n"
