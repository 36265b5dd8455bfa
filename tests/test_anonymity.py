"""An anonymous tournament: neutral names wherever anybody looks, and a list for the organiser alone."""

from __future__ import annotations

import csv
import getpass
import json
import platform
import re
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from malice.tournaments.entries.bots import Bot, load_bot_folder
from malice.tournaments.entries.manifests import Manifest
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.file import list_league_files
from malice.tournaments.league.publication import Publication
from malice.tournaments.running.setup import HEAD, Listed, NameList
from tests.command_line import malice
from tests.indiscretions import NAMES, find_words, read_site, write_bots
from tests.site_files import data

TOLD = (*NAMES, *(f"author-{name}" for name in NAMES), "Pythonesque", "v-1-2-3")


def run(folder: Path, *words: str | Path, db: str = "cup.db") -> str:
    result = malice("run", folder / "cup.toml", "--db", folder / db, "--isolation", "none", *words)
    assert result.exit_code == 0, result.output
    assert find_words(result.output.encode(), TOLD) == []
    return result.stderr


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an anonymous tournament of bots that tell all they know."""
    folder = tmp_path_factory.mktemp("cup")
    toml = write_bots(folder)
    toml.write_text(f'{toml.read_text()}anonymous = true\nanchor = "berthold"\n')
    run(folder, "--site", folder / "site")
    return folder


def read_names(folder: Path) -> dict[str, str]:
    with (folder / "cup.names.csv").open(newline="") as file:
        return {row["label"]: row["name"] for row in csv.DictReader(file)}


@pytest.mark.slow
def test_nothing_that_is_published_tells_whose_bot_it_is(cup: Path, tmp_path: Path) -> None:
    db = cup / "cup.db"
    texts = [malice(*words).stdout for words in (("standings", db), ("standings", db, "--json"), ("export", db))]
    texts += [malice("standings", db, "--csv").stdout, malice("export", db, "--views").stdout]
    (tmp_path / "game.html").write_bytes(malice("site", db, "--game", "0.0.0.0", "--out", "-").stdout_bytes)
    published = b"\n".join([read_site(cup / "site"), read_site(tmp_path), *(text.encode() for text in texts)])

    hashes = [load_bot_folder(cup / name).hash for name in NAMES]
    digests = [digest for (digest,) in sqlite3.connect(db).execute("SELECT digest FROM games")]
    machine = (str(cup), f"{getpass.getuser()} on ", f" on {platform.node()} in", "to stderr:")
    assert len(digests) == 6
    assert find_words(published, (*TOLD, *machine, *hashes, *(each[:12] for each in hashes), *digests)) == []
    assert all(text and "bot 1" in text for text in texts)
    assert b"bots/bot-2." in published
    assert data(cup / "site/data/games-0.js")["columns"]["notes"] == [{}] * 6


@pytest.mark.slow
def test_nothing_that_is_published_tells_whose_bot_is_absent(tmp_path: Path) -> None:
    toml, db = write_bots(tmp_path), tmp_path / "cup.db"
    toml.write_text(f"{toml.read_text()}anonymous = true\n")
    (tmp_path / NAMES[0] / "bot.toml").write_text("name = ")
    words = ("--keep-going", "--isolation", "none", "--site", tmp_path / "site")
    result = malice("run", toml, "--db", db, *words)
    assert result.exit_code == 0, result.output

    standings = malice("standings", db).stdout
    assert re.search("^bot [123] is absent: bot$", standings, re.MULTILINE)
    assert b"is absent: it could not be built or started" in (tmp_path / "site/index.html").read_bytes()
    assert find_words(read_site(tmp_path / "site") + standings.encode(), (*TOLD, str(tmp_path))) == []


@pytest.mark.slow
def test_a_second_opinion_of_a_bot_that_plays_does_not_tell_whose_it_is(cup: Path, tmp_path: Path) -> None:
    words = ("--second-opinion", cup / NAMES[0], "--opinion-games", "1", "--isolation", "none")
    result = malice("site", cup / "cup.db", "--out", tmp_path, *words)

    assert result.exit_code == 0, result.output
    told = data(tmp_path / "data/index.js")["opinions"]
    assert read_names(cup)[NAMES[0]] == told["bot"]
    assert (told["version"], told["hash"]) == ("", "")
    own = load_bot_folder(cup / NAMES[0]).hash
    assert find_words(read_site(tmp_path), (*TOLD, own, own[:12])) == []


@pytest.mark.slow
def test_the_league_itself_knows_no_name_outside_the_evidence(cup: Path) -> None:
    connection = sqlite3.connect(cup / "cup.db")
    rows = [row for table in ("journal", "games") for row in connection.execute(f"SELECT * FROM {table}")]

    assert find_words(repr(rows).encode(), (*TOLD, "bot.py", "{python}", str(cup))) == []


@pytest.mark.slow
def test_opponents_hear_neutral_names(cup: Path) -> None:
    lines = malice("log", cup / "cup.db", "0.0.0", "--seat", "0").stdout.splitlines()

    start = next(line for line in lines if '"game_start"' in line)
    seats = json.loads(start[start.index("{") :])["seats"]
    assert {seat["name"] for seat in seats} <= {"bot 1", "bot 2", "bot 3"}


@pytest.mark.slow
def test_the_organiser_has_a_list_of_names(cup: Path) -> None:
    path = cup / "cup.names.csv"

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert str(path) in list_league_files(cup / "cup.db"), "bots cannot read it either"
    names = read_names(cup)
    assert set(names) == set(NAMES)
    assert set(names.values()) == {"bot 1", "bot 2", "bot 3"}
    assert f"Elo relative to {names['berthold']}" in malice("standings", cup / "cup.db").stdout


@pytest.mark.whole
@pytest.mark.slow
def test_it_verifies_goes_on_and_keeps_its_names_in_another_league(cup: Path, tmp_path: Path) -> None:
    for name in ("cup.toml", *NAMES):
        (shutil.copytree if (cup / name).is_dir() else shutil.copy)(cup / name, tmp_path / name)
    shutil.copy(cup / "cup.names.csv", tmp_path / "other.names.csv")
    verified = malice("verify", cup / "cup.db")

    assert verified.exit_code == 0, verified.output
    run(cup)
    run(tmp_path, db="other.db")
    assert malice("verify", tmp_path / "other.db").stdout == verified.stdout
    (tmp_path / "other.names.csv").unlink()
    lost = malice("run", tmp_path / "cup.toml", "--db", tmp_path / "other.db")
    assert lost.exit_code == 2
    assert "other.names.csv: no such file" in lost.stderr
    assert not (tmp_path / "other.names.csv").exists()


@pytest.mark.slow
def test_stderr_is_never_published(cup: Path, tmp_path: Path) -> None:
    result = malice("site", cup / "cup.db", "--out", tmp_path / "site", "--with-stderr")

    assert result.exit_code == 2
    assert "is anonymous" in result.stderr
    assert not (tmp_path / "site").exists()
    assert not Publication(anonymous=True, evidence=None).shows_evidence("bot 1")


def list_bots(*labels: str) -> tuple[tuple[str, ...], tuple[str, ...], list[Bot]]:
    return (
        labels,
        tuple(f"bots/{label}" for label in labels),
        [Bot(Manifest(label, ()), (), None, "") for label in labels],
    )


def test_numbers_are_drawn_and_newcomers_get_the_next_ones() -> None:
    names = NameList()
    labels = tuple(f"entry {number:02}" for number in range(60))
    names.add(*list_bots(*labels))
    first = dict(names.translate())

    names.add(*list_bots("late", *labels))

    assert sorted(first.values(), key=lambda name: int(name[4:])) == [f"bot {number}" for number in range(1, 61)]
    assert [first[label] for label in labels] != [f"bot {number}" for number in range(1, 61)]
    assert names.translate() == first | {"late": "bot 61"}


def test_a_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "l.names.csv"
    names = NameList()
    names.add(*list_bots('=HYPERLINK("x")', "two\nlines", 'with "quotes", and more'))

    names.write(path)
    again = NameList.read(path)
    again.add(*list_bots('=HYPERLINK("x")', "two\nlines", 'with "quotes", and more'))

    assert again.lines == names.lines
    assert list(tmp_path.iterdir()) == [path]
    assert "\n=" not in path.read_text()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1"),
        ("a,b\n", "line 1"),
        (",".join(HEAD) + "\nlea,lea,lea,\n", "line 2"),
        (",".join(HEAD) + "\nbot 1,lea\n", "line 2"),
        (",".join(HEAD) + "\nbot 1,lea,,\nbot 1,max,,\n", "each name once"),
        (",".join(HEAD) + "\nbot 1,lea,,\nbot 2,lea,,\n", "each label once"),
        ('"', "is not a list of names"),
    ],
)
def test_a_list_that_was_changed_for_the_worse_is_refused(text: str, place: str, tmp_path: Path) -> None:
    path = tmp_path / "l.names.csv"
    path.write_text(text)

    with pytest.raises(LeagueError, match=place):
        NameList.read(path)


def test_a_line_may_leave_out_what_nobody_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "l.names.csv"
    path.write_text(",".join(HEAD) + "\nbot 7,lea,,\n")

    assert NameList.read(path).lines == [Listed("bot 7", "lea")]
