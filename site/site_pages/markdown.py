"""Converts Markdown to HTML: headings have ids, tables and code scroll, raw HTML is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from msgspec import Struct

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
    """Return `source` as HTML; a link without a target becomes plain text."""
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
