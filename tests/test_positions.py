"""Games that begin in the midst: positions of a league and of a file, at the table and in every command."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from malice import Game
from malice.referee.errors import DataError
from malice.referee.game import decode_position
from malice.tournaments.league.config import read_config
from malice.tournaments.league.positions import deal_anew, recall_end
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.games.random_games import keep_playing

BOTS = Path(__file__).parent / "bots"
SEED = ("--seed", "positions", "--isolation", "none")
AT = 40


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A league of two games that is over."""
    db = tmp_path_factory.mktemp("positions") / "friday.db"
    malice("play", "greedy", "first", *SEED, "--db", db, code=0)
    return db


@pytest.fixture(scope="module")
def file(db: Path) -> Path:
    """The position of each of them after some actions."""
    path = db.with_name("positions.jsonl")
    path.write_text(malice("export", db, "--positions", str(AT), code=0).stdout)
    return path


def _export(db: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in malice("export", db, code=0).stdout.splitlines()]


def test_an_exported_position_is_the_game_so_far(db: Path, file: Path) -> None:
    for line, game in zip(file.read_bytes().splitlines(), _export(db), strict=True):
        stood = Game.from_position(line)
        assert stood.actions == AT
        for action in game["actions"][AT:]:
            assert stood.to_act == (action["seat"],)
            stood.play(action["action"])
        assert stood.result
        assert list(stood.result.places) == game["places"]


@pytest.mark.whole
def test_a_comparison_plays_each_position_in_every_seat_and_verifies(file: Path) -> None:
    db = file.with_name("compare.db")
    malice("compare", "greedy", "first", "--from", file, "--deals", "2", *SEED, "--db", db)

    keys = [game["key"] for game in (json.loads(line) for line in _export_comparison(db))]
    assert sorted(keys) == ["0.0.0.0", "0.0.0.1", "0.0.1.0", "0.0.1.1"]
    assert malice("verify", db, "--all", code=0)
    told = json.loads(malice("rerun", db, "0.0.1.1", "greedy", "--json", code=0).stdout)
    assert told["agreed"] == told["moves"] != 0
    assert "begins after 40 actions of another game" in malice("replay", db, "0.0.1.1", code=0).stdout


def _export_comparison(db: Path) -> list[str]:
    with Store(db) as store:
        name = next(iter(store.league().tournaments))
    return malice("export", db, "--tournament", name, code=0).stdout.splitlines()


@pytest.mark.whole
def test_a_bot_hears_of_all_that_its_seat_would_have_heard(db: Path, file: Path, tmp_path: Path) -> None:
    line = file.read_bytes().splitlines()[0]
    log = tmp_path / "log"
    bot = f"python3 {BOTS / 'scribe.py'} {log}"
    malice("play", "greedy", bot, "--from", f"{db}#0.0.0.0/{AT}", "--isolation", "none", code=0)

    requests = [json.loads(each[2:]) for each in log.read_text().splitlines() if each.startswith("> ")]
    start = next(each for each in requests if each["type"] == "game_start")
    move = next(each for each in requests if each["type"] == "move")
    stood = Game.from_position(line)
    heard = json.loads(msgspec.json.encode(stood.events(start["seat"])))
    assert start["from"] == AT
    assert move["events"][: len(heard)] == heard


def test_a_position_that_is_none_is_refused(db: Path, file: Path, tmp_path: Path) -> None:
    last = len(_export(db)[0]["actions"])
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(file.read_bytes().splitlines()[0] + b"\n{}\n")
    for words, says in (
        (f"{db}#0.0.0.0/{last}", "before the end of the game"),
        (f"{db}#0.0.0.0", "expected LEAGUE.db#KEY/ACTION"),
        (str(torn), "line 2"),
        (str(tmp_path / "gone.jsonl"), "expected a file of positions"),
    ):
        assert says in malice("play", "greedy", "first", "--from", words, code=2).stderr
    assert "expected 2 bots" in malice("play", "greedy", "--from", file, code=2).stderr


@pytest.mark.parametrize(
    ("ruleset", "bots"),
    [
        ("klondike-3", ("patience", "dabbler")),
        pytest.param("nuts-2", ("squirrel", "uniform"), marks=pytest.mark.whole),
        pytest.param("double-solitaire", ("unloader", "first"), marks=pytest.mark.whole),
        pytest.param("partners-4", ("planner", "greedy", "planner", "first"), marks=pytest.mark.whole),
    ],
)
def test_bots_that_ship_go_on_from_the_midst(ruleset: str, bots: tuple[str, ...], tmp_path: Path) -> None:
    game, chance = Game(ruleset, len(bots), 1), random.Random(1)
    while game.actions < AT:
        game.play({seat: chance.choice(keep_playing(game, seat)) for seat in game.to_act})
    file = tmp_path / "midst.jsonl"
    file.write_bytes(game.position() + b"\n")

    told = json.loads(malice("play", *bots, "--from", file, *SEED, "--no-clock", "--json", code=0).stdout)

    assert not any(verdict for game in told["games"] for verdict in game["verdicts"])
    assert [label.partition("#")[0] for label in told["games"][0]["labels"]] == [*bots], "whoever is named sits there"


@pytest.mark.whole
def test_a_ruleset_of_ones_own_goes_with_its_positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 5\n')
    monkeypatch.chdir(tmp_path)
    malice("play", "greedy", "first", "--ruleset", "./short.toml", "--db", "short.db", *SEED, code=0)
    (tmp_path / "short.toml").unlink()

    assert "short, 2 seats" in malice("play", "greedy", "first", "--from", "short.db#0.0.0.0/9", *SEED, code=0).stdout


def test_an_open_part_tells_no_position(tmp_path: Path) -> None:
    toml = tmp_path / "t.toml"
    toml.write_text('entries = ["greedy", "first"]\ndeals = 2\nseed = "open"\nisolation = "none"\n')
    db = tmp_path / "t.db"
    malice("run", toml, "--db", db, "--create-only", code=0)
    malice("run", "--shard", "1/2", "--db", db, code=0)
    with Store(db) as store:
        key = min(store.keys())

    assert malice("export", db, "--positions", "5", code=0).stdout == ""
    assert "is not over" in malice("play", "greedy", "first", "--from", f"{db}#{key}/5", code=2).stderr


def test_a_tournament_file_names_no_positions(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text('entries = ["greedy", "first"]\npositions = []\n')
    with pytest.raises(DataError, match="positions: no tournament begins in them"):
        read_config(path)


def test_cards_that_a_person_does_not_know_are_dealt_anew(file: Path) -> None:
    stood = decode_position(file.read_bytes().splitlines()[0])
    before = Game.from_position(msgspec.json.encode(stood))

    dealt = [Game.from_position(msgspec.json.encode(deal_anew(stood, 0, random.Random(seed)))) for seed in range(4)]

    assert all(game.view(0) == before.view(0) and game.events(0) == before.events(0) for game in dealt)
    assert len({game.view(1) for game in (before, *dealt)}) > 1


def test_whoever_plays_on_hears_how_it_ended_without_them(db: Path, file: Path) -> None:
    for game in _export(db):
        names = [entry["label"] for entry in game["entries"]]
        won = [name for name, place in zip(names, game["places"], strict=True) if place == 1]
        how = f"{won[0]} won" if len(won) == 1 else "it ended in a draw"

        assert recall_end(f"{db}#{game['key']}/{AT}") == f"In the game of the league, {' v '.join(names)}, {how}."

    assert recall_end(str(file)) == ""
    assert "needs --from" in malice("play", "you", "greedy", "--new-cards", code=2).stderr
