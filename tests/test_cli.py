"""The command line: what each command prints, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from malice.protocol.messages import Move, MoveAnswer
from malice.referee.verdicts import Verdict
from malice.tournaments.league.replays import encode_decisions, encode_game
from tests.command_line import malice
from tests.tables import Script, first_legal, play

pytestmark = pytest.mark.slow


def crash(request: Move) -> str:
    raise Verdict("crash", "it crashed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished tournament."""
    folder = tmp_path_factory.mktemp("league")
    (folder / "t.toml").write_text('entries = ["greedy", "uniform"]\nseed = "cli"\ndeals = 2\nname = "small"')
    result = malice("run", folder / "t.toml", "--db", folder / "t.db")
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def db(folder: Path) -> Path:
    return folder / "t.db"


def test_run_says_its_plan_on_stderr_and_the_ranking_on_stdout(folder: Path, tmp_path: Path) -> None:
    result = malice("run", folder / "t.toml", "--db", tmp_path / "new.db", "--jobs", "1")

    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == (
        "small: 2 entries, 1 table, 2 deals in every rotation of seats: 4 games in 4 batches, 1 at a time,"
        " at most 13 min by the clocks"
    )
    assert result.stdout.splitlines()[0] == "standard, 2 seats: 4 games, Elo relative to the mean"
    assert "greedy" in result.stdout


@pytest.mark.whole
def test_drawn_tables_are_the_same_whatever_the_order_in_the_file_and_verify(tmp_path: Path) -> None:
    shas: list[str] = []
    entries = ['"greedy"', '"uniform"', '"first"', '{ bot = "first", label = "other" }']
    for each in (entries, entries[::-1]):
        text = f"entries = [{', '.join(each)}]\ntables = 2\ndeals = 1\nseed = 'drawn'\nisolation = 'none'"
        (tmp_path / "t.toml").write_text(text)
        result = malice("run", tmp_path / "t.toml", "--db", tmp_path / f"{len(shas)}.db")
        shas.append(json.loads(malice("verify", tmp_path / f"{len(shas)}.db", "--json").stdout)["sha"])

    assert shas[0] == shas[1]
    assert result.stderr.splitlines()[1:3] == [
        "standard: any two entries meet at 0 to 1 of 2 drawn tables",
        "standard: the tables leave 2 groups that never meet and cannot be compared; tables = 3 would connect all",
    ]


def test_running_a_finished_tournament_again_prints_its_standings(folder: Path, db: Path) -> None:
    result = malice("run", folder / "t.toml", "--db", db)

    assert result.exit_code == 0
    assert result.stderr == f"{db}: 4 games\n"
    assert result.stdout == malice("standings", db).stdout


def test_standings_come_as_json_and_csv(db: Path) -> None:
    (standings,) = json.loads(malice("standings", db, "--json").stdout)
    rows = list(csv.DictReader(io.StringIO(malice("standings", db, "--csv").stdout)))

    assert [row["label"] for row in standings["rows"]] == ["greedy", "uniform"]
    assert [row["bot"] for row in rows] == ["greedy", "uniform"]
    assert rows[0]["games"] == "4"


def test_replay_tells_every_action(db: Path) -> None:
    exported = [json.loads(line) for line in malice("export", db).stdout.splitlines()]
    result = malice("replay", db, "0.1.1")

    game = next(game for game in exported if game["key"] == "0.0.1.1")
    assert result.exit_code == 0
    told = [line for line in result.stdout.splitlines() if line[:5].strip().isdigit()]
    assert [line.split()[2] for line in told] == [action["action"] for action in game["actions"]]
    assert result.stdout.splitlines()[-1] == f"digest {game['digest']}"


def test_export_prints_one_game_a_line(db: Path) -> None:
    games = [json.loads(line) for line in malice("export", db).stdout.splitlines()]

    assert [game["key"] for game in games] == ["0.0.0.0", "0.0.0.1", "0.0.1.0", "0.0.1.1"]
    assert set(games[0]) == {
        *(
            "tournament",
            "key",
            "part",
            "table",
            "deal",
            "rotation",
            "started",
            "family",
            "ruleset",
            "rules",
            "entries",
            "deal_seed",
            "actions",
            "places",
            "scores",
            "series",
            "reason",
            "digest",
            "seats",
            "verdicts",
            "isolation",
        )
    }
    assert set(games[0]["actions"][0]) == {"seat", "action", "ms", "cpu_ms"}


def test_export_tells_notes_times_and_verdicts() -> None:
    record = play(
        Script(lambda request: MoveAnswer(request.id, first_legal(request), "so be it"), wall_ms=7), Script(crash)
    )

    game = json.loads(encode_game(record, None))

    assert game["actions"][0] == {
        "seat": 0,
        "action": record.actions[0][1],
        "ms": 7,
        "cpu_ms": 7,
        "note": "so be it",
    }
    assert game["seats"][0]["used_ms"] == 7 * sum(action["seat"] == 0 for action in game["actions"])
    assert game["seats"][0]["cpu_ms"] == game["seats"][0]["used_ms"]
    assert game["verdicts"] == [
        {"seat": 1, "code": "crash", "action": 1, "sentence": "it crashed", "exit": "exited with status 9"}
    ]
    assert game["isolation"] == record.isolation


