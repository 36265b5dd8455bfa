"""The site as files: what is on its pages, what is in its shards, and when a file is written."""

from __future__ import annotations

import gzip
import math
import re
import struct
import zlib
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
import pytest

from malice import site_pages
from malice.referee import rulesets as ruleset
from malice.referee.records import Key
from malice.site_pages import chart, text
from malice.site_pages.survey import KeyIndex
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.publication import Publication
from malice.tournaments.league.standings import APART
from malice.tournaments.sanitizer import sanitize
from tests.site_files import Page, contents, data, pages
from tests.site_league import HOSTILE, LABELS, League, play


def test_every_link_leads_to_a_file_and_a_place_in_it(out: Path) -> None:
    found = pages(out)

    for name, page in found.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme == "https" and name.startswith("docs/"):
                continue  # the text of a page names a standard; it is not needed to see the page
            assert not parts.scheme
            assert not parts.netloc, f"{name}: {link} leads outside"
            target = (out / name).parent / unquote(parts.path) if parts.path else out / name
            assert target.is_file(), f"{name}: {link}"
            place = str(target.resolve().relative_to(out.resolve()))
            if parts.fragment and place not in ("replay.html", "games.html", "head-to-head.html"):
                assert parts.fragment in found[place].ids, f"{name}: {link}"


def test_text_of_strangers_makes_no_markup_and_no_invisible_character(out: Path) -> None:
    for name, page in pages(out).items():
        assert "img" not in page.tags, name
        files = [link for link in page.links if link.endswith(".js")]
        assert page.tags.count("script") == len(files), f"{name}: every script is a file of the site"
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", page.words), name
    assert text.format_label(HOSTILE) in Page(out / "index.html").words


def test_what_is_shown_can_be_seen() -> None:
    assert sanitize("a\u202eb\x1b[0m\u200b\x00") == r"a\u202eb\x1b[0m\u200b\x00"
    assert sanitize("a\nb", lines=True) == "a\nb"
    assert sanitize("a\nb") == r"a\x0ab"
    assert sanitize("e" + "\u0301" * 9).count("\u0301") == 2
    assert sanitize("naïve \u05d0 日本 ♥") == "naïve \u05d0 日本 ♥"
    assert sanitize("x" * 50, 10) == "x" * 9 + "…"
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    england = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
    for emoji in (family, "🏳\ufe0f\u200d🌈", "👩🏽\u200d💻", "🇺🇦", "❤\ufe0f", england):
        assert sanitize(f"a {emoji} b") == f"a {emoji} b"
    assert sanitize("👨\u200d👩 and more", 3) == "…", "no half of an emoji"
    assert sanitize("a\u200db \u2800\u200d👩\u200d\u202e") == r"a\u200db \u2800\u200d👩\u200d\u202e"
    assert sanitize("🏴\U000e0061\U000e007f") == r"🏴\U000e0061\U000e007f"
    assert text.format_label("\u3164") == r"\u3164"
    assert text.format_label(" ") == "(no name)"


def test_slugs_are_safe_and_tell_all_labels_apart() -> None:
    labels = [
        "greedy",
        "Greedy",
        "greedy#2",
        "greedy-2",
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "con\x00",
        HOSTILE,
        "日本",
        "é",
        "e",
    ]

    slugs = [text.make_slug(label) for label in labels]

    assert slugs[0] == "greedy"
    assert len({slug.lower() for slug in slugs}) == len(labels)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9._-]*", slug) and ".." not in slug for slug in slugs)
    assert text.make_slug(text.make_slug("Greedy")) != text.make_slug("Greedy")


def test_figures_are_never_nan() -> None:
    for figure in (text.format_decimal, text.format_signed, text.format_percent, text.format_milliseconds):
        assert figure(None) == figure(math.nan) == figure(math.inf) == "n/a"
    assert [text.format_signed(elo) for elo in (12.4, -12.4, 0.2, -0.2)] == ["+12", "−12", "0", "0"]
    assert text.format_percent(0.5) == "50.0 %"
    assert [text.format_milliseconds(ms) for ms in (0.0123, 1.234, 45.67, 1234.5)] == ["0.012", "1.23", "45.7", "1234"]


def test_values_to_sort_by_are_numbers(out: Path) -> None:
    for name, page in pages(out).items():
        assert all(math.isfinite(float(value)) for value in page.values), name
        if not name.startswith("docs/"):  # a text may show code
            assert not re.search(r"\b(nan|inf|undefined)\b", page.words), name
    assert len(Page(out / "index.html").values) > 30


