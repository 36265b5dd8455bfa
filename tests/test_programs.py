"""What bots need: programs and libraries that are missing, and modules that the sandbox hides."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from malice.tournaments.entries import bots
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.programs import (
    DEBIAN,
    LIBRARIES,
    explain_installation,
    explain_limits,
    explain_missing_programs,
    list_missing_programs,
)
from tests.command_line import malice


def test_how_to_get_programs_is_said_where_it_is_known() -> None:
    assert explain_installation(["cargo", "node", "no-such-program"]) == "Debian: apt-get install cargo nodejs"
    assert explain_installation(["no-such-program"]) == ""


def test_a_library_is_missed_like_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, status in (("cc", 1), ("lua5.4", 0)):
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {status}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert list_missing_programs(["cc", "cjson", "lua5.4", "dkjson", "JSON::PP"]) == ("cjson", "JSON::PP")
    assert (
        explain_missing_programs(["cc", "cjson"])
        == "needs the library cjson, not found (Debian: apt-get install libcjson-dev)"
    )
    assert explain_installation(["c++", "nlohmann-json"]) == "Debian: apt-get install g++ nlohmann-json3-dev"


@pytest.mark.compiler
def test_a_library_is_looked_for_by_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    probe = LIBRARIES["cjson"]._replace(source="#include <no/such/header.h>\n")
    monkeypatch.setitem(LIBRARIES, "no-such-library", probe)
    monkeypatch.setitem(LIBRARIES, "the-c-library", probe._replace(source="#include <stdio.h>\n"))

    assert list_missing_programs(["no-such-library", "the-c-library"]) == ("no-such-library",)


@pytest.mark.parametrize("bot", sorted(name for name in bots.list_shipped_bots() if "/" in name))
def test_for_every_program_that_a_shipped_bot_needs_it_is_known_how_to_get_it(bot: str) -> None:
    assert set(find_bot(bot).manifest.needs) <= DEBIAN.keys() | LIBRARIES.keys()


SANDBOX = ("bwrap", "seccomp")
LOOKS = """\
import json, sys
import marker

for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], "move": request.get("legal", [""])[0]}), flush=True)
"""


@pytest.mark.parametrize(
    ("stderr", "name"),
    [
        ("Traceback ...\nModuleNotFoundError: No module named 'numpy'", "numpy"),
        ("Error: Cannot find module 'ws'\nRequire stack:\n- /bot.js", "ws"),
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'ws' imported from /bot.mjs", "ws"),
        ("in 'require': cannot load such file -- nope (LoadError)", "nope"),
        ("Can't locate Nope/Deep.pm in @INC (you may need to install ...)", "Nope/Deep.pm"),
        ("lua5.4: bot.lua:1: module 'nope' not found:\n\tno field package.preload['nope']", "nope"),
        ("bot: error while loading shared libraries: libgmp.so.10: cannot open shared object file", "libgmp.so.10"),
        ('Exception in thread "main" java.lang.NoClassDefFoundError: com/google/gson/Gson', "com/google/gson/Gson"),
    ],
)
def test_each_language_says_what_it_misses(stderr: str, name: str) -> None:
    told = explain_limits(stderr, SANDBOX, 64)

    assert told is not None
    assert f"the sandbox may hide {name!r}" in told
    assert ("bot.toml" in told) == (name == "numpy")
    assert explain_limits(stderr, ("landlock", "seccomp"), 64) == told
    assert explain_limits(stderr, ("rlimit", "seccomp"), 64) is None


def test_another_crash_gets_no_such_hint() -> None:
    assert explain_limits("KeyError: 'No module'", SANDBOX, 64) is None


@pytest.mark.parametrize(
    ("evidence", "isolation", "told"),
    [
        ("OSError: [Errno 30] Read-only file system: 'log.txt'", SANDBOX, "write to /tmp"),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: '/home/ann/book.json'",
            SANDBOX,
            "only its own folder",
        ),
        ("PermissionError: [Errno 13] Permission denied: 'log.txt'", ("landlock",), "that TMPDIR names"),
        ("terminate called after throwing an instance of 'std::bad_alloc'", ("rlimit",), "64 MB"),
        ("the bot was killed by signal 9 (SIGKILL): it used more memory than it may", SANDBOX, "64 MB"),
    ],
)
def test_a_bot_that_runs_into_a_limit_hears_which(evidence: str, isolation: tuple[str, ...], told: str) -> None:
    assert told in (explain_limits(evidence, isolation, 64) or "")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """An interpreter with a module of its own, and a bot beside it that takes the module."""
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], capture_output=True, check=False
    )
    assert made.returncode == 0, made.stderr
    (packages,) = (tmp_path / "env/lib").glob("python3*/site-packages")
    (packages / "marker.py").touch()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/bot.py").write_text(LOOKS)
    (tmp_path / "mine/bot.toml").write_text('name = "mine"\nrun = ["{python}", "bot.py"]\n')
    return tmp_path


@pytest.mark.sandbox
@pytest.mark.slow
def test_the_sandbox_shows_the_interpreter_that_a_manifest_names(outside: Path) -> None:
    (outside / "env").rename(outside / "mine/.venv")
    with (outside / "mine/bot.toml").open("a") as manifest:
        manifest.write('python = ".venv/bin/python"\n')

    words = ["play", str(outside / "mine"), "uniform", "--isolation", "bwrap", "--require-isolation"]
    played = malice(*words)

    assert played.exit_code == 0, played.output


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_module_that_the_sandbox_hides_is_told_as_that(outside: Path) -> None:
    words = ["play", str(outside / "mine"), "uniform", "--isolation", "bwrap"]
    played = malice(*words)
    checked = malice("check", words[1], "--isolation", "bwrap")

    assert (played.exit_code, checked.exit_code) == (2, 10)
    for said in (played.stderr, checked.stdout):
        assert "the sandbox may hide 'marker'" in " ".join(said.split())
