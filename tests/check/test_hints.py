"""The hints and the protocol's page agree."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from malice.tournaments.check.causes import (
    FLUSH,
    WHAT_TO_DO,
    explain_flush,
    explain_invalid_json,
    find_language,
    give_hint,
)
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.manifests import Manifest
from tests.check.examined import faulty
from tests.documents import protocol_rows


def test_the_flush_calls_are_those_of_the_page() -> None:
    assert {name: call.replace("\\|", "|") for name, call in protocol_rows("The one rule")} == FLUSH


def test_what_to_do_is_what_the_page_says() -> None:
    assert [tuple(row) for row in protocol_rows("What the referee may say")] == list(WHAT_TO_DO)


@pytest.mark.parametrize("row", WHAT_TO_DO, ids=lambda row: row[1])
def test_every_sentence_finds_its_own_advice(row: tuple[str, str, str]) -> None:
    code, sentence, advice = row

    assert give_hint(code, sentence.replace("…", "7")) == advice


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("python3 -I mybot.py", "Python"),
        ("python3.11 mybot", "Python"),
        ("node mybot.js", "JavaScript (Node)"),
        ("ruby bot.rb", "Ruby"),
        ("java -jar bot.jar", "Java"),
        ("sh -c true", "Shell"),
        ("build/first", None),
    ],
)
def test_the_language_of_a_command_is_guessed_from_its_words(command: str, found: str | None) -> None:
    words = tuple(command.split())

    assert find_language(replace(faulty("nothing"), manifest=Manifest("x", words), command=words)) == found


def test_the_language_of_a_manifest_counts() -> None:
    assert find_language(find_bot("c/first")) == "C"
    assert "setvbuf" in explain_flush(find_bot("c/first"))


def test_without_a_known_language_the_page_is_named() -> None:
    bot = replace(faulty("nothing"), manifest=Manifest("x", ("x",), language="cobol"))

    assert "PROTOCOL.md" in explain_flush(bot)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{'id': 3}", "malformed"),
        (b'{"id":NaN}', "invalid character"),
        (b'{"id":3,"move":"p\xe9"}', "utf-8"),
        (b'{"x":' + b"[" * 30_000 + b"]" * 30_000 + b"}", "nested too deeply"),
        (b"[]", "not an object"),
    ],
)
def test_why_a_line_is_no_json_is_told(line: bytes, why: str) -> None:
    assert re.search(why, explain_invalid_json(line))
