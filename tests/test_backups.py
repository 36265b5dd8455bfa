"""`malice backup` and `restore`: a league as one file, taken at any moment, from which it goes on elsewhere."""

from __future__ import annotations

import json
import shutil
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from malice.tournaments.entries.backups import restore
from malice.tournaments.errors import LeagueError, UnverifiedError
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.leagues import play_small_league
from tests.processes import PATIENCE_S
from tests.runs import Run, write_bot

pytestmark = pytest.mark.slow


def test_a_backup_during_a_run_goes_on_elsewhere_to_the_same_games(tmp_path: Path) -> None:
    run = Run(tmp_path / "here")
    run.folder.mkdir()
    for label in ("ann", "bob"):
        write_bot(run, label)
    run.write('entries = [{ bot = "bots/*", label = "{folder}" }]\ndeals = 20\nseed = "backup"\n')
    with run.start("--jobs", "1") as process:
        run.await_games(2, process)
        malice("backup", run.db, tmp_path / "kept.tar", code=0)
        process.communicate(timeout=PATIENCE_S)

    there = Run(tmp_path / "there")
    there.folder.mkdir()
    for name in ("t.toml", "short.toml"):
        shutil.copy(run.folder / name, there.folder)
    shutil.copytree(run.folder / "bots", there.folder / "bots")
    told = json.loads(malice("restore", tmp_path / "kept.tar", there.db, "--json", code=0).stdout)
    before = there.games()
    code, _, err = there.finish()

    assert code == 0, err
    assert told["bots"] == 2
    assert 2 <= told["games"] == before <= 40
    assert there.sha() == run.sha()
    assert there.db.stat().st_mode & 0o777 == 0o600
    assert "all of them replay" in malice("verify", there.db, code=0).stdout


def test_neither_a_league_nor_a_file_is_written_over(tmp_path: Path) -> None:
    league = play_small_league(tmp_path)
    malice("backup", league, tmp_path / "b.tar", code=0)
    before = league.read_bytes()

    assert "exists already" in malice("restore", tmp_path / "b.tar", league, code=2).stderr
    assert "new file" in malice("backup", league, tmp_path / "b.tar", code=2).stderr
    assert league.read_bytes() == before


def test_a_damaged_league_makes_no_backup(tmp_path: Path) -> None:
    league = play_small_league(tmp_path)
    content = bytearray(league.read_bytes())
    content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
    league.write_bytes(content)

    malice("backup", league, tmp_path / "b.tar", code=5)

    assert not (tmp_path / "b.tar").exists()


@pytest.mark.parametrize("name", ["../out", "bots/../../out", "/out", "bots/x.tar", "league.db"])
def test_what_is_no_backup_is_refused_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        member = tarfile.TarInfo(name)
        member.size = 3
        tar.addfile(member, BytesIO(b"own"))

    result = malice("restore", tmp_path / "b.tar", tmp_path / "new.db")

    assert result.exit_code in (2, 5), result.output
    assert [path.name for path in tmp_path.iterdir()] == ["b.tar"]


def test_names_and_mode_go_with_an_anonymous_league(tmp_path: Path) -> None:
    league = play_small_league(tmp_path)
    (tmp_path / "small.names.csv").write_text("name,label,bot,author\n")
    malice("backup", league, tmp_path / "b.tar", code=0)

    restore(tmp_path / "b.tar", tmp_path / "next.db")

    assert (tmp_path / "next.names.csv").read_text() == "name,label,bot,author\n"
    with Store(league) as one, Store(tmp_path / "next.db") as other:
        assert list(one.games()) == list(other.games())
    with pytest.raises((LeagueError, UnverifiedError)):
        restore(tmp_path / "b.tar", tmp_path / "next.db")
