"""Shards: scripts with up to a hundred games each, compact and complete. They carry the events of any game as they are.

A shard stores its games column by column. What happened in a game comes packed (`referee/packed_events.py`): as shapes
of asks, and the cards that fill their holes. A shard lists each shape of its games once.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from malice.referee.errors import DataError, RecordError
from malice.referee.packed_events import (
    TAKEN,
    AskContent,
    PackedEvents,
    decode_events,
    decode_symbol,
    encode_symbol,
    pack_asks,
)
from malice.referee.records import Record
from malice.referee.replay import VOID, replay_contents
from malice.site_pages import text
from malice.site_pages.evidence import make_evidence
from malice.site_pages.files import Folder
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.sanitizer import sanitize

SIZE = 100
"""The most games in a shard."""
LIMIT = 256 * 1024
"""The most bytes of a shard with more than one game."""
FORMAT = 7
"""Part of every digest: a higher number renders all shards again."""
LINE = 800
STDERR = 2000


def make_header(name: str, content: object) -> bytes:
    """The start of the first line of a data file; it changes with `content`, the input of the file."""
    digest = hashlib.sha256(msgspec.json.encode((FORMAT, content))).hexdigest()
    return f"// malice {name} {digest}".encode()


def pack(payload: object) -> bytes:
    """Pack what a data file passes to the page."""
    return base64.b64encode(gzip.compress(msgspec.json.encode(payload), 6, mtime=0))


def make_script(name: str, first_line: bytes, packed: bytes) -> bytes:
    """Make a data file: a script that passes its packed content to the page."""
    return b'%b\nmalice.receive("%b","%b");\n' % (first_line, name.encode(), packed)


def name_parts(name: str, others: int) -> list[str]:
    return [name, *(f"{name}-{place}" for place in range(1, others + 1))]


class Block:
    """The games of a hundred numbers; packs them into one shard, or into several if they are large."""

    def __init__(self) -> None:
        self._games: list[dict[str, Any]] = []
        self._asks: list[_Asks] = []
        self._shapes: dict[str, int] = {}
        self._rulesets: dict[str, dict[str, Any]] = {}

    def add(self, game: GameSummary, record: Record, reason: str, series: str = "") -> None:
        """Add a game, with what its referee packed, or else with what a replay tells.

        Args:
            game: its row.
            record: its record.
            reason: why it ended, in words.
            series: the state of its series after it, in words.
        """
        packed, broken = _find_events(record)
        shapes = [self._shapes.setdefault(shape, len(self._shapes)) for shape in packed.shapes]
        self._asks.append(_Asks(packed.asks, shapes))
        self._games.append(
            _make_row(game, record)
            | {"cards": packed.cards, "reason": reason, "series": series, "broken": sanitize(broken, LINE)}
        )
        self._rulesets.setdefault(
            game.ruleset, {"page": text.make_slug(game.ruleset), "family": record.family, "rules": record.rules}
        )

    def pack(self) -> bytes:
        """Pack all of its games as one shard."""
        return pack(self._make_payload(slice(None)))

    def write(self, folder: Folder, name: str, header: bytes) -> list[int]:
        """Write the shards: `name`, then `name-1`, `name-2`, ... if one would be larger than `LIMIT`.

        The first line of the first shard is `header`, and the numbers of the games with which the others begin.

        Returns:
            these numbers.
        """
        parts = self._split(0, len(self._games))
        others: list[int] = [self._games[first]["number"] for first, _ in parts[1:]]
        for own, (first, packed) in zip(name_parts(name, len(others)), parts, strict=True):
            line = header.replace(name.encode(), own.encode(), 1)
            if first == 0:
                line = b" ".join([line, *(b"%d" % number for number in others)])
            folder.write(f"data/{own}.js", make_script(own, line, packed))
        return others

    def _split(self, first: int, end: int) -> list[tuple[int, bytes]]:
        """Pack the games from place `first` to `end`, halved until each part is small or a single game."""
        packed = pack(self._make_payload(slice(first, end)))
        if len(packed) <= LIMIT or end - first == 1:
            return [(first, packed)]
        middle = (first + end) // 2
        return self._split(first, middle) + self._split(middle, end)

    def _make_payload(self, part: slice) -> dict[str, Any]:
        games, asks = self._games[part], self._asks[part]
        uses: Counter[int] = Counter()
        for game in asks:
            game.add_uses(uses)
        by_use = sorted(uses, key=lambda number: (-uses[number], number))
        symbols = {number: encode_symbol(rank) for rank, number in enumerate(by_use)}
        shapes = list(self._shapes)
        labels = sorted({pair for row in games for pair in row["labels"]})
        numbers = {pair: number for number, pair in enumerate(labels)}
        columns = {name: [row[name] for row in games] for name in games[0]}
        columns["labels"] = [[numbers[pair] for pair in row["labels"]] for row in games]
        if not any(columns["factor"]):
            del columns["factor"]  # most leagues have one machine
        columns["asks"] = [game.encode(symbols) for game in asks]
        return {
            "taken": "".join(TAKEN),
            "labels": [[text.format_label(then), text.make_slug(today)] for today, then in labels],
            "rulesets": {name: self._rulesets[name] for name in sorted({row["ruleset"] for row in games})},
            "shapes": [shapes[number] for number in by_use],
            "columns": columns,
        }


class _Asks(NamedTuple):
    """The asks of a game in a block."""

    own: str
    """By ask, the symbol of its shape within the game."""
    shapes: list[int]
    """The numbers in the block of the shapes of the game, in its own order."""

    def add_uses(self, uses: Counter[int]) -> None:
        """Count the uses of each shape."""
        for symbol, count in Counter(self.own).items():
            uses[self.shapes[decode_symbol(symbol)]] += count

    def encode(self, symbols: Mapping[int, str]) -> str:
        """The asks in other symbols, those of the block's shapes by number."""
        return self.own.translate({ord(encode_symbol(own)): symbols[shape] for own, shape in enumerate(self.shapes)})


def _find_events(record: Record) -> tuple[PackedEvents, str]:
    """What happened in a game, as far as it is known, and why no more is."""
    if record.events:
        with suppress(DataError):
            return decode_events(record.events), ""
    asks: list[AskContent] = []
    try:
        asks += replay_contents(record)  # keeps what came before an error
    except RecordError as error:
        return pack_asks(asks), "" if record.reason == VOID else str(error)
    return pack_asks(asks), ""


def _make_row(game: GameSummary, record: Record) -> dict[str, Any]:
    return {
        "number": game.number,
        "key": str(game.key),
        "ruleset": game.ruleset,
        "labels": [(today, then) for today, (then, _) in zip(game.labels, record.entries, strict=True)],
        "teams": game.teams,
        "places": game.places,
        "scores": game.scores,
        "void": record.reason == VOID,
        "micros": [_round_time(micros) for micros in record.micros],
        "cpu": [_round_time(micros) for micros in record.cpu_micros] if record.clock.kind == "cpu" else [],
        "clock": None if record.clock.bank_ms is None else (record.clock.bank_ms, record.clock.increment_ms),
        "notes": {place: sanitize(note, 500, lines=True) for place, note in record.notes.items()},
        "faults": [make_evidence(fault, LINE, STDERR) for fault in record.faults],
        "stray": [seat.stray_lines for seat in record.seats],
        "factor": record.speed,
    }


@lru_cache(1 << 16)
def _round_time(micros: int) -> int:
    """Keep two significant digits: nobody reads more, and more would take a third of the shard."""
    unit = 1
    while micros >= 100 * unit:
        unit *= 10
    return (micros + unit // 2) // unit * unit
