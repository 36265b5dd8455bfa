"""Where a line of a bot goes wrong: the span to mark, and words that name its first byte and what should be there."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import msgspec

from malice.protocol.codec import UNREADABLE

_EXPECTED = {
    "Expecting property name enclosed in double quotes": "where a double quote should begin a name",
    "Illegal trailing comma before end of object": "which nothing follows",
    "Illegal trailing comma before end of array": "which nothing follows",
    "Expecting value": "where a value should be",
    "Expecting ',' delimiter": "where a comma or the closing bracket should be",
    "Expecting ':' delimiter": "where a colon should be",
    "Extra data": "after the end of the object",
    "Unterminated string starting at": "which begins a string without an end",
    "Invalid control character at": "a control character in a string",
    "Invalid \\escape: ": "which begins no escape of JSON",
    "Invalid \\escape": "which begins no escape of JSON",
    "Invalid \\uXXXX escape": "which begins no escape of JSON",
}
"""What Python's reader of JSON says, in words that follow a byte."""
_CONSTANT = re.compile(r"\b(?:NaN|Infinity)\b")
"""What Python takes for a number, and JSON does not."""
_ESCAPED = re.compile(r"\\x([89a-f][0-9a-f])")
"""A byte that is not UTF-8, as records hold it."""
LITERAL = len("false")
"""The longest word of JSON, of which a line may hold the beginning."""
_FIELD = r'(?<!\\)"{}"\s*:\s*'


class Flaw(NamedTuple):
    """What is wrong with a line: the characters from `start` to `end`, and why."""

    start: int
    end: int
    words: str
    open: bool = False
    """Whether the line was only not at its end yet: more characters might have mended it."""


def find_broken_json(line: str) -> Flaw | None:
    """Return the first flaw of a line that should be a JSON object; None if it is one.

    Args:
        line: as a record holds it, without the mark of its direction.
    """
    begin = len(line) - len(line.lstrip(" \t\r\n"))
    if line[begin : begin + 1] != "{":
        return _make_flaw(line, begin, "where { should begin an object")
    try:
        msgspec.json.decode(line)
    except UNREADABLE:
        return _find_error(line)
    return None


def find_foreign_byte(line: str) -> Flaw | None:
    """Return the byte of a line that is not UTF-8; None if all are."""
    if (found := _ESCAPED.search(line)) is None:
        return None
    place = len(line[: found.start()].encode("utf-8", "replace")) + 1
    return Flaw(found.start(), found.end(), f"byte {place}: 0x{found[1]}, which is not UTF-8")


def find_field(line: str, name: str, words: str) -> Flaw | None:
    """Return the value of a field as the flaw of an object; None if it has no such field."""
    fields = list(re.finditer(_FIELD.format(re.escape(name)), line))
    if not fields:
        return None
    start = fields[-1].end()
    try:
        _, end = json.JSONDecoder().raw_decode(line, start)
    except ValueError:
        return None
    return Flaw(start, end, f"byte {_count_bytes(line, start)}: {words}")


def read_object(line: str) -> dict[str, Any]:
    """Return a line as an object; an empty one if it is none."""
    try:
        value = msgspec.json.decode(line)
    except UNREADABLE:
        return {}
    return value if isinstance(value, dict) else {}


def _find_error(line: str) -> Flaw | None:
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        flaw = _make_flaw(line, error.pos, _EXPECTED.get(error.msg, error.msg.lower()))
        return flaw._replace(open=error.pos > len(line) - LITERAL or error.msg.startswith("Unterminated"))
    except (RecursionError, ValueError):
        return None
    constant = _CONSTANT.search(line)
    return _make_flaw(line, constant.start(), "which begins no value of JSON") if constant else None


def _make_flaw(line: str, at: int, words: str) -> Flaw:
    if at >= len(line):
        return Flaw(len(line), len(line), f"byte {_count_bytes(line, at)}: the line ends {words}")
    between = " " if words.startswith(("where", "after")) else ", "
    return Flaw(at, at + 1, f"byte {_count_bytes(line, at)}: {name_byte(line[at])}{between}{words}")


def _count_bytes(line: str, at: int) -> int:
    """Return which byte of the line a character begins with, from 1."""
    return len(line[:at].encode("utf-8", "replace")) + 1


def name_byte(char: str) -> str:
    """Return the first byte of a character in hexadecimal, with the character if it can be seen."""
    first = char.encode("utf-8", "replace")[0]
    seen = f" ({char})" if char.isprintable() and char != " " else " (blank)" if char == " " else ""
    return f"{first:#04x}{seen if char.isascii() else f' of U+{ord(char):04X}{seen}'}"
