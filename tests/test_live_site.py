"""Pages that are kept up to date while somebody plays: what they say of the moment, and who writes them."""

from __future__ import annotations

import fcntl
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from malice import site_pages
from malice.site_pages.live import NAME, LiveFile, Speed, list_live_lines
from malice.site_pages.pages import GameCount
from malice.tournaments.commands import pages
from malice.tournaments.league.config import Config
from malice.tournaments.league.store import Store, is_played
from malice.tournaments.terminal.results import WATCHED
from tests.command_line import malice
from tests.growing_leagues import GrowingLeague
from tests.processes import PATIENCE_S
from tests.runs import Run
from tests.site_files import contents
from tests.tables import BOTS

BOTH = {"ana": 1, "ben": 1}


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GrowingLeague:
    """Two of eight games are played."""
    league = GrowingLeague(tmp_path / "course.db", monkeypatch)
    league.play(BOTH)
    league.play(BOTH, deals=4, finish=False)
    return league


def read_live(out: Path) -> LiveFile:
    script = (out / NAME).read_bytes()
    return msgspec.json.decode(script.removeprefix(b"malice.tell(").removesuffix(b");\n"), type=LiveFile)


def test_who_watches_is_told_what_holds_at_all_looks(league: GrowingLeague, tmp_path: Path) -> None:
    def look() -> tuple[str, str, list[dict[str, Any]]]:
        with Store(league.path) as store:
            site_pages.render(store, tmp_path / "out")
        shown = malice("standings", league.path).stdout
        (told,) = msgspec.json.decode(malice("standings", league.path, "--json").stdout)
        return shown, (tmp_path / "out/index.html").read_text("utf-8"), told["rows"]

    shown, page, rows = look()
    assert "95 % so far" in shown
    assert shown.rstrip().splitlines()[-2] == WATCHED
    assert "Deals are still missing" in page
    assert page.count('title="95 % interval of all looks together"') == len(BOTH)
    assert malice("standings", league.path, "--pair", "ana", "ben").stdout.startswith("undecided so far: ")
    for row in rows:
        low, high = row["score_so_far"]
        assert low <= row["rating"]["score"] <= high

    league.play(BOTH, deals=4)
    shown, page, rows = look()
    assert "so far" not in shown
    assert "so far" not in malice("standings", league.path, "--pair", "ana", "ben").stdout
    assert "are missing" not in shown
    assert "Deals are still missing" not in page
    assert not any("score_so_far" in row for row in rows)


def test_what_changes_with_the_time_lies_in_one_file(league: GrowingLeague, tmp_path: Path) -> None:
    out, again = tmp_path / "out", tmp_path / "again"
    with Store(league.path) as store:
        follower = site_pages.Follower(store, out)
        first = follower.look(running=True)
        began = read_live(out)
        with store.away():
            league.play(BOTH, deals=4)
        last = follower.look(running=False)
        site_pages.render(store, again)

    assert (first.games, last.games) == (2, 8)
    assert (began.running, began.words) == (True, ("2 of 8 games",))
    ended = read_live(out)
    assert (ended.running, ended.words) == (False, ("finished",))
    assert began.stamp != ended.stamp == read_live(again).stamp
    assert read_live(again).updated is None
    stays, full = contents(out), contents(again)
    assert stays.pop(NAME) != full.pop(NAME)
    assert stays == full
    assert f'data-stamp="{ended.stamp}"' in (out / "index.html").read_text()


def test_where_nothing_changed_only_the_time_is_written(league: GrowingLeague, tmp_path: Path) -> None:
    with Store(league.path) as store:
        follower = site_pages.Follower(store, tmp_path / "out")
        follower.look(running=True)
        (tmp_path / "out/index.html").unlink()
        (tmp_path / "out" / NAME).unlink()

        follower.look(running=True)
        told = read_live(tmp_path / "out")
        follower.leave()

    assert not (tmp_path / "out/index.html").exists()
    assert (told.running, told.words[-1]) == (True, "0.0 games/s")
    assert read_live(tmp_path / "out") == LiveFile(updated=told.updated, stamp=told.stamp)


def test_the_speed_is_that_of_the_last_minute() -> None:
    speed = Speed()
    measured = []
    for at, played in ((0, 0), (10, 100), (20, 100), (70, 150), (130, 150), (140, 90)):
        speed.add(at, played)
        measured.append(speed.measure())

    assert measured == [None, 10.0, 5.0, 50 / 60, 0.0, 0.0]


def test_the_time_to_go_follows_from_the_speed() -> None:
    def describe(games: GameCount, config: Config, rate: float | None) -> str:
        return " · ".join(list_live_lines(games, config, rate))

    config = Config(entries=("ana", "ben"))
    assert describe(GameCount(1000, 2000), config, 4.0) == "1,000 of 2,000 games · 4.0 games/s · about 4:10 left"
    assert describe(GameCount(2000, 2000), config, 4.0) == "2,000 of 2,000 games · 4.0 games/s"
    swiss = msgspec.structs.replace(config, format="swiss")
    assert describe(GameCount(1, 2), swiss, 0.5) == "1 of 2 games · 0.5 games/s · about 2 s left in this round"


class Script:
    """The orders of a run, as a script: what happens while the process waits, wait by wait."""

    def __init__(self, steps: Sequence[Callable[[], object]]) -> None:
        self.ended = False
        self._steps = iter(steps)

    def sleep(self, seconds: float) -> None:
        next(self._steps)()
        self.ended = self._steps.__length_hint__() == 0  # type: ignore[attr-defined]


