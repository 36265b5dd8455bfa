"""Which engine plays: the compiled core where it is there and fits, Python otherwise, and what is said of it."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from malice.referee.compiled import VARIABLE, VERSION, explain_missing_core, find_core, name_engine
from malice.referee.errors import FamilyError
from tests.command_line import malice

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(VARIABLE, raising=False)
    find_core.cache_clear()
    yield
    find_core.cache_clear()


def have(core: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this be what `import malice_core` finds; None if it finds nothing."""
    monkeypatch.setitem(sys.modules, "malice_core", core)


def test_malice_and_its_core_are_of_one_version() -> None:
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    core = tomllib.loads((ROOT / "core/Cargo.toml").read_text("utf-8"))["workspace"]["package"]

    assert ours["version"] == core["version"] == VERSION
    assert ours["optional-dependencies"]["fast"] == [f"malice-core=={VERSION}"]


def test_the_lock_of_the_core_names_the_public_registry_alone() -> None:
    named = re.findall(r'^source = "(.*)"$', (ROOT / "core/Cargo.lock").read_text("utf-8"), re.MULTILINE)

    assert set(named) == {"registry+https://github.com/rust-lang/crates.io-index"}


def test_the_core_plays_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    core = SimpleNamespace(__version__=VERSION)
    have(core, monkeypatch)

    assert find_core() is core
    assert explain_missing_core() is None
    assert malice("--version").stdout == f"malice {VERSION}, rules compiled by malice-core {VERSION}\n"


def test_python_plays_where_the_core_is_not_there_or_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    have(None, monkeypatch)
    assert find_core() is None
    assert "make core" in (explain_missing_core() or "")

    find_core.cache_clear()
    have(SimpleNamespace(__version__=VERSION), monkeypatch)
    monkeypatch.setenv(VARIABLE, "python")
    assert find_core() is None
    assert malice("--version").stdout == f"malice {VERSION}, rules in Python\n"


def test_a_core_that_must_not_play_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    have(SimpleNamespace(__version__="9.9"), monkeypatch)
    with pytest.raises(FamilyError, match=rf"^expected malice-core {VERSION}, got 9\.9: make core in a checkout"):
        find_core()
    assert name_engine() == "rules in Python"

    have(None, monkeypatch)
    monkeypatch.setenv(VARIABLE, "core")
    with pytest.raises(FamilyError, match=r"^MALICE_ENGINE=core: malice-core is not here: make core in a checkout"):
        find_core()

    monkeypatch.setenv(VARIABLE, "rust")
    with pytest.raises(FamilyError, match=r"^MALICE_ENGINE: expected python or core, got 'rust'$"):
        find_core()
