"""Games of packages in every command: those of the page, one that asks several seats at once, and one of tricks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.command_line import malice

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("games")]

TABLES = [
    ("tricks-4", 4),
    *(pytest.param(name, 2, marks=pytest.mark.whole) for name in ("stairs", "prizes", "bidding")),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.mark.parametrize(("game", "seats"), TABLES)
def test_a_game_runs_through_every_command(game: str, seats: int, folder: Path) -> None:
    entries = json.dumps([{"bot": "uniform", "label": f"u{seat}"} for seat in range(seats)]).replace('":', '" =')
    (folder / "t.toml").write_text(f'name = "t"\nentries = {entries}\nrulesets = ["{game}"]\ndeals = 2\nseed = "t"\n')
    alone = ("--isolation", "none")

    assert game in malice("rules", "show", game, code=0).output
    malice("rules", "diff", game, game, code=0)
    malice("run", "t.toml", *alone, code=0)
    assert "all of them replay" in malice("verify", "t.db", code=0).output
    assert "u0" in malice("standings", "t.db", code=0).output
    assert "0.0.0.0" in malice("replay", "t.db", "0.0.0", code=0).output
    assert '"type":"move"' in malice("log", "t.db", "0.0.0", code=0).output.replace(" ", "")
    rerun = json.loads(
        malice("rerun", "t.db", "0.0.0", "uniform", "--seat", "1", "--json", "--all", *alone, code=0).output
    )
    assert rerun["agreed"] == rerun["moves"] > 0, "uniform plays by the rng that the seat had"
    views = [json.loads(line) for line in malice("export", "t.db", "--views", code=0).output.splitlines()]
    assert all(view["played"] in view["legal"] for view in views)
    malice("export", "t.db", code=0)
    malice("site", "t.db", "--out", "site", code=0)
    malice("site", "t.db", "--game", "0.0.0.0", "--out", "game.html", code=0)
    assert "The last table" in (folder / "game.html").read_text("utf-8")
    malice("feedback", "t.db", "--out", "feedback", code=0)
    shutil.copy("t.db", "copy.db")
    assert "known already" in malice("merge", "t.db", "copy.db", code=0).output
    malice("entry", "withdraw", "t.db", "u0", code=0)
    assert "withdrawn" in malice("entry", "list", "t.db", code=0).output
    compared = malice("compare", "first", "uniform", "--ruleset", game, "--deals", "4", *alone)
    assert compared.exit_code in ((0, 10, 11) if seats == 2 else (2,)), compared.output  # it is for two seats


@pytest.mark.whole
@pytest.mark.parametrize(("game", "seats"), TABLES)
def test_a_game_is_watched_and_played_by_a_person(game: str, seats: int) -> None:
    bots = ["uniform"] * seats
    malice("play", *bots, "--ruleset", game, "--watch", "--isolation", "none", code=0)

    shown = malice("play", "you", *bots[1:], "--ruleset", game, "--isolation", "none", input="1\n" * 100, code=0).output
    assert "you" in shown
