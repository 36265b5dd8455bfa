"""A fortnight of a course of thirty, typed as an organiser types it, with all that happens to one."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import time
from collections.abc import Collection
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.referee.records import Key
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.errors import Stopped
from malice.tournaments.league.config import read_config
from malice.tournaments.league.journal import StateChanged
from malice.tournaments.league.store import Store
from malice.tournaments.running.opening import RunTerms
from malice.tournaments.running.plan import read_plan
from malice.tournaments.running.registration import PlanOptions
from malice.tournaments.running.run import run_tournament
from tests.command_line import malice
from tests.processes import PATIENCE_S
from tests.runs import Run, Until

pytestmark = pytest.mark.slow

BOT = """#!/bin/sh
# {label}
while read -r line; do
    case $line in
        *'"type":"bye"'*) exit ;;
        *'"type":"game_start"'*) {gate} ;;
    esac
    id=${{line#*'"id":'}} move=${{line#*'"legal":["'}}
    echo "{{\\"id\\":${{id%%,*}},\\"move\\":\\"${{move%%'"'*}}\\"}}"
done
"""
"""Plays the first legal action; no interpreter starts faster than this one."""
GATE = "[ -p {fifo} ] && {{ echo here; yes; }} > {fifo} 2> /dev/null"
COURSE = """
name = "course"
entries = [{ bot = "submissions/*", label = "{folder}" }]
rulesets = ["./short.toml"]
tables = 20
deals = 1
seed = "fortnight"
new_versions = "play"
keep_going = true
until = "06:00"
"""
FINAL = """
name = "final"
format = "swiss"
rounds = 2
entries = [{ top = 8, from = "course" }]
rulesets = ["./short.toml"]
deals = 1
seed = "fortnight"
isolation = "none"
init_ms = 60_000
clock = { move_ms = 60_000 }
"""
"""Not a knockout: bots that play alike draw every match, and a draw is played off again and again."""


class Course(Run):
    """A folder with the submissions of a course."""

    def submit(self, label: str, words: str = "") -> None:
        folder = self.folder / "submissions" / label
        folder.mkdir(parents=True, exist_ok=True)
        gate = GATE.format(fifo=self.fifo) if label == "s01" else ":"
        (folder / "bot.sh").write_text(words or BOT.format(label=label, gate=gate))
        (folder / "bot.toml").write_text('name = "mybot"\nrun = ["sh", "bot.sh"]\n')

    def play(self) -> str:
        code, _, err = self.finish()
        assert code == 0, err
        return err

    def type(self, *words: str, code: int = 0) -> str:
        """Type a command about the league; of `entry`, its own command stands behind a dash."""
        command, _, own = words[0].partition("-")
        return malice(command, *([own] if own else []), self.db, *words[1:], code=code).stdout

    def decisions(self) -> list[StateChanged]:
        with Store(self.db) as store:
            return [replace(event, who="") for _, event in store.events() if isinstance(event, StateChanged)]


class Night:
    """The time as commands of this process read it, which goes on by days.

    Not libfaketime: a process that forks while it has threads may wait for ever under it.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real, self._days = time.time, 0
        monkeypatch.setattr(time, "time", lambda: real() + 86_400 * self._days)

    def falls(self) -> None:
        self._days += 1


@pytest.mark.whole
def test_a_fortnight_of_a_course_of_thirty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    night = Night(monkeypatch)
    course = Course(tmp_path / "course")
    course.folder.mkdir()
    (course.folder / "short.toml").write_text('extends = "standard"\n[rules]\npayoff_size = 1\n')
    for number in range(1, 30):
        course.submit(f"s{number:02}")
    course.write(COURSE)
    course.play()

    # A late entry, a better version, a broken one, and a folder that is gone.
    night.falls()
    course.submit("s30")
    course.submit("s02", BOT.format(label="s02 thought again", gate=":"))
    course.submit("s03", "exit 1\n")
    shutil.rmtree(course.folder / "submissions/s04")
    course.play()
    (told,) = json.loads(course.type("report", "--since", "today", "--json"))
    seen = {each["label"]: each["version"] for each in told["receipts"]}
    assert seen == {"s30": 1, "s02": 2, "s03": 0, "s04": 0}
    assert {need["label"] for need in told["needs"]} == {"s03", "s04"}

    # More deals; in the midst of the run somebody is disqualified, after a backup.
    night.falls()
    text = (course.folder / "t.toml").read_text()
    (course.folder / "t.toml").write_text(text.replace("deals = 1", "deals = 2"))
    course.type("backup", str(tmp_path / "backup.tar"))
    os.mkfifo(course.fifo)
    process = course.start("--jobs", "1", "--events", "events.jsonl")
    with course.in_the_third_game():
        course.type("entry-disqualify", "s05")
        assert json.loads(course.type("status", "--json"))["waiting"][0]["label"] == "s05"
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    (games,) = re.findall(r"s05: disqualified in course, after (\d+) games", err)

    # The backup goes on elsewhere: stopped at the same point, decided there, and gone on with.
    there = Course(tmp_path / "there")
    shutil.copytree(course.folder, there.folder, ignore=shutil.ignore_patterns("t.*", "*.jsonl"))
    shutil.copy(course.folder / "t.toml", there.folder)
    malice("restore", tmp_path / "backup.tar", there.db, code=0)
    events = map(json.loads, (course.folder / "events.jsonl").read_text().splitlines())
    keys = [Key.parse(event["key"], 99) for event in events if event["type"] == "game_finished"]
    stop_there(there, keys[: int(games) - there.games()])
    there.type("entry-disqualify", "s05")
    there.play()
    assert there.sha() == course.sha()
    assert there.decisions() == course.decisions()

    # Somebody leaves, explains herself, has another name; the folder is back, and the broken one is mended.
    night.falls()
    for what, *labels in (("withdraw", "s06"), ("reinstate", "s05"), ("rename", "s07", "x07")):
        course.type(f"entry-{what}", *labels)
    (course.folder / "submissions/s07").rename(course.folder / "submissions/x07")
    course.submit("s03", BOT.format(label="s03 mended", gate=":"))
    course.submit("s04")
    course.play()
    (told,) = json.loads(course.type("report", "--since", "today", "--json"))
    assert [each["label"] for each in told["decided"]] == ["s06", "s05", "s07"]
    assert {each["label"] for each in told["receipts"]} == {"s03", "s04"}
    assert told["needs"] == []

    # The final of the best eight, and what remains.
    night.falls()
    (course.folder / "final.toml").write_text(FINAL)
    monkeypatch.chdir(course.folder)
    malice("run", "final.toml", "--db", course.db, code=0)
    finalists = json.loads(malice("entry", "list", course.db, "--tournament", "final", "--json", code=0).stdout)
    assert len(finalists) == 8
    assert "s06" not in {each["label"] for each in finalists}
    course.type("feedback", "--tournament", "final", "--out", str(course.folder / "feedback"))
    assert len(list((course.folder / "feedback").glob("*.html"))) == 8
    assert course.type("verify", "--jobs", "1").count("all of them replay") == 2


def stop_there(course: Course, keys: Collection[Key]) -> None:
    with Store(course.db, create=True) as store:
        config = read_config(course.folder / "t.toml")
        plan = read_plan(store, config, course.folder, options=PlanOptions(keep_going=True))
        with pytest.raises(Stopped):
            run_tournament(store, plan, io.StringIO(), RunTerms(1, playing=Until(keys), kept=KeptBots(course.db)))