def test_export_views_tells_every_decision_and_how_it_ended(db: Path) -> None:
    games = {game["key"]: game for game in map(json.loads, malice("export", db).stdout.splitlines())}

    lines = [json.loads(line) for line in malice("export", db, "--views").stdout.splitlines()]

    assert set(lines[0]) == {
        *("key", "ruleset", "action", "seat", "label", "view", "legal", "played", "place", "score"),
    }
    played = [(key, *action) for key, game in games.items() for action in enumerate(game["actions"])]
    assert [(line["key"], line["action"], line["played"]) for line in lines] == [
        (key, index, action["action"]) for key, index, action in played
    ]
    for line in lines:
        game, seat = games[line["key"]], line["seat"]
        assert line["view"]["seat"] == seat
        assert line["played"] in line["legal"]
        assert line["label"] == game["entries"][seat]["label"]
        assert (line["place"], line["score"]) == (game["places"][seat], game["scores"][seat])


def test_a_verdict_is_no_decision() -> None:
    record = play(Script(), Script(crash))

    assert [json.loads(line)["played"] for line in encode_decisions(record)] == [record.actions[0][1]]


def test_verify_prints_games_and_the_tournament_sha(db: Path) -> None:
    verified = json.loads(malice("verify", db, "--json").stdout)
    text = malice("verify", db).stdout

    assert (verified["games"], verified["planned"], verified["complete"]) == (4, 4, True)
    assert f"tournament SHA  {verified['sha']}" in text


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "UPDATE games SET summary = replace(summary, '\"places\":[1,2]', '\"places\":[2,1]')",
            "the digest does not match",
        ),
        (
            "UPDATE games SET digest = 'x', summary = replace(summary, '\"digest\":\"', '\"digest\":\"0')",
            "column digest",
        ),
        (f"UPDATE games SET digest = '{'0' * 64}'", "digest: expected 000"),
        ("UPDATE journal SET at = 1.5 WHERE number = 2", "table journal, number 2: the digest does not match"),
        ("DELETE FROM records WHERE number = 1", "table records: expected 4 rows, got 3"),
        ("DELETE FROM records WHERE number = 1; DELETE FROM games WHERE number = 1", "game 0.0.0.1: is missing"),
        (
            'UPDATE games SET summary = replace(summary, \'["greedy","uniform"]\', \'["uniform","greedy"]\')',
            "entries: expected",
        ),
        ("UPDATE games SET deal = 7 WHERE deal = 1", "the tournament has no game 0.0.7.0"),
        ("UPDATE records SET record = zeroblob(9)", "cannot be read"),
    ],
)
def test_verify_ends_with_5_when_something_was_changed(db: Path, tmp_path: Path, statement: str, said: str) -> None:
    changed = tmp_path / "changed.db"
    changed.write_bytes(db.read_bytes())
    with sqlite3.connect(changed) as connection:
        connection.executescript(statement)
    connection.close()

    result = malice("verify", changed)

    assert result.exit_code == 5
    assert said in result.stderr
    assert result.stdout == ""


def test_play_shows_the_games_and_the_ranking() -> None:
    result = malice("play", "greedy", "uniform", "--deals", "2", "--seed", "x")

    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["0.0.0.0", "0.0.0.1", "0.0.1.0", "0.0.1.1"]
    assert lines[4].startswith("standard, 2 seats: 4 games")


def test_play_prints_json_for_scripts() -> None:
    result = malice("play", "greedy", "greedy", "--seed", "x", "--json")

    told = json.loads(result.stdout)
    assert [game["key"] for game in told["games"]] == ["0.0.0.0", "0.0.0.1"]
    assert told["games"][0]["labels"] == ["greedy", "greedy#2"]
    assert {row["label"] for row in told["ranking"]} == {"greedy", "greedy#2"}


