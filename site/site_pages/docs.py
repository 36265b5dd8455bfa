"""The documentation as pages of the site; each depends only on its Markdown, and a league adds those of its games."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath

from msgspec import Struct

from malice import protocol
from malice.referee.families import list_shipped, load_family, name_shipped_folder
from malice.referee.games import DEFAULT_FAMILY
from malice.site_pages import markdown, text
from malice.site_pages.markdown import Heading

PACKED = Path(__file__).parent / "docs"
"""The folder of the texts in a wheel; in a checkout they are at the top level."""
PROTOCOL = Path(protocol.__file__).parent


class Doc(Struct, frozen=True):
    """A page of the documentation."""

    name: str
    """The name of its file on the site."""
    source: str
    """The path of its Markdown in the project."""
    title: str
    """Its title in the list of pages."""
    family: str = ""
    """The game whose folder holds the Markdown; empty for a page of the project."""


DOCS = (
    Doc("index", "docs/README.md", "All pages"),
    Doc("first-bot", "docs/first-bot.md", "Your first bot"),
    Doc("protocol", "protocol/PROTOCOL.md", "The protocol"),
    Doc("comparing", "docs/comparing.md", "Is it better?"),
    Doc("tournaments", "docs/tournaments.md", "Running a tournament"),
    Doc("formats", "docs/formats.md", "Formats"),
    Doc("league", "docs/league.md", "A league that lives"),
    Doc("many-machines", "docs/many-machines.md", "Many machines"),
    Doc("events", "docs/events.md", "Events"),
    Doc("standings", "docs/standings.md", "Reading the standings"),
    Doc("inside", "docs/inside.md", "How it works inside"),
    Doc("adding-a-game", "docs/adding-a-game.md", "Adding a game"),
    Doc("security", "SECURITY.md", "Security"),
)
"""The pages that no game brings, in reading order."""
FIRST = 3
"""How many of them come before those of the games."""
GAMES = "referee/games"
RULES = "rules.md"
"""The page that a game brings, in its folder."""


class DocPage(Struct, frozen=True):
    """A rendered page, for the template."""

    name: str
    title: str
    sections: tuple[Heading, ...]
    """Its headings of the second level."""
    summary: str
    """Its first paragraph."""
    html: str


def list_docs(families: Collection[str]) -> tuple[Doc, ...]:
    """Return all pages, in reading order, with those of the games that ship and of these families.

    Raises:
        FamilyError: a family is missing.
    """
    names = sorted({*list_shipped(), *families}, key=lambda name: (name != DEFAULT_FAMILY, name))
    games = (_describe_game(name) for name in names if (load_family(name).folder / RULES).is_file())
    return (*DOCS[:FIRST], *games, *DOCS[FIRST:])


def _describe_game(family: str) -> Doc:
    source = f"{GAMES}/{name_shipped_folder(family)}/{RULES}"
    if family == DEFAULT_FAMILY:
        return Doc("rules", source, "The rules", family)
    return Doc(f"rules-{text.make_slug(family)}", source, f"The rules of {family}", family)


@cache
def render_docs(families: frozenset[str] = frozenset()) -> tuple[DocPage, ...]:
    """Return the pages of `list_docs`, rendered.

    Raises:
        FileNotFoundError: a text is missing from the wheel or the checkout.
        FamilyError: a family is missing.
    """
    docs = list_docs(families)
    targets = {doc.source: f"{doc.name}.html" for doc in docs}
    targets |= {f"protocol/{name}": name for name, _ in list_attachments()}
    return tuple(_render_page(doc, targets) for doc in docs)


def list_attachments() -> Iterator[tuple[str, Path]]:
    """Yield name and path of the files that pages link to: the schema and the transcripts of the protocol."""
    for path in (PROTOCOL / "schema.json", *sorted((PROTOCOL / "transcripts").glob("*.jsonl"))):
        yield path.relative_to(PROTOCOL).as_posix(), path


def _render_page(doc: Doc, targets: Mapping[str, str]) -> DocPage:
    prose = markdown.render_markdown(
        find_markdown(doc).read_text("utf-8"), lambda link: _resolve_link(doc, link, targets)
    )
    sections = tuple(heading for heading in prose.headings if heading.level == 2)
    return DocPage(doc.name, doc.title, sections, prose.lead, prose.html)


def find_markdown(doc: Doc) -> Path:
    """Return the path of a page's Markdown."""
    if doc.source.startswith("protocol/"):
        return PROTOCOL / Path(doc.source).name
    if doc.family:
        return load_family(doc.family).folder / RULES
    packed = PACKED / Path(doc.source).name
    return packed if packed.is_file() else Path(__file__).parents[2] / doc.source


def _resolve_link(doc: Doc, link: str, targets: Mapping[str, str]) -> str | None:
    """Return the target of a link on the site; None for what the site lacks, such as source code.

    Args:
        doc: the page with the link.
        link: as it is written there.
        targets: the pages and files of the site, by the path of their source.
    """
    path, separator, fragment = link.partition("#")
    if not path or path.startswith("https:"):
        return link
    address = targets.get(normpath(join(dirname(doc.source), path)))
    return None if address is None else address + separator + fragment
