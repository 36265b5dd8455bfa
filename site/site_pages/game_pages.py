"""What the families of games bring for the replay page: their scripts, styles and data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.families import load_family
from site_pages import text
from site_pages.files import Folder


class GamePage(Struct, frozen=True):
    """The files of a family on the site, in the order in which the page loads them."""

    scripts: tuple[str, ...]
    styles: tuple[str, ...]


def write_game_pages(folder: Folder, families: Iterable[str]) -> dict[str, GamePage]:
    """Copy the files `page/*.js`, `*.css` and `*.json` of each family; return them by family.

    A page opened from a folder cannot read JSON, so that each JSON file becomes a script.

    Raises:
        FamilyError: a family is missing.
        OSError: a file cannot be read or written.
    """
    return {name: _write_page(folder, name, load_family(name).folder / "page") for name in sorted(families)}


def _write_page(folder: Folder, family: str, source: Path) -> GamePage:
    target = f"static/games/{text.make_slug(family)}"
    data = sorted(source.glob("*.json"))
    for path in data:
        folder.write(f"{target}/{path.name}.js", _make_data_script(family, path))
    copied = sorted([*source.glob("*.js"), *source.glob("*.css")])
    for path in copied:
        folder.write(f"{target}/{path.name}", path.read_bytes())
    return GamePage(
        scripts=(
            *(f"{target}/{path.name}.js" for path in data),
            *(f"{target}/{path.name}" for path in copied if path.suffix == ".js"),
        ),
        styles=tuple(f"{target}/{path.name}" for path in copied if path.suffix == ".css"),
    )


def _make_data_script(family: str, path: Path) -> bytes:
    """Return a script that passes the content of a JSON file to the page."""
    content = msgspec.json.decode(path.read_bytes())
    arguments = b",".join(map(msgspec.json.encode, (family, path.stem, content)))
    return b"malice.keepData(%b);\n" % arguments
