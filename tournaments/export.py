"""A league as JSON Lines: one game a line, for whoever wants to count for themselves."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from referee.records import Record
from referee.ruleset import Parameters
from tournaments.series import Score


class ExportedAction(Struct, frozen=True):
    """One action with the time it took."""

    seat: int
    action: str
    ms: float


class ExportedEntry(Struct, frozen=True):
    """Who sat at a seat."""

    label: str
    hash: str


class ExportedGame(Struct, frozen=True):
    """All of a game that others may want to work with; by seat where it is a list of seats."""

    key: str
    ruleset: str
    rules: Parameters
    entries: tuple[ExportedEntry, ...]
    deal_seed: str
    actions: tuple[ExportedAction, ...]
    places: tuple[int, ...]
    scores: tuple[int, ...]
    series: tuple[int, ...] | None
    """Points in the series after this game; None where single games are played."""
    reason: str
    digest: str


def exported(record: Record, series: Score | None) -> bytes:
    """Return a game as one line of JSON, LF included."""
    game = ExportedGame(
        key=str(record.key),
        ruleset=record.ruleset,
        rules=record.rules,
        entries=tuple(ExportedEntry(label, hash) for label, hash in record.entries),
        deal_seed=record.deal_seed,
        actions=tuple(
            ExportedAction(seat, action, micros / 1000)
            for (seat, action), micros in zip(record.actions, record.micros, strict=True)
        ),
        places=record.places,
        scores=record.scores,
        series=series.points if series else None,
        reason=record.reason,
        digest=record.digest,
    )
    return msgspec.json.encode(game) + b"\n"
