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

from referee.errors import DataError

T = TypeVar("T")

MOST_BYTES = 1024 * 1024
"""More than anybody writes by hand, and few enough to read at once."""


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of the TOML file at `path`.

    Raises:
        DataError: the file cannot be read, is too large, is not TOML, or has a NUL in a text.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise DataError(f"{path}: expected at most {MOST_BYTES} bytes of TOML, got more")
        data = tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected UTF-8 text, got byte {error.object[error.start]:#04x}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"{path}: not TOML: {error}") from None
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    for place, text in _list_texts(data):
        if "\0" in text:
            raise DataError(f"{path}: {place}: expected text without NUL, got {text!r}")
    return data


def _list_texts(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a value with its place, such as `run[1]`."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _list_texts(inner, f"{place}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _list_texts(inner, f"{place}[{number}]")


def convert(data: object, type: type[T], where: str) -> T:
    """Return `data` as a `type`.

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
        raise DataError(f"{where}: {_explain(str(error), type)}") from None


def suggest_name(name: str, known: Iterable[str], most: int = 1) -> str:
    """Return " (did you mean 'x' or 'y'?)" for at most `most` known names, the nearest first, or nothing."""
    near = difflib.get_close_matches(name, known, n=most)
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""


def _explain(message: str, root: Any) -> str:
    text, _, path = message.partition(" - at `$")
    path = path.rstrip("`").lstrip(".")
    place = f"{path}: " if path else ""
    unknown = re.search(r"unknown field `(.*)`$", text)
    kind = _find_type(root, path)
    if unknown:
        fields = [field.encode_name for field in msgspec.structs.fields(kind)]
        name = unknown[1]
        return f"{place}unknown field {name!r}{suggest_name(name, fields)}; fields here: {', '.join(fields)}"
    if get_origin(kind) is Literal:
        options = ", ".join(repr(option) for option in get_args(kind))
        return f"{place}{text[:1].lower()}{text[1:]}; expected one of {options}"
    return f"{place}{text[:1].lower()}{text[1:]}"


def _find_type(root: Any, path: str) -> Any:
    """Return the type at a path as msgspec writes it, such as `entries[...].clock`."""
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
