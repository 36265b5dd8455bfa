"""Games that several processes replay: what comes of them, and what is said of damage, is as if one did."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from queue import SimpleQueue

import pytest
from msgspec.structs import replace

from malice.referee.records import Record
from malice.site_pages.shard_files import Packers
from malice.tournaments.errors import Stopped, UnverifiedError
from malice.tournaments.league import comparison, replay_pool, replays
from malice.tournaments.league.comparison import compare_without_luck
from malice.tournaments.league.replay_pool import replay_rows
from malice.tournaments.league.store import Store
from malice.tournaments.league.verify import Verified, verify_league
from malice.tournaments.running.hooks import Audit
from tests.command_line import malice
from tests.leagues import change, play_small_league
from tests.processes import PATIENCE_S, Mark

pytestmark = pytest.mark.slow


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A league of ten games, which are many here."""
    monkeypatch.setattr(replay_pool, "MANY", 10)
    monkeypatch.setattr(replay_pool, "CHUNK", 3)
    return play_small_league(tmp_path, deals=5)


def verify(league: Path, jobs: int) -> tuple[int, str | Verified]:
    """Return how many games were examined, and what came of it."""
    seen: list[None] = []
    with Store(league) as store:
        found: str | Verified
        try:
            found = verify_league(store, lambda: seen.append(None), jobs)
        except UnverifiedError as error:
            found = str(error)
        return len(seen), found


def test_two_processes_find_the_same_and_print_the_same(league: Path) -> None:
    assert verify(league, 2) == verify(league, 1)
    for options in ((), ("--views",)):
        one, two = (malice("export", league, *options, "--jobs", jobs).stdout for jobs in "12")
        assert one == two
        assert one.count("\n") >= 10


@pytest.mark.parametrize(
    "statements",
    [
        "UPDATE games SET summary = replace(summary, '\"used_ms\":[', '\"used_ms\":[1') WHERE number IN (4, 7)",
        # The row itself cannot be read: what comes before it is examined first.
        "UPDATE games SET failed = CAST(x'ff' AS TEXT) WHERE number = 9",
    ],
)
def test_damage_is_found_at_the_same_game_and_in_the_same_words(league: Path, statements: str) -> None:
    change(league, statements)

    found = verify(league, 2)

    assert isinstance(found[1], str)
    assert found == verify(league, 1)


def test_what_no_referee_packed_is_packed_for_the_site(league: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malice.site_pages.shard_files.count_processors", lambda: 2)
    with Store(league) as store:
        records = list(store.records())
    broken = replace(records[9], actions=records[9].actions[1:], events=b"")
    bare = [*(replace(record, events=b"") for record in records[:8]), records[8], broken]

    with Packers() as packers:
        assert packers.fill(bare[:5]) == bare[:5], "few games are left to whoever shows them"
        filled = packers.fill(bare)

    assert filled[:9] == records[:9]
    assert filled[9] == broken


def kill(process: replay_pool.Process) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def kill_before(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every process die as it receives a message that contains these bytes."""
    exchange = replay_pool._exchange

    def exchange_or_kill(process: replay_pool.Process, message: bytes) -> bytes | None:
        if sent in message:
            kill(process)
        return exchange(process, message)

    monkeypatch.setattr(replay_pool, "_exchange", exchange_or_kill)


def test_another_process_follows_one_that_dies_and_what_none_does_is_done_here(
    league: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(league) as store, replay_rows(store, "games", 10, 2) as crew:
        rows = [(row, None) for row in store.list_recorded()]
        whole = list(crew.replay(rows))
        dead = set(crew._processes)
        for process in dead:
            kill(process)
        with monkeypatch.context() as patch:
            patch.setattr(crew, "_replay", lambda row: pytest.fail("it is done here"))
            assert list(crew.replay(rows)) == whole
        assert crew._processes - dead

        kill_before(b"", monkeypatch)
        assert list(crew.replay(rows)) == whole
        assert not crew._processes
        assert len(whole) == 10


def test_what_kills_its_process_is_a_fault_of_the_record_alone(league: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malice.tournaments.running.hooks.count_processors", lambda: 1)
    told = SimpleQueue[tuple[Record, str]]()
    with Store(league) as store, Audit(store) as audit:
        deadly, good, cut, huge = list(store.records())[:4]
        cut, huge = replace(cut, actions=cut.actions[:-1]), replace(huge, scores=(2**70, 0))

        kill_before(deadly.digest.encode(), monkeypatch)
        for record in (good, deadly, cut, huge):
            audit.replay(record, lambda record, why: told.put((record, why)))
        heard = [told.get(timeout=PATIENCE_S) for _ in range(4)]

        assert [record for record, _ in heard] == [good, deadly, cut, huge]
        assert [why for _, why in heard][:2] == ["", "its replay was killed"]
        assert all(str(record.key) in why for record, why in heard[2:])
        with pytest.raises(Stopped, match="1 game of other machines"):
            audit.check([good.key, deadly.key])
        left = store.keys()
    assert good.key in left
    assert deadly.key not in left


@pytest.mark.whole
def test_two_processes_measure_the_same_luck(tmp_path: Path, league: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[list[float], list[float]]] = []
    monkeypatch.setattr(replay_pool, "MANY", 4)
    monkeypatch.setattr(replay_pool, "CHUNK", 1)
    monkeypatch.setattr(comparison, "FEWEST", 1)
    monkeypatch.setattr(comparison, "adjust_scores", lambda *each: told.append(each[:2]))
    (tmp_path / "whole").mkdir()
    with Store(play_small_league(tmp_path / "whole", deals=2, rules="")) as store:
        for jobs in (1, 2):
            monkeypatch.setattr(comparison, "count_processors", lambda jobs=jobs: jobs)
            list(compare_without_luck(store))
        monkeypatch.setattr(replays, "measure_luck", lambda luck, record: pytest.fail("it is measured here"))
        list(compare_without_luck(store))

    assert told[0] == told[1] == told[2]
    assert any(told[0][1])


def test_an_interrupt_leaves_no_process(league: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = Mark()
    for name, value in mark.environ().items():
        monkeypatch.setenv(name, value)

    def interrupt() -> None:
        assert len(list(mark.alive())) == 2
        raise KeyboardInterrupt

    with Store(league) as store, pytest.raises(KeyboardInterrupt):
        verify_league(store, interrupt, 2)

    assert list(mark.alive()) == []
