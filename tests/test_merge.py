"""What a merge takes from a copy of a league, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.referee.records import compute_digest
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import verify_league
from malice.tournaments.running.registration import close_complete_parts
from tests.command_line import malice
from tests.sharing import copy_league, crash_uniform, found_league, merge, play

pytestmark = pytest.mark.slow


@pytest.fixture
def league(tmp_path: Path) -> Path:
    return found_league(tmp_path)


def test_a_forged_game_is_named_and_nothing_of_its_copy_is_taken(league: Path) -> None:
    honest, forged = (play(copy_league(league, name), share) for name, share in (("honest", "1/2"), ("forged", "2/2")))
    with Store(forged, create=True) as store:
        game, record = list(store.stored_rows())[3]
        record = replace(record, actions=(*record.actions[:-1], (record.actions[-1][0], "h2C-c0")))
        record = replace(record, digest=compute_digest(record))
        for table in ("records", "games"):
            store._file.write(f"DELETE FROM {table} WHERE number = ?", (game.number,))
        store.add(replace(game, digest=record.digest), record)

    result = malice("merge", league, forged, honest)

    assert result.exit_code == 5
    assert f"Error: {forged}: game {game.key}: action {len(record.actions) - 1}: " in result.stderr
    assert result.stdout.splitlines()[:2] == [f"{forged}: nothing taken", f"{honest}: 12 games taken"]
    with Store(league) as store:
        assert verify_league(store).games == 12


def test_two_games_of_one_key_are_a_clash_that_names_both_digests(league: Path) -> None:
    one, other = copy_league(league, "one"), copy_league(league, "other")
    merge(league, play(one, "1/2"))
    play(other, "1/1", crash_uniform)
    with Store(league) as mine, Store(other) as theirs:
        digests = {game.key: game.digest for game in mine.stored_games()}
        clash = next(game for game in theirs.stored_games() if digests.get(game.key, game.digest) != game.digest)

    result = malice("merge", league, other, "--json")

    assert result.exit_code == 5
    assert f"game {clash.key}: expected the digest {digests[clash.key][:12]}" in result.stderr
    assert clash.digest[:12] in result.stderr
    merged = json.loads(result.stdout)
    assert [copy["taken"] for copy in merged["copies"]] == [0]
    assert [each["games"] for each in merged["tournaments"]] == [12]


def test_a_file_that_is_no_copy_is_refused_before_anything_is_taken(league: Path, tmp_path: Path) -> None:
    good = play(copy_league(league, "good"), "1/2")
    alone = play(copy_league(league, "alone"), "1/1")
    with Store(alone, create=True) as store:
        assert len(list(close_complete_parts(store))) == 1
    other = found_league(tmp_path / "other")

    for wrong, why in ((other, "got another league"), (alone, "got 1 event more"), (league, "got the league itself")):
        result = malice("merge", league, good, wrong)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"Error: {wrong}: expected a copy of " in result.stderr
        assert why in result.stderr
    with Store(league) as store:
        assert store.is_empty()


def test_games_of_a_part_that_was_closed_meanwhile_come_too_late(league: Path) -> None:
    late = play(copy_league(league, "late"), "1/2")
    merge(league, play(copy_league(league, "rest"), "2/2"))
    for label in ("greedy", "uniform"):
        assert malice("entry", "withdraw", league, label).exit_code == 0
    assert malice("merge", league, late.with_name("rest.db")).exit_code == 0, "nobody plays on: the part closes"

    result = malice("merge", league, late)

    assert result.exit_code == 0
    assert f"{late}: 0 games taken, 12 left out: their part is closed" in result.stdout
    with Store(league) as store:
        assert verify_league(store).games == 12
