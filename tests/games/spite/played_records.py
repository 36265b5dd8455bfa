"""Records of whole games, played without bots."""

from hashlib import sha256

from msgspec.structs import replace

from malice.referee.games.spite import SpiteAndMalice
from malice.referee.records import Record, compute_digest
from malice.referee.rules import Result
from tests.games.records import make_record

from .playouts import make_lively_chooser, play_moments


def record_game(engine: SpiteAndMalice, chooser: str) -> Record:
    """Play a game with the lively chooser of a seed, and return its record."""
    actions: list[tuple[int, str]] = []
    for moment in play_moments(engine, "record", make_lively_chooser(chooser)):
        if moment.seat is not None:
            actions.append((moment.seat, moment.action))
    assert isinstance(moment.step, Result)
    record = make_record("standard", sha256(b"record").digest(), actions, moment.step)
    record = replace(record, rules=engine.derived.rules, entries=(("lively", ""),) * engine.seats)
    return replace(record, digest=compute_digest(record))