def test_the_process_of_a_run_waits_for_its_tournament_and_writes_until_the_run_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    league = GrowingLeague(tmp_path / "course.db", monkeypatch)
    seen: list[LiveFile] = []
    run = os.open(tmp_path, os.O_RDONLY)

    def begin() -> None:
        league.play(BOTH, deals=1, finish=False)
        nonlocal run
        run = os.open(league.path, os.O_RDWR)

    def play_on() -> None:
        seen.append(read_live(out))
        league.play(BOTH, deals=1)
        league.play(BOTH, deals=2, finish=False)
        fcntl.flock(run, fcntl.LOCK_EX)

    def fill_the_disk() -> None:
        seen.append(read_live(out))
        fcntl.flock(run, fcntl.LOCK_UN)
        league.play(BOTH, deals=2)
        league.play(BOTH, deals=3, finish=False)
        (out / "index.html").unlink()
        (out / "index.html").mkdir()

    def empty_it() -> None:
        (out / "index.html").rmdir()

    with Store(league.path, create=True):
        pass  # as a run that greets its bots
    steps = (lambda: None, begin, play_on, fill_the_disk, lambda: None, empty_it)
    monkeypatch.setattr(pages, "FollowOrders", lambda: Script(steps))
    monkeypatch.setattr("os.nice", lambda increment: 0)

    pages.follow_run(league.path, "course", out)

    os.close(run)
    printed = capsys.readouterr()
    assert [(each.running, each.words[0]) for each in seen] == [(True, "0 of 2 games"), (True, "2 of 4 games")]
    assert printed.err == f"the pages wait, the games go on: {out / 'index.html'}: Is a directory\n"
    assert msgspec.json.decode(printed.out)["games"] == 4
    assert (read_live(out).running, read_live(out).words) == (False, ())


def test_a_league_that_is_complete_is_followed_no_more(league: GrowingLeague, tmp_path: Path) -> None:
    out = tmp_path / "out"
    league.play(BOTH, deals=4)

    result = malice("site", league.path, "--out", out, "--follow")

    assert result.exit_code == 0, result.output
    assert read_live(out).words == ("finished",)
    assert not is_played(league.path)
    assert malice("site", league.path, "--out", out, "--follow", "--luck").exit_code == 2


def test_ctrl_c_ends_following_in_order(league: GrowingLeague, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        assert seconds > 0
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupt)

    result = malice("site", league.path, "--out", tmp_path / "out", "--follow")

    assert result.exit_code == 0, result.output
    assert read_live(tmp_path / "out").running is False


@pytest.fixture
def stopping(tmp_path: Path) -> Iterator[Run]:
    """A run with pages whose bot stops in its third game until somebody listens."""
    run = Run(tmp_path)
    os.mkfifo(run.fifo)
    teller = f"{sys.executable} {BOTS / 'teller.py'} fifo"
    run.write(f'entries = ["{teller}", "first"]\nseed = "told"\ndeals = 12\ninit_ms = 60_000\n')
    yield run
    run.mark.end()


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_nobody_who_writes_pages_not_even_one_who_hears_nothing(stopping: Run) -> None:
    with stopping.start("--jobs", "1", "--site", "pages") as process, stopping.in_the_third_game():
        (keeper,) = stopping.mark.find("--ordered")
        os.kill(keeper, signal.SIGSTOP)  # as if it was writing
        process.kill()
        process.wait(PATIENCE_S)
        left = stopping.mark.await_end()

    assert left == []


@pytest.mark.slow
def test_a_run_that_is_stopped_writes_its_pages_and_leaves_nobody(stopping: Run) -> None:
    with stopping.start("--jobs", "1", "--site", "pages") as process, stopping.in_the_third_game():
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 3, err
    assert "stopped by SIGTERM after 2 of 24 games" in err
    assert out.endswith("pages/index.html\n")
    assert "2 of 24 games" in (stopping.folder / "pages/index.html").read_text()
    assert read_live(stopping.folder / "pages").running is False
    assert stopping.mark.await_end() == []


@pytest.mark.whole
@pytest.mark.slow
def test_pages_that_cannot_be_written_stop_no_game_but_the_exit_code_says_so(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write('entries = ["uniform", "first"]\nseed = "small"\ndeals = 2\n')
    (tmp_path / "pages").write_text("not a folder")
    try:
        code, _, err = run.finish("--site", "pages/here")
    finally:
        run.mark.end()

    assert code == 1, err
    assert run.games() == 4
    last = err.splitlines()[-1]
    assert last.startswith("Error: pages/here")
    assert last.endswith(": Not a directory")


@pytest.mark.whole
@pytest.mark.slow
def test_a_run_writes_its_pages_over_no_other_tournament_unless_told_to(tmp_path: Path) -> None:
    run = Run(tmp_path)
    text = 'entries = ["uniform", "first"]\nseed = "small"\ndeals = 1\n'
    try:
        for name, words, code, games in (
            ("course", (), 0, 2),
            ("final", (), 2, 2),
            ("final", ("--replace-site",), 0, 4),
        ):
            run.write(f'name = "{name}"\n{text}')
            found, _, err = run.finish("--site", "pages", *words)

            assert found == code, err
            with closing(sqlite3.connect(run.db)) as db:
                assert db.execute("SELECT count(*) FROM games").fetchone() == (games,)
            assert ("pages: holds the site of 'course', not of 'final': name another folder" in err) == (code == 2)
            shown = "course" if code else name
            assert f"<title>{shown}" in (tmp_path / "pages/index.html").read_text()
    finally:
        run.mark.end()
