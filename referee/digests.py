"""The digests of games and of tournaments: equal exactly where the same was played."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from malice.referee.records import Record

_encoder = msgspec.json.Encoder()


def compute_digest(record: Record) -> str:
    """Return the SHA-256, hex, of the game and its course, without `Circumstances` and packed events."""
    covered = (
        record.format,
        record.tournament,
        record.key,
        record.family,
        record.old_rules.parameters if record.old_rules else record.rules,
        record.entries,
        record.deal_seed,
        record.actions,
        record.places,
        record.scores,
        record.reason,
    )
    return hashlib.sha256(_encoder.encode(covered)).hexdigest()


def compute_tournament_sha(digests: Iterable[str]) -> str:
    """Return the SHA-256, hex, of the games' digests (hex, in key order, without separators)."""
    whole = hashlib.sha256()
    for digest in digests:
        whole.update(digest.encode())
    return whole.hexdigest()
