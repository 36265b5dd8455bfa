"""What the files of a site hold."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from malice import site_pages
from malice.referee.packed_events import HOLE, SAME
from malice.referee.records import Key
from malice.tournaments.league.publication import Publication
from tests.site_league import League


class Page(HTMLParser):
    """What a page consists of: its tags, links, ids and text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.values: list[str] = []
        self.words = ""
        self._rows: list[list[str]] = []
        self._in_cell = False
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
            self._in_cell = True
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id" and value:
                self.ids.append(value)
            elif name == "data-value" and value:
                self.values.append(value)

    def handle_data(self, data: str) -> None:
        self.words += data
        if self._in_cell:
            self._rows[-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th")

    @property
    def rows(self) -> list[list[str]]:
        """The rows of all tables, cell by cell."""
        return [[" ".join(cell.split()) for cell in row] for row in self._rows]


def pages(folder: Path) -> dict[str, Page]:
    return {str(path.relative_to(folder)): Page(path) for path in folder.rglob("*.html")}


def data(path: Path) -> Any:
    """Read a data file as the page does."""
    first, call = path.read_text("ascii").splitlines()
    assert first.startswith(f"// malice {path.stem} ")
    packed = re.fullmatch(r'malice\.receive\("([a-z0-9-]+)","([A-Za-z0-9+/=]+)"\);', call)
    assert packed
    assert packed[1] == path.stem
    return json.loads(gzip.decompress(base64.b64decode(packed[2])))


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def put_back(shape: str, cards: Iterator[str]) -> str:
    """Fill the holes of a shape in a straightforward way."""
    text, card = "", ""
    for char in shape:
        if char == HOLE:
            card = next(cards)
        text += card if char in (HOLE, SAME) else char
    return text


def write_lone(league: League, key: Key, path: Path, publication: Publication, url: str = "") -> str:
    """Write the file of a game, and return it."""
    game = next(game for game in league.games() if game.key == key)
    lone = site_pages.render_lone_game(league, game, next(league.read_records([key])), publication, url)
    path.write_bytes(lone.page)
    return lone.page.decode()
