"""Versions of bots in a league: which one plays, what a new one costs, and how an old one comes back."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.processes import PATIENCE_S
from tests.runs import FIRST, Run, list_titles, list_versions, write_bot

pytestmark = pytest.mark.slow

FILE = 'entries = [{ bot = "bots/*", label = "{folder}" }]\nseed = "versions"\ndeals = 1\n'


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tournament of three bots that was played."""
    run = Run(tmp_path_factory.mktemp("played"))
    for name in ("ann", "bob", "cem"):
        write_bot(run, name)
    run.write(FILE)
    assert run.finish()[0] == 0
    return run.folder


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Run:
    """A copy of that tournament, to go on with."""
    shutil.copytree(played, tmp_path, dirs_exist_ok=True)
    return Run(tmp_path)


def list_rows(run: Run) -> list[object]:
    with Store(run.db) as store:
        return [*store.events(), *store.stored_games()]


@pytest.mark.whole
def test_a_pattern_names_every_bot_after_its_folder(run: Run) -> None:
    assert list_versions(run) == {"ann": 1, "bob": 1, "cem": 1}
    assert run.games() == 6


def test_a_changed_bot_stops_the_run_and_nothing_changes(run: Run) -> None:
    write_bot(run, "ann", "# better")
    before = list_rows(run)

    code, _, err = run.finish()

    assert code == 2
    assert "ann: the bot has changed since the last run; --new-versions" in err
    assert "takes 4 more games" in err
    assert list_rows(run) == before


def test_a_new_version_plays_afresh_and_the_old_one_comes_back_with_its_games(run: Run) -> None:
    write_bot(run, "ann", "# better")
    assert run.finish("--new-versions")[0] == 0
    assert list_versions(run) == {"ann": 2, "bob": 1, "cem": 1}
    assert list_titles(run) == ["round-robin", "adds ann, version 2"]
    write_bot(run, "ann")

    assert run.finish("--new-versions")[0] == 0

    assert list_versions(run) == {"ann": 1, "bob": 1, "cem": 1}
    assert run.games() == 10, "it has played all its games before"
    rows = json.loads(malice("standings", run.db, "--json", "--versions", "all").stdout)[0]["rows"]
    assert sorted((row["label"], row["games"]) for row in rows) == [("ann", 4), ("ann@2", 4), ("bob", 6), ("cem", 6)]
    assert malice("verify", run.db).exit_code == 0


@pytest.mark.whole
def test_the_file_may_let_new_versions_play(run: Run) -> None:
    run.write(f'{FILE}new_versions = "play"\n')
    write_bot(run, "ann", "# better")

    assert run.finish()[0] == 0
    assert list_versions(run)["ann"] == 2


def test_the_last_good_version_plays_for_one_that_does_not_start(run: Run) -> None:
    write_bot(run, "ann", "raise SystemExit(7)")
    run.write(FILE.replace("deals = 1", "deals = 2"))

    code, out, err = run.finish("--new-versions")

    assert code == 0, err
    assert "version 1 of ann plays in its place" in err
    assert "ann plays in version 1, since its bot is broken: crash" in out
    assert run.games() == 12
    assert list_versions(run)["ann"] == 1


def test_a_bot_may_be_edited_while_a_run_goes_on(run: Run) -> None:
    os.mkfifo(run.fifo)
    wait = "import os\nif os.path.exists({0!r}): open({0!r}, 'w').write('here\\n')\n".format(str(run.fifo))
    write_bot(run, "dan")
    (run.folder / "bots/dan/bot.py").write_text(f"{wait}{FIRST}")
    pipe = os.open(run.fifo, os.O_RDWR)
    run.write(f'{FILE}isolation = "none"\n')
    process = run.start()
    assert os.read(pipe, 5) == b"here\n", "its greeting"
    assert os.read(pipe, 5) == b"here\n", "its first game"

    write_bot(run, "dan", "# edited while it played")
    run.fifo.unlink()
    _, err = process.communicate(timeout=PATIENCE_S)
    os.close(pipe)

    assert process.returncode == 0, err
    assert run.games() == 12
    with Store(run.db) as store:
        assert [entry.version.number for entry in store.entries()] == [1, 1, 1, 1]
        assert store.league().versions["dan"][0].hash == store.entries()[3].version.hash
    assert malice("verify", run.db).exit_code == 0
    assert run.finish()[0] == 2, "now it has changed"


