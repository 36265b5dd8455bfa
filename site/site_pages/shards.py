"""Shards: scripts with a hundred games each, compact, complete, and readable without the rules.

A shard stores its games column by column. The *shape* of a step is all that happens in it except the new cards;
a shard lists each shape once. A game is one character per step and one per new card: a card that was dealt, drawn
or turned up. A moved card is identified by its place in its pile.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from protocol.cards import CARDS
from protocol.messages import Out
from referee.errors import RecordError
from referee.games.spite.messages import CardMoved, Count, Deal, Draw, Event, Flip, Pass, Shuffled, TurnBegins
from referee.games.spite.parameters import Parameters
from referee.records import Fault, Record
from referee.replay import Step, replay_steps
from site_pages import text
from site_pages.piles import UNSEEN, Piles
from tournaments.league.contents import Game
from tournaments.sanitizer import sanitize

SIZE = 100
"""Games in a shard."""
FORMAT = 2
"""Part of every digest: a higher number renders all shards again."""
LINE = 800
STDERR = 2000

Shape = tuple[Any, ...]
"""The seat that acted (None for the deal), then the events: tuples that start with the type of the event."""


def encode_symbol(index: int) -> str:
    """Return the character for `index`: printable ASCII without quote and backslash comes first."""
    if index < 91:
        code = index + (35 if index < 57 else 36)
    else:
        code = index - 91 + 0xA1
    return chr(code if code < 0xD800 else code + 0x800)


_CARD = {card: encode_symbol(place) for place, card in enumerate(CARDS)}


def make_header(name: str, content: object) -> bytes:
    """Return the first line of a data file; it changes whenever `content`, the input of the file, changes."""
    digest = hashlib.sha256(msgspec.json.encode((FORMAT, content))).hexdigest()
    return f"// malice {name} {digest}\n".encode()


def make_script(name: str, first_line: bytes, payload: object) -> bytes:
    """Return a data file: a script that passes the packed `payload` to the page."""
    packed = base64.b64encode(gzip.compress(msgspec.json.encode(payload), 6, mtime=0))
    return b'%bmalice.receive("%b","%b");\n' % (first_line, name.encode(), packed)


class Shard:
    """Collects games, and packs them into the data that the page reads."""

    def __init__(self, rulesets: dict[str, Parameters]) -> None:
        self._rulesets = rulesets
        self._games: list[dict[str, Any]] = []
        self._steps: list[list[int]] = []
        self._shapes: dict[Shape, int] = {}
        self._uses: Counter[int] = Counter()

    def add(self, game: Game, record: Record, series: str = "") -> None:
        """Replay a game and record its steps; `series` describes the state of its series after it."""
        recorder = _Recorder()
        shapes = []
        broken = ""
        try:
            for step in replay_steps(record):
                shape = recorder.record_step(step)
                shapes.append(self._shapes.setdefault(shape, len(self._shapes)))
        except RecordError as error:
            broken = "" if record.reason == "void" else str(error)
        self._steps.append(shapes)
        self._uses.update(shapes)
        self._games.append(_make_row(game, record) | recorder.make_columns() | {"series": series, "broken": broken})

    def make_payload(self) -> dict[str, Any]:
        """Return the shard as an object to encode as JSON."""
        by_use = sorted(self._shapes.values(), key=lambda number: (-self._uses[number], number))
        place = {number: encode_symbol(rank) for rank, number in enumerate(by_use)}
        shapes = list(self._shapes)
        labels = sorted({label for row in self._games for label in row["labels"]})
        numbers = {label: number for number, label in enumerate(labels)}
        rulesets = sorted({row["ruleset"] for row in self._games})
        for row in self._games:
            row["labels"] = [numbers[label] for label in row["labels"]]
        columns = {name: [row[name] for row in self._games] for name in (self._games[0] if self._games else ())}
        columns["steps"] = ["".join([place[number] for number in game]) for game in self._steps]
        return {
            "cards": "".join(CARDS),
            "labels": [[text.format_label(label), text.make_slug(label)] for label in labels],
            "rulesets": {name: _describe_ruleset(name, self._rulesets.get(name, Parameters())) for name in rulesets},
            "shapes": [shapes[number] for number in by_use],
            "columns": columns,
        }


class _Recorder:
    """Records the steps of one game for a shard."""

    def __init__(self) -> None:
        self._piles = Piles()
        self._cards: list[str] = []
        self._odd: dict[int, str] = {}
        self._count = -1

    def record_step(self, step: Step) -> Shape:
        shape = (step.seat, *[self._record_event(event) for event in step.events])
        if step.seat is not None and step.action != _derive_action(step):
            self._odd[self._count] = sanitize(step.action, 200)
        self._count += 1
        return shape

    def make_columns(self) -> dict[str, Any]:
        return {"cards": "".join(self._cards), "odd": self._odd}

    def _record_event(self, event: Event) -> Shape:
        piles = self._piles
        if isinstance(event, CardMoved):
            back = piles.move(event)
            if back == UNSEEN:
                self._add_cards((event.card,))
            return ("move", event.seat, event.source, event.target, back)
        if isinstance(event, TurnBegins):
            return ("turn", event.seat)
        if isinstance(event, Draw):
            piles.draw(event)
            self._add_cards(event.cards)
            return ("draw", event.seat, len(event.cards))
        if isinstance(event, Flip):
            piles.flip(event)
            self._add_cards((event.card,))
            return ("flip", event.seat)
        if isinstance(event, Shuffled):
            piles.shuffle(event)
            return ("shuffle", event.source, event.target, event.count)
        return self._record_rare_event(event)

    def _record_rare_event(self, event: Deal | Count | Pass | Out) -> Shape:
        if isinstance(event, Deal):
            self._piles.deal(event)
            for hand in event.hands:
                self._add_cards(hand)
            for piles in event.sides:
                for pile in piles:
                    self._add_cards(pile)
            sides = tuple(tuple(map(len, piles)) for piles in event.sides)
            return ("deal", tuple(map(len, event.hands)), event.payoffs, sides, event.stock)
        if isinstance(event, Out):
            return ("out", event.seat, event.code)
        return ("count" if isinstance(event, Count) else "pass", event.seat)

    def _add_cards(self, cards: Iterable[str]) -> None:
        self._cards += [_CARD[card] for card in cards]


def _derive_action(step: Step) -> str:
    """Return the action that the first event implies; the page derives it in the same way."""
    first = step.events[0] if step.events else None
    match first:
        case CardMoved(seat, source, target, card):
            own = str(seat)
            origin = f"h{card}" if source == f"{own}h" else source.removeprefix(own)
            return f"{origin}-{target.removeprefix(own)}"
        case Out(code=code):
            return f"!{code}"
        case Pass():
            return "pass"
        case Count():
            return "count"
        case _:
            return ""


def _make_row(game: Game, record: Record) -> dict[str, Any]:
    return {
        "number": game.number,
        "key": str(game.key),
        "ruleset": game.ruleset,
        "labels": game.labels,
        "teams": game.teams,
        "places": game.places,
        "scores": game.scores,
        "reason": text.describe_reason(game.reason),
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


def _describe_ruleset(name: str, rules: Parameters) -> dict[str, Any]:
    """Return what the page needs to draw a table of this ruleset."""
    return {
        "page": text.make_slug(name),
        "top": rules.stack_top,
        "hand": rules.hand_size,
        "skipbo": rules.deck_kind == "skipbo",
        "kings": rules.wild_kings,
        "buried": rules.side_visible == "all",
        "counts": rules.payoff_count,
    }
