"""Parameters of bots: the values that bot.toml lists, as texts for a name, for the environment and for a hash."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from urllib.parse import unquote

import msgspec

from malice.referee.errors import DataError
from malice.referee.nouns import format_count

Value = bool | int | float | str
PREFIX = "MALICE_"
"""What stands before the name of a parameter, in capitals, in the environment of its bot."""
MOST_CHARACTERS = 200
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INTEGERS = range(-(2**63), 2**63)
"""What most languages can hold, and TOML."""


class ParameterError(DataError):
    """A bot is given a parameter that it does not have, or a value that does not fit; the bot itself may be fine."""


def require_parameter(name: str, default: Value) -> None:
    """Make sure that bot.toml may list a parameter.

    Raises:
        ValueError: it may not; the message says why.
    """
    if not _NAME.fullmatch(name):
        raise ValueError("expected a name of up to 40 small letters, digits and _ that begins with a letter")
    if isinstance(default, float) and not math.isfinite(default):
        raise ValueError(f"expected a finite number, got {default}")
    if isinstance(default, int) and default not in _INTEGERS:
        raise ValueError(f"expected an integer of 64 bits, got {default}")
    if isinstance(default, str):
        _require_parameter_text(default)


def format_value(value: Value) -> str:
    """Return the one text that stands for a value: `true`, `300`, `0.5`, or a string as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value + 0.0) if isinstance(value, float) else str(value)  # the sum makes -0.0 the same as 0.0


def format_defaults(parameters: Mapping[str, Value]) -> dict[str, str]:
    """Return the text of each default."""
    return {name: format_value(value) for name, value in parameters.items()}


def parse_value(text: str, default: Value) -> str:
    """Return what `format_value` returns for the value that a user wrote, which has the type of the default.

    Raises:
        ValueError: it has not; the message says what was expected.
    """
    if isinstance(default, str):
        _require_parameter_text(text)
        return text
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise ValueError(f"expected true or false, got {text!r}")
        return text
    if isinstance(default, int):
        if not _INTEGER.fullmatch(text) or int(text) not in _INTEGERS:
            raise ValueError(f"expected an integer of 64 bits, got {text!r}")
        return format_value(int(text))
    if not _FLOAT.fullmatch(text) or not math.isfinite(float(text)):
        raise ValueError(f"expected a finite number, got {text!r}")
    return format_value(float(text))


def parse_query(query: str) -> dict[str, str]:
    """Return the values of `weight=300&depth=2` by name; in a value `%26` stands for `&` and `%25` for `%`.

    Raises:
        ValueError: it is no such list.
    """
    given: dict[str, str] = {}
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"expected name=value, got {pair!r}; a & in a value is written %26")
        if name in given:
            raise ValueError(f"{name}: expected one value, got two")
        if re.search("%(?![0-9A-Fa-f]{2})", value):
            raise ValueError(f"{name}: expected two hexadecimal digits after each %, got {value!r}; a % is written %25")
        try:
            given[name] = unquote(value, errors="strict")
        except UnicodeDecodeError:
            raise ValueError(f"{name}: expected UTF-8 after each %, got {value!r}") from None
    return given


def format_query(given: Mapping[str, str]) -> str:
    """Return the values as `parse_query` reads them."""
    return "&".join(f"{name}={value.replace('%', '%25').replace('&', '%26')}" for name, value in given.items())


def hash_variant(content: str, given: Mapping[str, str]) -> str:
    """Return the identity of a bot whose parameters differ from its bot.toml; without such, that of its content.

    Args:
        content: the hash of its files, hex.
        given: the values that differ, by name.
    """
    if not given:
        return content
    return hashlib.sha256(msgspec.json.encode((content, sorted(given.items())))).hexdigest()


def make_environment(parameters: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the variables that tell a bot its parameters."""
    return tuple((PREFIX + name.upper(), value) for name, value in parameters.items())


def _require_parameter_text(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"expected at most {MOST_CHARACTERS} characters, got {format_count(len(text), 'character')}")
    if not text.isprintable():
        raise ValueError(f"expected a text without control characters, got {text!r}")
