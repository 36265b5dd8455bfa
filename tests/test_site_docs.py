"""The documentation on the site: every page is there, links lead on, and nothing of it depends on the league."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from malice import site_pages
from malice.site_pages import docs
from malice.site_pages.docs import list_attachments, list_docs
from tests.browser_window import as_a_phone, at_a_desk, visit
from tests.site_files import Page, pages
from tests.site_league import LABELS, League

DOCS = list_docs(())

SIDES = """return [...document.querySelectorAll("main pre, main .scroll")].map((one) => {
  const {left, right} = one.getBoundingClientRect();
  return [left, right];
})"""
"""The left and right edges of all that may be wide."""

browser = pytest.fixture(at_a_desk)
"""The browser, at the size of a desk; afterwards its console must be empty."""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a league."""
    folder = tmp_path_factory.mktemp("site")
    site_pages.render(League(LABELS[:2], deals=1), folder)
    return folder


def html(source: str) -> str:
    return docs.render_markdown(source, lambda link: link if link.startswith("#") else None).html


def test_every_page_has_a_way_to_the_docs(out: Path) -> None:
    for name, page in pages(out).items():
        assert "../" * name.count("/") + "docs/index.html" in page.links, name


def test_every_text_is_a_page_that_lists_all_others(out: Path) -> None:
    assert {path.stem for path in (out / "docs").glob("*.html")} == {doc.name for doc in DOCS}
    for doc in DOCS:
        page = Page(out / f"docs/{doc.name}.html")
        assert {f"{other.name}.html" for other in DOCS} <= set(page.links)
        assert page.tags.count("h1") == 1


def test_pages_are_read_in_order(out: Path) -> None:
    for here, after in pairwise(DOCS):
        assert f'rel="next" href="{after.name}.html"' in (out / f"docs/{here.name}.html").read_text("utf-8")
        assert f'rel="prev" href="{here.name}.html"' in (out / f"docs/{after.name}.html").read_text("utf-8")


def test_links_between_texts_are_links_between_pages(out: Path) -> None:
    for doc in DOCS:
        links = Page(out / f"docs/{doc.name}.html").links
        assert not [link for link in links if ".md" in link], doc.name
    assert "protocol.html#the-clock" in Page(out / "docs/tournaments.html").links


def test_what_the_protocol_links_to_is_beside_it(out: Path) -> None:
    for name, path in list_attachments():
        assert (out / "docs" / name).read_bytes() == path.read_bytes()
    assert "transcripts/two-player.jsonl" in Page(out / "docs/protocol.html").links


def test_a_link_to_what_the_site_does_not_have_is_words_alone() -> None:
    assert html("see [the *code*](../referee/game_runner.py) and [here](#here)") == (
        '<p>see the <em>code</em> and <a href="#here">here</a></p>\n'
    )


def test_markup_of_the_author_is_shown_and_not_obeyed() -> None:
    rendered = html('<script>alert(1)</script>\n\n```"><img>\n<b>\n```\n\n[x](javascript:alert(1)) `<i>`')

    assert not re.search(r"<(script|img|b|i)>", rendered)
    assert "&lt;script&gt;" in rendered
    assert 'href="javascript' not in rendered


def test_headings_are_named_as_forges_name_them() -> None:
    found = docs.render_markdown(
        "# What it *is*\n## A `--flag`, and more!\n## Twice\n## Twice\n", lambda link: link
    ).headings

    assert [heading.anchor for heading in found] == ["what-it-is", "a---flag-and-more", "twice", "twice-1"]
    assert [heading.level for heading in found] == [1, 2, 2, 2]


def test_a_table_scrolls_by_itself_and_says_what_it_is() -> None:
    rendered = html("## Prices <3\n\n| a | b |\n| --- | --: |\n| x | 1 |\n")

    assert '<div class="scroll" role="region" aria-label="Prices &lt;3: table" tabindex="0">' in rendered
    assert '<th scope="col" class="num">b</th>' in rendered or '<th class="num" scope="col">b</th>' in rendered
    assert '<td class="num">1</td>' in rendered
    assert "style=" not in rendered


def test_a_prompt_is_not_copied_with_its_command() -> None:
    rendered = html("```console\n$ malice play <a>\nout\n```\n")

    assert '<span class="prompt"></span><kbd>malice play &lt;a&gt;</kbd>\nout\n' in rendered
    assert "$" not in rendered


def test_pages_depend_on_their_texts_alone(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=2)
    league.keep(1)
    site_pages.render(league, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "docs").rglob("*")}

    site_pages.render(League(LABELS[:2], deals=2), tmp_path)

    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "docs").rglob("*")} == before


def test_programs_find_every_page_by_a_list_of_links(out: Path) -> None:
    text = (out / "llms.txt").read_text("utf-8")

    targets = re.findall(r"^- \[.*\]\(([^()]+)\): .", text, re.MULTILINE)
    assert len(targets) == sum(line.startswith("- ") for line in text.splitlines())
    assert all((out / target).is_file() for target in targets)
    assert {f"bots/{path.name}" for path in (out / "bots").glob("*.html")} <= {*targets}
    assert "<" not in re.sub(r"\\<", "", text), "a label is markup nowhere"


def test_a_page_that_was_taken_out_is_deleted(out: Path) -> None:
    stale = out / "docs/old.html"
    stale.write_bytes((out / "docs/rules.html").read_bytes())

    site_pages.render(League(LABELS[:2], deals=1), out)

    assert not stale.exists()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("doc", DOCS, ids=[doc.name for doc in DOCS])
def test_wide_things_scroll_inside_the_page(browser: Chrome, out: Path, doc: site_pages.docs.Doc) -> None:
    visit(browser, out, f"docs/{doc.name}.html")

    for phone in (False, True):
        if phone:
            as_a_phone(browser)
        width = browser.execute_script("return document.documentElement.clientWidth")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        for left, right in browser.execute_script(SIDES):
            assert 0 <= left <= right <= width
