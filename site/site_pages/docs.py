"""The documentation as pages of the site; each depends on its Markdown alone, never on the league."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath

from msgspec import Struct

import protocol
from site_pages import markdown
from site_pages.markdown import Heading

PACKED = Path(__file__).parent / "docs"
"""Where a wheel has the texts; a checkout has them at its top."""
PROTOCOL = Path(protocol.__file__).parent


class Doc(Struct, frozen=True):
    """A page of the documentation."""

    name: str
    """Of its file on the site."""
    source: str
    """Its Markdown, from the top of the project."""
    title: str
    """As the list of all pages has it."""


DOCS = (
    Doc("index", "docs/README.md", "All pages"),
    Doc("first-bot", "docs/first-bot.md", "Your first bot"),
    Doc("protocol", "protocol/PROTOCOL.md", "The protocol"),
    Doc("rules", "docs/rules.md", "The rules"),
    Doc("tournaments", "docs/tournaments.md", "Running a tournament"),
    Doc("standings", "docs/standings.md", "Reading the standings"),
    Doc("inside", "docs/inside.md", "How it works inside"),
    Doc("adding-a-game", "docs/adding-a-game.md", "Adding a game"),
    Doc("security", "SECURITY.md", "Security"),
)
"""All pages, in reading order."""


class DocPage(Struct, frozen=True):
    """A page as the template shows it."""

    name: str
    title: str
    sections: tuple[Heading, ...]
    """The headings of the second level."""
    html: str


@cache
def doc_pages() -> tuple[DocPage, ...]:
    """Return all pages, in reading order.

    Raises:
        FileNotFoundError: a text is missing: neither a wheel nor a checkout is whole without.
    """
    return tuple(_page(doc) for doc in DOCS)


def attachments() -> Iterator[tuple[str, Path]]:
    """Name the files that pages link to, each with where it is: the schema and the transcripts of the protocol."""
    for path in (PROTOCOL / "schema.json", *sorted((PROTOCOL / "transcripts").glob("*.jsonl"))):
        yield path.relative_to(PROTOCOL).as_posix(), path


def _page(doc: Doc) -> DocPage:
    prose = markdown.render(source_path(doc).read_text("utf-8"), lambda link: _address(doc, link))
    sections = tuple(heading for heading in prose.headings if heading.level == 2)
    return DocPage(doc.name, doc.title, sections, prose.html)


def source_path(doc: Doc) -> Path:
    """Return where the Markdown of a page is."""
    if doc.source.startswith("protocol/"):
        return PROTOCOL / Path(doc.source).name
    packed = PACKED / Path(doc.source).name
    return packed if packed.is_file() else Path(__file__).parents[2] / doc.source


def _address(doc: Doc, link: str) -> str | None:
    """Return where a link of a text leads on the site; None for what the site does not have, such as source code."""
    path, mark, fragment = link.partition("#")
    if not path or path.startswith("https:"):
        return link
    target = normpath(join(dirname(doc.source), path))
    pages = {other.source: f"{other.name}.html" for other in DOCS}
    files = {f"protocol/{name}": name for name, _ in attachments()}
    found = (pages | files).get(target)
    return None if found is None else found + mark + fragment
