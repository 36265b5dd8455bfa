"""What a tournament file may say, and what is said when it says something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from malice.referee.errors import DataError
from malice.tournaments.league.config import Config, LabelledBot, encode_identity, read_config


def read(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "t.toml"
    path.write_text(text)
    return read_config(path)


def test_entries_are_words_or_tables(tmp_path: Path) -> None:
    config = read(tmp_path, 'entries = ["greedy", {bot = "./mine", label = "me"}]')

    assert config.entries == ("greedy", LabelledBot("./mine", "me"))
    assert config.rulesets == ("standard",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'entries = ["a"]\ndeal = 3',
            r"t.toml: unknown field 'deal' \(did you mean 'deals'\?\); fields here: entries,",
        ),
        (
            'entries = ["a"]\n[clock]\nmoves_ms = 3',
            r"clock: unknown field 'moves_ms' .*; fields here: move_ms, bank_ms",
        ),
        ('entries = [{bt = "a"}]', r"entries\[0\]: unknown field 'bt' .*; fields here: bot, label"),
        ('entries = ["a"]\ndeals = "3"', "deals: expected `int`, got `str`"),
        ('entries = ["a"]\ndeals = 0', "deals: expected at least 1, got 0"),
        ('entries = ["a"]\nmemory_mb = 1', "memory_mb: expected at least 16, got 1"),
        ('entries = ["a"]\nisolation = "vm"', "isolation: invalid enum value 'vm': expected one of 'auto', 'bwrap',"),
        ('entries = ["a"]\n[clock]\nbank_ms = 0', r"clock\.bank_ms: expected at least 1, got 0"),
        ('entries = ["a"]\n[clock]\nkind = "sun"', r"kind: invalid enum value 'sun'"),
        ('entries = ["a"]\n[clock]\ncap_ms = 9', r'clock\.cap_ms: applies only with kind = "cpu"'),
        ('entries = ["a"]\nrulesets = []', "rulesets: expected at least one"),
        ('entries = ["a"]\nrulesets = ["standard", "standard"]', "expected each name once"),
        ("entries = [\n!", r"not TOML: Invalid value \(at line 2, column 1\)"),
        ('entries = ["a"]\ninit_ms = 3_000_000_000', "init_ms: expected at most 2147483647"),
        ('entries = ["a"]\ndeals = 9_000_000_000_000_000_000', "deals: expected at most 1000000"),
        ('entries = [{bot = "a", label = ""}]', "label: expected 1 to 100 characters, got 0"),
        ("deals = 3", "missing required field `entries`"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read(tmp_path, text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.toml: No such file"):
        read_config(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("lines", "cap_ms"),
    [
        ("", None),
        ('kind = "cpu"', 10_000),
        ('kind = "cpu"\nmove_ms = 300\nbank_ms = 200', 2000),
        ('kind = "cpu"\ncap_ms = 70', 70),
    ],
)
def test_a_clock_of_cpu_time_has_a_cap_on_the_wall(tmp_path: Path, lines: str, cap_ms: int | None) -> None:
    assert read(tmp_path, f'entries = ["a"]\n[clock]\n{lines}').clock.cap_ms == cap_ms


def test_only_jobs_and_isolation_may_change_while_a_tournament_goes_on() -> None:
    config = Config(entries=("a", "b"))

    assert encode_identity(config) == encode_identity(Config(entries=("a", "b"), jobs=7, isolation="none"))
    assert encode_identity(config) != encode_identity(Config(entries=("a", "b"), deals=51))
