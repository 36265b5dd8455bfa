"""An entry under another label: its versions and games go on, what was played keeps the label of its time."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest

from malice.tournaments.league.publication import choose_publication
from malice.tournaments.league.store import Store
from malice.tournaments.web.replay_tables import ReplayTables
from tests.command_line import malice
from tests.runs import Run, write_bot
from tests.site_files import data

pytestmark = pytest.mark.slow

FILE = """
name = "course"
entries = [{{ bot = "bots/*", label = "{{folder}}" }}]
rulesets = ["./short.toml"]
seed = "renaming"
deals = {deals}
{more}
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run(tmp_path)
    (tmp_path / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 1\n')
    for label in ("ann", "bob", "cem", "dora"):
        write_bot(run, label)
    bot = tmp_path / "bots/ann/bot.py"
    bot.write_text(bot.read_text().replace('"move":"%s"', '"move":"%s","note":"a note of ann"'))
    return run


def list_rows(run: Run) -> dict[str, int]:
    (standings,) = json.loads(malice("standings", run.db, "--json", code=0).stdout)
    return {row["label"]: row["games"] for row in standings["rows"]}


def verify(run: Run) -> None:
    assert "all of them replay" in malice("verify", run.db, code=0).stdout


@pytest.mark.parametrize(
    "more",
    ["", *(pytest.param(each, marks=pytest.mark.whole) for each in ("tables = 4", 'format = "swiss"\nrounds = 3'))],
)
def test_a_renamed_entry_keeps_its_games_and_goes_on(more: str, run: Run) -> None:
    deals = 1 if "swiss" in more else 2
    run.write(FILE.format(deals=1, more=more))
    assert run.finish()[0] == 0
    before = list_rows(run)

    malice("entry", "rename", run.db, "ann", "zoe", "--reason", "married", code=0)
    assert list_rows(run) == {"zoe" if label == "ann" else label: games for label, games in before.items()}
    verify(run)
    run.write(FILE.format(deals=deals, more=more))
    code, _, err = run.finish()  # the file still says ann
    assert code == 0, err
    (run.folder / "bots/ann").rename(run.folder / "bots/zoe")
    malice("entry", "rename", run.db, "bob", "al", code=0)
    malice("entry", "rename", run.db, "zoe", "ida", code=0)
    write_bot(run, "eve")
    code, _, err = run.finish() if not more.startswith("format") else (0, "", "")
    assert code == 0, err

    verify(run)
    assert {"ida", "al", "cem", "dora"} <= set(list_rows(run))
    exported = [json.loads(line) for line in malice("export", run.db, code=0).stdout.splitlines()]
    first = next(game for game in exported if any(each["label"] in ("ann", "zoe", "ida") for each in game["entries"]))
    assert "ann" in {each["label"] for each in first["entries"]}
    malice("site", run.db, "--out", run.folder / "site", code=0)
    malice("feedback", run.db, "--out", run.folder / "feedback", code=0)
    assert "a note of ann" in (run.folder / "site/bots/ida.html").read_text()
    shown = {tuple(each) for each in data(run.folder / "site/data/games-0.js")["labels"]}
    assert {("ann", "ida"), ("bob", "al")} <= shown, "replays show the label of their time, and link to today's page"
    with Store(run.db) as store:
        assert choose_publication(store.tournament(), ["ida"]).evidence == ("ann", "ida", "zoe")


def test_a_folder_under_another_name_is_asked_about(run: Run) -> None:
    run.write(FILE.format(deals=1, more=""))
    assert run.finish()[0] == 0
    (run.folder / "bots/ann").rename(run.folder / "bots/zoe")

    code, _, asked = run.finish()
    night, _, said = run.finish("--keep-going")

    assert (code, "malice entry rename t.db ann zoe" in asked) == (2, True)
    assert (night, "malice entry rename t.db ann zoe" in said) == (0, True)
    assert list_rows(run).keys() == {"ann", "bob", "cem", "dora"}
    malice("entry", "rename", run.db, "ann", "zoe", code=0)
    assert run.finish()[0] == 0
    assert list_rows(run) == dict.fromkeys(("zoe", "bob", "cem", "dora"), 6)
    (told,) = json.loads(malice("report", run.db, "--since", "today", "--json", code=0).stdout)
    accepted = [(each["label"], bool(each["hash"])) for each in told["receipts"] if each["version"]]
    assert accepted == [(label, True) for label in ("zoe", "bob", "cem", "dora", "zoe")], (
        "its folder was away meanwhile"
    )
    assert [(each["label"], each["state"], each["new"]) for each in told["decided"]] == [("ann", "renamed", "zoe")]
    verify(run)
    with ReplayTables(run.db, run.folder) as tables, patch.object(tables, "_start", " ".join):
        begun = tables.open("", b'{"key":"0.0.0.0","actions":1,"seat":1,"anew":false}')
    assert begun.startswith("zoe@1 you --from"), "a table opened from a replay seats who played, under today's label"


@pytest.mark.whole
@pytest.mark.parametrize("new", ["bob", "ann", ""])
def test_a_label_that_somebody_bears_or_bore_is_refused(new: str, run: Run) -> None:
    run.write(FILE.format(deals=1, more=""))
    assert run.finish()[0] == 0
    malice("entry", "rename", run.db, "cem", "carl", code=0)

    malice("entry", "rename", run.db, "ann", new, code=2)
    malice("entry", "rename", run.db, "ann", "cem", code=2)
    malice("entry", "rename", run.db, "nobody", "x", code=2)
    assert "withdrawn" in malice("entry", "withdraw", run.db, "cem", code=0).stderr, "whoever knows the old label"
