"""Parameters of bots: which values a name may give them, what that makes of a bot, and what its author may list."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malice.referee.errors import BotError, DataError
from malice.tournaments.entries.bots import Bot, find_bot
from malice.tournaments.entries.lookup import expand_entries, is_pattern
from malice.tournaments.entries.manifests import (
    MOST_CHARACTERS,
    ParameterError,
    Value,
    format_query,
    format_value,
    parse_query,
    parse_value,
    require_parameter,
)
from malice.tournaments.entries.variants import find_variant, give_parameters, split_words
from malice.tournaments.league.config import LabelledBot
from tests.command_line import malice
from tests.variants import MANIFEST, write_variable_bot

TEXTS = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), max_size=MOST_CHARACTERS)
VALUES: st.SearchStrategy[Value] = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS.filter(str.isprintable)
)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,39}", fullmatch=True)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    write_variable_bot(tmp_path / "mybot")
    return tmp_path


def find(base: Path, words: str) -> Bot:
    return find_variant(words, base, find_bot)


# values


@given(VALUES)
def test_what_stands_for_a_value_is_read_as_that_value(value: Value) -> None:
    text = format_value(value)

    assert parse_value(text, value) == text
    if isinstance(value, int | float) and not isinstance(value, bool):
        assert type(value)(text) == value
    require_parameter("weight", value)


@given(st.dictionaries(NAMES, TEXTS, min_size=1))
def test_what_a_name_says_is_read_as_it_was_meant(values: dict[str, str]) -> None:
    assert parse_query(format_query(values)) == values


@pytest.mark.parametrize(
    ("text", "default", "value"),
    [
        ("0300", 1, "300"),
        ("+7", 1, "7"),
        ("-0", 1, "0"),
        ("300", 0.5, "300.0"),
        (".5", 1.0, "0.5"),
        ("-0.0", 1.0, "0.0"),
    ],
)
def test_a_number_may_be_spelt_in_several_ways(text: str, default: Value, value: str) -> None:
    assert parse_value(text, default) == value


@pytest.mark.parametrize(
    ("text", "default"),
    [
        *[(text, 1) for text in ("", "1.0", "1e3", "1_000", "true", " 1", "²", str(2**63), "9" * 5000)],
        *[(text, 0.5) for text in ("", "nan", "inf", "1e999", "1_0.0", "0x10", ".")],
        *[(text, True) for text in ("", "1", "True", "yes")],
        *[(text, "fast") for text in ("a\nb", "\0", "\x1b[2J", "x" * (MOST_CHARACTERS + 1))],
    ],
)
def test_a_value_has_the_type_of_its_default(text: str, default: Value) -> None:
    with pytest.raises(ParameterError, match="expected"):
        parse_value(text, default)


# what makes it the same bot


def test_a_bot_receives_all_parameters(base: Path) -> None:
    player = find(base, "mybot?weight=300&mode=a%26b").make_player("x")

    assert player.environment == (
        ("MALICE_WEIGHT", "300"),
        ("MALICE_SHARE", "0.5"),
        ("MALICE_BOLD", "false"),
        ("MALICE_MODE", "a&b"),
    )


@pytest.mark.parametrize("words", ["mybot?weight=250", "mybot?weight=0250&share=.50", "mybot?mode=slow %26 steady"])
def test_with_its_defaults_a_bot_is_what_it_is_without(base: Path, words: str) -> None:
    assert find(base, words) == find_bot("mybot", base)


def test_a_variant_has_an_identity_and_a_name_of_its_own(base: Path) -> None:
    names = ["mybot", "mybot?weight=300", "mybot?weight=301", "mybot?weight=300&bold=true", "mybot?mode=a%26b%25"]
    bots = [find(base, name) for name in names]

    assert [bot.manifest.name for bot in bots] == names
    assert len({bot.hash for bot in bots}) == len(names)
    assert len({bot.content for bot in bots}) == 1
    assert find(base, "mybot?bold=true&weight=300") == bots[3]


def test_a_variant_may_be_varied(base: Path) -> None:
    other = give_parameters(find(base, "mybot?weight=300"), {"share": "0.7"})

    assert other.hash == find(base, "mybot?share=0.7&weight=300").hash
    assert give_parameters(other, {"share": "0.5", "weight": "250"}).hash == find_bot("mybot", base).hash


def test_a_changed_default_is_another_bot_even_where_the_values_are_the_same(base: Path) -> None:
    before = find(base, "mybot?weight=300")

    write_variable_bot(base / "mybot", MANIFEST.replace("250", "300"))

    assert find(base, "mybot?weight=300").parameters == before.parameters
    assert find(base, "mybot?weight=300").hash != before.hash


# which words are a name with parameters


def test_what_has_this_very_name_comes_first(base: Path) -> None:
    write_variable_bot(base / "mybot?weight=300")
    (base / "run?weight=1").write_text("#!/bin/sh\n")
    (base / "run?weight=1").chmod(0o755)

    for words in ("mybot?weight=300", "./run?weight=1", "sh -c 'echo a?b=1'", "mybot", "mybot?", "?a=1"):
        assert split_words(words, base) == (words, "")
    assert split_words("mybot?weight=301&mode=a?b=c", base) == ("mybot", "weight=301&mode=a?b=c")


def test_a_pattern_may_have_parameters_and_a_question_mark(base: Path) -> None:
    write_variable_bot(base / "mybox")

    assert not is_pattern("mybot?weight=300", base)
    assert expand_entries(["mybo?"], base) == ("mybot", "mybox")
    assert expand_entries(["mybo?", "mybo?", "mybo??weight=300", "mybot?weight=300"], base) == (
        *("mybot", "mybox"),
        *("mybox?weight=300", "mybot?weight=300"),
    )
    assert expand_entries([LabelledBot("*?bold=true", "{folder}")], base) == (
        LabelledBot("mybot?bold=true", "mybot"),
        LabelledBot("mybox?bold=true", "mybox"),
    )


# mistakes


def test_a_parameter_without_a_value_is_told_from_a_pattern(base: Path) -> None:
    with pytest.raises(DataError, match=r"got none; a parameter is written mybot\?name=value$"):
        expand_entries(["mybot?weight"], base)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "mybot?wieght=1",
            r"^mybot\?wieght=1: no parameter 'wieght' \(did you mean 'weight'\?\); mybot has weight",
        ),
        ("mybot?weight=x", r"weight: expected an integer of 64 bits, got 'x'; its default in bot\.toml is 250$"),
        ("mybot?weight=300@HEAD~3", r"stands before the parameters: mybot@HEAD~3\?weight=\.\.\.$"),
        ("mybot?weight=1&weight=2", "weight: expected one value, got two"),
        ("mybot?weight=1&bold", "expected name=value, got 'bold'"),
        ("mybot?mode=50%", "expected two hexadecimal digits after each %"),
        ("mybot?mode=%ff", "expected UTF-8 after each %"),
        ("first?weight=1", r"first has no parameters: its bot\.toml has no table \[parameters\]"),
        ("sh?weight=1", r"sh has no parameters: only a folder with bot\.toml can list some"),
    ],
)
def test_a_mistake_in_a_name_is_told_to_who_wrote_it(base: Path, words: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        find(base, words)


@pytest.mark.parametrize("command", ["play", "compare", "check", "run", "build"])
def test_an_unknown_parameter_is_exit_2(base: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(base)
    (base / "t.toml").write_text('entries = ["mybot?wieght=300", "first"]\n')
    words = {"run": ["t.toml"], "check": ["mybot?wieght=300"], "build": ["mybot?wieght=300"]}

    result = malice(command, *words.get(command, ["mybot?wieght=300", "first"]))

    assert (result.exit_code, result.stdout) == (2, "")
    assert "no parameter 'wieght'" in result.stderr
    assert not (base / "t.db").exists()


def test_a_name_that_is_too_long_for_a_label_is_refused(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(base)
    (base / "t.toml").write_text(f'entries = ["mybot?mode={"x" * 100}", "first"]\n')

    result = malice("run", "t.toml")

    assert result.exit_code == 2
    assert "has a name of 111 characters, expected at most 100" in result.stderr


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("Weight = 1", "parameters.Weight"),
        (f"{'x' * 41} = 1", "parameters.xxx"),
        ("2nd = 1", "parameters.2nd"),
        ("weight = nan", "parameters.weight"),
        ("weight = 9223372036854775808", "parameters.weight"),
        ('weight = "a\\u0000b"', "parameters.weight"),
        ("weight = [1]", r"parameters\[\.\.\.\]"),
        ("weight = 1979-05-27", r"parameters\[\.\.\.\]"),
    ],
)
def test_a_parameter_that_no_name_could_give_is_refused(base: Path, line: str, place: str) -> None:
    head, _, _ = MANIFEST.partition("weight")
    write_variable_bot(base / "mybot", f"{head}{line}\n")

    with pytest.raises((BotError, DataError), match=rf"bot\.toml: {place}.*: expected"):
        find_bot("mybot", base)
