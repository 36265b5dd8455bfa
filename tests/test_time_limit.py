"""A run that is over in time: `--until` and `--for`."""

from __future__ import annotations

import io
import os
import re
import select
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.referee.errors import DataError
from malice.referee.records import Key, Record
from malice.tournaments.commands.options import format_limit, is_daily, parse_limit
from malice.tournaments.league.config import Config, LabelledBot
from malice.tournaments.league.journal import Overrun
from malice.tournaments.league.store import Store
from malice.tournaments.running.announcements import compute_longest_ms
from malice.tournaments.running.coordinator import play_batches
from malice.tournaments.running.hooks import Hooks
from malice.tournaments.running.opening import RunTerms
from malice.tournaments.running.plan import Plan, read_plan
from malice.tournaments.running.run import Deadline, run_tournament
from tests.command_line import malice
from tests.runs import Run
from tests.tables import BOTS

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
    assert {path.name for path in tmp_path.iterdir()} == {"short.toml", "t.toml"}


class Limited:
    """Runs of a small tournament whose clock stands still unless a bot or the test moves it."""

    def __init__(self, folder: Path) -> None:
        self._fifo = folder / "fifo"
        self._pipe: int | None = None
        self._folder = folder
        self.slow = f"{sys.executable} {BOTS / 'teller.py'} fifo"
        self.config = Config(
            name="t",
            entries=(LabelledBot(self.slow, "slow"), LabelledBot("first", "quick")),
            deals=12,
            seed="small",
            init_ms=600_000,
            isolation="none",
        )
        self.at = 1000.0
        self._jump = 0.0

    def stall(self, jump: float) -> None:
        """Let the slow bot stall in its third game, and the clock go on so far when it does."""
        os.mkfifo(self._fifo)
        self._pipe, self._jump = os.open(self._fifo, os.O_RDONLY | os.O_NONBLOCK), jump

    def now(self) -> float:
        if self._pipe is not None and self._jump and select.select([self._pipe], [], [], 0)[0]:
            self._fifo.unlink()
            self.at, self._jump = self.at + self._jump, 0.0
        return self.at

    def play(self, until: float, grace_s: float = 120.0) -> tuple[int, str]:
        """Play until a time; return how many games are left, and what was said."""
        out = io.StringIO()
        with Store(self._folder / "t.db", create=True) as store:
            plan = read_plan(store, self.config, self._folder)
            left = run_tournament(store, plan, out, RunTerms(1, ["again"], until, grace_s, self.now))
        return left, out.getvalue()

    def close(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Limited]:
    limited = Limited(tmp_path)
    yield limited
    limited.close()


def read_lines(text: str, word: str) -> list[str]:
    return [line for line in text.splitlines() if word in line]


@pytest.mark.whole
@pytest.mark.slow
def test_a_game_that_runs_on_beyond_the_grace_is_given_up_named_and_played_later(
    limited: Limited, tmp_path: Path
) -> None:
    limited.stall(5000.0)
    left, said = limited.play(until=2000.0)

    assert left == 22
    assert read_lines(said, "no game begins after")[0].endswith("no game was measured yet, so the last may end later")
    assert f"what runs on at {_at(2120)} is given up" in said
    (line,) = read_lines(said, "is given up after")
    assert re.fullmatch(r"game 0\.0\.\d\.\d is given up after .*, of which slow used .*", line)
    with Store(tmp_path / "t.db") as store:
        (overrun,) = store.tournament().overruns
        assert overrun.label == "slow"
        finished = store.keys()
        assert (overrun.key in finished, len(finished)) == (False, 2)

    left, said = limited.play(until=limited.at + 1e6)

    assert left == 0
    standings = malice("standings", tmp_path / "t.db").stdout
    assert "slow used most of the time in 1 game that a run gave up when its time was over" in standings
    verified = malice("verify", tmp_path / "t.db")
    assert "(complete), all of them replay" in verified.stdout
    assert "given up        when the time of a run was over, by who had used most of it: slow 1" in verified.stdout
    assert limited.play(until=limited.at + 1e6)[0] == 0


@pytest.mark.whole
@pytest.mark.slow
def test_a_game_that_cannot_fit_the_whole_run_is_not_tried_again(limited: Limited, tmp_path: Path) -> None:
    assert limited.play(until=limited.at, grace_s=10)[0] == 24  # it creates the part
    with Store(tmp_path / "t.db", create=True) as store:
        long = [Overrun(Key(0, 0, deal, 0), "slow", ms) for deal, ms in ((1, 80_000.0), (2, 50_000.0))]
        store.append("t", long)

    left, said = limited.play(until=limited.at + 50, grace_s=10)
    again = limited.play(until=limited.at + 50, grace_s=50)

    assert left == 1
    assert "not tried again, since they ran longer before than this run lasts: 0.0.1.0 (1:20)" in said
    assert again[0] == 0


@pytest.mark.whole
@pytest.mark.slow
def test_games_begin_while_the_longest_measured_ones_still_fit(limited: Limited, tmp_path: Path) -> None:
    assert limited.play(until=limited.at + 1e6)[0] == 0
    plan = Plan.prepare(limited.config, tmp_path)
    (batch, *_) = plan.open_batches(set())
    deadline = Deadline(plan, 5000.0, 60.0, lambda: 4000.0)
    assert deadline.latest_begin(batch) == 5000.0
    with Store(tmp_path / "t.db") as store:
        record = store.record(Key(0, 0, 0, 0))
        deadline.begin(store, store.keys())
    assert next(iter(deadline.describe())).endswith("(99 % of 24 games)")

    for length in range(1, 201):
        deadline.measure(replace(record, elapsed_ms=1000.0 * length))

    assert deadline.latest_begin(batch) == 5000.0 - 198
    why, grace = deadline.describe()
    assert why == f"no game begins after {_at(4802)}: the longest took 3:18 (99 % of 224 games)"
    assert grace.endswith(f"what runs on at {_at(5060)} is given up, and played another time")


def _at(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).isoformat(" ", "seconds")


@pytest.mark.slow
def test_without_time_for_a_game_none_begins_and_the_run_says_why(limited: Limited) -> None:
    assert limited.play(until=limited.at + 1e6)[0] == 0
    limited.config = replace(limited.config, deals=13)

    left, said = limited.play(until=limited.at)

    assert left == 2
    assert read_lines(said, "no game was played: the longest took")
    assert limited.play(until=limited.at + 1e6)[0] == 0


@pytest.mark.whole
@pytest.mark.slow
def test_a_date_is_past_when_the_tournament_goes_on(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write(SMALL)
    assert run.finish("--create-only")[0] == 0
    with Store(run.db, create=True) as store:
        store.append(store.tournament().name, [Overrun(Key(0, 0, 0, 0), "first", 1e9)])
    soon = (datetime.now() + timedelta(hours=1)).isoformat(timespec="seconds")

    code, _, err = run.finish("--until", soon, "--grace", "30s")

    assert code == 0, err
    assert err.splitlines()[0].startswith("until 2")
    assert err.endswith("the time is up: 1 game is left; go on with: malice run t.toml --db t.db --jobs 1\n")
    assert run.games() == 7
    assert run.finish("--grace", "30s")[0] == 2


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
