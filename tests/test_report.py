"""`malice report`: what happened since a day, for people and for scripts, the same whenever it is asked."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.command_line import malice
from tests.runs import Run, write_bot

pytestmark = pytest.mark.slow

FILE = """
name = "course"
entries = [{ bot = "bots/*", label = "{folder}" }]
rulesets = ["./short.toml"]
seed = "report"
deals = 1
new_versions = "play"
keep_going = true
"""


def test_a_night_with_a_broken_and_a_deleted_folder_plays_and_is_reported(tmp_path: Path) -> None:
    run = Run(tmp_path)
    (tmp_path / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 1\n')
    for label in ("ann", "bob", "cem", "dora"):
        write_bot(run, label)
    run.write(FILE)
    assert run.finish()[0] == 0
    write_bot(run, "ann", "# better")
    write_bot(run, "bob", "<b>no Python</b>")
    shutil.rmtree(tmp_path / "bots/cem")
    (tmp_path / "bots/emil").mkdir()
    code, _, err = run.finish()
    assert code == 0, err
    malice("entry", "withdraw", run.db, "dora", "--reason", "*left*", code=0)

    (told,) = json.loads(malice("report", run.db, "--since", "today", "--json", code=0).stdout)
    text = malice("report", run.db, "--since", "today", code=0).stdout
    page = malice("report", run.db, "--since", "today", "--html", code=0).stdout

    receipts = [(each["label"], each["version"]) for each in told["receipts"]]
    assert receipts[:4] == [("ann", 1), ("bob", 1), ("cem", 1), ("dora", 1)]
    assert receipts[4:] == [("ann", 2), ("bob", 0), ("cem", 0), ("emil", 0)]
    assert told["receipts"][-1]["why"] == "it has no bot.toml"
    assert (told["played"], told["verdicts"]) == (told["games"], {})
    assert {need["label"] for need in told["needs"]} == {"bob", "cem"}
    assert [each["label"] for each in told["decided"]] == ["dora"]
    assert "- bob: seen " in text
    assert r"\*left\*" in text
    assert text == malice("report", run.db, "--since", "today", code=0).stdout
    assert re.search(r"<script|src=|<link", page) is None
    assert "not accepted" in page


def test_a_report_of_a_quiet_day_says_so(tmp_path: Path) -> None:
    run = Run(tmp_path)
    (tmp_path / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 1\n')
    run.write('entries = ["first", "uniform"]\ndeals = 1\nseed = "quiet"\nrulesets = ["./short.toml"]')
    assert run.finish()[0] == 0

    (told,) = json.loads(malice("report", run.db, "--since", "2090-01-01", "--json", code=0).stdout)

    assert (told["played"], told["receipts"], told["needs"]) == (0, [], [])
