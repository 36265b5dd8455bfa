"""What the families of games bring for the replay page: their scripts, styles and data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from malice.referee.families import load_family
from malice.site_pages import text
from malice.site_pages.files import Folder


class GamePage(Struct, frozen=True):
    """The files of a family on the site, in the order in which the page loads them."""

    scripts: tuple[str, ...]
    styles: tuple[str, ...]


class GameFiles(NamedTuple):
    """The files of a family by name, in the order in which a page loads them."""

    scripts: dict[str, bytes]
    """Its data, as scripts, and its scripts."""
    styles: dict[str, bytes]


def write_game_pages(folder: Folder, families: Iterable[str]) -> dict[str, GamePage]:
    """Copy the files `page/*.js`, `*.css` and `*.json` of each family; return them by family.

    A page opened from a folder cannot read JSON, so that each JSON file becomes a script.

    Raises:
        FamilyError: a family is missing.
        OSError: a file cannot be read or written.
    """
    return {name: _write_page(folder, name) for name in sorted(families)}


def read_game_files(family: str) -> GameFiles:
    """Return the files of a family.

    Raises:
        FamilyError: it is missing.
        OSError: a file cannot be read.
    """
    source = load_family(family).folder / "page"
    data = {f"{path.name}.js": _make_data_script(family, path) for path in sorted(source.glob("*.json"))}
    return GameFiles(
        scripts=data | {path.name: path.read_bytes() for path in sorted(source.glob("*.js"))},
        styles={path.name: path.read_bytes() for path in sorted(source.glob("*.css"))},
    )


def _write_page(folder: Folder, family: str) -> GamePage:
    target = f"static/games/{text.make_slug(family)}"
    files = read_game_files(family)
    for name, content in (files.scripts | files.styles).items():
        folder.write(f"{target}/{name}", content)
    return GamePage(
        scripts=tuple(f"{target}/{name}" for name in files.scripts),
        styles=tuple(f"{target}/{name}" for name in files.styles),
    )


def _make_data_script(family: str, path: Path) -> bytes:
    """Return a script that passes the content of a JSON file to the page."""
    content = msgspec.json.decode(path.read_bytes())
    arguments = b",".join(map(msgspec.json.encode, (family, path.stem, content)))
    return b"malice.keepData(%b);\n" % arguments
