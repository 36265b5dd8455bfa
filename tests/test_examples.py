"""The example of each format is there, is what it says, and can be played."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from malice.tournaments.league.config import read_config
from malice.tournaments.league.formats import FORMATS
from tests.command_line import malice
from tests.site_files import Page

EXAMPLES = Path(__file__).parents[1] / "tournaments/examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.toml"))
QUICK = """
about = "Few cards to play off"
source = "for tests"
extends = "standard"
rules.payoff_size = 1
"""
SHOWN = {"swiss": "rounds", "knockout": "bracket"}
"""The section that the front page has for a format."""


def test_every_format_has_an_example_that_the_docs_name() -> None:
    told = (EXAMPLES.parents[1] / "docs/formats.md").read_text("utf-8")

    assert FORMATS.keys() <= {*NAMES}
    assert all(f"(../tournaments/examples/{name}.toml)" in told for name in FORMATS)


def test_the_other_examples_are_named_where_they_are_explained() -> None:
    told = (EXAMPLES.parents[1] / "docs/comparing.md").read_text("utf-8")

    assert {*NAMES} - FORMATS.keys() == {"variants"}
    assert "(../tournaments/examples/variants.toml)" in told


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_example_can_be_played(name: str, tmp_path: Path) -> None:
    text = (EXAMPLES / f"{name}.toml").read_text("utf-8")
    quick = 'deals = 1\nseed = "short"\nisolation = "none"\nrulesets = ["./quick.toml"]'
    short, changed = re.subn(r"^deals = \d+", quick, text, flags=re.MULTILINE)
    (tmp_path / "quick.toml").write_text(QUICK)
    path, db, site = tmp_path / f"{name}.toml", tmp_path / "t.db", tmp_path / "site"
    path.write_text(short, "utf-8")
    config = read_config(path)

    result = malice("run", path, "--db", db, "--site", site)

    assert changed == 1
    assert (config.format, config.name) == (name if name in FORMATS else "gauntlet", name)
    assert result.exit_code == 0, result.output
    assert malice("verify", db).exit_code == 0
    page = Page(site / "index.html")
    assert {"rounds", "bracket"} & {*page.ids} == ({SHOWN[name]} if name in SHOWN else set())
    assert "not complete" not in page.words
