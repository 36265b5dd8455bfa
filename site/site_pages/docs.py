"""The documentation as pages of the site: Markdown to HTML, with the games of the league."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path
from posixpath import dirname, join, normpath

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from msgspec import Struct

from malice import protocol
from malice.referee.families import list_shipped, load_family, name_shipped_folder
from malice.referee.games import DEFAULT_FAMILY
from malice.site_pages import text
from malice.tournaments.sanitizer import sanitize

PROMPT = "$ "
"""The start of a line that the reader types, in a console block."""

Links = Callable[[str], str | None]
"""Returns the target of a link on the site; None if there is none."""


class Heading(Struct, frozen=True):
    """A heading; `anchor` is its id."""

    level: int
    title: str
    anchor: str


class Prose(Struct, frozen=True):
    """A rendered text."""

    headings: tuple[Heading, ...]
    lead: str
    """The words of its first paragraph."""
    html: str


def render_markdown(source: str, links: Links) -> Prose:
    """Render Markdown as HTML; a link without a target becomes plain text."""
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    tokens = parser.parse(source)
    headings = tuple(_anchor_headings(tokens))
    _prepare_tables(tokens)
    for token in tokens:
        if token.children:
            token.children = list(_resolve_links(token.children, links))
    leads = (_join_words(content) for opening, content in pairwise(tokens) if opening.type == "paragraph_open")
    return Prose(headings, next(leads, ""), str(parser.renderer.render(tokens, parser.options, {})))


def _anchor_headings(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Give each heading the id that code forges give it, so that links work on both; number equal ids."""
    counts: dict[str, int] = {}
    for opening, content in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        title = _join_words(content)
        anchor = re.sub(r"[^\w -]", "", title).replace(" ", "-").lower()
        counts[anchor] = counts.get(anchor, 0) + 1
        if counts[anchor] > 1:
            anchor = f"{anchor}-{counts[anchor] - 1}"
        opening.attrSet("id", anchor)
        yield Heading(int(opening.tag[1:]), title, anchor)


def _prepare_tables(tokens: Sequence[Token]) -> None:
    """Name each table after the heading above it, a second one with its number, and align its cells by classes."""
    above = ""
    counts: dict[str, int] = {}
    for token, after in pairwise(tokens):
        if token.type == "heading_open":
            above = _join_words(after)
        elif token.type == "table_open":
            counts[above] = counts.get(above, 0) + 1
            token.meta["name"] = f"{above}: table" + (f" {counts[above]}" if counts[above] > 1 else "")
        elif token.type in ("th_open", "td_open"):
            if token.attrs.pop("style", "") == "text-align:right":
                token.attrSet("class", "num")
            if token.tag == "th":
                token.attrSet("scope", "col")


def _join_words(inline: Token) -> str:
    return "".join(" " if child.type == "softbreak" else child.content for child in inline.children or ())


def _resolve_links(tokens: Sequence[Token], links: Links) -> Iterator[Token]:
    """Replace the links of the source by links of the site."""
    resolved = True
    for token in tokens:
        if token.type == "link_open":
            target = links(str(token.attrGet("href")))
            resolved = target is not None
            token.attrSet("href", target or "")
        if resolved or token.type not in ("link_open", "link_close"):
            yield token


