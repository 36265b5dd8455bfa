"""JSON Schemas of the files that people write by hand, for their editors: made from the structs that read them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, inspect

from malice.referee.families import load_family
from malice.referee.games import DEFAULT_FAMILY
from malice.referee.rulesets import RulesetFile
from malice.referee.schema import read_field_docs
from malice.tournaments.entries.manifests import Manifest
from malice.tournaments.league.config import Config

FILES: dict[str, type[Struct]] = {"tournament": Config, "bot": Manifest, "ruleset": RulesetFile}
"""By the word that names it: what a file may say."""
UNSAID = {"Config": ("positions",)}
"""Fields that no file has."""


def name_schema(file: Path, kind: str) -> None:
    """Write the schema of a file beside it, and name it in the first line, where editors look for it."""
    schema = file.with_name(f"{kind}.schema.json")
    schema.write_text(format_schema(make_file_schema(kind, DEFAULT_FAMILY)), "utf-8")
    file.write_text(f"#:schema ./{schema.name}\n{file.read_text('utf-8')}", "utf-8")


def format_schema(schema: dict[str, Any]) -> str:
    """Write a schema as people read it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def make_file_schema(kind: str, family: str) -> dict[str, Any]:
    """Make the schema of a kind of file; hover texts are the docstrings of the fields.

    Args:
        kind: one of `FILES`.
        family: the game whose parameters a ruleset has.

    Raises:
        FamilyError: there is no such game.
    """
    root = FILES[kind]
    roots = [root]
    if kind == "ruleset":
        roots.append(load_family(family).parameters)
    tops, parts = msgspec.json.schema_components(roots, ref_template="#/$defs/{name}")
    for struct in {each for root in roots for each in _list_structs(inspect.type_info(root))}:
        _describe(parts[struct.__name__], struct)
    if kind == "ruleset":
        parameters = parts[roots[1].__name__]
        parameters["required"] = []  # the others are those of the ruleset that it extends
        parts[root.__name__]["properties"]["rules"] = {"$ref": f"#/$defs/{roots[1].__name__}"}
    title = f"{kind}.toml" if kind != "ruleset" else f"a ruleset of {family}"
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": f"malice: {title}"}
    _write_tuples([tops[0], parts])
    while unused := [name for name in parts if f"/{name}" not in "".join(_list_references([tops[0], parts]))]:
        for name in unused:
            del parts[name]
    return head | tops[0] | {"$defs": parts}


def _write_tuples(schema: object) -> None:
    """Write what items a tuple has as draft 7 does, which editors know."""
    if isinstance(schema, dict) and "prefixItems" in schema:
        schema |= {"items": schema.pop("prefixItems"), "additionalItems": False}
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _write_tuples(each)


def _list_references(schema: object) -> Iterator[str]:
    """Yield every reference in a schema."""
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    if isinstance(schema, dict) and "$ref" in schema:
        yield str(schema["$ref"])
    for each in inner:
        yield from _list_references(each)


def _describe(part: dict[str, Any], struct: type[Struct]) -> None:
    """Add the docstrings of the fields, also of those that are inherited, and take out what no file has."""
    properties = part.get("properties", {})
    for field in UNSAID.get(struct.__name__, ()):
        properties.pop(field, None)
    for base in reversed(struct.__mro__[:-2]):
        docs = read_field_docs(sys.modules[base.__module__])
        for field, name in zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True):
            if (text := docs.get((base.__name__, field))) and name in properties:
                properties[name] = {"description": text} | properties[name]


def _list_structs(kind: object) -> Iterator[type[Struct]]:
    """Yield every struct that a type leads to."""
    if isinstance(kind, inspect.StructType):
        yield kind.cls
        for field in kind.fields:
            yield from _list_structs(field.type)
    elif isinstance(kind, inspect.Type):
        for name in kind.__struct_fields__:
            value = getattr(kind, name)
            for inner in value if isinstance(value, tuple) else (value,):
                yield from _list_structs(inner)
