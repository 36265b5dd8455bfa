"""A process that is killed while it keeps a bot, at every step that it takes on the disk."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.built_copies import PREFIX, open_workplace, sweep
from malice.tournaments.entries.kept_bots import KeptBots
from tests.kept.folders import find_built, keep, open_place, read_tree, say_nothing, write_bot, write_built_bot

STEPS = ("open", "os.mkdir", "os.rename", "os.symlink", "os.chmod", "os.remove", "os.rmdir", "os.utime", "fcntl.flock")
"""The events of Python's audit at which a process may be killed."""
MOST_STEPS = 500

pytestmark = pytest.mark.slow


@pytest.fixture
def place() -> Iterator[Path]:
    with open_place() as place:
        yield place


def run_and_kill(work: Callable[[], object], step: int) -> bool:
    """Do some work in a process of its own that is killed before its `step`th step; tell whether it got that far."""
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        left = step

        def count(event: str, _: tuple[object, ...]) -> None:
            nonlocal left
            if event in STEPS:
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        status = 1
        try:
            sys.addaudithook(count)
            work()
            status = 0
        finally:
            os._exit(status)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WIFSIGNALED(status)


def check_every_step(place: Path, prepare: Callable[[], object], work: Callable[[], object], bot: Bot) -> int:
    """Kill the work at each of its steps, look at what is there, and finish it; return the number of steps."""
    for step in range(MOST_STEPS):
        prepare()
        killed = run_and_kill(work, step)

        kept = KeptBots(place / "friday.db", pytest.fail)
        copy, tar = kept.folder / bot.hash, kept.folder / f"{bot.hash}.tar"
        if copy.exists():
            assert tar.exists(), "the tar comes first"
        if tar.exists():
            copy_before = read_tree(copy) if copy.exists() else None
            assert KeptBots(place / "friday.db", say_nothing).load(bot.hash) == bot
            assert copy_before in (None, read_tree(copy))
        work()
        assert kept.load(bot.hash) == bot
        kept.keep(find_built(place / "bot"))
        assert list(kept.folder.glob(f"{PREFIX}*")) == [], "left over"
        if not killed:
            return step
    raise AssertionError("it never ended")


@pytest.mark.whole
def test_a_kill_at_any_step_of_keeping_leaves_nothing_half_done(place: Path) -> None:
    folder = write_built_bot(place / "bot")
    (folder / "link").symlink_to("source")
    found, (kept, bot) = find_built(folder), keep(place, folder)

    steps = check_every_step(
        place,
        lambda: shutil.rmtree(kept.folder, ignore_errors=True),
        lambda: KeptBots(place / "friday.db", say_nothing).keep(found),
        bot,
    )

    assert steps > 30


def test_a_kill_at_any_step_of_unpacking_leaves_nothing_half_done(place: Path) -> None:
    kept, bot = keep(place, write_bot(place / "bot"))

    steps = check_every_step(
        place,
        lambda: shutil.rmtree(kept.folder / bot.hash, ignore_errors=True),
        lambda: KeptBots(place / "friday.db", say_nothing).load(bot.hash),
        bot,
    )

    assert steps > 20


@pytest.mark.whole
def test_a_kill_at_any_step_of_replacing_a_copy_loses_no_version(place: Path) -> None:
    folder = write_bot(place / "bot")
    found, (kept, bot) = find_built(folder), keep(place, folder)

    def spoil() -> None:
        shutil.rmtree(kept.folder)
        keep(place, folder)
        (kept.folder / bot.hash / "bot.py").write_text("")

    for step in range(MOST_STEPS):
        spoil()
        killed = run_and_kill(lambda: KeptBots(place / "friday.db", say_nothing).keep(found), step)

        assert KeptBots(place / "friday.db", say_nothing).load(bot.hash) == bot
        if not killed:
            break
    else:
        pytest.fail("it never ended")


def test_a_workplace_in_use_is_not_swept_and_one_of_a_dead_process_is(place: Path) -> None:
    def die() -> None:
        with open_workplace(place) as work:
            (work / "half").write_text("")
            (work / "closed").mkdir(mode=0o500)
            os.kill(os.getpid(), signal.SIGKILL)

    with open_workplace(place) as mine:
        assert run_and_kill(die, MOST_STEPS)
        assert len(list(place.iterdir())) == 2
        sweep(place)
        assert list(place.iterdir()) == [mine]
    assert list(place.iterdir()) == []


def test_two_processes_that_keep_the_same_bot_do_not_disturb_each_other(place: Path) -> None:
    folder = write_built_bot(place / "bot")
    found = find_built(folder)
    children = []
    for _ in range(4):
        pid = os.fork()
        if not pid:
            try:
                KeptBots(place / "friday.db", say_nothing).keep(found)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(pid)

    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 4
    kept, bot = keep(place, folder)
    assert sorted(path.name for path in kept.folder.iterdir()) == [bot.hash, f"{bot.hash}.tar"]
