"""Tournaments of variants: what they are called, which versions they have, and what of them is told."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from malice.tournaments.entries.bots import list_shipped_bots
from malice.tournaments.league.store import Store
from tests.command_line import malice
from tests.runs import Run
from tests.site_files import Page
from tests.variants import MANIFEST, write_variable_bot

pytestmark = pytest.mark.slow

FILE = """
entries = ["mybot", "mybot?weight=300", { bot = "mybot?weight=400", label = "bold" }]
deals = 1
seed = "variants"
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A tournament of three variants of one bot that was played; it stays as it is."""
    run = Run(tmp_path_factory.mktemp("played"))
    write_variable_bot(run.folder / "mybot")
    run.write(FILE)
    code, _, err = run.finish("--site", "site")
    assert code == 0, err
    assert "one and the same bot" not in err
    return run


@pytest.fixture
def run(played: Run, tmp_path: Path) -> Run:
    """A copy of that tournament, to go on with."""
    shutil.copytree(played.folder, tmp_path, dirs_exist_ok=True)
    return Run(tmp_path)


def list_weights(run: Run) -> dict[str, tuple[int, str]]:
    """Return by label the version that plays, and its weight."""
    lines = json.loads(malice("entry", "list", run.db, "--json").stdout)
    return {line["label"]: (line["version"], line["parameters"]["weight"]) for line in lines}


def test_each_variant_plays_with_its_parameters_and_shows_them(played: Run) -> None:
    with Store(played.db) as store:
        told = {
            (record.entries[record.actions[index][0]][0], note)
            for record in store.records()
            for index, note in record.notes.items()
        }
    rest = "MALICE_BOLD=false MALICE_MODE=slow & steady MALICE_SHARE=0.5"
    weights = {"mybot": 250, "mybot?weight=300": 300, "bold": 400}

    assert told == {(label, f"{rest} MALICE_WEIGHT={weight}") for label, weight in weights.items()}
    assert list_weights(played) == {label: (1, str(weight)) for label, weight in weights.items()}
    (page,) = (played.folder / "site/bots").glob("mybot-weight-300*.html")
    assert "weight = 300, share = 0.5, bold = false" in Page(page).words
    assert malice("verify", played.db).exit_code == 0


@pytest.mark.whole
def test_a_label_plays_on_with_another_value_in_a_new_version(run: Run) -> None:
    run.write(FILE.replace("400", "450"))

    code, _, err = run.finish()
    assert (code, "bold (weight = 450, was 400): the bot has changed" in err) == (2, True), err
    assert run.finish("--new-versions")[0] == 0
    assert list_weights(run)["bold"] == (2, "450")
    run.write(FILE)
    assert run.finish("--new-versions")[0] == 0

    assert list_weights(run)["bold"] == (1, "400")
    assert run.games() == 10, "it has played all its games before"


def test_a_changed_default_is_a_changed_bot(run: Run) -> None:
    write_variable_bot(run.folder / "mybot", MANIFEST.replace("250", "260"))

    code, _, err = run.finish()

    assert code == 2
    assert "mybot (weight = 260, was 250), mybot?weight=300, bold: these bots have changed" in err


@pytest.mark.whole
def test_another_value_without_a_label_is_another_entry(run: Run) -> None:
    run.write(FILE.replace('"mybot?weight=300"', '"mybot?weight=300", "mybot?weight=333"'))
    assert run.finish()[0] == 0
    assert list_weights(run)["mybot?weight=333"] == (1, "333")
    run.write(FILE)

    code, _, err = run.finish()

    assert code == 2
    assert "'mybot?weight=333' is gone from the file" in err
    assert "malice entry withdraw t.db 'mybot?weight=333'" in err


@pytest.mark.parametrize(
    ("words", "name", "values"),
    [
        ("bold@1?share=0.7", "bold@1?share=0.7", "MALICE_SHARE=0.7 MALICE_WEIGHT=400"),
        ("mybot?weight=300@last", "mybot?weight=300@1", "MALICE_SHARE=0.5 MALICE_WEIGHT=300"),
        ("mybot?weight=300@1?weight=5", "mybot?weight=300@1?weight=5", "MALICE_SHARE=0.5 MALICE_WEIGHT=5"),
    ],
)
def test_a_version_keeps_the_parameters_that_a_name_does_not_change(
    played: Run, words: str, name: str, values: str
) -> None:
    told = json.loads(malice("rerun", played.db, "0.0.0.0", words, "--all", "--json").stdout)

    assert told["bot"] == name
    assert told["choices"][0]["note"].endswith(values)


@pytest.mark.whole
def test_an_anonymous_tournament_tells_no_parameter(tmp_path: Path) -> None:
    run = Run(tmp_path)
    secret = "MODE-OF-ANNA"
    write_variable_bot(tmp_path / "mybot")
    shutil.copy(list_shipped_bots()["first"] / "bot.py", tmp_path / "mybot")  # tells nothing in notes
    run.write(f'{FILE}anonymous = true\nnew_versions = "play"\n'.replace("weight=300", f"mode={secret}"))
    assert run.finish("--site", "site")[0] == 0
    run.write((tmp_path / "t.toml").read_text().replace("400", "450"))

    code, _, err = run.finish("--site", "site")

    assert code == 0, err
    assert run.games() == 10, "the new version has played, the old one with its own parameters before"
    told = "\n".join(sqlite3.connect(run.db).iterdump())
    told += "".join(path.read_text() for path in (tmp_path / "site/bots").iterdir())
    told += (tmp_path / "site/index.html").read_text() + malice("entry", "list", run.db, "--json").stdout
    assert [word for word in (secret, "weight", "steady") if word in told] == []
    assert secret in (tmp_path / "t.names.csv").read_text()
