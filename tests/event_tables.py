"""The tables of docs/events.md, made from the structs; `python -m tests.event_tables` writes them into the page."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from malice.referee.schema import read_field_docs
from malice.tournaments.running import events, result_events

PAGE = Path(__file__).parents[1] / "docs/events.md"
EVENTS: tuple[type[msgspec.Struct], ...] = get_args(result_events.AnyEvent)
TABLES = re.compile(r"(?<=^## Every event\n)(.*)\Z", re.DOTALL | re.MULTILINE)
EVERYWHERE = ("at",)
"""Fields of every event, which the page explains once."""
ELSEWHERE = {"Comparison": "object", "Standings": "array of objects"}
"""What other pages explain."""


def draw() -> str:
    """Return the section of each event: what it says, and its fields."""
    return "".join(_draw_event(event) for event in EVENTS)


def insert(page: str, tables: str) -> str:
    """Return the page with these tables in place of its own."""
    page, count = TABLES.subn(lambda _: tables, page)
    assert count == 1, f"expected one place for tables in {PAGE.name}, got: {count}"
    return page


def _draw_event(event: type[msgspec.Struct]) -> str:
    says = " ".join((event.__doc__ or "").split())
    rows = [f"| `{name}` | {kind} | {meaning} |\n" for name, kind, meaning in _list_fields(event)]
    head = "| Field | Type | Meaning |\n| --- | --- | --- |\n"
    return f"\n### {event.__struct_config__.tag}\n\n{says}\n\n{head}{''.join(rows)}"


def _list_fields(event: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    docs = read_field_docs(events) | read_field_docs(result_events)
    hints = get_type_hints(event)
    for name in event.__struct_fields__:
        if name in EVERYWHERE:
            continue
        yield prefix + name, _name_type(hints[name]), docs[event.__name__, name]
        for inner in get_args(hints[name]):
            if inner is events.EventTable:
                yield from _list_fields(inner, f"{prefix}{name}[].")


def _name_type(hint: Any) -> str:
    """Return the name of a type as people know it from JSON."""
    options = get_args(hint)
    if get_origin(hint) is Literal:
        return "string"
    if isinstance(hint, types.UnionType) or type(None) in options:
        (one,) = (option for option in options if option not in (type(None), msgspec.UnsetType))
        return f"{_name_type(one)} or null" if type(None) in options else _name_type(one)
    if get_origin(hint) is tuple:
        return ELSEWHERE.get(options[0].__name__) or f"array of {_name_type(options[0])}s"
    return (
        ELSEWHERE.get(hint.__name__)
        or {
            str: "string",
            int: "integer",
            float: "number",
            bool: "boolean",
            events.EventTable: "object",
        }[hint]
    )


if __name__ == "__main__":
    PAGE.write_text(insert(PAGE.read_text("utf-8"), draw()), "utf-8")