def test_versions_play_against_each_other_wherever_a_bot_is_named(run: Run) -> None:
    write_bot(run, "ann", "# better")
    assert run.finish("--new-versions")[0] == 0
    run.write('name = "duel"\nentries = ["ann@1", "ann@last"]\ndeals = 1\n')

    code, out, err = run.finish()

    assert code == 0, err
    assert "duel: new tournament; the league has tournament" in err
    assert "ann@1" in out
    assert "ann@2" in out
    with Store(run.db) as store:
        store.select("duel")
        hashes = [entry.version.hash for entry in store.entries()]
        assert hashes == [each.hash for each in store.league().versions["ann"]]
    assert malice("rerun", run.db, "tournament:0.0.0.0", "ann@2", "--seat", "0").exit_code == 0
    result = malice("rerun", run.db, "duel:0.0.0.0", "ann@3", "--seat", "0")
    assert (result.exit_code, "the league knows versions 1 to 2 of 'ann'" in result.output) == (2, True)


def test_entries_that_are_gone_from_the_file_must_be_withdrawn_first(run: Run) -> None:
    run.write(FILE.replace("bots/*", "bots/[ab]*"))
    code, _, err = run.finish()
    assert (code, "malice entry withdraw" in err) == (2, True)

    assert malice("entry", "withdraw", run.db, "cem").exit_code == 0

    assert run.finish()[0] == 0
    assert list(list_versions(run)) == ["ann", "bob", "cem"]


def test_two_bots_of_one_name_need_labels(run: Run) -> None:
    run.write('name = "other"\nentries = ["bots/*"]\n')

    code, _, err = run.finish()

    assert code == 2
    assert "are different bots with the name 'mybot'; give them labels" in err


def test_the_file_says_which_database_keeps_its_tournament(run: Run) -> None:
    (run.folder / "u.toml").write_text(f'{FILE}name = "here"\nleague = "leagues.db"\n')

    assert malice("run", run.folder / "u.toml").exit_code == 0

    assert (run.folder / "leagues.db").exists()
    assert sorted(path.suffix for path in (run.folder / "leagues.bots").iterdir()) == 3 * [""] + 3 * [".tar"]


def test_what_a_withdrawn_author_does_is_no_matter(run: Run) -> None:
    assert malice("entry", "withdraw", run.db, "cem").exit_code == 0
    write_bot(run, "cem", "raise SystemExit(7)")

    code, out, err = run.finish("--new-versions")

    assert code == 0, err
    assert "broken" not in err + out
    assert list_versions(run)["cem"] == 1


def test_a_reason_to_reinstate_is_no_fault_of_the_bot(run: Run) -> None:
    assert malice("entry", "withdraw", run.db, "cem").exit_code == 0
    assert malice("entry", "reinstate", run.db, "cem", "--reason", "back").exit_code == 0

    assert "broken" not in malice("standings", run.db).stdout


@pytest.mark.whole
def test_a_dry_run_may_let_new_versions_play(run: Run) -> None:
    write_bot(run, "ann", "# better")

    code, out, err = run.finish("--new-versions", "--dry-run")

    assert code == 0, err
    assert "10 games" in out


def test_two_bots_with_one_explicit_label_are_refused(run: Run) -> None:
    lines = ", ".join(f'{{ bot = "bots/{name}", label = "x" }}' for name in ("ann", "bob"))
    run.write(f'name = "other"\nentries = [{lines}]\n')

    code, _, err = run.finish()

    assert (code, "labels: expected distinct names, got more than once: 'x'" in err) == (2, True)


@pytest.mark.whole
def test_hints_and_keys_name_a_tournament_that_is_not_the_newest(run: Run) -> None:
    assert malice("entry", "withdraw", run.db, "cem").exit_code == 0
    run.write('name = "newer"\nentries = ["ann@1", "bob@1"]\ndeals = 1\n')
    assert run.finish()[0] == 0

    out = malice("standings", run.db, "--tournament", "tournament").stdout
    assert f"malice entry reinstate {run.db} cem --tournament tournament" in out
    assert malice("feedback", run.db, "--tournament", "tournament", "--out", run.folder / "f").exit_code == 0
    pages = "".join(path.read_text() for path in (run.folder / "f").glob("*.md"))
    assert "malice replay t.db tournament:0." in pages


@pytest.mark.whole
def test_feedback_names_the_older_version_that_played(run: Run, tmp_path: Path) -> None:
    write_bot(run, "ann", "# better")
    assert run.finish("--new-versions")[0] == 0

    assert malice("feedback", run.db, "--out", tmp_path / "out").exit_code == 0

    page = (tmp_path / "out/ann.md").read_text()
    played = dict(re.findall(r"[Gg]ame (\d[\d.]+)( \(version 1\))?", page))
    assert {key.partition(".")[0] for key in played} == {"0", "1"}
    assert all(bool(old) == key.startswith("0.") for key, old in played.items())
    assert "(version" not in (tmp_path / "out/bob.md").read_text()
