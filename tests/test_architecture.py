"""Imports run one way, from floor to floor, and modules stay small."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from malice.tournaments.league.formats import FORMATS
from tests.floor_plan import (
    FOLDERS,
    GAMES,
    PAGE,
    ROOT,
    draw,
    find_arrows,
    find_family,
    find_floors,
    find_room,
    insert,
    list_imports,
    list_modules,
    list_nodes,
)

FLOORS = (
    {"protocol"},
    {"referee"},
    {GAMES},
    {"tournaments", "tournaments/errors", "tournaments/sanitizer"},
    {"tournaments/ratings"},
    {"tournaments/league"},
    {"tournaments/entries", "tournaments/terminal"},
    {"tournaments/running"},
    {"tournaments/farm", "rl"},
    {"site_pages"},
    {"tournaments/web"},
    {"tournaments/check", "tournaments/bench", "tournaments/ladder"},
    {"tournaments/commands"},
    {"tournaments/cli"},
    {"tournaments/launch"},
)
"""From the ground up: a room may import what lies below it, and no other room of its own floor."""

FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def may_import(module: str, name: str) -> bool:
    if (family := find_family(name)) and family != find_family(module):
        return False  # `referee.families` loads a game by its name; nothing knows one before
    room, other = find_room(module), find_room(name)
    if other.partition("/")[0] not in FOLDERS:
        return True
    if room not in FLOOR:
        return False  # bots run alone
    # The name of the package stands in every import of its rooms.
    return room == other != "tournaments/cli" or (other in FLOOR and FLOOR[other] < FLOOR[room])


def test_every_folder_has_modules_to_read() -> None:
    assert {module.partition(".")[0] for module, _ in list_modules()} == set(FOLDERS)


def test_every_room_has_its_floor() -> None:
    assert FLOOR.keys() - {"tournaments"} == find_arrows().keys() - {"bots"}


def test_every_import_of_ours_begins_at_the_one_root() -> None:
    ours = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(FOLDERS)})\b", re.MULTILINE)
    files = [*(path for _, path in list_modules()), *(ROOT / "tests").rglob("*.py")]

    assert [str(path.relative_to(ROOT)) for path in files if ours.search(path.read_text("utf-8"))] == [], (
        "from the top of the tree both `referee` and `malice.referee` would work, as two modules"
    )


def test_no_test_module_is_imported_by_another() -> None:
    importing = re.compile(r"^\s*(?:from|import) \S*\btest_\w+|^\s*from \S+ import .*\btest_\w+", re.MULTILINE)
    files = (ROOT / "tests").rglob("*.py")

    assert [str(path.relative_to(ROOT)) for path in files if importing.search(path.read_text("utf-8"))] == [], (
        "what tests share stands in a fixture, or in a module that holds no test"
    )


def test_imports_lead_downwards() -> None:
    wrong = {
        module: names
        for module, path in list_modules()
        if (names := sorted({n for n in list_imports(module, path.read_text("utf-8")) if not may_import(module, n)}))
    }

    assert wrong == {}, "each of these modules may not import the names beside it"


WORDS = re.compile(r"\bspite\b|\bklondike\b|pay-?off|centre.?stacks?|side.?stacks?|\bstock\b", re.IGNORECASE)
"""Families that ship, and the piles of the default one."""
DEFAULTS = ROOT / "referee/games/__init__.py"
"""The one file that names a family for who names none."""


def list_files_without_games() -> Iterator[Path]:
    """Yield every file that serves all games alike; bots are written for one."""
    for package, folder in FOLDERS.items():
        if package == "bots":
            continue
        for path in sorted(folder.rglob("*")):
            inside = ROOT / GAMES in path.parents and path.parent != ROOT / GAMES
            if path.suffix in (".py", ".js", ".css", ".html") and not inside and path != DEFAULTS:
                yield path


def test_no_file_outside_of_a_game_names_it_or_its_piles() -> None:
    files = list(list_files_without_games())
    named = {
        f"{path.relative_to(ROOT)}:{number}": line.strip()
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if WORDS.search(line)
    }

    assert {path.suffix for path in files} == {".py", ".js", ".css", ".html"}
    assert named == {}, "these lines know a game"


def test_no_file_outside_of_the_formats_asks_for_one_by_its_name() -> None:
    asked = re.compile(rf'(?:[!=]=|\bin|\bcase)\s*\(?"(?:{"|".join(FORMATS)})"')
    files = [path for folder in ("tournaments", "site/site_pages") for path in (ROOT / folder).rglob("*.*")]
    texts = {path: path.read_text("utf-8") for path in files if path.suffix in {".py", ".html", ".js"}}

    assert [str(path) for path, text in texts.items() if asked.search(text) and path.parent.name != "formats"] == []


def test_no_module_is_over_500_lines() -> None:
    lines = {module: len(path.read_text("utf-8").splitlines()) for module, path in list_modules()}

    assert {module: count for module, count in lines.items() if count > 500} == {}, "look for the seams in these"


REPLACED = {
    *("entrant", "entrants", "entrance", "entered", "enrolled", "enroll", "enrolment", "candidate", "ranked"),  # entry
    *("contest", "judgement", "recreation", "examiner", "proctor", "advice", "situation", "factors"),
    *("tally", "tallies", "moment", "whole", "past", "settled", "extent", "wishes", "thinking", "kinds", "sharply"),
    *("spec", "question"),
}
"""Words that another word of the field has replaced: one thing has one name."""


STAYS = {"thinking", "ranked"}
"""A field of stored games; a word for rows that take a rank."""


def list_names() -> Iterator[tuple[str, str]]:
    """Yield every module with its own name, and with that of each public class and function at its top."""
    for module, path in list_modules():
        if module.startswith("bots."):
            continue  # each stands alone
        yield module, module.rpartition(".")[2]
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                yield module, node.name


def list_inner_names() -> Iterator[tuple[str, str]]:
    """Yield every module with each of its functions, parameters, attributes and annotated names."""
    for module, path in list_modules():
        for node in list_nodes(path.read_text("utf-8")) if not module.startswith("bots.") else ():
            match node:
                case ast.arg(name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    yield module, name
                case ast.AnnAssign(target=ast.Name(name)) | ast.Attribute(attr=name, ctx=ast.Store()):
                    yield module, name


def test_no_name_holds_a_word_that_another_has_replaced() -> None:
    found = [
        (module, name)
        for module, name in {*list_names(), *list_inner_names()}
        if name not in STAYS and REPLACED & {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    ]

    assert found == []


def test_no_public_class_outside_the_games_has_the_name_of_another() -> None:
    places: dict[str, list[str]] = {}
    for module, name in list_names():
        if name[0].isupper() and not find_family(module):
            places.setdefault(name, []).append(module)

    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_no_docstring_tells_only_what_is_returned() -> None:
    nodes = (
        (module, node)
        for module, path in list_modules()
        if not module.startswith("bots.") and ".starter." not in module
        for node in list_nodes(path.read_text("utf-8"))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    )

    assert [
        f"{module}.{node.name}" for module, node in nodes if (ast.get_docstring(node) or "").startswith("Return")
    ] == []


def test_site_is_only_a_source_root() -> None:
    assert not (ROOT / "site/__init__.py").exists(), "it would shadow the standard library's site"


def test_the_floor_plan_of_the_docs_is_that_of_the_tree() -> None:
    page = PAGE.read_text("utf-8")

    assert insert(page, draw()) == page, "python -m tests.floor_plan writes it"


def test_a_circle_of_rooms_has_no_floor() -> None:
    with pytest.raises(ValueError, match=r"runs through entries, terminal$"):
        find_floors({"entries": {"terminal", "league"}, "terminal": {"entries"}, "league": set()})


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("protocol.lines", "import referee"),
        ("protocol.lines", "def later():\n    from malice.tournaments import store"),
        ("referee.game", "from malice.tournaments.league.store import Store"),
        ("referee.game", "import tournaments"),
        ("referee.game", "import bots"),
        ("referee.game", "from malice.referee.games.spite import FAMILY"),
        ("referee.game", "from .games import spite"),
        ("referee.games.other", "from malice.referee.games.spite.state import State"),
        ("tournaments.check.games", "import referee.games.spite.messages"),
        ("site_pages.shards", "from malice.referee.games.spite.messages import Deal"),
        ("referee.games.spite.engine", "from malice.tournaments.sanitizer import sanitize"),
        ("tournaments.running.run", "import site_pages.render as render"),
        ("tournaments.running.run", "from .. import cli"),
        ("tournaments.running.run", "from ..cli import main"),
        ("tournaments.running.run", "from ..commands import play"),
        ("tournaments.entries.builds", "from malice.tournaments.terminal.tables import format_table"),
        ("tournaments.terminal.tables", "from malice.tournaments.entries.bots import find_bot"),
        ("tournaments.check.seat", "from malice.tournaments.bench import rows"),
        ("tournaments.bench.seats", "from malice.tournaments.check.seat import Seat"),
        ("tournaments.league.store", "from malice.tournaments.entries import bots"),
        ("tournaments.ratings.fit", "from malice.tournaments.league.contents import Game"),
        ("tournaments.errors", "from malice.tournaments.league.store import Store"),
        ("tournaments.league.attic", "from malice.tournaments.attic import old"),
        ("tournaments.__init__", "from .cli import main"),
        ("tournaments.commands.run", "from malice.tournaments import cli"),
        ("tournaments.check.seat", "from malice.tournaments.commands import site"),
        ("site_pages.render", "import tournaments.cli"),
        ("site_pages.render", "from malice.tournaments.commands.pages import Extras"),
        ("site_pages.render", "import bots.python.greedy.bot"),
        ("bots.python.greedy.bot", "import protocol"),
        ("bots.python.greedy.bot", "from malice.bots.python import cards"),
        ("tournaments.cli", "from malice.bots import python"),
    ],
)
def test_an_arrow_that_points_the_wrong_way_is_seen(module: str, source: str) -> None:
    assert not all(may_import(module, name) for name in list_imports(module, source))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("protocol.lines", "import json, msgspec\nfrom . import messages"),
        ("referee.game", "from malice.protocol.messages import Move\nfrom .rules import Ask"),
        ("referee.game", "from malice.referee.games import DEFAULT_FAMILY"),
        (
            "referee.games.spite.engine",
            "from malice.referee.rules import Ask\nfrom referee.games.spite.state import State",
        ),
        ("tournaments.running.run", "import protocol, referee.game\nfrom tournaments import sanitizer"),
        (
            "tournaments.running.run",
            "from malice.tournaments.running.plan import Plan\nfrom ..league.store import Store",
        ),
        ("tournaments.commands.check", "from malice.tournaments.check import examination\nfrom . import options"),
        ("tournaments.commands.site", "from malice.site_pages import Follower"),
        ("tournaments.cli", "from malice.site_pages import render\nfrom .commands import run"),
        ("site_pages.render", "from malice.tournaments.league.store import Store\nimport protocol"),
        ("bots.python.greedy.bot", "import json, sys"),
    ],
)
def test_an_arrow_that_points_the_right_way_is_let_through(module: str, source: str) -> None:
    assert all(may_import(module, name) for name in list_imports(module, source))
