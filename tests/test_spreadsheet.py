"""No spreadsheet takes a text in our CSV for a formula, and every figure stays one."""

from __future__ import annotations

import csv
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malice.tournaments.terminal.tables import defuse, write_csv


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  =1", "'  =1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\t=1+1", "\\x09=1+1"),
        ("\r=1", "\\x0d=1"),
        ("a\n=1", "a\\x0a=1"),
        ("a\x00b\x1b[2J", "a\\x00b\\x1b[2J"),
        ("-1e", "'-1e"),
        ("-inf", "'-inf"),
    ],
)
def test_what_begins_like_a_formula_or_holds_control_characters_is_defused(text: str, cell: str) -> None:
    assert defuse(text) == cell


@pytest.mark.parametrize(
    "text", ["", "greedy", "greedy#2", "a=b", "bot-2", "-5", "+12.5", "-1.5e-3", "mine, too", "été"]
)
def test_figures_and_plain_text_stay_as_they_are(text: str) -> None:
    assert defuse(text) == text


@given(st.text())
def test_no_cell_begins_like_a_formula_or_breaks_its_line(text: str) -> None:
    ((cell,),) = csv.reader(io.StringIO(write_csv([text], [])))

    assert not any(unicodedata.category(char) == "Cc" for char in cell)
    if cell.strip()[:1] in tuple("=+-@"):
        assert float(cell) is not None


def test_numbers_are_written_as_numbers_and_nothing_as_nothing() -> None:
    assert write_csv(["what", "how much"], [["a", -1.5], ["b", None], ["c", -3]]) == "what,how much\na,-1.5\nb,\nc,-3\n"