def test_play_takes_a_command_line(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text((Path(__file__).parent / "bots" / "teller.py").read_text())

    result = malice("play", f"{sys.executable} {script} none", "uniform", "--json")

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["games"][0]["labels"][0] == "mine"


def test_play_replays_its_games_when_asked() -> None:
    result = malice("play", "first", "uniform", "--seed", "x", "--replay")

    assert result.stdout.startswith("game 0.0.0.0 · standard · first (seat 0) against uniform (seat 1)\n")
    assert result.stdout.count("\ndigest ") == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["play", "greedy", "nobody"], "no bot 'nobody'"),
        (["play", "greedy"], "is played by 2, not by 1; name another bot: malice play greedy BOT\n"),
        (["play", "greedy", "--ruleset", "partners-4"], "name 3 more bots: malice play greedy BOT BOT BOT --ruleset"),
        (["play", "greedy", "first", "uniform"], "choose a ruleset for 3 with --ruleset NAME"),
        (
            ["play", "greedy", "uniform", "--ruleset", "standrad"],
            "unknown ruleset 'standrad' (did you mean 'standard'?)",
        ),
        (["play", "greedy", "uniform", "--seed", "\udcff"], r"expected UTF-8, got '\udcff'"),
        (["play", "greedy", "uniform", "--db", "\udcff.db"], r"expected UTF-8, got '\udcff.db'"),
        (["standings", "none.db"], "none.db: no such database"),
        (["run", "none.toml"], "none.toml: No such file or directory"),
        (["replay", "{db}", "1.2"], "expected a key such as 0.3.12.1"),
        (["replay", "{db}", "9.0.0"], "no game 0.9.0.0"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_a_mistake_is_one_clear_line_and_exit_2(
    words: list[str], said: str, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = malice(*(word.format(db=db) for word in words))

    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["standings", "export", "verify", "site"])
def test_a_file_that_is_no_league_is_refused_and_left_alone(command: str, tmp_path: Path) -> None:
    text, other = tmp_path / "text.db", tmp_path / "other.db"
    text.write_text("this is no database, and long enough to be looked at as one" * 20)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE cats (name TEXT)")
    connection.close()
    more = ["--out", str(tmp_path / "site")] if command == "site" else []

    for path, said in ((text, "text.db: not a malice league\n"), (other, "but a database of another program")):
        before = path.read_bytes()
        result = malice(command, path, *more)
        assert result.exit_code == 2
        assert said in result.stderr
        assert path.read_bytes() == before


@pytest.mark.parametrize("command", ["standings", "export", "verify"])
def test_a_file_that_a_run_died_over_before_it_founded_anything_holds_no_tournament(
    command: str, tmp_path: Path
) -> None:
    with sqlite3.connect(tmp_path / "new.db") as connection:
        connection.execute("CREATE TABLE _sqlite_migrations (id INTEGER PRIMARY KEY, migration_set TEXT, name TEXT)")
    connection.close()

    result = malice(command, tmp_path / "new.db")

    assert result.exit_code == 2
    assert "new.db: holds no finished game" in result.stderr


def test_a_league_of_a_newer_malice_is_refused(db: Path, tmp_path: Path) -> None:
    newer = tmp_path / "newer.db"
    newer.write_bytes(db.read_bytes())
    with sqlite3.connect(newer) as connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('malice', 'm999_future', '')"
        )
    connection.close()

    result = malice("standings", newer)

    assert result.exit_code == 2
    assert "written by a newer malice (schema m999_future)" in result.stderr


def test_a_run_that_cannot_begin_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('entries = ["greedy", "nobody"]')

    result = malice("run", tmp_path / "t.toml", "--db", tmp_path / "t.db")

    assert result.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["t.toml"]


def test_the_site_command_prints_the_address_of_the_site(db: Path, tmp_path: Path) -> None:
    result = malice("site", db, "--out", tmp_path / "pages")

    assert result.exit_code == 0
    assert result.stdout == (tmp_path / "pages" / "index.html").as_uri() + "\n"


def test_a_game_becomes_one_file_or_goes_to_stdout(db: Path, tmp_path: Path) -> None:
    path = tmp_path / "game.html"

    written = malice("site", db, "--game", "small:0.1.1", "--out", path)
    printed = malice("site", db, "--game", "0.0.1.1", "--out", "-")

    assert (written.exit_code, written.stdout) == (0, path.as_uri() + "\n")
    assert printed.stdout_bytes == path.read_bytes()
    assert b"game 0.0.1.1</title>" in printed.stdout_bytes


@pytest.mark.parametrize("key", ["0.0.9.1", "nine", "friday:0.0.0.0"])
def test_a_game_that_does_not_exist_is_refused(db: Path, tmp_path: Path, key: str) -> None:
    assert malice("site", db, "--game", key, "--out", tmp_path / "game.html").exit_code == 2
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words", ["--game 0.0.0.0 --out .", "--game 0.0.0.0 --luck --out g", "--out t.toml", "--out t.db"]
)
def test_no_other_file_is_taken_for_pages(folder: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.chdir(folder)
    before = [path.read_bytes() for path in (folder / "t.toml", folder / "t.db")]

    assert malice("site", "t.db", *words.split()).exit_code == 2
    assert malice("site", "t.db", "--game", "0.0.0.0", "--out", "t.db").exit_code == 2
    assert [path.read_bytes() for path in (folder / "t.toml", folder / "t.db")] == before


def test_a_reader_that_closes_the_output_is_no_error_of_ours() -> None:
    read, write = os.pipe()
    os.close(read)
    program = "from malice.tournaments.cli import main; main(prog_name='malice')"

    done = subprocess.run([sys.executable, "-c", program, "rules"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)

    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("url", ["example.org/cup", "ftp://example.org/", "https://example.org/?cup=1", "https://"])
def test_an_address_that_cannot_be_that_of_a_folder_is_refused(folder: Path, tmp_path: Path, url: str) -> None:
    result = malice("site", folder / "t.db", "--out", tmp_path / "pages", "--url", url)

    assert result.exit_code == 2
    assert not (tmp_path / "pages").exists()
