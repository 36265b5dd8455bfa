"""Packs the record of a game by column, which takes a quarter of the space of rows."""

from __future__ import annotations

import zlib
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from malice.referee.records import Circumstances, OldRules, Record
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.journal import Hex64

MOST_BYTES = 1 << 26
"""Most bytes of an unpacked record: many times the longest game, but a damaged one cannot fill the memory."""


class Columns(Struct, frozen=True, array_like=True):
    """The blob of a game: columns compress best."""

    entries: tuple[tuple[str, str], ...]
    deal_seed: Hex64
    seats: Annotated[str, Meta(pattern=r"^[0-9]*\Z")]
    """The seat of each action, one digit per action."""
    actions: str
    """The actions, separated by spaces."""
    format: int
    circumstances: Circumstances


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Columns)


def pack_record(record: Record) -> bytes:
    """Return what the league stores of a game in addition to its row."""
    return zlib.compress(encode_columns(record))


def encode_columns(record: Record) -> bytes:
    """Return what is packed of a game, before it is compressed."""
    columns = Columns(
        entries=record.entries,
        deal_seed=record.deal_seed,
        seats="".join(str(seat) for seat, _ in record.actions),
        actions=" ".join(action for _, action in record.actions),
        format=record.format,
        circumstances=Circumstances(**_fields(record)),
    )
    return _encoder.encode(columns)


def unpack_record(
    blob: bytes,
    game: GameSummary,
    ruleset: Ruleset,
    commit: str,
    tournament: str,
    old_rules: OldRules | UnsetType = UNSET,
) -> Record:
    """Return the record from its blob and from what the league stores elsewhere.

    Args:
        blob: what `pack_record` returned; the others are those of `decode_columns`.

    Raises:
        ValueError, zlib.error: `blob` is not a result of `pack_record`.
    """
    return decode_columns(_decompress(blob), game, ruleset, commit, tournament, old_rules)


def decode_columns(
    columns: bytes,
    game: GameSummary,
    ruleset: Ruleset,
    commit: str,
    tournament: str,
    old_rules: OldRules | UnsetType = UNSET,
) -> Record:
    """Return the record from its columns and from what the league stores elsewhere.

    Args:
        columns: what `encode_columns` returned.
        game: its summary.
        ruleset: what was played.
        commit: that of its part.
        tournament: its name.
        old_rules: the rules that it was played by, if they have changed since.

    Raises:
        ValueError: `columns` is not a result of `encode_columns`.
    """
    if len(columns) > MOST_BYTES:
        raise ValueError(f"expected at most {MOST_BYTES} bytes of a record")
    whole = _decoder.decode(columns)
    return Record(
        key=game.key,
        family=ruleset.family,
        ruleset=game.ruleset,
        rules=ruleset.rules,
        entries=whole.entries,
        deal_seed=whole.deal_seed,
        actions=tuple(zip(map(int, whole.seats), whole.actions.split(), strict=True)),
        places=game.places,
        scores=game.scores,
        reason=game.reason,
        digest=game.digest,
        commit=commit,
        format=whole.format,
        tournament=tournament,
        figures=game.figures,
        old_rules=old_rules,
        **_fields(whole.circumstances),
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