class _Renderer(RendererHTML):
    """Each method renders the tokens of its name."""

    def table_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        name = escape(tokens[index].meta["name"])
        return f'<div class="scroll" role="region" aria-label="{name}" tabindex="0">\n<table>\n'

    def table_close(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        return "</table>\n</div>\n"

    def fence(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        language = tokens[index].info.strip()
        lines = tokens[index].content.splitlines()
        code = "\n".join(map(_render_console_line if language == "console" else escape, lines))
        return f'<pre class="{escape(language)}" tabindex="0"><code>{code}\n</code></pre>\n'


def _render_console_line(line: str) -> str:
    """Highlight what the reader types, and keep the prompt out of copies."""
    if not line.startswith(PROMPT):
        return escape(line)
    return f'<span class="prompt"></span><kbd>{escape(line.removeprefix(PROMPT))}</kbd>'


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
    Doc("playing", "docs/playing.md", "Playing yourself"),
    Doc("comparing", "docs/comparing.md", "Is it better?"),
    Doc("python", "docs/python.md", "Games from Python"),
    Doc("learning", "docs/learning.md", "Programs that learn"),
    Doc("tools", "docs/tools.md", "Programs that write bots"),
    Doc("tournaments", "docs/tournaments.md", "Running a tournament"),
    Doc("formats", "docs/formats.md", "Formats"),
    Doc("league", "docs/league.md", "A league that lives"),
    Doc("desk", "docs/desk.md", "The organiser's desk"),
    Doc("many-machines", "docs/many-machines.md", "Many machines"),
    Doc("events", "docs/events.md", "Events"),
    Doc("standings", "docs/standings.md", "Reading the standings"),
    Doc("queries", "docs/queries.md", "Asking a league with SQL"),
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
    """All pages, in reading order, with those of the games that ship and of these families.

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
    """Render the pages of `list_docs`.

    Raises:
        FileNotFoundError: a text is missing from the wheel or the checkout.
        FamilyError: a family is missing.
    """
    docs = list_docs(families)
    targets = {doc.source: f"{doc.name}.html" for doc in docs}
    targets |= {f"protocol/{name}": name for name, _ in list_attachments()}
    return tuple(_render_page(doc, targets) for doc in docs)


LLMS = "llms.txt"
"""What programs that read a site look for first: https://llmstxt.org."""


def make_llms_text(
    title: str, bots: Iterable[tuple[str, str]], downloads: Iterable[str], docs: Sequence[DocPage]
) -> str:
    """Tell programs in Markdown what a site holds, and where.

    Args:
        title: of the tournament.
        bots: label and page of each entry.
        downloads: the files for download.
        docs: the pages of the documentation.
    """
    lines = [
        f"# {_quote(title)}",
        "",
        "> A tournament between bots that play card games, refereed by malice: standings, every game as a replay, and"
        " the rules and the protocol by which a bot takes part.",
        "",
        "A bot reads JSON lines from stdin and answers on stdout. To write one, read the protocol below.",
        "",
        "## Results",
        "",
        "- [Standings](index.html): ranking with intervals, who beat whom, and what was played",
        "- [Games](games.html): every game, each with its replay",
        *(f"- [{name}]({name}): a table of the front page" for name in downloads),
        "",
        "## Bots",
        "",
        *(f"- [{_quote(label)}]({page}): its games, faults and times" for label, page in bots),
        "",
        "## Documentation",
        "",
        *(f"- [{doc.title}](docs/{doc.name}.html): {doc.summary}" for doc in docs),
    ]
    return "".join(f"{line}\n" for line in lines)


def _quote(text: str) -> str:
    """Take a stranger's words out of the markup around them."""
    return re.sub(r"([\\`*_\[\]<>()#])", r"\\\1", sanitize(text))


def list_attachments() -> Iterator[tuple[str, Path]]:
    """Yield name and path of the files that pages link to: the schema and the transcripts of the protocol."""
    for path in (PROTOCOL / "schema.json", *sorted((PROTOCOL / "transcripts").glob("*.jsonl"))):
        yield path.relative_to(PROTOCOL).as_posix(), path


def _render_page(doc: Doc, targets: Mapping[str, str]) -> DocPage:
    prose = render_markdown(find_markdown(doc).read_text("utf-8"), lambda link: _resolve_link(doc, link, targets))
    sections = tuple(heading for heading in prose.headings if heading.level == 2)
    return DocPage(doc.name, doc.title, sections, prose.lead, prose.html)


def find_markdown(doc: Doc) -> Path:
    if doc.source.startswith("protocol/"):
        return PROTOCOL / Path(doc.source).name
    if doc.family:
        return load_family(doc.family).folder / RULES
    packed = PACKED / Path(doc.source).name
    return packed if packed.is_file() else Path(__file__).parents[2] / doc.source


def _resolve_link(doc: Doc, link: str, targets: Mapping[str, str]) -> str | None:
    """The target of a link on the site; None for what the site lacks, such as source code.

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
