"""protocol/schema.json: made from the structs, and true of every line of the golden transcripts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from malice.referee.families import load_family
from malice.referee.schema import LINES, format_schema, make_schema

FOLDER = Path(__file__).parents[1] / "protocol"
SCHEMA: dict[str, Any] = json.loads((FOLDER / "schema.json").read_text("utf-8"))
ANSWERS = {"hello": "HelloAnswer", "game_start": "BareAnswer", "game_end": "BareAnswer", "move": "MoveAnswer"}
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
CHECKED = {"type", "enum", "anyOf", "$ref", "properties", "required", "items", "prefixItems", "minItems", "maxItems"}
CHECKED |= {"maxLength"}
SAID = {"title", "description", "default", "discriminator", "$schema", "$defs"}


def faults(value: Any, rule: dict[str, Any] | bool, place: str = "$") -> Iterator[str]:
    """Tell where `value` does not fit; knows as much of JSON Schema as ours uses."""
    if isinstance(rule, bool):
        if not rule:
            yield f"{place} must not be there"
        return
    assert rule.keys() <= CHECKED | SAID, rule.keys()
    if "$ref" in rule:
        yield from faults(value, SCHEMA["$defs"][rule["$ref"].removeprefix("#/$defs/")], place)
    if "anyOf" in rule and all([*faults(value, option, place)] for option in rule["anyOf"]):
        yield f"{place} fits no option"
    if "enum" in rule and value not in rule["enum"]:
        yield f"{place} is none of {rule['enum']}"
    if "type" in rule and (
        isinstance(value, bool) > (rule["type"] == "boolean") or not isinstance(value, TYPES[rule["type"]])
    ):
        yield f"{place} is no {rule['type']}"
    if isinstance(value, str) and len(value) > rule.get("maxLength", len(value)):
        yield f"{place} is too long"
    if isinstance(value, dict):
        yield from (f"{place}.{name} is missing" for name in rule.get("required", ()) if name not in value)
        for name, of in rule.get("properties", {}).items():
            if name in value:
                yield from faults(value[name], of, f"{place}.{name}")
    if isinstance(value, list):
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            yield f"{place} has {len(value)} items"
        firsts = rule.get("prefixItems", [])
        for index, item in enumerate(value):
            of = firsts[index] if index < len(firsts) else rule.get("items", True)
            yield from faults(item, of, f"{place}[{index}]")


def fits(value: Any, name: str) -> list[str]:
    """Return what is wrong with `value` as a `name`."""
    return list(faults(value, {"$ref": f"#/$defs/{name}"}))


def spoken() -> Iterator[tuple[str, Any]]:
    """Every message of the transcripts without a verdict, with the name of its schema."""
    for path in sorted((FOLDER / "transcripts").glob("*.jsonl")):
        entries = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        if any(entry["dir"] == "!" for entry in entries):
            continue
        asked = ""
        for entry in entries:
            if "line" in entry:
                yield ("Request" if entry["dir"] == ">" else ANSWERS[asked]), entry["line"]
                asked = entry["line"].get("type", asked)


def test_the_schema_on_the_disk_is_made_from_the_structs() -> None:
    assert (FOLDER / "schema.json").read_text("utf-8") == format_schema(load_family("spite")), (
        "python -m malice.referee.schema spite > protocol/schema.json"
    )


def test_every_line_of_the_transcripts_fits_the_schema() -> None:
    assert [fault for name, line in spoken() for fault in fits(line, name)] == []
    assert {name for name, _ in spoken()} == set(LINES)
    assert {line.get("type") for _, line in spoken()} >= {"hello", "game_start", "move", "game_end", "bye"}


def test_unknown_fields_fit_everywhere() -> None:
    parts = make_schema(load_family("spite"))["$defs"].values()

    assert not [part for part in parts if part.get("additionalProperties", True) is not True]
    for name, line in spoken():
        assert fits(line | {"later": 1}, name) == []


@pytest.mark.parametrize(
    ("line", "name", "fault"),
    [
        ({"move": "p-c0"}, "MoveAnswer", "$.id is missing"),
        ({"id": "3", "move": "p-c0"}, "MoveAnswer", "$.id is no integer"),
        ({"id": True}, "BareAnswer", "$.id is no integer"),
        ({"id": 3}, "MoveAnswer", "$.move is missing"),
        ({"id": 3, "move": 1}, "MoveAnswer", "$.move is no string"),
        ({"id": 1, "name": "x" * 101}, "HelloAnswer", "$.name fits no option"),
        ({"id": 1, "legal": 0}, "HelloAnswer", "$.legal is no boolean"),
        ({"type": "turn"}, "Event", "$ fits no option"),
        ({"type": "chat", "id": 1}, "Request", "$ fits no option"),
    ],
)
def test_a_broken_line_does_not_fit(line: dict[str, Any], name: str, fault: str) -> None:
    assert fits(line, name) == [fault]


def test_every_struct_and_field_is_described() -> None:
    parts = {name: part for name, part in SCHEMA["$defs"].items() if "properties" in part}
    plain = {"type", "id", "seat", "side", "seats", "view", "clock", "team", "payoff", "card", "limits"}

    assert [name for name, part in parts.items() if "description" not in part] == []
    assert [
        f"{name}.{field}"
        for name, part in parts.items()
        for field, rule in part["properties"].items()
        if "description" not in rule and field not in plain
    ] == []