def test_every_page_tells_whoever_shows_links_to_it_what_it_is(tmp_path: Path) -> None:
    url = "https://example.org/cup/"

    site_pages.render(League(LABELS[:2], deals=2), tmp_path, site_pages.SiteOptions(url=url))

    front = (tmp_path / "index.html").read_text("utf-8")
    assert f'<meta property="og:image" content="{url}static/share.png">' in front
    assert read_png((tmp_path / "static/share.png").read_bytes()) == (1200, 630)
    for path in tmp_path.rglob("*.html"):
        page = path.read_text("utf-8")
        told = dict(re.findall(r'<meta property="og:(\w+)" content="([^"]+)">', page))
        place = path.relative_to(tmp_path).as_posix()
        assert told["url"] == url + ("" if place == "index.html" else place)
        assert f"<title>{told['title']}</title>" in page, place
        assert told["description"]

    site_pages.render(League(LABELS[:2], deals=2), tmp_path)

    assert "og:image" not in (tmp_path / "index.html").read_text("utf-8"), "nobody knows its address"
    assert not (tmp_path / "static/share.png").exists()


def read_png(png: bytes) -> tuple[int, int]:
    """Read a picture of 8 bits for red, green and blue as a decoder does; return its width and height."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, width, height, packed = 8, 0, 0, b""
    while at < len(png):
        size, name = struct.unpack_from(">I4s", png, at)
        data, (checked,) = png[at + 8 : at + 8 + size], struct.unpack_from(">I", png, at + 8 + size)
        assert zlib.crc32(name + data) == checked, name
        if name == b"IHDR":
            width, height, *kind = struct.unpack(">IIBBBBB", data)
            assert kind == [8, 2, 0, 0, 0]
        packed += data if name == b"IDAT" else b""
        at += 12 + size
    assert len(zlib.decompress(packed)) == height * (1 + 3 * width)
    return width, height


def test_a_league_without_games_has_a_site(tmp_path: Path) -> None:
    league = League(deals=0, planned=2)

    rendered = site_pages.render(league, tmp_path)

    assert rendered.games == 0
    front = Page(tmp_path / "index.html")
    assert "0 of 40 games" in front.words
    assert front.links.count("replay.html") == front.links.count("games.html") == 1, "only the menu leads there"
    assert "No game has been played yet" in Page(tmp_path / "games.html").words
    assert data(tmp_path / "data/index.js")["count"] == 0


def test_bots_without_a_counting_game_have_no_figures(tmp_path: Path) -> None:
    league = League(LABELS[:3], deals=1, planned=10)
    league.keep(1)

    site_pages.render(league, tmp_path)

    words = Page(tmp_path / "index.html").words
    assert "No game counts yet: 1 waits" in words
    assert "n/a" in words
    assert "not published yet" in words


@pytest.mark.slow
def test_rulesets_weigh_the_same_in_the_table_over_all(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=1, rulesets=("standard", "skipbo-short"))

    site_pages.render(league, tmp_path)

    page = Page(tmp_path / "index.html")
    assert "All rulesets" in page.words
    assert {"overall", "standard-2", "skipbo-short-2"} <= set(page.ids)


def test_ranks_of_groups_that_never_met_stand_apart_and_every_list_says_so(tmp_path: Path) -> None:
    rulesets = ("standard", "skipbo-short")
    league = League(LABELS[:4], deals=0, rulesets=rulesets)
    for number, (name, pair, rotation) in enumerate(product(rulesets, (0, 1), (0, 1))):
        own = LABELS[2 * pair : 2 * pair + 2]
        key = Key(0, 6 * rulesets.index(name) + 5 * pair, 0, rotation)
        league.add(number, name, play(ruleset.load_ruleset(name).rules, own[rotation:] + own[:rotation], key))

    site_pages.render(league, tmp_path)

    page = Page(tmp_path / "index.html")
    ranks = [row[0].split()[0] for row in page.rows if len(row) > 5 and row[0].split()[0] in ("Rank", "1", "2")]
    assert ranks == ["Rank", "1", "2"] * 2 * 3, "two groups over all rulesets, and under each"
    assert page.words.count("Group 2 2 bots") == 3
    assert page.words.count(APART) == 1 + 2 * 2  # the table over all, and with each ranking its chart
    assert "of 2 in group 2" in Page(tmp_path / "bots" / f"{text.make_slug(LABELS[3])}.html").words


def test_faults_are_shown_with_their_evidence(league: League, out: Path) -> None:
    words = "".join(Page(path).words for path in (out / "bots").iterdir())

    faults = [fault for record in league.records() for fault in record.faults]

    assert {fault.code for fault in faults} == {"crash", "timeout", "protocol", "illegal"}
    assert all(fault.sentence in words for fault in faults)
    assert "killed by signal 11 (SIGSEGV)" in words
    assert "</pre><script>alert(1)</script>\\x00" in words


def test_keys_are_found_in_few_bytes() -> None:
    index = KeyIndex()
    keys = [
        Key(0, table, first + deal, rotation)
        for first in range(0, 500, 25)
        for table in range(100)
        for rotation in range(2)
        for deal in range(25)
    ]
    for number, key in enumerate(keys):
        index.add(number, key)

    payload = index.make_payload()

    assert payload["count"] == 100_000
    assert sum(payload["counts"]) == 100_000
    assert len(gzip.compress(msgspec.json.encode(payload))) < 20_000


def test_a_gap_in_the_schedule_starts_a_run() -> None:
    index = KeyIndex()
    for number, key in (
        (0, Key(0, 0, 0, 0)),
        (1, Key(0, 0, 1, 0)),
        (3, Key(0, 0, 3, 0)),
        (4, Key(0, 0, 4, 0)),
        (5, Key(0, 0, 0, 1)),
    ):
        index.add(number, key)

    payload = index.make_payload()

    assert payload["gaps"] == [0, 1, 0]
    assert payload["counts"] == [2, 2, 1]
    assert payload["deals"] == [0, 3, 0]
    assert payload["rotations"] == [0, 0, 1]


@pytest.mark.slow
def test_the_same_league_gives_the_same_bytes(league: League, out: Path, tmp_path: Path) -> None:
    rendered = site_pages.render(league, tmp_path, site_pages.SiteOptions(publication=Publication(evidence=None)))

    assert contents(tmp_path) == contents(out)
    assert rendered.written == len(contents(out))
    assert rendered.bytes == sum(map(len, contents(out).values()))


def test_nothing_is_written_again_for_nothing(league: League, out: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}

    rendered = site_pages.render(league, out, site_pages.SiteOptions(publication=Publication(evidence=None)))

    assert rendered.written == 0
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


@pytest.mark.slow
def test_what_an_earlier_rendering_left_is_taken_away_and_nothing_else(tmp_path: Path) -> None:
    site_pages.render(League(LABELS[:3], deals=1), tmp_path)
    (tmp_path / "bots/mine.html").write_text("<p>my own page</p>")

    site_pages.render(League(LABELS[:2], deals=1), tmp_path)

    assert {path.name for path in (tmp_path / "bots").iterdir()} == {"greedy.html", "careful.html", "mine.html"}


def test_a_bot_that_thinks_while_it_is_not_asked_is_flagged_on_its_page(tmp_path: Path) -> None:
    league = League(LABELS[:2], deals=0)
    for rotation, labels in enumerate((LABELS[:2], LABELS[1::-1])):
        record = play(ruleset.load_ruleset("standard").rules, labels, Key(0, 0, 0, rotation))
        seats = list(record.seats)
        own = seats[rotation]
        seats[rotation] = msgspec.structs.replace(own, idle_ms=2 * own.cpu_ms + 2.0 * len(record.actions))
        league.add(rotation, "standard", msgspec.structs.replace(record, seats=tuple(seats)))

    site_pages.render(league, tmp_path)

    flagged = {path.stem for path in (tmp_path / "bots").iterdir() if "it thinks on their time" in path.read_text()}
    assert flagged == {LABELS[0]}


def test_games_that_come_in_between_wait_for_the_next_rendering(tmp_path: Path) -> None:
    class Growing(League):
        """A league in which a game is added between two looks at it."""

        looks = 0

        def games(self) -> Iterator[GameSummary]:
            self.looks += 1
            return iter([game for game, _ in self._pairs][: 2 + self.looks])

    rendered = site_pages.render(Growing(LABELS[:2], deals=4), tmp_path)

    # The first look decides what is rendered.
    assert rendered.games == 3
    assert len(data(tmp_path / "data/games-0.js")["columns"]["key"]) == 3


def test_names_in_the_chart_do_not_lie_on_each_other() -> None:
    placed = chart.spread([100, 101, 102, 390], 17, 20, 340)

    ordered = sorted(placed)
    assert all(other - one >= 16.9 for one, other in pairwise(ordered))
    assert ordered[-1] <= 340


@pytest.mark.parametrize(("low", "high"), [(1480, 1520), (1500, 1500), (1500, 1500 + 1e-12), (-3, 4000), (0, 2)])
def test_ticks_are_round_and_hold_all_values(low: float, high: float) -> None:
    found = chart.choose_ticks(low, high, 6)

    assert found[0] <= low
    assert high <= found[-1]
    assert 2 <= len({f"{tick:,.0f}" for tick in found}) == len(found) <= 9
