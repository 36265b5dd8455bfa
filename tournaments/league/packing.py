"""A game packed: its actions by column, which is a quarter of what rows would take."""

from __future__ import annotations

import zlib
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from referee.records import Circumstances, Record
from referee.ruleset import Parameters
from tournaments.league.contents import Game
from tournaments.league.rows import Hex64

MOST_BYTES = 1 << 26
"""How long a record may be when it is unpacked: many times the longest game, so that a damaged one fills no memory."""


class Columns(Struct, frozen=True, array_like=True):
    """What the blob of a game holds, by column, as it packs best."""

    entries: tuple[tuple[str, str], ...]
    deal_seed: Hex64
    seats: Annotated[str, Meta(pattern=r"^[0-9]*\Z")]
    """The seat of each action, one digit each."""
    actions: str
    """The actions, a space between two."""
    format: int
    circumstances: Circumstances


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Columns)


def pack_record(record: Record) -> bytes:
    """Return what the league keeps of a game beside its row."""
    columns = Columns(
        entries=record.entries,
        deal_seed=record.deal_seed,
        seats="".join(str(seat) for seat, _ in record.actions),
        actions=" ".join(action for _, action in record.actions),
        format=record.format,
        circumstances=Circumstances(**_fields(record)),
    )
    return zlib.compress(_encoder.encode(columns))


def unpack_record(blob: bytes, game: Game, rules: Parameters, commit: str) -> Record:
    """Return the record again, with what the league keeps elsewhere.

    Raises:
        ValueError, zlib.error: `blob` is not what `pack` returns.
    """
    columns = _decoder.decode(_decompress(blob))
    return Record(
        key=game.key,
        ruleset=game.ruleset,
        rules=rules,
        entries=columns.entries,
        deal_seed=columns.deal_seed,
        actions=tuple(zip(map(int, columns.seats), columns.actions.split(), strict=True)),
        places=game.places,
        scores=game.scores,
        reason=game.reason,
        digest=game.digest,
        commit=commit,
        format=columns.format,
        **_fields(columns.circumstances),
    )


def _fields(whole: Circumstances) -> dict[str, Any]:
    """Return the fields that `Circumstances` names, of a record or of what was packed."""
    return {name: getattr(whole, name) for name in Circumstances.__struct_fields__}


def _decompress(blob: bytes) -> bytes:
    packer = zlib.decompressobj()
    whole = packer.decompress(blob, MOST_BYTES)
    if not packer.eof or packer.unused_data:
        raise ValueError(f"expected a packed record of at most {MOST_BYTES} bytes, and nothing after it")
    return whole
