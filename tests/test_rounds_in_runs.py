"""Tournaments in rounds as they are run for real: who is absent, and who changes a bot in the midst of a round."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.processes import PATIENCE_S
from tests.runs import Run, list_titles, list_versions, write_bot

STOPS = """
import os, signal
with open({0!r}, "a") as starts:
    starts.write("x")
if os.path.getsize({0!r}) == 3:
    with open({1!r}, "w") as pipe:
        pipe.write("here")
    signal.pause()
"""
"""For a bot that starts to greet, and for each batch: in the midst of its first match it stops, and tells so."""

pytestmark = pytest.mark.slow


@pytest.mark.whole
@pytest.mark.parametrize("format", ['"swiss"\nrounds = 2', '"knockout"'])
def test_a_bot_that_does_not_start_is_not_in_the_first_round_not_even_with_a_bye(format: str, tmp_path: Path) -> None:
    run = Run(tmp_path)
    for name in ("ann", "bob", "cem"):
        write_bot(run, name)
    write_bot(run, "ann", "raise SystemExit(7)")
    entries = 'entries = [{ bot = "bots/*", label = "{folder}" }]'
    run.write(f"{entries}\nformat = {format}\ndeals = 1\n")

    code, out, err = run.finish("--keep-going")

    assert code == 0, err
    assert "1 of 3 entries is broken" in err
    assert "ann is absent" in out
    with Store(run.db) as store:
        seated = {version.label for part in store.parts() for table in part.tables for version in table.versions}
        byes = {version.label for part in store.parts() for version in part.byes}
    assert "ann" not in seated | byes


@pytest.mark.whole
def test_the_old_version_finishes_the_round_and_the_new_one_plays_the_next(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for name in ("ann", "bob", "cem", "dan"):
        write_bot(run, name)
    run.write(
        'entries = [{ bot = "bots/*", label = "{folder}" }]\nformat = "swiss"\nrounds = 2\ndeals = 2\nseed = "x"\n'
    )
    os.mkfifo(run.fifo)
    write_bot(run, "dan", STOPS.format(str(run.folder / "starts"), str(run.fifo)))
    stop = run.start("--jobs", "1")
    with run.fifo.open() as pipe:
        assert pipe.read() == "here"
    stop.terminate()
    stop.communicate(timeout=PATIENCE_S)
    assert list_titles(run) == ["round 1 of 2"]
    write_bot(run, "ann", "# better")

    code, _, err = run.finish()
    assert (code, "play, from the next round on;" in err) == (2, True)
    code, _, err = run.finish("--new-versions")
    assert (code, "the round is over; ann plays on in the new version" in err) == (3, True), err
    assert list_versions(run)["ann"] == 1
    code, _, err = run.finish("--new-versions")

    assert code == 0, err
    assert list_versions(run)["ann"] == 2
    assert list_titles(run) == ["round 1 of 2", "round 2 of 2"]
    assert run.games() == 16
    assert malice("verify", run.db).exit_code == 0
