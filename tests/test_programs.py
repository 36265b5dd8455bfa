"""The programs and libraries that bots need: which are missing, and how to get them."""

from __future__ import annotations

from pathlib import Path

import pytest

from malice.tournaments.entries import bots
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.programs import (
    DEBIAN,
    LIBRARIES,
    explain_installation,
    explain_missing_programs,
    list_missing_programs,
)


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
