"""The box on the front page that says what changed, and what it does not tell."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from malice.site_pages import text
from malice.tournaments.league.desk import decide
from malice.tournaments.league.notes import Ruling
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.growing_leagues import DAY, MONDAY, GrowingLeague
from tests.site_files import Page
from tests.site_league import HOSTILE

HEAD = ["Rank", "Was", "Bot", "Gain", "Elo", "Elo was"]


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GrowingLeague:
    return GrowingLeague(tmp_path / "secret folder/course.db", monkeypatch, slips={"ann": 0.0, HOSTILE: 0.8})


@pytest.fixture
def last(league: GrowingLeague) -> Path:
    league.path.parent.mkdir()
    league.play({"ann": 1, "bob": 1, HOSTILE: 1, "cem": 1}, 3)
    path = Path(shutil.copy(league.path, league.path.with_name("monday.db")))
    league.play({"ann": 1, "bob": 2, HOSTILE: 1, "cem": 1, "eve": 1}, 3, MONDAY + 2 * DAY)
    with Store(league.path, create=True) as store:
        decide(store, Ruling("disqualify", "cem"))
    return path


def render(league: GrowingLeague, *words: str | Path) -> Path:
    out = league.path.parent.parent / "out"
    result = malice("site", league.path, "--out", out, *words)
    assert result.exit_code == 0, result.output
    return out


def list_rows(front: Path) -> dict[str, list[str]]:
    rows = Page(front).rows
    head = rows.index(HEAD)
    return {row[2]: row for row in rows[head + 1 : head + 6]}


def test_the_box_tells_the_moves_of_the_command_line(league: GrowingLeague, last: Path) -> None:
    (found,) = json.loads(malice("standings", league.path, "--changes-since", last, "--json").stdout)

    rows = list_rows(render(league, "--changes-since", last) / "index.html")

    for move, row in zip(found["moves"], rows.values(), strict=True):
        figures = [move["rank"], move["rank_before"]]
        assert row[:2] == ["n/a" if rank is None else str(rank) for rank in figures]
        assert row[2].endswith(move["news"])
        assert row[3:] == [text.format_signed(move[name]) for name in ("gain", "elo", "elo_before")]
    assert {"bob new version", "eve new", "cem gone"} < rows.keys()


def test_bots_are_linked_to_their_pages(league: GrowingLeague, last: Path) -> None:
    out = render(league, "--changes-since", last)
    box = (out / "index.html").read_text("utf-8").partition('class="changes"')[2].partition("</section>")[0]

    links = [part.partition('"')[0] for part in box.split('href="')[1:]]
    assert len({link for link in links if link.startswith("bots/")}) == 5
    assert all((out / link).is_file() for link in links if not link.startswith("#"))
    assert "<img" not in box


def test_who_is_no_entry_has_no_page_to_link(league: GrowingLeague, last: Path, tmp_path: Path) -> None:
    other = GrowingLeague(tmp_path / "other.db", league.monkeypatch, league.name)
    other.play({"ann": 1, "zoe": 1}, 2)

    front = (render(league, "--changes-since", other.path) / "index.html").read_text("utf-8")

    assert "<bdi>zoe</bdi>" in front
    assert "bots/zoe.html" not in front


def test_no_page_names_a_folder_of_the_organiser(league: GrowingLeague, last: Path) -> None:
    out = render(league, "--changes-since", last)

    assert "What changed since monday.db" in Page(out / "index.html").words
    for path in out.rglob("*"):
        assert path.is_dir() or b"secret folder" not in path.read_bytes(), path


@pytest.mark.parametrize(("at", "shown"), [("2023-11-16", "2023-11-16"), ("2023-11-16T18:30", "2023-11-16 18:30")])
def test_a_day_is_told_as_a_date(league: GrowingLeague, last: Path, at: str, shown: str) -> None:
    assert MONDAY < datetime.fromisoformat(at).timestamp() < MONDAY + 2 * DAY

    words = Page(render(league, "--changes-since", at) / "index.html").words

    assert f"What changed since {shown}" in " ".join(words.split())


def test_unless_somebody_asks_the_box_tells_what_the_newest_part_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = GrowingLeague(tmp_path / "course.db", monkeypatch, slips={"ann": 0.0, "cem": 0.8})
    league.play({"ann": 1, "bob": 1, "cem": 1, "dan": 1}, 3)
    last = shutil.copy(league.path, tmp_path / "last.db")
    league.play({"ann": 1, "bob": 2, "cem": 1, "dan": 1, "eve": 1}, 3, MONDAY + DAY)

    asked = list_rows(render(league, "--changes-since", last) / "index.html")
    told = list_rows(render(league) / "index.html")

    assert told.keys() == asked.keys()
    for bot in ("ann", "cem", "dan"):
        assert told[bot][3:] == asked[bot][3:], bot
    assert told["bob new version"][5] == "n/a", "its rating is that of another bot"
    assert "eve new" in told


def test_with_one_part_there_is_no_box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    league = GrowingLeague(tmp_path / "course.db", monkeypatch)
    league.play({"ann": 1, "bob": 1}, 2)

    assert "What changed" not in Page(render(league) / "index.html").words


def test_without_a_bot_that_stayed_the_same_the_box_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    league = GrowingLeague(tmp_path / "course.db", monkeypatch)
    league.play({"ann": 1, "bob": 1}, 2)
    last = shutil.copy(league.path, tmp_path / "last.db")
    league.play({"ann": 2, "bob": 2}, 2, MONDAY + DAY)

    words = Page(render(league, "--changes-since", last) / "index.html").words

    assert "No bot stayed the same" in words


def test_an_anonymous_tournament_is_not_compared_with_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = GrowingLeague(tmp_path / "named.db", monkeypatch)
    named.play({"ann": 1, "bob": 1}, 2)
    quiet = GrowingLeague(tmp_path / "quiet.db", monkeypatch, anonymous=True)
    quiet.play({"bot 1": 1, "bot 2": 1}, 2)
    last = shutil.copy(quiet.path, tmp_path / "last.db")
    quiet.play({"bot 1": 1, "bot 2": 1, "bot 3": 1}, 2, MONDAY + DAY)

    result = malice("site", quiet.path, "--out", tmp_path / "out", "--changes-since", named.path)

    assert result.exit_code == 2
    assert not (tmp_path / "out").exists()
    assert malice("site", quiet.path, "--out", tmp_path / "out", "--changes-since", last).exit_code == 0
