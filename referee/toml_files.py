"""Files that people write by hand: TOML to frozen structs, with errors that name the place and what exists there."""

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
"""More than anybody writes by hand, and little enough to be read whole."""


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of the TOML file at `path`.

    Raises:
        DataError: the file cannot be read, is too large, is no TOML, or has a NUL in some text.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise DataError(f"{path}: expected at most {MOST_BYTES} bytes of TOML, got more")
        data = tomllib.loads(text.decode("utf-8"))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: expected UTF-8 text, got byte {error.object[error.start]:#04x}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"{path}: no TOML: {error}") from None
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    for place, found in _texts(data):
        if "\0" in found:
            raise DataError(f"{path}: {place}: expected text without NUL, got {found!r}")
    return data


def _texts(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    """List every text in it with its place, such as `run[1]`."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{place}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{place}[{number}]")


def convert(data: object, type: type[T], where: str) -> T:
    """Return `data` as a `type`.

    Args:
        data: what `read_toml` gave, or a part of it.
        type: a struct that forbids unknown fields.
        where: the file's name, for the message.

    Raises:
        DataError: it does not fit; the message names the place and lists what may stand there.
    """
    try:
        return msgspec.convert(data, type)
    except msgspec.ValidationError as error:
        raise DataError(f"{where}: {_explain(str(error), type)}") from None


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean 'x'?)" for the nearest known name, or nothing."""
    near = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _explain(message: str, root: Any) -> str:
    text, _, path = message.partition(" - at `$")
    path = path.rstrip("`").lstrip(".")
    place = f"{path}: " if path else ""
    unknown = re.search(r"unknown field `(.*)`$", text)
    found = _type_at(root, path)
    if unknown:
        fields = [field.encode_name for field in msgspec.structs.fields(found)]
        name = unknown[1]
        return f"{place}unknown field {name!r}{suggest_name(name, fields)}; fields here: {', '.join(fields)}"
    if get_origin(found) is Literal:
        options = ", ".join(repr(option) for option in get_args(found))
        return f"{place}{text[:1].lower()}{text[1:]}; expected one of {options}"
    return f"{place}{text[:1].lower()}{text[1:]}"


def _type_at(root: Any, path: str) -> Any:
    """Follow a path of msgspec's messages, such as `entries[...].clock`, through the types of structs."""
    found = root
    for step in re.findall(r"[^.\[\]]+|\[[^\]]*\]", path):
        found = _without_none(found)
        if step.startswith("["):
            found = (get_args(found) or (Any,))[-1 if get_origin(found) is dict else 0]
        else:
            found = get_type_hints(found).get(step, Any) if isinstance(found, type) else Any
    return _without_none(found)


def _without_none(found: Any) -> Any:
    if get_origin(found) in (Union, UnionType):
        rest = [option for option in get_args(found) if option is not type(None)]
        structs = [option for option in rest if isinstance(option, type) and issubclass(option, msgspec.Struct)]
        literals = [option for option in rest if get_origin(option) is Literal]
        return (structs or literals or rest)[0]
    return found
