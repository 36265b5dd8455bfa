"""Games that several processes replay: what comes of them, and what is said of damage, is as if one did."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from site_pages.packing import Packers
from tests.leagues import change, play_small_league
from tests.processes import Mark
from tests.test_cli import malice
from tournaments.errors import UnverifiedError
from tournaments.league import replayers
from tournaments.league.replayers import replay_rows
from tournaments.league.store import Store
from tournaments.league.verify import Verified, verify_league

pytestmark = pytest.mark.slow


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A league of ten games, which are many here."""
    monkeypatch.setattr(replayers, "MANY", 10)
    monkeypatch.setattr(replayers, "CHUNK", 3)
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
    monkeypatch.setattr("site_pages.packing.count_processors", lambda: 2)
    with Store(league) as store:
        records = list(store.records())
    broken = replace(records[9], actions=records[9].actions[1:], events=b"")
    bare = [*(replace(record, events=b"") for record in records[:8]), records[8], broken]

    with Packers() as packers:
        assert packers.fill(bare[:5]) == bare[:5], "few games are left to whoever shows them"
        filled = packers.fill(bare)

    assert filled[:9] == records[:9]
    assert filled[9] == broken


def test_what_a_process_leaves_when_it_dies_is_done_here(league: Path) -> None:
    with Store(league) as store, replay_rows(store, "games", 10, 2) as crew:
        rows = [(row, None) for row in store.list_recorded()]
        whole = list(crew.replay(rows))
        for process in crew._processes:
            process.kill()

        assert list(crew.replay(rows)) == whole
        assert len(whole) == 10


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
