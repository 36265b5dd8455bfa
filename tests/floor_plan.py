"""The floor plan of the tree: its rooms, what each imports, and so the floor on which it lies.

`python -m tests.floor_plan` writes it into docs/inside.md.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/inside.md"
PICTURE = re.compile(r"(?<=^```text\n)floor  room .*?(?=^```$)", re.MULTILINE | re.DOTALL)
"""The block of the page that holds the plan, found by the head of the plan."""
OURS = ("protocol", "referee", "tournaments", "site_pages", "rl", "bots")
ELSEWHERE = {"site_pages": "site/site_pages", "rl": "malice/rl"}
FOLDERS = {name: ROOT / ELSEWHERE.get(name, name) for name in OURS}
INSIDE = "malice."
"""What every import of ours begins with; rooms are named without it."""
SPLIT = "tournaments"
"""The package whose folders, and modules outside of them, are rooms of their own."""
GAMES = "referee/games"
"""The room of all families of games; each is a folder of its own there."""


def list_modules() -> Iterator[tuple[str, Path]]:
    """Yield every module of ours by its dotted name; an `__init__` keeps its name, for `list_imports`."""
    for package, folder in FOLDERS.items():
        for path in sorted(folder.rglob("*.py")):
            yield ".".join((package, *path.relative_to(folder).with_suffix("").parts)), path


@cache
def list_nodes(source: str) -> tuple[ast.AST, ...]:
    """Every node of a module, parsed once for all tests."""
    return tuple(ast.walk(ast.parse(source)))


def list_imports(module: str, source: str) -> Iterator[str]:
    """Yield every dotted name that may be imported; `from a import b` gives `a` and `a.b`: b may be a module."""
    for node in list_nodes(source):
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix(INSIDE) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: -node.level] if node.level else []
            origin = ".".join([*parents, *([node.module] if node.module else [])])
            yield from (
                name.removeprefix(INSIDE) for name in (origin, *(f"{origin}.{each.name}" for each in node.names))
            )


@cache
def find_family(name: str) -> str:
    """Return the family of games to whose folder a dotted name leads; empty if it leads elsewhere."""
    prefix, _, inside = name.partition(f"{GAMES.replace('/', '.')}.")
    family = inside.partition(".")[0]
    return family if not prefix and (ROOT / GAMES / family / "__init__.py").exists() else ""


@cache
def find_room(name: str) -> str:
    """Return the room of a dotted name: its package, or for the split package what follows it."""
    if find_family(name):
        return GAMES
    package, *inside = name.split(".")
    return f"{package}/{inside[0]}" if package == SPLIT and inside and inside[0] != "__init__" else package


def find_arrows() -> dict[str, set[str]]:
    """Return the other rooms that each room imports."""
    modules = dict(list_modules())
    arrows: dict[str, set[str]] = {find_room(module): set() for module in modules}
    for module, path in modules.items():
        imports = {find_room(name) for name in list_imports(module, path.read_text("utf-8"))}
        arrows[find_room(module)] |= imports & arrows.keys() - {find_room(module)}
    # `from malice.tournaments import errors` names the package too, which is empty.
    arrows.pop(SPLIT, None)
    return {room: others - {SPLIT} for room, others in arrows.items()}


def find_floors(arrows: Mapping[str, set[str]]) -> dict[str, int]:
    """Return the floor of each room: 0 if it imports nothing of ours, otherwise one above all that it imports.

    Raises:
        ValueError: some rooms import each other in a circle.
    """
    floors: dict[str, int] = {}
    while rest := set(arrows) - set(floors):
        ready = {room for room in rest if arrows[room] <= set(floors)}
        if not ready:
            raise ValueError(f"a circle of imports runs through {', '.join(sorted(rest))}")
        floors |= {room: max((floors[other] + 1 for other in arrows[room]), default=0) for room in ready}
    return floors


def draw() -> str:
    """Return the plan: a line for each room, the top floor first."""
    arrows = find_arrows()
    floors = find_floors(arrows)
    rooms = sorted(arrows, key=lambda room: (-floors[room], room))
    width = max(map(len, rooms))
    lines = [f"floor  {'room'.ljust(width)}  imports"]
    for room in rooms:
        names = [other.removeprefix(f"{SPLIT}/") for other in rooms if other in arrows[room]]
        lines.append(f"{floors[room]:>5}  {room.ljust(width)}  {', '.join(names) or 'nothing of ours'}")
    return "\n".join(lines) + "\n"


def insert(page: str, picture: str) -> str:
    """Return the page with this picture in place of its own."""
    page, count = PICTURE.subn(lambda _: picture, page)
    assert count == 1, f"expected one floor plan in {PAGE.name}, got: {count}"
    return page


if __name__ == "__main__":
    PAGE.write_text(insert(PAGE.read_text("utf-8"), draw()), "utf-8")
