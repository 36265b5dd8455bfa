"""JSON Schema of every line, made from the structs: `python -m protocol.schema > protocol/schema.json`."""

from __future__ import annotations

import ast
import inspect
import json
import sys
from typing import Any

import msgspec

from protocol import PROTOCOL, messages
from protocol.messages import BareAnswer, Event, HelloAnswer, MoveAnswer, Request, View

LINES: dict[str, Any] = {
    "Request": Request,
    "HelloAnswer": HelloAnswer,
    "BareAnswer": BareAnswer,
    "MoveAnswer": MoveAnswer,
}
"""What a line can be; all else is a part of these."""

ROOTS: dict[str, Any] = LINES | {"View": View, "Event": Event}
"""What has a name of its own in the schema and is made first."""


def schema() -> dict[str, Any]:
    """Return the schema of protocol version 1: any line of either side fits it, unknown fields are allowed."""
    tops, parts = msgspec.json.schema_components(ROOTS.values(), ref_template="#/$defs/{name}")
    docs = _field_docs()
    for name, part in parts.items():
        # A typo in a file written by hand is an error; in a message, an unknown field is a newer version.
        part.pop("additionalProperties", None)
        for field, of in part.get("properties", {}).items():
            if said := docs.get((name, field)):
                part["properties"][field] = {"description": said, **of}
    parts["Move"]["properties"]["events"]["items"] = {"$ref": "#/$defs/Event"}
    unions = {name: top for name, top in zip(ROOTS, tops, strict=True) if name not in parts}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"malice protocol {PROTOCOL}",
        "description": "Any line. To check one of the referee, take Request; for an answer, the struct of that answer.",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in LINES],
        "$defs": unions | parts,
    }


def _field_docs() -> dict[tuple[str, str], str]:
    """Return the strings that stand under the fields of the structs, by struct and name on the wire."""
    found = {}
    for struct in ast.parse(inspect.getsource(messages)).body:
        if not isinstance(struct, ast.ClassDef):
            continue
        wire = _wire_names(getattr(messages, struct.name))
        for field, below in zip(struct.body, struct.body[1:], strict=False):
            match field, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str() as text)),
                ):
                    found[struct.name, wire[name]] = inspect.cleandoc(text)
    return found


def _wire_names(struct: type[msgspec.Struct]) -> dict[str, str]:
    return dict(zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True))


def schema_text() -> str:
    """Return the schema as it stands in `schema.json`."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
