"""The JSON Schema of every line, made from the structs: `python -m protocol.schema > protocol/schema.json`."""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec

from protocol import PROTOCOL, messages
from protocol.field_docs import read_field_docs
from protocol.messages import BareAnswer, HelloAnswer, MoveAnswer, Request
from referee.games.spite.messages import Event, View

LINES: dict[str, Any] = {
    "Request": Request,
    "HelloAnswer": HelloAnswer,
    "BareAnswer": BareAnswer,
    "MoveAnswer": MoveAnswer,
}
"""The kinds of line; every other struct is a part of a line."""

ROOTS: dict[str, Any] = LINES | {"View": View, "Event": Event}
"""The types with a name of their own in the schema."""


def schema() -> dict[str, Any]:
    """Return the schema of protocol version 1: every line of either side fits it; unknown fields are allowed."""
    tops, parts = msgspec.json.schema_components(ROOTS.values(), ref_template="#/$defs/{name}")
    docs = _describe_fields()
    for name, part in parts.items():
        # In a file written by hand an unknown field is a typo; in a message it comes from a newer version.
        part.pop("additionalProperties", None)
        for field, of in part.get("properties", {}).items():
            if text := docs.get((name, field)):
                part["properties"][field] = {"description": text, **of}
    parts["Move"]["properties"]["events"]["items"] = {"$ref": "#/$defs/Event"}
    unions = {name: top for name, top in zip(ROOTS, tops, strict=True) if name not in parts}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"malice protocol {PROTOCOL}",
        "description": "Any line. Check lines of the referee against Request, and each answer against its own struct.",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in LINES],
        "$defs": unions | parts,
    }


def _describe_fields() -> dict[tuple[str, str], str]:
    """Return the docstrings of the messages' fields, by struct and name on the wire."""
    return {
        (struct, _wire_name(getattr(messages, struct), field)): text
        for (struct, field), text in read_field_docs(messages).items()
    }


def _wire_name(struct: type[msgspec.Struct], field: str) -> str:
    return struct.__struct_encode_fields__[struct.__struct_fields__.index(field)]


def schema_text() -> str:
    """Return the content of `schema.json`."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
