"""Rewrites a request: as a later referee may send it, or in JSON that is valid but unusual."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec

from malice.protocol import LINE_BYTES

HIGHEST = 2**53 - 1
"""The highest integer of the protocol; every language can represent it."""

LATER: dict[str, Any] = {"later": {"a": [1, 2.5, None, True, {"b": "c"}], "text": 'šŷ 😀 \\ " /', "": []}}
"""A field that no bot knows."""
LATER_EVENT: dict[str, Any] = {"type": "weather", "seat": 0, "from": "sky", "cards": [], "sky": ["blue", "grey"]}
"""An event that no bot knows."""
LATER_TYPES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("forecast", {}),
    ("chat", {"seat": 0, "text": "your move", "legal": []}),
    ("adjourn", {"view": None, "until": {"minutes": 90}}),
)
"""Types of requests that no bot knows, with their fields."""

ODD_FIELDS: tuple[dict[str, Any], ...] = (
    {"zz": 12345678901234567890123456789},
    {"zz": -1e308, "zy": 5e-324, "zx": -0.0},
    {"zz": 9007199254740993, "zy": -9223372036854775808},
    {"zz": [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]},
    {"": "", " ": None, "zz zz": {"id": 0, "type": "bye", "legal": ["all"]}},
    {"zz": '}]",\\\\" {"id":0}\u0001\u007f\u2028 é😀 \u200f'},
    {"zz": "x" * 3000},
)
"""Fields that no bot knows; all valid, and hard to skip for a hand-written parser."""


def add_unknown(line: bytes) -> bytes:
    """Return a request with an unknown field in every object, and an unknown event."""
    request = _add_fields(msgspec.json.decode(line))
    if "events" in request:
        request["events"] = [*request["events"], LATER_EVENT]
    return msgspec.json.encode(request) + b"\n"


def _add_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _add_fields(inner) for key, inner in value.items()} | LATER
    if isinstance(value, list):
        return [_add_fields(inner) for inner in value]
    return value


def make_odd_writer(number: int) -> Callable[[bytes], bytes]:
    """Return a function that rewrites a request in an odd way; each number always gives the same way."""

    def dress(line: bytes) -> bytes:
        random = Random(number)
        request: dict[str, Any] = msgspec.json.decode(line)
        if number % 3 == 0:
            request |= ODD_FIELDS[number // 3 % len(ODD_FIELDS)]
        escapes = random.choice((0.0, 0.0, 0.05, 1.0))
        for share in (escapes, 0.0):
            rewritten = _Writer(random, share).write(request).encode() + b"\n"
            if len(rewritten) <= LINE_BYTES:
                return rewritten
        return line

    return dress


class _Writer:
    """Writes JSON in one of many ways.

    Args:
        random: chooses the way.
        escapes: the share of characters to write as escapes.
    """

    def __init__(self, random: Random, escapes: float) -> None:
        self._random = random
        self._escapes = escapes
        self._space = random.choice(("", "", " ", "\t", "  \t "))
        self._order = random.choice(("as is", "reversed", "sorted", "mixed"))
        self._upper = random.random() < 0.5
        self._write_integer = random.choice((str, str, self._with_fraction, self._with_exponent, self._mixed))

    def write(self, value: Any) -> str:
        """Return the value as JSON."""
        space = self._space
        if isinstance(value, dict):
            inner = f"{space},{space}".join(
                f"{self._write_string(key)}{space}:{space}{self.write(value[key])}"
                for key in self._order_keys(list(value))
            )
            return f"{{{space}{inner}{space}}}"
        if isinstance(value, list):
            return f"[{space}{f'{space},{space}'.join(map(self.write, value))}{space}]"
        if isinstance(value, str):
            return self._write_string(value)
        if isinstance(value, float):
            return self._write_float(value)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= HIGHEST:
            return self._write_integer(value)
        return json.dumps(value)

    def _order_keys(self, keys: list[str]) -> list[str]:
        if self._order == "reversed":
            return keys[::-1]
        if self._order == "sorted":
            return sorted(keys)
        if self._order == "mixed":
            self._random.shuffle(keys)
        return keys

    def _write_string(self, text: str) -> str:
        return '"' + "".join(map(self._write_character, text)) + '"'

    def _write_character(self, character: str) -> str:
        if not (character in '"\\' or character < " " or self._random.random() < self._escapes):
            return character
        if character == "/" and self._random.random() < 0.5:
            return "\\/"
        return self._escape(character)

    def _escape(self, character: str) -> str:
        digits = character.encode("utf-16-be").hex()
        units = (digits[i : i + 4] for i in range(0, len(digits), 4))
        return "".join("\\u" + (unit.upper() if self._upper else unit) for unit in units)

    def _write_float(self, value: float) -> str:
        if self._random.random() < 0.5 and abs(value) < 1e15:
            mantissa, _, exponent = f"{value:.17e}".partition("e")
            return f"{mantissa}{'E' if self._upper else 'e'}{int(exponent):+03d}"
        return repr(value)

    def _with_fraction(self, value: int) -> str:
        return f"{value}.0"

    def _with_exponent(self, value: int) -> str:
        digits = str(value).rstrip("0") or "0"
        zeros = len(str(value)) - len(digits) if value else 0
        return f"{digits}{'E' if self._upper else 'e'}{zeros}"

    def _mixed(self, value: int) -> str:
        write: Callable[[int], str] = self._random.choice((str, self._with_fraction, self._with_exponent))
        return write(value)
