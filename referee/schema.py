"""The JSON Schema of every line of the games of a family: `python -m referee.schema FAMILY` prints it."""

from __future__ import annotations

import ast
import inspect
import json
import sys
from types import ModuleType
from typing import Any

import msgspec

from malice.protocol import PROTOCOL, messages
from malice.protocol.messages import BareAnswer, HelloAnswer, MoveAnswer, Out, Request
from malice.referee.families import Family, load_family
from malice.referee.games import DEFAULT_FAMILY


def read_field_docs(module: ModuleType) -> dict[tuple[str, str], str]:
    """Read the docstring under each annotated field in `module`, on one line, by class and field.

    Empty where the source text of the program is unavailable.
    """
    try:
        tree = ast.parse(inspect.getsource(module))
    except OSError:
        return {}
    docs = {}
    for owner in tree.body:
        if not isinstance(owner, ast.ClassDef):
            continue
        for field, below in zip(owner.body, owner.body[1:], strict=False):
            match field, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str() as text)),
                ):
                    docs[owner.name, name] = " ".join(text.split())
    return docs


LINES: dict[str, Any] = {
    "Request": Request,
    "HelloAnswer": HelloAnswer,
    "BareAnswer": BareAnswer,
    "MoveAnswer": MoveAnswer,
}
"""The kinds of line; every other struct is a part of a line."""


def make_schema(family: Family) -> dict[str, Any]:
    """The schema of protocol version 1 for one family: every line of either side fits it.

    Unknown fields are allowed, since a newer version may send them.
    """
    roots = LINES | {"View": family.view, "Event": family.event | Out}
    tops, parts = msgspec.json.schema_components(roots.values(), ref_template="#/$defs/{name}")
    docs = _describe_fields(family)
    for name, part in parts.items():
        # In a file written by hand an unknown field is a typo; in a message it comes from a newer version.
        part.pop("additionalProperties", None)
        for field, of in part.get("properties", {}).items():
            if text := docs.get((name, field)):
                part["properties"][field] = {"description": text, **of}
    move = parts["Move"]["properties"]
    move["view"]["$ref"] = f"#/$defs/{family.view.__name__}"
    move["events"]["items"] = {"$ref": "#/$defs/Event"}
    unions = {name: top for name, top in zip(roots, tops, strict=True) if name not in parts}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"malice protocol {PROTOCOL}, {family.name}",
        "description": "Any line. Check lines of the referee against Request, and each answer against its own struct.",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in LINES],
        "$defs": unions | parts,
    }


def _describe_fields(family: Family) -> dict[tuple[str, str], str]:
    """The docstrings of the messages' fields, by struct and name on the wire."""
    return {
        (struct, _wire_name(getattr(module, struct), field)): text
        for module in (messages, sys.modules[family.view.__module__])
        for (struct, field), text in read_field_docs(module).items()
        if issubclass(getattr(module, struct), msgspec.Struct)
    }


def _wire_name(struct: type[msgspec.Struct], field: str) -> str:
    return struct.__struct_encode_fields__[struct.__struct_fields__.index(field)]


def format_schema(family: Family) -> str:
    return json.dumps(make_schema(family), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(format_schema(load_family(sys.argv[1] if len(sys.argv) > 1 else DEFAULT_FAMILY)))
