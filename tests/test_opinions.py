"""A second opinion on the pages: what a bot is asked, what is kept of its answers, and what is published."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from malice.site_pages.opinions import choose_games
from malice.site_pages.survey import Survey
from malice.tournaments.league.store import Store
from malice.tournaments.running import costs
from tests.command_line import malice
from tests.site_files import data
from tests.site_league import League
from tests.tables import BOTS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A league of two games, whose bots are asked without a sandbox."""
    folder = tmp_path_factory.mktemp("opinions")
    (folder / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 2\n')
    (folder / "t.toml").write_text(
        'name = "t"\nentries = ["greedy", "first"]\nrulesets = ["./short.toml"]\ndeals = 1\nseed = "opinions"\n'
    )
    result = malice("run", folder / "t.toml", "--db", folder / "t.db", "--isolation", "none")
    assert result.exit_code == 0, result.output
    return folder / "t.db"


def write_site(db: Path, out: Path, *words: str) -> str:
    result = malice("site", db, "--out", out, *words, *(("--isolation", "none") if words else ()))
    assert result.exit_code == 0, result.output
    return result.stderr


def read_opinion(out: Path, key: str, seat: int) -> dict[str, Any]:
    told: dict[str, Any] = data(out / "data/opinions-0.js")[key][seat]
    return told


def write_scribe(folder: Path, log: Path) -> str:
    """Write a bot that logs what it reads, and fails at its fourth move; return its folder."""
    folder.mkdir()
    shutil.copy(BOTS / "scribe.py", folder)
    # A word that named the log would be a file outside the folder.
    words = ["scribe.py", str(log), "fails", "4"]
    (folder / "bot.py").write_text(f"import runpy, sys\nsys.argv = {words}\nrunpy.run_path('scribe.py')\n")
    (folder / "bot.toml").write_text("name = 'mybot'\nrun = ['{python}', '-I', 'bot.py']\n")
    return str(folder)


@pytest.mark.whole
def test_every_seat_is_asked_as_by_a_rerun(db: Path, tmp_path: Path) -> None:
    write_site(db, tmp_path, "--second-opinion", "uniform")

    for seat in (0, 1):
        rerun = json.loads(
            malice("rerun", db, "0.0.1", "uniform", "--seat", str(seat), "--json", "--isolation", "none").stdout
        )
        told = read_opinion(tmp_path, "0.0.0.1", seat)
        assert told["moves"] == rerun["moves"] > rerun["agreed"]
        assert [(place, action) for place, action, *_ in told["others"]] == [
            (choice["action"], choice["plays"]) for choice in rerun["choices"]
        ]
    assert " to " in told["others"][0][2], "in words"
    index = data(tmp_path / "data/index.js")["opinions"]
    assert (index["bot"], index["blocks"]) == ("uniform", [0])


def test_nothing_is_asked_twice_and_a_fault_is_told_but_stops_nothing(db: Path, tmp_path: Path) -> None:
    log = tmp_path / "0.log"
    bot = write_scribe(tmp_path / "mybot", log)
    said = write_site(db, tmp_path / "site", "--second-opinion", bot, "--opinion-games", "1")
    asked = log.read_text()
    first = (tmp_path / "site/data/opinions-0.js").read_bytes()

    again = write_site(db, tmp_path / "site", "--second-opinion", bot, "--opinion-games", "1")

    assert said == again
    assert "mybot: illegal in game 0.0.0." in said
    assert log.read_text() == asked
    assert (tmp_path / "site/data/opinions-0.js").read_bytes() == first
    ((key, seats),) = data(tmp_path / "site/data/opinions-0.js").items()
    assert seats[0]["moves"] == 3
    assert seats[0]["fault"]["code"] == "illegal"
    assert "    | it went wrong" in said
    assert "it went wrong" not in json.dumps(seats), "stderr is never published"

    write_site(db, tmp_path / "site")
    assert not (tmp_path / "site/data/opinions-0.js").exists()
    assert "opinions" not in data(tmp_path / "site/data/index.js")
    assert log.read_text() == asked, key


@pytest.mark.core
def test_a_bot_is_not_asked_about_itself_and_pages_name_what_surely_cost(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "LOOK", costs.Trial(3, 4))
    monkeypatch.setattr(costs, "PROOF", costs.Trial(16, 8))

    said = write_site(db, tmp_path, "--second-opinion", "planner", "--opinion-costs")

    games = data(tmp_path / "data/opinions-0.js").items()
    others = [(key, other) for key, seats in games for seat in seats for other in seat["others"]]
    told = {(f"{key}/{place}", cost) for key, (place, _, _, _, cost) in others if cost}
    pages = "".join((tmp_path / f"bots/{name}.html").read_text() for name in ("first", "greedy"))
    rows = re.findall(r'replay.html#(0[./\d]+)">0[./\d]+</a></th>.*<td class="num">(.*?)</td>', pages)
    assert 0 < len(told) < len(others)
    assert told == set(rows)
    assert f"  {len(told)} of the 6 choices that looked worst surely cost part of a win; the most, " in said
    write_site(db, tmp_path, "--second-opinion", "greedy")
    asked = {key: [seat is not None for seat in seats] for key, seats in data(tmp_path / "data/opinions-0.js").items()}
    assert asked == {"0.0.0.0": [False, True], "0.0.0.1": [True, False]}
    assert 'id="costs"' not in (tmp_path / "bots/first.html").read_text(), "nobody asked what it cost"


def test_a_bot_that_does_not_start_is_a_fault_too(db: Path, tmp_path: Path) -> None:
    said = write_site(db, tmp_path, "--second-opinion", "false", "--opinion-games", "1")

    assert "false: absent in game" in said
    assert "    | false: crash: the bot exited with status 1" in said
    ((told, _),) = data(tmp_path / "data/opinions-0.js").values()
    assert told["fault"] == {"code": "absent", "sentence": "it did not start"}, "nothing of what it wrote to stderr"


def test_a_damaged_opinion_is_named(db: Path, tmp_path: Path) -> None:
    write_site(db, tmp_path, "--second-opinion", "first")
    with Store(db) as store:
        (version,) = store.league().versions["first"]
    for path in (db.parent / "t.opinions" / version.hash).iterdir():
        path.write_text("{")

    result = malice("site", db, "--out", tmp_path, "--second-opinion", "first", "--isolation", "none")

    assert result.exit_code == 2
    assert ".json: damaged: " in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--second-opinion", "nobody"), "no bot 'nobody'"),
        (("--opinion-games", "3"), "need --second-opinion"),
        (("--opinion-costs",), "need --second-opinion"),
        (("--second-opinion", "first", "--opinion-games", "0"), "from 1, or all, got: 0"),
        (("--second-opinion", "first", "--follow"), "contradict each other"),
    ],
)
def test_what_cannot_be_asked_is_exit_2(db: Path, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    result = malice("site", db, "--out", tmp_path, *words)

    assert result.exit_code == 2
    assert said in result.stderr
    assert not list(tmp_path.iterdir())


def test_the_games_that_pages_open_come_first_and_then_the_latest() -> None:
    survey = Survey(League(("bot0", "bot1"), deals=2).read())
    keys = [game.key for game in choose_games(survey, (), None)]

    chosen = [game.key for game in choose_games(survey, (keys[2], None, keys[2]), 3)]

    assert [game.number for game in choose_games(survey, (), None)] == [3, 2, 1, 0]
    assert chosen == [keys[2], keys[0], keys[1]]
