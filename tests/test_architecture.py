"""Imports point one way, protocol <- referee <- tournaments <- site_pages, and modules stay small."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("protocol", "referee", "tournaments", "site_pages")
OURS = (*LAYERS, "bots")
FOLDERS = {name: ROOT / ("site/site_pages" if name == "site_pages" else name) for name in OURS}
COMPOSITION_ROOT = "tournaments.cli"
MODULES = sorted(
    # An __init__ keeps its name: relative imports then resolve by one rule.
    (".".join((name, *path.relative_to(folder).with_suffix("").parts)), path)
    for name, folder in FOLDERS.items()
    for path in folder.rglob("*.py")
)


def imports(module: str, source: str) -> Iterator[str]:
    """Every dotted name that may be imported; `from a import b` gives `a` and `a.b`: b may be a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: -node.level] if node.level else []
            origin = ".".join([*parents, *([node.module] if node.module else [])])
            yield origin
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def may_import(module: str, target: str) -> bool:
    here, there = module.partition(".")[0], target.partition(".")[0]
    if there not in OURS:
        return True
    if f"{target}.".startswith(f"{COMPOSITION_ROOT}."):
        return False
    if module == COMPOSITION_ROOT:
        return there in LAYERS
    return here in LAYERS and there in LAYERS and LAYERS.index(there) <= LAYERS.index(here)


def test_every_folder_has_modules_to_read() -> None:
    assert {module.partition(".")[0] for module, _ in MODULES} == set(OURS)


def test_imports_point_one_way() -> None:
    wrong = {
        module: names
        for module, path in MODULES
        if (names := sorted({n for n in imports(module, path.read_text("utf-8")) if not may_import(module, n)}))
    }

    assert wrong == {}, "each of these modules may not import what stands beside it"


def test_no_module_is_over_400_lines() -> None:
    lines = {module: len(path.read_text("utf-8").splitlines()) for module, path in MODULES}

    assert {module: count for module, count in lines.items() if count > 400} == {}, "look for the seams in these"


def test_site_is_only_a_source_root() -> None:
    assert not (ROOT / "site/__init__.py").exists(), "it would shadow the standard library's site"


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("protocol.lines", "import referee"),
        ("protocol.lines", "def later():\n    from tournaments import store"),
        ("referee.game", "from tournaments.league.store import Store"),
        ("referee.game", "import bots"),
        ("tournaments.running.run", "import site_pages.render as render"),
        ("tournaments.running.run", "from . import cli"),
        ("tournaments.running.run", "from .cli import main"),
        ("tournaments.__init__", "from .cli import main"),
        ("tournaments.reports.table", "from .. import cli"),
        ("site_pages.render", "import tournaments.cli"),
        ("site_pages.render", "import bots.python.greedy.bot"),
        ("bots.python.greedy.bot", "import protocol"),
        ("bots.python.greedy.bot", "from bots.python import cards"),
        ("tournaments.cli", "from bots import python"),
    ],
)
def test_an_arrow_that_points_the_wrong_way_is_seen(module: str, source: str) -> None:
    assert not all(may_import(module, name) for name in imports(module, source))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("protocol.lines", "import json, msgspec\nfrom . import messages"),
        ("referee.game", "from protocol.messages import Move\nfrom .rules import Turn"),
        ("tournaments.running.run", "import protocol, referee.game\nfrom tournaments import clients"),
        ("tournaments.cli", "from site_pages import render\nfrom . import run"),
        ("site_pages.render", "from tournaments.league.store import Store\nimport protocol"),
        ("bots.python.greedy.bot", "import json, sys"),
    ],
)
def test_an_arrow_that_points_the_right_way_is_let_through(module: str, source: str) -> None:
    assert all(may_import(module, name) for name in imports(module, source))
