"""Reads handwritten TOML into frozen structs; errors name the place and the valid names there."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from malice.referee.errors import DataError

T = TypeVar("T")

MOST_BYTES = 1024 * 1024
"""More than anybody writes by hand, and few enough to read at once."""
MOST_LEVELS = 32
"""How many parts a dotted key may have: reading one takes time that grows with their square."""
_INTEGERS = range(-(2**63), 2**63)
_DEEP_KEY = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MOST_LEVELS}}}""", re.ASCII
)


def read_toml(path: Path, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Read a TOML file that strangers may have written.

    Raises:
        DataError: the file cannot be read, is too large, is not TOML, has too many levels, a NUL in a text, or an
            integer of more than 64 bits.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
        if len(content) > most_bytes:
            raise DataError(where=path, expected=f"at most {most_bytes} bytes of TOML", got="more")
        text = content.decode("utf-8")
        if _DEEP_KEY.search(text):
            raise DataError(where=path, expected=f"keys of at most {MOST_LEVELS} parts", got="more")
        data = tomllib.loads(text)
    except OSError as error:
        raise DataError(error.strerror or str(error), where=path) from None
    except UnicodeDecodeError as error:
        raise DataError(where=path, expected="UTF-8 text", got=f"byte {error.object[error.start]:#04x}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"not TOML: {error}", where=path) from None
    except ValueError as error:
        raise DataError(str(error), where=path) from None
    for place, value in _list_values(data):
        if isinstance(value, str) and "\0" in value:
            raise DataError(where=f"{path}: {place}", expected="text without NUL", got=repr(value))
        if isinstance(value, int) and value not in _INTEGERS:
            raise DataError(
                where=f"{path}: {place}", expected="an integer of 64 bits", got=f"one of {value.bit_length():,}"
            )
    return data


def _list_values(value: object, place: str = "") -> Iterator[tuple[str, object]]:
    """Yield everything in a value that is no table or array with its place, such as `run[1]`."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _list_values(inner, f"{place}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _list_values(inner, f"{place}[{number}]")
    else:
        yield place, value


def convert(data: object, type: type[T], where: str) -> T:
    """Convert `data` to a `type`.

    Args:
        data: the result of `read_toml`, or a part of it.
        type: a struct that forbids unknown fields.
        where: the file's name, for the message.

    Raises:
        DataError: it is not one; the message names the place and lists the valid names there.
    """
    try:
        return msgspec.convert(data, type)
    except msgspec.ValidationError as error:
        raise _explain(str(error), type, where) from None


def suggest_name(name: str, known: Iterable[str], most: int = 1) -> str:
    """The hint " (did you mean 'x' or 'y'?)" for at most `most` known names, the nearest first; else empty."""
    near = difflib.get_close_matches(name, known, n=most)
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""


def _explain(message: str, root: Any, where: str) -> DataError:
    """What msgspec says of data, as our error."""
    text, _, path = message.partition(" - at `$")
    path = path.rstrip("`").lstrip(".")
    place = ": ".join(filter(None, (where, path)))
    kind = _find_type(root, path)
    if unknown := re.search(r"unknown field `(.*)`$", text):
        fields = [field.encode_name for field in msgspec.structs.fields(kind)]
        name = unknown[1]
        sentence = f"unknown field {name!r}{suggest_name(name, fields)}"
        return DataError(sentence, where=place, got=name, hint=f"fields here: {', '.join(fields)}")
    if get_origin(kind) is Literal:
        options = ", ".join(repr(option) for option in get_args(kind))
        return DataError(f"{text[:1].lower()}{text[1:]}", where=place, expected=f"one of {options}")
    if told := re.fullmatch("Expected (.+?)(?:, got (.+))?", text):
        return DataError(where=place, expected=told[1], got=told[2])
    return DataError(f"{text[:1].lower()}{text[1:]}", where=place)


def _find_type(root: Any, path: str) -> Any:
    """The type at a path as msgspec writes it, such as `entries[...].clock`."""
    here = root
    for step in re.findall(r"[^.\[\]]+|\[[^\]]*\]", path):
        here = _remove_none(here)
        if step.startswith("["):
            here = (get_args(here) or (Any,))[-1 if get_origin(here) is dict else 0]
        else:
            here = get_type_hints(here).get(step, Any) if isinstance(here, type) else Any
    return _remove_none(here)


def _remove_none(kind: Any) -> Any:
    if get_origin(kind) in (Union, UnionType):
        rest = [option for option in get_args(kind) if option is not type(None)]
        structs = [option for option in rest if isinstance(option, type) and issubclass(option, msgspec.Struct)]
        literals = [option for option in rest if get_origin(option) is Literal]
        return (structs or literals or rest)[0]
    return kind
