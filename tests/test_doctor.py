"""Isolation on the command line: asked for, demanded, missed, and shown by `malice doctor`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from malice.referee.isolation import bwrap, limits, probe
from malice.referee.records import Layer, Player
from malice.tournaments.league.store import Store
from malice.tournaments.running.isolation import (
    describe_capabilities,
    describe_shortcomings,
    explain_weaker_isolation,
    make_capability,
)
from tests.boxes import LANDLOCK, SANDBOX
from tests.command_line import malice
from tests.samples import sample

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "explain_missing_sandbox", lambda: "bwrap not found")


def test_doctor_tells_what_works_and_what_is_missing() -> None:
    result = malice("doctor")
    told = json.loads(malice("doctor", "--json").stdout)

    assert result.exit_code == 0
    assert [each["part"] for each in told][:4] == ["rlimit", "landlock", "bwrap", "seccomp"]
    assert all(each["works"] != bool(each["lack"]) for each in told)
    assert len(result.stdout.splitlines()) == len(told) + 2
    assert result.stdout.splitlines()[-1].startswith(f"Bots run under {probe.find_strongest_layer('auto')!r} isolation")


@pytest.mark.parametrize(
    ("lacks", "end"),
    [
        ({}, ", and nothing is missing."),
        (
            {"landlock": "needs Linux 6.2", "bwrap": "bwrap not found (apt-get install it)", "core": "make core"},
            "; what would help most is bwrap: bwrap not found (apt-get install it).",
        ),
        (
            {"bwrap": "bwrap does not work here: EPERM", "user namespace": "needs sysctl"},
            "; what would help most is user namespace: needs sysctl.",
        ),
        ({"landlock tcp": "needs Linux 6.7", "core": "make core"}, "; what would help most is core: make core."),
    ],
)
def test_doctor_ends_with_the_step_that_would_help_most(lacks: dict[str, str], end: str) -> None:
    sentence = describe_capabilities([make_capability(part, "", lack) for part, lack in lacks.items()])

    assert sentence == f"Bots run under {probe.find_strongest_layer('auto')!r} isolation here{end}"


def test_doctor_fails_where_there_is_not_even_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "explain_missing_limits", lambda: "limits are made for Linux, not for plan9")

    result = malice("doctor")

    assert result.exit_code == 4
    assert result.stderr == "Error: isolation 'rlimit' is unavailable: limits are made for Linux, not for plan9\n"


def test_in_a_container_doctor_names_the_options_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mark := tmp_path / ".dockerenv").touch()
    monkeypatch.setattr("malice.tournaments.running.isolation.CONTAINER_MARKS", (mark,))
    monkeypatch.setattr(probe, "sandbox_works", lambda *, own_user: False)

    (lack,) = (
        each["lack"] for each in json.loads(malice("doctor", "--json").stdout) if each["part"] == "user namespace"
    )

    words = next(
        line for line in (ROOT / "docs/desk.md").read_text().splitlines() if "seccomp=unconfined" in line
    ).split()
    options = [word for word in words if word.endswith("=unconfined")]
    assert [word for word in lack.split() if word.endswith("=unconfined")] == options
    assert json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())["runArgs"] == [
        f"--security-opt={option}" for option in options
    ]


@pytest.mark.usefixtures("no_sandbox")
def test_isolation_that_is_demanded_and_not_to_be_had_is_exit_4(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('entries = ["greedy", "first"]\nisolation = "bwrap"')

    for words in (["run", tmp_path / "t.toml", "--db", tmp_path / "t.db"], ["play", "a", "b", "--isolation", "bwrap"]):
        result = malice(*words, "--require-isolation")

        assert result.exit_code == 4
        assert result.stderr == "Error: isolation 'bwrap' is unavailable: bwrap not found\n"
    assert not (tmp_path / "t.db").exists()


@pytest.mark.usefixtures("no_sandbox")
def test_isolation_that_is_missed_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    layers: tuple[Layer, ...] = ("auto", "bwrap", "landlock", "rlimit", "none")
    line = "bots run under {!r} isolation, not {!r}: {}; malice doctor says more"
    monkeypatch.setattr(probe, "explain_missing_landlock", lambda: None)
    less = line.format("landlock", "bwrap", "bwrap not found")
    assert [explain_weaker_isolation(asked) for asked in layers] == [less, less, None, None, None]

    monkeypatch.setattr(probe, "explain_missing_landlock", lambda: "an old kernel")
    least = line.format("rlimit", "bwrap", "bwrap not found")
    other = line.format("rlimit", "landlock", "an old kernel")
    assert [explain_weaker_isolation(asked) for asked in layers] == [least, least, other, None, None]


def test_bots_that_could_have_users_of_their_own_and_have_none_are_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "explain_missing_uids", lambda: None)
    (private := tmp_path / "private").mkdir(mode=0o700)
    players = [
        Player(label, "00", (program,), str(private)) for label, program in (("a", "sh"), ("b", "sh"), ("c", "?"))
    ]
    (line,) = (line for line in describe_shortcomings("rlimit", players) if "bwrap" not in line)

    assert line.startswith("no user of their own for a, b; they run as our user: others may not read /")
    assert list(describe_shortcomings("none", players)) == []


@pytest.mark.parametrize(
    "layer", [*(pytest.param(layer, marks=pytest.mark.whole) for layer in ("none", "rlimit")), LANDLOCK, SANDBOX]
)
def test_every_game_is_played_as_it_was_asked(layer: str, tmp_path: Path) -> None:
    result = malice("play", "greedy", "first", "--isolation", layer, "--require-isolation", "--db", tmp_path / "x.db")

    assert result.exit_code == 0, result.output
    with Store(tmp_path / "x.db") as store:
        assert {record.isolation.split("+")[0] for record in store.records()} == {layer}
        assert all(not record.faults for record in store.records())


@pytest.mark.parametrize("layer", sample([SANDBOX, LANDLOCK], 2))
def test_no_bot_can_read_the_league_beside_it(layer: str, tmp_path: Path) -> None:
    """The league lies in the folder in which a command line runs, and holds the seed."""
    bot = tmp_path / "thief.py"
    bot.write_text(
        "import glob, json, sys\n"
        "def held():\n"
        " for name in glob.glob('*.db') + glob.glob('*.db-[wsj]*'):\n"
        "  try: yield name, len(open(name, 'rb').read())\n"
        "  except OSError: pass\n"
        "for line in sys.stdin:\n"
        " request = json.loads(line)\n"
        " if request['type'] == 'bye': break\n"
        " answer = {'id': request['id'], 'version': str([each for each in held() if each[1]])}\n"
        " if request['type'] == 'move': answer['move'] = request['legal'][0]\n"
        " print(json.dumps(answer), flush=True)\n"
    )
    (tmp_path / "t.toml").write_text(
        f'entries = ["first", "{sys.executable} -I thief.py"]\ndeals = 3\njobs = 1\nisolation = "{layer}"'
    )

    result = malice("run", tmp_path / "t.toml", "--db", tmp_path / "t.db")

    assert result.exit_code == 0, result.output
    with Store(tmp_path / "t.db") as store:
        versions = {seat.version for record in store.records() for seat in record.seats}
    assert versions == {"1", "[]"}


def test_doctor_tells_what_is_left_where_bubblewrap_is_removed(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    code = "from malice.tournaments.launch import main; main()"
    command = [sys.executable, "-P", "-c", code, "doctor", "--json"]

    done = subprocess.run(command, env={"PATH": str(tmp_path / "bin")}, capture_output=True, check=True)

    found = {each["part"]: each for each in json.loads(done.stdout)}
    assert (found["rlimit"]["works"], found["bwrap"]["works"]) == (True, False)
    assert found["bwrap"]["lack"] == "bwrap not found (Debian: apt-get install bubblewrap)"
    assert found["landlock"]["lack"] == (probe.explain_missing_landlock() or "")
    assert found["own user"]["lack"] == (limits.explain_missing_uids() or "")


@pytest.mark.parametrize(
    ("version", "mode", "why"),
    [
        ("bubblewrap 0.4.0", 0o4755, "its version 0.4.0 has a hole (CVE-2020-5291)"),
        ("bubblewrap 0.11.1", 0o4755, "its version 0.11.1 has a hole (CVE-2026-41163)"),
        ("bubblewrap 0.3.1", 0o4755, "its version 0.3.1 has a hole (CVE-2019-12439)"),
        ("I do not know", 0o4755, "does not tell its version"),
        ("bubblewrap 0.8.0", 0o4755, "does not work here"),
        ("bubblewrap 0.11.2", 0o4755, "does not work here"),
        ("bubblewrap 0.4.0", 0o755, "does not work here"),
    ],
)
def test_a_bubblewrap_that_is_root_for_everybody_is_refused_where_it_has_a_known_hole(
    version: str, mode: int, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bwrap"
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}"\n[ "$1" = --version ]\n')
    program.chmod(mode)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for question in (probe.sandbox_works, probe.can_disable_nested_users, probe._try_sandbox):
        monkeypatch.setattr(probe, question.__name__, question.__wrapped__)

    missing = probe.explain_missing_sandbox.__wrapped__()

    assert missing is not None
    assert why in missing
    assert ("update bubblewrap" in missing) == ("does not work here" not in missing)


def test_a_machine_without_bubblewrap_is_examined_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bwrap.Sandbox, "build_command", lambda *_, **__: ["no-such-bubblewrap"])
    questions = (probe.explain_missing_sandbox, probe.sandbox_works, probe.can_disable_nested_users, probe._try_sandbox)
    for question in questions:
        monkeypatch.setattr(probe, question.__name__, question.__wrapped__)

    assert not probe.sandbox_works(own_user=False)
    assert not probe.can_disable_nested_users()
