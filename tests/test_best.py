"""`{ top = 2, from = "course" }`: the best of a tournament play another one, and one site shows both."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from malice.tournaments.league.store import Store
from tests.command_line import malice

pytestmark = pytest.mark.slow

COURSE = """
name = "course"
league = "course.db"
entries = ["greedy", "first", "uniform"]
rulesets = ["./short.toml"]
deals = 4
seed = "best"
isolation = "none"
"""
FINAL = """
name = "final"
league = "course.db"
entries = [{ top = 2, from = "course" }]
rulesets = ["./short.toml"]
deals = 1
seed = "best"
isolation = "none"
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a course, and a final of its best two that was played."""
    folder = tmp_path_factory.mktemp("best")
    (folder / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 1\n')
    (folder / "course.toml").write_text(COURSE)
    (folder / "final.toml").write_text(FINAL)
    malice("run", folder / "course.toml", code=0)
    told = malice("run", folder / "final.toml", code=0).stderr
    assert "the best 2 entries of course: " in told
    return folder


def rank(db: Path, tournament: str) -> list[str]:
    (standings,) = json.loads(malice("standings", db, "--tournament", tournament, "--json", code=0).stdout)
    return [row["label"] for row in standings["rows"]]


def test_the_best_are_those_of_the_ranking_and_stay_whatever_becomes_of_it(course: Path) -> None:
    db = course / "course.db"
    best = rank(db, "course")[:2]

    malice("entry", "withdraw", db, best[0], "--tournament", "course", code=0)
    again = malice("run", course / "final.toml", code=0)
    malice("entry", "reinstate", db, best[0], "--tournament", "course", code=0)

    assert sorted(rank(db, "final")) == sorted(best)
    assert "the best" not in again.stderr
    with Store(db) as store:
        store.select("final")
        assert [entry.label for entry in store.entries()] == best
    assert malice("verify", db, code=0).stdout.count("all of them replay") == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{ top = 4, from = "course" }', "expected at most 3"),
        ('{ top = 2, from = "nowhere" }', "no tournament 'nowhere'"),
        ('{ top = 2, bot = "first" }', "expected from beside it"),
        ('{ top = 2, from = "course", bot = "first" }', "got both"),
        ('{ top = 0, from = "course" }', "got top = 0"),
        ("{}", "got neither"),
    ],
)
def test_what_no_ranking_says_is_an_error(line: str, says: str, course: Path) -> None:
    text = FINAL.replace('"final"', '"other"').replace('{ top = 2, from = "course" }', line)
    (course / "other.toml").write_text(text)

    assert says in malice("run", course / "other.toml", code=2).stderr


@pytest.mark.whole
def test_a_league_has_one_site_with_a_page_for_each_bot_across_its_tournaments(course: Path, tmp_path: Path) -> None:
    db, out = course / "course.db", tmp_path / "site"
    best = rank(db, "final")[0]

    malice("site", db, "--out", out, code=0)
    malice("site", db, "--out", out, code=0)

    front, bot = (out / "index.html").read_text(), (out / f"bots/{best}.html").read_text()
    pages = {"": front, "bots": bot}
    for name in ("course", "final"):
        assert f'href="t-{name}/index.html"' in front
        assert f'href="../t-{name}/bots/{best}.html"' in bot
    for folder, page in pages.items():
        for link in re.findall(r'href="([^"#]+)', page):
            assert (out / folder / link).is_file(), link
    assert (
        "holds the site of a whole league" in malice("site", db, "--tournament", "final", "--out", out, code=2).stderr
    )
