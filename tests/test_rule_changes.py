"""Leagues whose rules or formats have changed since their parts were created.

`old_leagues/before-revisions.db` is from the malice before revisions were stored: Double Solitaire was dealt from the
other end, and has got a parameter since; of Spite & Malice other things have changed, and of Nuts nothing.

`old_leagues/before-play-offs.db` is from the malice that gave drawn matches of a knockout play-offs of as many deals as
the match, and nothing to Buchholz for a bye: a whole Swiss, a whole cup, and one of each with open games.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from malice.referee.families import load_family
from malice.tournaments.league.formats import growing
from malice.tournaments.league.formats.decisions import Done
from malice.tournaments.league.journal import restore_ruleset, store_ruleset
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import verify_league
from tests.command_line import malice

OLD = Path(__file__).parent / "old_leagues"
RULESETS = {"patience": "nuts-2", "solitaire": "double-solitaire", "spite": "catsatcards", "open": "double-solitaire"}
SHAS = {
    "patience": "dfd18c8ebe3bb597354e61ed708a7a95385242aa42dc5fac040bf1951440592b",
    "solitaire": "28ae234b7cb782a5adc2bac5652fff72d69dae9d8b0eeeed7836b5852cabc28a",
    "spite": "ff62f654dba35b371151970fc9d5f7e34de3403cf95cb085b2a33afe598c9aa9",
}
"""As the malice that played them printed them."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of the old league, with the bots that played in it."""
    shutil.copytree(OLD, tmp_path / "old")
    return tmp_path / "old" / "before-revisions.db"


def write_file(db: Path, name: str, deals: int) -> Path:
    """Write the file of one of its tournaments."""
    entries = ", ".join(f'{{ bot = "python3 {label}.py", label = "{label}" }}' for label in ("first", "last"))
    path = db.parent / f"{name}.toml"
    path.write_text(
        f'name = "{name}"\nleague = "{db.name}"\nentries = [{entries}]\nrulesets = ["{RULESETS[name]}"]\n'
        f'deals = {deals}\nseed = "{name}"\nseries = false\njobs = 1\n'
    )
    return path


def verify(db: Path) -> dict[str, Any]:
    """Verify all tournaments; return what is told of each."""
    result = malice("verify", db, "--all", "--json")
    assert result.exit_code == 0, result.stderr
    return {each["tournament"]: each for each in json.loads(result.stdout)}


def change(name: str) -> dict[str, Any]:
    return {"kind": "rules", "name": name, "then": 1, "now": load_family(name).revision}


def test_what_replays_is_verified_and_the_rest_is_named_as_changed_since(old: Path) -> None:
    found = verify(old)

    assert {name: found[name]["sha"] for name in SHAS} == SHAS
    parts = {name: found[name]["parts"][0] for name in RULESETS}
    assert {name: (part["changes"], part["unreplayed"], part["games"]) for name, part in parts.items()} == {
        "patience": ([], 0, 2),
        "spite": ([change("spite")], 0, 2),
        "solitaire": ([change("double-solitaire")], 2, 2),
        "open": ([change("double-solitaire")], 2, 2),
    }
    assert "2 games not replayed" in malice("verify", old, "--tournament", "solitaire").stdout


def test_damage_in_a_game_of_other_rules_is_still_damage(old: Path) -> None:
    with closing(sqlite3.connect(old)) as db, db:
        db.execute("UPDATE games SET summary = replace(summary, '\"scores\":[1,0]', '\"scores\":[2,0]')")

    result = malice("verify", old, "--all")

    assert result.exit_code == 5
    assert "digest" in result.stderr


@pytest.mark.parametrize("name", ["patience", "solitaire"])
def test_a_tournament_without_open_games_goes_on_by_todays_rules_in_a_part_of_its_own(old: Path, name: str) -> None:
    result = malice("run", write_file(old, name, deals=2))

    assert result.exit_code == 0, result.stderr
    before, after = verify(old)[name]["parts"]
    assert (before["sha"], before["unreplayed"]) == (SHAS[name], 2 if name == "solitaire" else 0)
    assert (after["changes"], after["unreplayed"], after["games"]) == ([], 0, 2)


