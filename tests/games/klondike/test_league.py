"""A tournament of Klondike: one game a deal, deals solved beside the rating, statistics on the page of a bot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from malice.tournaments.league.store import Store
from tests.command_line import malice

pytestmark = pytest.mark.slow

TINY = 'about = "a"\nsource = "s"\nextends = "klondike-1"\n[rules]\nidle = 8\nmax_actions = 30\n'
FILE = (
    'name = "t"\nentries = ["first", "uniform", {bot = "uniform", label = "third"}]\nseed = "k"\nisolation = "none"\n'
)


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A league of three pairs over two deals; we stand beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "t.toml").write_text(f'{FILE}deals = 2\nrulesets = ["./tiny.toml"]\n')
    malice("run", "t.toml", code=0)
    return tmp_path / "t.db"


@pytest.mark.whole
def test_a_deal_that_all_seats_share_is_one_game_and_its_figures_are_kept(league: Path) -> None:
    with Store(league) as store:
        games = list(store.games())
        (first, *_), records = games, list(store.records())

    assert {(str(game.key)[:-2], game.key.rotation, game.once) for game in games} == {
        (f"0.{table}.{deal}", 0, True) for table in range(3) for deal in range(2)
    }
    assert [record.figures for record in records] == [game.figures for game in games]
    assert all(figures[1] == score for figures, score in zip(first.figures, first.scores, strict=True))
    assert "6 (complete), all of them replay" in malice("verify", "t.db", code=0).output

    text = malice("standings", "t.db", code=0).output
    assert "all seats play the same deal" in text
    assert "deals solved" in text
    assert "seat 0 gets" not in text
    (standings,) = json.loads(malice("standings", "t.db", "--json", code=0).output)
    assert standings["same_deal"] is True
    assert standings["games"] == 6
    for row in standings["rows"]:
        solved, cards, *_ = row["statistics"]
        assert (solved["name"], solved["games"], solved["mean"], solved["best"]) == ("solved", 4, 0, None)
        seats = [(game, game.labels.index(row["label"])) for game in games if row["label"] in game.labels]
        assert cards["best"] == max(game.scores[seat] for game, seat in seats)

    malice("site", "t.db", "--out", "site", code=0)
    assert "Deals solved" in Path("site/index.html").read_text()
    assert "Cards on the foundations" in Path("site/bots/first.html").read_text()
    assert Path("site/data/bot-first.tiny-2.statistics.csv").is_file()


@pytest.mark.whole
def test_a_comparison_counts_a_deal_as_one_game(league: Path) -> None:
    words = ["compare", "first", "uniform", "--ruleset", "./tiny.toml", "--deals", "3", "--json"]
    found = json.loads(malice(*words).stdout)

    assert found["advantage"]["deals"] == 3
    assert len(found["advantage"]["counts"]) == 3
    assert found["new"]["games"] == 3
