"""A league as JSON Lines, a game or a decision a line, for whoever wants to count or to learn for themselves."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import UNSET, Struct, UnsetType

from protocol.messages import View
from referee.records import Record
from referee.replay import VERDICT
from referee.requests import replay_decisions
from referee.ruleset import Parameters
from tournaments.league.series import Score


class ExportedAction(Struct, frozen=True):
    """One action with the time it took."""

    seat: int
    action: str
    """`!` and the code of a verdict where that fell instead."""
    ms: float
    cpu_ms: float
    note: str | UnsetType = UNSET
    """What the bot wrote to it; not there without."""


class ExportedEntry(Struct, frozen=True):
    """Who sat at a seat."""

    label: str
    hash: str


class ExportedSeat(Struct, frozen=True):
    """What the whole game cost at a seat."""

    used_ms: float
    """Thinking time."""
    cpu_ms: float
    """CPU time of its thinking."""
    idle_ms: float
    """CPU time while it was not asked."""
    slowest_ms: float
    """Of its actions."""


class ExportedVerdict(Struct, frozen=True):
    """Why a seat left the game."""

    seat: int
    code: str
    action: int
    """How many actions had been played."""
    sentence: str
    exit: str | None
    """How its process ended; None while it lived."""


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
    seats: tuple[ExportedSeat, ...]
    verdicts: tuple[ExportedVerdict, ...]
    isolation: str
    """What was around the bots."""


class ExportedDecision(Struct, frozen=True):
    """An action with all that its seat saw when it chose it."""

    key: str
    ruleset: str
    action: int
    """Its number in the game, from 0."""
    seat: int
    label: str
    view: View
    """As in the request that the bot got."""
    legal: tuple[str, ...]
    """What it might play, also where it declined the list."""
    played: str
    place: int
    """Of this seat at the end of the game; 1 is best."""
    score: int
    """Of this seat at the end of the game."""


_encoder = msgspec.json.Encoder()


def encode_game(record: Record, series: Score | None) -> bytes:
    """Return a game as one line of JSON, LF included."""
    return _encode_line(
        ExportedGame(
            key=str(record.key),
            ruleset=record.ruleset,
            rules=record.rules,
            entries=tuple(ExportedEntry(label, hash) for label, hash in record.entries),
            deal_seed=record.deal_seed,
            actions=tuple(_list_actions(record)),
            places=record.places,
            scores=record.scores,
            series=series.points if series else None,
            reason=record.reason,
            digest=record.digest,
            seats=tuple(
                ExportedSeat(each.used_ms, each.cpu_ms, each.idle_ms, each.slowest_ms) for each in record.seats
            ),
            verdicts=tuple(
                ExportedVerdict(each.seat, each.code, each.action, each.sentence, each.exit) for each in record.faults
            ),
            isolation=record.isolation,
        )
    )


def _list_actions(record: Record) -> Iterator[ExportedAction]:
    timed = zip(record.actions, record.micros, record.cpu_micros, strict=True)
    for index, ((seat, action), micros, cpu_micros) in enumerate(timed):
        yield ExportedAction(seat, action, micros / 1000, cpu_micros / 1000, record.notes.get(index, UNSET))


def encode_decisions(record: Record) -> Iterator[bytes]:
    """Return the decisions of a game, each as one line of JSON, LF included; a verdict is no decision.

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
