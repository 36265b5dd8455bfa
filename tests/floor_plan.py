"""The import picture of the tree: its rooms, the floor of each, and what each imports.

Written into docs/inside.md by `python -m tests.floor_plan`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/inside.md"
BEGIN, END = "<!-- floor plan -->\n```text\n", "```\n<!-- end of floor plan -->"
OURS = {"protocol": "protocol", "referee": "referee", "tournaments": "tournaments", "site_pages": "site/site_pages"}
"""Packages, by where they lie."""
SPLIT = ("tournaments",)
"""Packages whose folders are rooms of their own."""


def list_modules() -> Iterator[tuple[str, Path]]:
    """Yield every module of ours, by its dotted name; an `__init__` keeps its name."""
    for package, folder in OURS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield ".".join((package, *path.relative_to(ROOT / folder).with_suffix("").parts)), path


def list_imports(module: str, source: str) -> Iterator[str]:
    """Yield every dotted name that may be imported; `from a import b` gives `a` and `a.b`: b may be a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: -node.level] if node.level else []
            origin = ".".join([*parents, *([node.module] if node.module else [])])
            yield origin
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def find_room(module: str) -> str:
    """Return the room of a module: its package, or in a split one its folder, `cli` and `errors` for themselves."""
    package, *inside = module.split(".")
    if package not in SPLIT or not inside or inside[0] == "__init__":
        return package
    if len(inside) > 1:
        return f"{package}/{inside[0]}"
    return f"{package}/{inside[0]}" if package == "tournaments" else package


def measure_rooms() -> tuple[dict[str, int], dict[str, set[str]]]:
    """Return the lines of each room, and the rooms that it imports."""
    modules = dict(list_modules())
    lines: dict[str, int] = {}
    arrows: dict[str, set[str]] = {}
    for module, path in modules.items():
        source = path.read_text("utf-8")
        if module == "tournaments.__init__":
            continue
        room = find_room(module)
        lines[room] = lines.get(room, 0) + source.count("\n")
        targets = {name for name in list_imports(module, source) if name in modules or f"{name}.__init__" in modules}
        # A package named as the origin of one of its modules is not a room of its own.
        targets -= {name for name in targets if name in SPLIT}
        arrows.setdefault(room, set()).update(find_room(name) for name in targets)
    return lines, {room: others - {room} for room, others in arrows.items()}


def find_floors(arrows: dict[str, set[str]]) -> dict[str, int]:
    """Return the floor of each room: 0 imports nothing of ours, every other one is above all that it imports.

    Raises:
        ValueError: rooms import each other in a circle.
    """
    floors: dict[str, int] = {}
    while left := set(arrows) - set(floors):
        ready = {room for room in left if arrows[room] <= set(floors)}
        if not ready:
            raise ValueError(f"these rooms import each other in a circle: {', '.join(sorted(left))}")
        floors |= {room: max((floors[other] + 1 for other in arrows[room]), default=0) for room in ready}
    return floors


def draw() -> str:
    """Return the picture: a line for each room, from the top floor down."""
    lines, arrows = measure_rooms()
    floors = find_floors(arrows)
    rooms = sorted(arrows, key=lambda room: (-floors[room], room))
    width = max(map(len, rooms))
    rows = ["floor  room".ljust(width + 9) + "lines  imports"]
    for room in rooms:
        below = ", ".join(sorted(arrows[room], key=lambda other: (-floors[other], other))) or "nothing of ours"
        size = round(lines[room], -2) or 100
        rows.append(f"{floors[room]:>5}  {room.ljust(width)}  {size:>5}  {below}")
    return "\n".join(rows) + "\n"


def insert(page: str, picture: str) -> str:
    """Return the page with the picture between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + picture + END + after


if __name__ == "__main__":
    PAGE.write_text(insert(PAGE.read_text("utf-8"), draw()), "utf-8")
