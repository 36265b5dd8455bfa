"""The events of a game, packed by the referee that played it, so that whoever shows the game need not replay it.

An ask of a game is JSON of what the seats did and of the events that followed. The *shape* of an ask is what remains
when the names of cards are taken out, and a pack lists each shape once. A game is one character per ask, and one per
card that was taken out. No family of games is known here: whatever looks like a card is taken out, and put back.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from malice.protocol.cards import CARDS, HIDDEN, RANKS, SUITS
from malice.referee.errors import DataError

AskContent = tuple[Any, ...]
"""What an ask came to: the moves by seat, the events, and the number of turns that began, unless none did."""

HOLE = "\t"
"""In a shape: the next card of the game. Compact JSON has no control characters."""
SAME = "\n"
"""In a shape: the card of the hole before."""
TAKEN = tuple(dict.fromkeys((*CARDS, HIDDEN, *(rank + suit for rank in RANKS + "?" for suit in SUITS + "?"))))
"""What is taken out of an ask, in words too, where it does no harm: the page puts it back as it was.

Every card name, and the few pairs of characters that a pattern without a choice, which is fast, takes for one.
"""
MOST_BYTES = 1 << 26
"""Most bytes of what a pack holds: a damaged one cannot fill the memory."""

_END = "\r"
"""Between the asks of a game while they are packed."""
_TAKEN = re.compile(f"([{RANKS}?][{SUITS}?])")


@cache
def encode_symbol(index: int) -> str:
    """The character for `index`: printable ASCII without quote and backslash comes first."""
    if index < 91:
        code = index + (35 if index < 57 else 36)
    else:
        code = index - 91 + 0xA1
    return chr(code if code < 0xD800 else code + 0x800)


@cache
def decode_symbol(symbol: str) -> int:
    """The index for a character; the inverse of `encode_symbol`."""
    code = ord(symbol)
    if code < 0xA1:
        return code - (35 if code < 92 else 36)
    return code + 91 - 0xA1 - (0x800 if code >= 0xE000 else 0)


_SYMBOL = {card: encode_symbol(place) for place, card in enumerate(TAKEN)}
_CARD_SYMBOLS = frozenset(_SYMBOL.values())


class PackedEvents(Struct, frozen=True, array_like=True):
    """What happened in a game, ask by ask."""

    shapes: tuple[str, ...]
    """The different shapes, in the order of their first asks."""
    asks: str
    """By ask, the symbol of its shape: `encode_symbol` of its place in `shapes`."""
    cards: str
    """The symbol of the card for each hole of all asks."""


_json = msgspec.json.Encoder()
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(PackedEvents)


def pack_asks(asks: Sequence[AskContent]) -> PackedEvents:
    whole, cards = take_cards_out(_json.encode_lines(asks)[:-1].decode().replace("\n", _END))
    shapes: dict[str, str] = {}
    symbols = [shapes.setdefault(shape, encode_symbol(len(shapes))) for shape in whole.split(_END)] if asks else ()
    return PackedEvents(tuple(shapes), "".join(symbols), cards)


def take_cards_out(text: str) -> tuple[str, str]:
    """Split asks into their shapes, and the symbols of the cards for the holes in these."""
    parts = _TAKEN.split(text)
    holes: list[str] = []
    cards: list[str] = []
    last = ""
    # One loop over all cards: the pattern takes most of the time of a pack, the loop hardly any.
    for before, card in zip(parts[::2], parts[1::2], strict=False):
        if card == last and _END not in before:
            holes.append(SAME)
        else:
            holes.append(HOLE)
            cards.append(_SYMBOL[card])
            last = card
    parts[1::2] = holes
    return "".join(parts), "".join(cards)


def encode_events(packed: PackedEvents) -> bytes:
    """Encode packed events as a record carries them: about a kilobyte."""
    return zlib.compress(_encoder.encode(packed))


def decode_events(content: bytes) -> PackedEvents:
    """Undo `encode_events`.

    Raises:
        DataError: `content` is something else.
    """
    try:
        unpacker = zlib.decompressobj()
        whole = unpacker.decompress(content, MOST_BYTES)
        if not unpacker.eof or unpacker.unused_data:
            raise ValueError(f"expected at most {MOST_BYTES} bytes, and nothing after them")
        packed = _decoder.decode(whole)
        _refuse_gaps(packed)
    except (zlib.error, msgspec.MsgspecError, ValueError) as error:
        raise DataError(f"packed events: {error}") from None
    return packed


def _refuse_gaps(packed: PackedEvents) -> None:
    """Accept events only if every symbol stands for something, and every hole has its card."""
    holes = {encode_symbol(place): shape.count(HOLE) for place, shape in enumerate(packed.shapes)}
    uses = Counter(packed.asks)
    if strange := uses.keys() - holes:
        raise ValueError(f"expected one of {len(holes)} shapes, got {min(strange)!r}")
    if strange := set(packed.cards) - _CARD_SYMBOLS:
        raise ValueError(f"expected one of {len(TAKEN)} cards, got {min(strange)!r}")
    expected = sum(holes[symbol] * count for symbol, count in uses.items())
    if expected != len(packed.cards):
        raise ValueError(f"expected {expected} cards, one for each hole, got {len(packed.cards)}")
