"""Records of games that were played without a referee."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.records import Key, Record, compute_digest
from malice.referee.rules import Result
from malice.referee.rulesets import load_ruleset


def make_record(name: str, deal_seed: bytes, actions: Sequence[tuple[int, str]], result: Result) -> Record:
    """Make the record of a game under a ruleset that ships, with as few seats as that allows."""
    ruleset = load_ruleset(name)
    record = Record(
        key=Key(0, 0, 0, 0),
        family=ruleset.family,
        ruleset=name,
        rules=ruleset.rules,
        entries=(("lively", ""),) * ruleset.match.players[0],
        deal_seed=deal_seed.hex(),
        actions=tuple(actions),
        places=result.places,
        scores=result.scores,
        reason=result.reason,
        digest="",
        micros=(),
        cpu_micros=(),
        notes={},
        seats=(),
        faults=(),
        commit="",
        clock=ClockRules(),
        isolation="none",
        host="here",
        versions="",
        started=0.0,
        elapsed_ms=0.0,
    )
    return replace(record, digest=compute_digest(record))
