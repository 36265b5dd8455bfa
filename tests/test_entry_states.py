"""`malice entry`: what an organiser decides about entries, and what becomes of their games."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from malice.tournaments.league.desk import name_user
from malice.tournaments.league.journal import AnyEvent, StateChanged
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.leagues import change, write_events

pytestmark = pytest.mark.slow

FILE = """
name = "cup"
entries = [ENTRIES]
rulesets = ["./short.toml"]
seed = "states"
deals = DEALS
isolation = "none"
"""


def write(folder: Path, *entries: str, deals: int = 1) -> Path:
    text = FILE.replace("ENTRIES", ", ".join(f'"{entry}"' for entry in entries)).replace("DEALS", str(deals))
    (folder / "cup.toml").write_text(text)
    return folder / "cup.toml"


def run(folder: Path, *words: str) -> str:
    result = malice("run", folder / "cup.toml", "--db", folder / "cup.db", *words)
    assert result.exit_code == 0, result.output
    return result.stderr


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished tournament of three entries."""
    folder = tmp_path_factory.mktemp("cup")
    (folder / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 1\n')
    write(folder, "greedy", "uniform", "first")
    run(folder)
    return folder


@pytest.fixture
def cup(finished: Path, tmp_path: Path) -> Path:
    """A copy of that folder."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path


def decide(cup: Path, *words: str) -> None:
    result = malice("entry", words[0], cup / "cup.db", *words[1:])
    assert result.exit_code == 0, result.output


def list_entries(cup: Path) -> dict[str, tuple[str, str, int]]:
    """Return by label: state, reason, games."""
    lines = json.loads(malice("entry", "list", cup / "cup.db", "--json").stdout)
    return {line["label"]: (line["state"], line["reason"], line["games"]) for line in lines}


def list_results(cup: Path) -> dict[str, tuple[int, str]]:
    """Return from the standings, by label: rated games, state."""
    (standings,) = json.loads(malice("standings", cup / "cup.db", "--json").stdout)
    return {row["label"]: (row["rating"]["games"], row["state"]) for row in standings["rows"]}


def list_events(cup: Path) -> list[AnyEvent]:
    with Store(cup / "cup.db") as store:
        return [event for _, event in store.events()]


def reopen(cup: Path, *numbers: int) -> None:
    """Take back the end of the only part, and some of its games."""
    for number in numbers:
        change(
            cup / "cup.db", f"DELETE FROM records WHERE number = {number}; DELETE FROM games WHERE number = {number}"
        )
    write_events(cup / "cup.db", lambda events: events[:-1])


@pytest.mark.whole
def test_the_list_says_who_plays_in_which_version_and_how_much(cup: Path) -> None:
    assert list_entries(cup) == dict.fromkeys(("greedy", "uniform", "first"), ("playing", "", 4))
    text = malice("entry", "list", cup / "cup.db").stdout.splitlines()
    assert text[0].split() == ["entry", "version", "state", "games", "disk", "content", "bot", "why"]
    assert [line.split()[:4] for line in text[1:]] == [
        [label, "1", "playing", "4"] for label in ("greedy", "uniform", "first")
    ]


def test_the_games_of_a_withdrawn_entry_count_on(cup: Path) -> None:
    sha = json.loads(malice("verify", cup / "cup.db", "--json").stdout)["sha"]

    decide(cup, "withdraw", "first", "--reason", "its author is ill")

    assert list_entries(cup)["first"] == ("withdrawn", "its author is ill", 4)
    assert list_results(cup) == {"greedy": (4, "playing"), "uniform": (4, "playing"), "first": (4, "withdrawn")}
    assert json.loads(malice("verify", cup / "cup.db", "--json").stdout)["sha"] == sha


def test_the_games_of_a_disqualified_entry_count_for_nobody(cup: Path) -> None:
    decide(cup, "disqualify", "first", "--reason", "it read the disk")

    assert list_results(cup) == {"greedy": (2, "playing"), "uniform": (2, "playing"), "first": (0, "disqualified")}
    assert list_entries(cup)["first"] == ("disqualified", "it read the disk", 4)
    assert malice("verify", cup / "cup.db").exit_code == 0
    decide(cup, "reinstate", "first")
    assert list_results(cup) == dict.fromkeys(("greedy", "uniform", "first"), (4, "playing"))


def test_a_withdrawn_entry_may_be_disqualified_but_not_the_other_way_round(cup: Path) -> None:
    for word, state in (("withdraw", "withdrawn"), ("disqualify", "disqualified")):
        decide(cup, word, "first")
        assert list_entries(cup)["first"][0] == state

    result = malice("entry", "withdraw", cup / "cup.db", "first")

    assert (result.exit_code, "is disqualified; to let its games count again" in result.output) == (2, True)
    assert list_entries(cup)["first"][0] == "disqualified"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["withdraw", "nobody"], "no entry 'nobody'; entries: greedy, uniform, first"),
        (["disqualify", "Greedy"], "no entry 'Greedy'"),
        (["reinstate", "nobody"], "no entry 'nobody'"),
        (["reinstate", "greedy"], "greedy: is neither suspended nor withdrawn nor disqualified"),
        (["withdraw", "uniform"], "uniform: is withdrawn already"),
        (["withdraw", "first", "--tournament", "league"], "no tournament 'league'; it has cup"),
    ],
)
def test_a_decision_that_cannot_be_changes_nothing(words: list[str], said: str, cup: Path) -> None:
    decide(cup, "withdraw", "uniform")
    before = list_events(cup)

    result = malice("entry", words[0], cup / "cup.db", *words[1:])

    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert list_events(cup) == before


@pytest.mark.parametrize("word", ["list", "withdraw", "disqualify", "reinstate"])
def test_a_league_that_is_not_there_is_not_created(word: str, tmp_path: Path) -> None:
    result = malice("entry", word, tmp_path / "no.db", *([] if word == "list" else ["ana"]))

    assert result.exit_code == 2
    assert "no.db: no such database" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_part_closes_without_the_open_games_of_an_entry_that_left(cup: Path) -> None:
    with Store(cup / "cup.db") as store:
        numbers = [game.number for game in store.games() if "first" in game.labels]
    reopen(cup, numbers[0], numbers[-1])
    decide(cup, "withdraw", "first")

    run(cup)

    assert list_entries(cup)["first"] == ("withdrawn", "", 2)
    verified = json.loads(malice("verify", cup / "cup.db", "--json").stdout)
    assert (verified["complete"], verified["games"]) == (True, 4)
    assert verified["parts"][0]["seed"], "its seed is told"


def test_what_a_reinstated_entry_missed_becomes_a_new_part(cup: Path) -> None:
    with Store(cup / "cup.db") as store:
        numbers = [game.number for game in store.games() if "first" in game.labels]
    reopen(cup, *numbers)
    decide(cup, "withdraw", "first")
    run(cup)
    decide(cup, "reinstate", "first")

    said = run(cup)

    assert "1 more deal at 2 tables: 4 games" in said
    assert list_entries(cup)["first"] == ("playing", "", 4)
    with Store(cup / "cup.db") as store:
        assert [(len(part.tables), part.commit) for part in store.parts()] == [
            (3, store.tournament().seeds(0).commit),
            (2, store.tournament().seeds(1).commit),
        ]
    assert malice("verify", cup / "cup.db").exit_code == 0


def test_an_entry_that_left_may_leave_the_file_and_meets_no_newcomer(cup: Path) -> None:
    write(cup, "greedy", "uniform", "planner")
    refused = malice("run", cup / "cup.toml", "--db", cup / "cup.db")
    assert refused.exit_code == 2
    assert "entries: 'first' is gone from the file" in refused.stderr
    assert f"malice entry withdraw {cup / 'cup.db'} first" in refused.stderr
    write(cup, "greedy", "uniform")
    decide(cup, "withdraw", "first")

    run(cup)

    assert list_entries(cup)["first"] == ("withdrawn", "", 4)
    write(cup, "greedy", "uniform", deals=2)
    assert "1 more deal at 1 table: 2 games" in run(cup)
    assert list_results(cup)["first"] == (4, "withdrawn")


def test_decisions_are_told_in_the_journal_with_their_reasons(cup: Path) -> None:
    before = list_events(cup)
    decide(cup, "withdraw", "first", "--reason", "ill")
    decide(cup, "reinstate", "first", "--reason", "well")

    who = name_user()
    assert list_events(cup)[len(before) :] == [
        StateChanged("first", "withdrawn", "ill", who),
        StateChanged("first", "playing", "well", who),
    ]


def test_a_decision_counts_in_the_tournament_that_is_named_and_in_no_other(cup: Path) -> None:
    write(cup, "greedy", "first")
    path = cup / "cup.toml"
    path.write_text(path.read_text().replace('"cup"', '"final"'))
    run(cup)

    decide(cup, "withdraw", "first", "--tournament", "cup")

    assert list_entries(cup)["first"][0] == "playing", "the newest tournament is the final"
    with Store(cup / "cup.db") as store:
        assert {name: each.state("first").state for name, each in store.league().tournaments.items()} == {
            "cup": "withdrawn",
            "final": "playing",
        }


def test_labels_and_reasons_are_harmless_on_a_terminal(cup: Path) -> None:
    decide(cup, "withdraw", "first", "--reason", "\x1b[2Jill")

    assert "\x1b" not in malice("entry", "list", cup / "cup.db").stdout
    assert "\x1b" not in malice("standings", cup / "cup.db").stdout