@pytest.mark.parametrize("words", ["{file}", "{file} --create-only", "--shard 1/2 --db {db} --tournament open"])
def test_a_part_with_open_games_is_not_played_on_by_other_rules(old: Path, words: str) -> None:
    path = write_file(old, "open", deals=60)

    result = malice("run", *(word.format(file=path, db=old) for word in words.split()))

    assert result.exit_code == 2
    assert "the rules of 'double-solitaire' (revision 1 then, " in result.stderr
    with closing(sqlite3.connect(old)) as db, closing(sqlite3.connect(OLD / old.name)) as original:
        for table in ("journal", "games"):
            assert list(db.execute(f"SELECT * FROM {table}")) == list(original.execute(f"SELECT * FROM {table}"))


def test_a_game_that_does_not_replay_says_that_its_rules_have_changed(old: Path) -> None:
    result = malice("replay", old, "solitaire:0.0.0.0")

    assert result.exit_code == 2
    assert "game 0.0.0.0: was played by revision 1 of the rules of 'double-solitaire'" in result.stderr
    assert malice("replay", old, "spite:0.0.0.0").exit_code == 0
    assert malice("site", old, "--tournament", "spite", "--out", old.parent / "site").exit_code == 0
    rules = json.loads(malice("export", old, "--tournament", "solitaire").stdout.splitlines()[0])["rules"]
    assert "exchange" not in rules, "the digest covers the rules as they were"


def test_a_merge_takes_no_game_that_does_not_replay(old: Path) -> None:
    copy = old.with_name("copy.db")
    shutil.copy(old, copy)
    with closing(sqlite3.connect(old)) as db, db:
        numbers = [number for (number,) in db.execute("SELECT number FROM games WHERE tournament = 3")]
        for table in ("records", "games"):
            db.execute(f"DELETE FROM {table} WHERE number IN (?, ?)", numbers)

    result = malice("merge", old, copy)

    assert result.exit_code == 5
    assert "was played by revision 1 of the rules" in result.stderr
    assert f"{copy}: nothing taken" in result.stdout


def test_parameters_that_a_family_no_longer_knows_are_left_out_only_if_its_revision_is_another() -> None:
    from malice.referee.rulesets import load_ruleset as find

    ruleset = find("book")
    stored = store_ruleset(ruleset)
    stored = replace(stored, rules=stored.rules | {"talon": 3, "discard": "sometimes"})

    with pytest.raises(ValueError, match="sometimes"):
        restore_ruleset(stored)
    old = restore_ruleset(replace(stored, revision=stored.revision + 1))
    assert old.rules == replace(ruleset.rules, discard="mandatory"), "the default of what it does not understand"


def test_a_part_that_todays_format_would_not_create_is_named(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    today = growing.ROUND_ROBIN._replace(revision=2, decide=lambda format_input: Done())
    monkeypatch.setattr(growing, "ROUND_ROBIN", today)

    with Store(old) as store:
        store.select("patience")
        (part,) = verify_league(store).parts

    assert [(each.kind, each.then, each.now) for each in part.changes] == [("format", 1, 2)]
    assert part.differences == ("part 0 ('round-robin'): the format asks for no part there",)
    assert part.unreplayed == 0


def test_swiss_and_knockout_of_before_are_named_as_changed_since_and_no_open_part_is_played_on(old: Path) -> None:
    db = old.with_name("before-play-offs.db")
    bots = ", ".join(f'{{ bot = "python3 {label}.py", label = "{label}" }}' for label in ("first", "last", "middle"))
    for name, form in (("swiss-open", 'format = "swiss"\nrounds = 3'), ("cup-open", 'format = "knockout"')):
        path = db.with_name(f"{name}.toml")
        path.write_text(
            f'name = "{name}"\nleague = "{db.name}"\n{form}\nentries = [{bots}]\nrulesets = ["nuts-2"]\ndeals = 1\n'
            f'seed = "{name}"\njobs = 1\n'
        )
        refused = malice("run", path)
        assert refused.exit_code == 2
        assert "has open games, and other rules than those it began by: the format '" in refused.stderr

    found = verify(db)

    assert {name: [part["unreplayed"] for part in each["parts"]] for name, each in found.items()} == {
        "swiss": [0, 0],
        "cup": [0, 0, 0],
        "swiss-open": [0],
        "cup-open": [0],
    }
    for name, kind in (("swiss", "swiss"), ("cup", "knockout"), ("swiss-open", "swiss"), ("cup-open", "knockout")):
        for part in found[name]["parts"]:
            assert part["changes"] == [{"kind": "format", "name": kind, "then": 1, "now": 2}]
    differences = [part["differences"] for part in found["cup"]["parts"]]
    assert differences[1] == [
        "part 1 ('semi-finals, play-off 1'): the format asks for 'semi-finals, play-off 1' with other deals there"
    ]
