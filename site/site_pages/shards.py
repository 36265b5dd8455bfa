"""Shards: scripts with up to a hundred games each, compact and complete. They carry the events of any game as they are.

A shard stores its games column by column. An ask of a game is JSON of what the seats did and of the events that
followed; the *shape* of an ask is what remains when the names of cards are taken out, and a shard lists each shape
once. A game is one character per ask, and one per card that was taken out.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections import Counter
from typing import Any

import msgspec

from protocol.cards import CARDS, HIDDEN, RANKS, SUITS
from referee.errors import RecordError
from referee.records import Fault, Record
from referee.replay import VOID, RecordedAsk, find_rules, replay_asks
from site_pages import text
from site_pages.files import Folder
from tournaments.league.contents import Game
from tournaments.sanitizer import sanitize

SIZE = 100
"""The most games in a shard."""
LIMIT = 256 * 1024
"""The most bytes of a shard with more than one game."""
FORMAT = 4
"""Part of every digest: a higher number renders all shards again."""
LINE = 800
STDERR = 2000

HOLE = "\t"
"""In a shape: the next card of the game. Compact JSON has neither this character nor the other one."""
SAME = "\n"
"""In a shape: the card of the hole before."""
TAKEN = tuple(dict.fromkeys((*CARDS, HIDDEN, *(rank + suit for rank in RANKS + "?" for suit in SUITS + "?"))))
"""What is taken out of an ask, in words too, where it does no harm: the page puts it back as it was.

Every card name, and the few pairs of characters that a pattern without a choice, which is fast, takes for one.
"""

_TAKEN = re.compile(f"([{RANKS}?][{SUITS}?])")
_encoder = msgspec.json.Encoder()


def encode_symbol(index: int) -> str:
    """Return the character for `index`: printable ASCII without quote and backslash comes first."""
    if index < 91:
        code = index + (35 if index < 57 else 36)
    else:
        code = index - 91 + 0xA1
    return chr(code if code < 0xD800 else code + 0x800)


_SYMBOL = {card: encode_symbol(place) for place, card in enumerate(TAKEN)}


def make_header(name: str, content: object) -> bytes:
    """Return the start of the first line of a data file; it changes with `content`, the input of the file."""
    digest = hashlib.sha256(msgspec.json.encode((FORMAT, content))).hexdigest()
    return f"// malice {name} {digest}".encode()


def pack(payload: object) -> bytes:
    """Return what a data file passes to the page."""
    return base64.b64encode(gzip.compress(msgspec.json.encode(payload), 6, mtime=0))


def make_script(name: str, first_line: bytes, packed: bytes) -> bytes:
    """Return a data file: a script that passes its packed content to the page."""
    return b'%b\nmalice.receive("%b","%b");\n' % (first_line, name.encode(), packed)


def name_parts(name: str, others: int) -> list[str]:
    """Return the names of the shards of a block."""
    return [name, *(f"{name}-{place}" for place in range(1, others + 1))]


def take_cards_out(ask: str) -> tuple[str, str]:
    """Return the shape of an ask, and a character for each card that its holes stand for."""
    parts = _TAKEN.split(ask)
    cards = last = ""
    for place in range(1, len(parts), 2):
        card = parts[place]
        if card == last:
            parts[place] = SAME
        else:
            parts[place] = HOLE
            cards += _SYMBOL[card]
            last = card
    return "".join(parts), cards


class Block:
    """The games of a hundred numbers; packs them into one shard, or into several if they are large."""

    def __init__(self) -> None:
        self._games: list[dict[str, Any]] = []
        self._asks: list[list[int]] = []
        """By game: the number of the shape of each ask."""
        self._shapes: dict[str, int] = {}
        self._rulesets: dict[str, dict[str, Any]] = {}

    def add(self, game: Game, record: Record, reason: str, series: str = "") -> None:
        """Replay a game and record its asks.

        Args:
            game: its row.
            record: its record.
            reason: why it ended, in words.
            series: the state of its series after it, in words.
        """
        shapes: list[int] = []
        cards: list[str] = []
        broken = ""
        try:
            turn = find_rules(record).turn
            turns = 0
            for ask in replay_asks(record):
                before, turns = turns, turn(ask.after)
                shape, taken = take_cards_out(_encode_ask(ask, turns - before))
                shapes.append(self._shapes.setdefault(shape, len(self._shapes)))
                cards.append(taken)
        except RecordError as error:
            broken = "" if record.reason == VOID else str(error)
        self._asks.append(shapes)
        self._games.append(
            _make_row(game, record)
            | {"cards": "".join(cards), "reason": reason, "series": series, "broken": sanitize(broken, LINE)}
        )
        self._rulesets.setdefault(
            game.ruleset, {"page": text.make_slug(game.ruleset), "family": record.family, "rules": record.rules}
        )

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
        """Return the packed games from place `first` to `end`, halved until each part is small or a single game."""
        packed = pack(self._make_payload(slice(first, end)))
        if len(packed) <= LIMIT or end - first == 1:
            return [(first, packed)]
        middle = (first + end) // 2
        return self._split(first, middle) + self._split(middle, end)

    def _make_payload(self, part: slice) -> dict[str, Any]:
        games, asks = self._games[part], self._asks[part]
        uses = Counter(number for shapes in asks for number in shapes)
        by_use = sorted(uses, key=lambda number: (-uses[number], number))
        symbols = {number: encode_symbol(rank) for rank, number in enumerate(by_use)}
        shapes = list(self._shapes)
        labels = sorted({label for row in games for label in row["labels"]})
        numbers = {label: number for number, label in enumerate(labels)}
        columns = {name: [row[name] for row in games] for name in games[0]}
        columns["labels"] = [[numbers[label] for label in row["labels"]] for row in games]
        columns["asks"] = ["".join([symbols[number] for number in game]) for game in asks]
        return {
            "taken": "".join(TAKEN),
            "labels": [[text.format_label(label), text.make_slug(label)] for label in labels],
            "rulesets": {name: self._rulesets[name] for name in sorted({row["ruleset"] for row in games})},
            "shapes": [shapes[number] for number in by_use],
            "columns": columns,
        }


def _encode_ask(ask: RecordedAsk, turns: int) -> str:
    """Return what happened in an ask as JSON: what the seats did, the events, the number of turns begun, if any."""
    content = (ask.moves, ask.events, turns) if turns else (ask.moves, ask.events)
    return _encoder.encode(content).decode()


def _make_row(game: Game, record: Record) -> dict[str, Any]:
    return {
        "number": game.number,
        "key": str(game.key),
        "ruleset": game.ruleset,
        "labels": game.labels,
        "teams": game.teams,
        "places": game.places,
        "scores": game.scores,
        "void": record.reason == VOID,
        "micros": [_round_time(micros) for micros in record.micros],
        "notes": {place: sanitize(note, 500, lines=True) for place, note in record.notes.items()},
        "faults": [_describe_fault(fault) for fault in record.faults],
        "stray": [seat.stray_lines for seat in record.seats],
    }


def _round_time(micros: int) -> int:
    """Keep two significant digits: nobody reads more, and more would take a third of the shard."""
    unit = 1
    while micros >= 100 * unit:
        unit *= 10
    return (micros + unit // 2) // unit * unit


def _describe_fault(fault: Fault) -> dict[str, Any]:
    return {
        "seat": fault.seat,
        "code": fault.code,
        "action": fault.action,
        "sentence": sanitize(fault.sentence, LINE),
        "exit": sanitize(fault.exit or "", LINE),
        "lines": [sanitize(line, LINE) for line in fault.lines],
        "stderr": text.shorten(fault.stderr, STDERR),
    }
