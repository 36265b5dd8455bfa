"""A run that is over in time: `--until` and `--for`."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from referee.errors import DataError
from referee.records import Record
from tests.runs import Run
from tests.tables import BOTS
from tournaments.commands.time_limit import format_limit, is_daily, parse_limit
from tournaments.league.config import Config
from tournaments.running.announcement import compute_longest_ms
from tournaments.running.coordinator import play_batches
from tournaments.running.hooks import Hooks
from tournaments.running.plan import Plan

SMALL = 'entries = ["uniform", "first"]\nseed = "small"\ndeals = 4\n'


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


def local(*when: int) -> datetime:
    return datetime(*when).astimezone()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("18:00", (2026, 11, 2, 18, 0)),
        ("17:30:01", (2026, 11, 2, 17, 30, 1)),
        ("17:30", (2026, 11, 3, 17, 30)),
        ("9:05", (2026, 11, 3, 9, 5)),
        ("2026-11-02T17:31", (2026, 11, 2, 17, 31)),
        ("2027-01-01 00:00", (2027, 1, 1)),
    ],
)
def test_a_time_of_day_is_the_next_one_and_a_date_is_that_date(text: str, limit: tuple[int, ...]) -> None:
    assert parse_limit(text, None, local(2026, 11, 2, 17, 30)) == local(*limit)


def test_a_time_may_name_its_offset_from_utc() -> None:
    found = parse_limit("2026-11-02T18:00+05:00", None, local(2026, 11, 1))

    assert found == datetime(2026, 11, 2, 13, tzinfo=UTC)


@pytest.mark.usefixtures("berlin")
def test_the_next_morning_is_the_same_time_of_day_when_the_clocks_change_at_night() -> None:
    found = parse_limit("8:00", None, local(2026, 10, 24, 18))

    assert found
    assert format_limit(found) == "2026-10-25 08:00:00+01:00"
    assert found - local(2026, 10, 24, 18) == timedelta(hours=15)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("45m", 2700), ("2h", 7200), ("1h30m", 5400), ("1h5s", 3605)]
)
def test_a_span_begins_now(text: str, seconds: int) -> None:
    now = local(2026, 11, 2, 17, 30)

    assert parse_limit(None, text, now) == now + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["teatime", "", "25:00", "18", "18:60", "2026-11-02", "2026-13-01T18:00", "0001-01-01T00:00"]
)
def test_another_text_is_no_time(text: str) -> None:
    with pytest.raises(DataError, match="--until: expected a time"):
        parse_limit(text, None, local(2026, 11, 2))


@pytest.mark.parametrize("text", ["", "0s", "2", "1.5h", "-1h", "30m1h", "2 h", "9999999h"])
def test_another_text_is_no_span(text: str) -> None:
    with pytest.raises(DataError, match="--for: expected a span"):
        parse_limit(None, text, local(2026, 11, 2))


def test_only_a_time_of_day_recurs() -> None:
    assert [is_daily(text) for text in ("18:00", "2026-11-02T18:00")] == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [("--until", "teatime"), ("--until", "18:00", "--for", "2h"), ("--until", "2020-01-01T18:00"), ("--for", "x")],
)
def test_nonsense_is_one_line_and_changes_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write(SMALL)

    code, out, err = run.finish(*words)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("Error: ")
    assert [path.name for path in tmp_path.iterdir()] == ["t.toml"]


@pytest.mark.slow
def test_without_time_for_a_game_none_begins_and_the_run_says_why(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write(SMALL)

    code, _, err = run.finish("--for", "2m")

    assert code == 0, err
    assert err.splitlines()[0].startswith("until 2")
    why, last = err.splitlines()[-2:]
    assert why.startswith("no game was played: by the clocks, the shortest may take 3:00")
    assert last == "the time is up: 8 games are left; go on with: malice run t.toml --db t.db"
    assert run.games() == 0
    code, _, err = run.finish("--for", "2h")
    assert code == 0, err
    assert "the time is up" not in err
    assert run.games() == 8


@pytest.mark.slow
def test_a_date_is_past_when_the_tournament_goes_on(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write(SMALL)
    soon = (datetime.now() + timedelta(minutes=2)).isoformat(timespec="seconds")

    code, _, err = run.finish("--until", soon)

    assert code == 0, err
    assert err.endswith("go on with: malice run t.toml --db t.db\n")


@pytest.mark.slow
def test_a_batch_ends_with_the_game_that_runs_when_the_time_comes(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    pipe = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    config = Config(
        entries=(f"{sys.executable} {BOTS / 'teller.py'} fifo", "first"), deals=40, seed="x", init_ms=60_000
    )
    plan = Plan.prepare(config, tmp_path)
    records: list[Record] = []
    told: list[int] = []

    def on_late() -> None:
        told.append(len(records))
        fifo.unlink()
        os.close(pipe)  # the bot goes on

    # The time comes when the bot tells that its third game has begun.
    hooks = Hooks(
        records.append,
        latest_begin=lambda batch: 0 if told or select.select([pipe], [], [], 0)[0] else time.time() + 60,
        on_late=on_late,
    )
    outcome = play_batches(plan.open_batches(set()), 1, 1, hooks)

    assert outcome.late
    assert outcome.stopped is None
    assert told == [2]
    assert [record.faults for record in records] == [(), (), ()]


@pytest.mark.parametrize(
    ("clock", "limit"),
    [
        ({"bank_ms": 1000, "increment_ms": 0, "margin_ms": 10}, 2 * (1000 + 3 * 5000 + 10)),
        ({"bank_ms": 1000, "kind": "cpu"}, None),
        ({"bank_ms": None}, None),
    ],
)
def test_the_longest_game_takes_all_that_the_clocks_give_to_its_seats(
    clock: dict[str, object], limit: int | None
) -> None:
    from msgspec import convert

    plan = Plan.prepare(convert({"entries": ["first", "uniform"], "clock": clock, "deals": 3}, Config), Path())

    assert plan.compute_game_ms("standard") == limit
    assert compute_longest_ms(plan) == (None if limit is None else 6 * limit)
