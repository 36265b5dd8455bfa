"""Bots that are built: once, by one process at a time, and with clear words when it does not work."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import Any

import pytest

from malice.referee.errors import BotError
from malice.tournaments.entries import bots
from malice.tournaments.entries.bot_files import STAMP
from malice.tournaments.entries.bots import find_bot
from malice.tournaments.entries.builds import Build, build

ROOT = Path(__file__).parents[1]
NOBODY = 65534

MAKE = """
    import os
    with open("log", "a") as log:
        log.write("built\\n")
    os.makedirs("out", exist_ok=True)
    with open("source.txt") as source, open("out/bot", "w") as made:
        made.write(source.read())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A bot whose build copies its source, keeps a log, and ignores both; everybody may read it."""
    with TemporaryDirectory() as parent:
        mine = Path(parent, "mine")
        mine.mkdir()
        for path in (mine, mine.parent):
            path.chmod(0o755)
        (mine / "source.txt").write_text("one")
        describe(mine, MAKE)
        yield mine


def describe(folder: Path, program: str, more: str = 'ignore = ["out", "log"]') -> None:
    (folder / "make.py").write_text(dedent(program))
    (folder / "bot.toml").write_text(
        f'name = "mine"\nbuild = ["{{python}}", "make.py"]\nrun = ["sh", "out/bot"]\n{more}\n'
    )


def builds(folder: Path) -> int:
    return (folder / "log").read_text().count("built")


def make(folder: Path, *, force: bool = False) -> tuple[Build, list[str]]:
    said: list[str] = []
    return build(find_bot(str(folder)), said.append, force=force), said


def start(folder: Path) -> subprocess.Popen[str]:
    """Start `malice build` in a process of its own."""
    command = [sys.executable, "-c", "from malice.tournaments.cli import main; main()", "build", str(folder)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Be a user who may not write everywhere, as root may."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_build_runs_once_in_the_folder_of_the_bot(folder: Path) -> None:
    first, said = make(folder)
    second, more = make(folder)

    assert (folder / "out/bot").read_text() == "one"
    assert (first.ran, second.ran) == (True, False)
    assert said == [f"mine: building: {sys.executable} make.py"]
    assert more == []
    assert builds(folder) == 1


def test_a_bot_without_a_build_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('name = "mine"\nrun = ["sh", "bot"]\n')

    done, said = make(tmp_path)

    assert (done.ran, said) == (False, [])
    assert [path.name for path in tmp_path.iterdir()] == ["bot.toml"]


def test_what_is_ignored_leaves_the_bot_the_same(folder: Path) -> None:
    before = find_bot(str(folder)).hash

    done, _ = make(folder)

    assert done.bot.hash == before == find_bot(str(folder)).hash


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "source.txt").write_text("two"),
        lambda folder: (folder / "more.txt").write_text(""),
        lambda folder: (folder / "source.txt").chmod(0o755),
        lambda folder: (folder / "bot.toml").write_text((folder / "bot.toml").read_text() + "# changed\n"),
        lambda folder: (folder / "out/bot").unlink(),
        lambda folder: (folder / STAMP).unlink(),
        lambda folder: (folder / STAMP).write_bytes(b'{"made_from":"\xff'),
    ],
    ids=["source", "new file", "exec bit", "manifest", "output gone", "stamp gone", "stamp broken"],
)
def test_any_change_builds_it_again(folder: Path, change: object) -> None:
    make(folder)

    assert callable(change)
    change(folder)

    assert make(folder)[0].ran
    assert not make(folder)[0].ran


def test_a_folder_that_is_ignored_and_gone_is_built_again_though_the_command_does_not_name_it(folder: Path) -> None:
    manifest = (folder / "bot.toml").read_text()
    (folder / "bot.toml").write_text(manifest.replace('"sh", "out/bot"', '"sh", "-c", "exec sh out/bot"'))
    make(folder)

    (folder / "out").rename(folder.parent / "elsewhere")

    assert make(folder)[0].ran


def test_force_builds_though_nothing_changed(folder: Path) -> None:
    make(folder)

    assert make(folder, force=True)[0].ran
    assert builds(folder) == 2


def test_a_failed_build_shows_what_it_printed_and_is_tried_again(folder: Path) -> None:
    make(folder)
    describe(folder, "print('no luck')\nexit(3)")

    for _ in range(2):
        with pytest.raises(BotError, match=r"(?s)^mine: the build .* make\.py exited with status 3:\nno luck$"):
            make(folder)
    assert (folder / STAMP).read_bytes() == b""


@pytest.mark.slow
def test_a_build_that_takes_too_long_is_killed_with_all_its_processes(folder: Path) -> None:
    os.mkfifo(folder / "gate")
    program = (
        "import os, subprocess\nprint('compiling', flush=True)\n"
        "child = subprocess.Popen(['sh', '-c', 'read line < gate'])\nopen('pid', 'w').write(str(child.pid))\n"
        "child.wait()\n"
    )
    describe(folder, program, 'ignore = ["pid", "gate"]\nbuild_s = 1')

    said = r"(?s)^mine: the build .* was killed: it took longer than 1 s \(build_s in bot\.toml\):\ncompiling$"
    with pytest.raises(BotError, match=said):
        make(folder)
    with contextlib.suppress(ProcessLookupError):  # gone already
        child = os.pidfd_open(int((folder / "pid").read_text()))
        assert select.select([child], [], [], 60)[0]
    assert (folder / STAMP).read_bytes() == b""


def test_a_failed_build_is_forgotten_even_if_the_sources_are_as_they_were(folder: Path) -> None:
    """What stands there then was half written by the build that failed."""
    make(folder)
    good = (folder / "make.py").read_text()
    describe(folder, "open('out/bot', 'w').close()\nexit(1)")
    with pytest.raises(BotError):
        make(folder)

    describe(folder, good)

    assert make(folder)[0].ran
    assert (folder / "out/bot").read_text() == "one"


def test_a_build_command_that_is_not_there_is_an_error(folder: Path) -> None:
    (folder / "bot.toml").write_text('name = "mine"\nbuild = ["./nothing"]\nrun = ["x"]\n')

    with pytest.raises(BotError, match=r"mine: cannot build: .*nothing"):
        make(folder)


def test_a_build_that_leaves_a_server_behind_ends_and_so_does_the_server(folder: Path) -> None:
    program = (
        "import os, subprocess\nserver = subprocess.Popen(['sleep', '600'])\nopen('pid', 'w').write(str(server.pid))\n"
    )
    describe(folder, program, 'ignore = ["pid"]')

    make(folder)

    with contextlib.suppress(ProcessLookupError):  # gone already
        server = os.pidfd_open(int((folder / "pid").read_text()))
        assert select.select([server], [], [], 60)[0]


def test_output_that_is_not_ignored_is_named_and_belongs_to_the_bot_from_the_first_run_on(folder: Path) -> None:
    describe(folder, MAKE, 'ignore = ["log"]')

    first, said = make(folder)
    second, more = make(folder)

    assert said[1:] == [
        "mine: warning: the build writes out/bot, not listed in `ignore` in bot.toml:"
        " each build may make it a different bot"
    ]
    assert (second.ran, more) == (False, [])
    assert first.bot.hash == second.bot.hash


def test_a_source_that_changes_during_the_build_is_built_again(folder: Path) -> None:
    describe(folder, MAKE + "    open('source.txt', 'w').write('two')\n")

    first, said = make(folder)
    second, _ = make(folder)

    assert "the build writes source.txt" in said[1]
    assert first.ran
    assert second.ran
    assert (folder / "out/bot").read_text() == "two"


def test_a_missing_program_is_named_before_anything_is_tried(folder: Path) -> None:
    describe(folder, MAKE, 'ignore = ["out", "log"]\nneeds = ["sh", "no-such-compiler"]')

    with pytest.raises(BotError, match=r"^mine: needs no-such-compiler, not on the PATH$"):
        make(folder)
    assert not (folder / "out").exists()
    assert not (folder / STAMP).exists()


def test_a_bot_that_is_up_to_date_needs_no_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    describe(folder, MAKE, 'ignore = ["out", "log"]\nneeds = ["sh"]')
    make(folder)
    monkeypatch.setenv("PATH", "/nowhere")

    assert not make(folder)[0].ran


def test_a_program_that_a_run_needs_is_missed_without_a_build_too(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('name = "mine"\nrun = ["x", "bot"]\nneeds = ["no-such-machine"]\n')

    with pytest.raises(BotError, match="mine: needs no-such-machine"):
        make(tmp_path)


@pytest.mark.parametrize("bot", sorted(name for name in bots.list_shipped_bots() if "/" in name))
def test_what_a_shipped_bot_ignores_is_neither_committed_nor_packed(bot: str) -> None:
    names = [f"bots/{bot}/{pattern.rstrip('/')}" for pattern in find_bot(bot).manifest.ignore if "*" not in pattern]
    names.append(f"bots/{bot}/{STAMP}")

    for name in names:
        asked = ["git", "check-ignore", "--no-index", name, f"{name}/"]
        assert subprocess.run(asked, cwd=ROOT, capture_output=True, check=False).stdout, f"{name}: add it to .gitignore"


def test_a_folder_that_cannot_be_written_is_an_error_that_says_what_to_do(folder: Path) -> None:
    bot = find_bot(str(folder))
    folder.chmod(0o555)

    with as_nobody(), pytest.raises(BotError, match=r"cannot build in .*mine: Permission denied; copy it to a folder"):
        build(bot)
    folder.chmod(0o755)


def test_a_kit_that_cannot_be_written_is_to_be_copied(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = folder.parent / "bots" / "rust" / "starter"
    kit.parent.mkdir(parents=True)
    folder.rename(kit)
    monkeypatch.setattr(bots, "SHIPPED", folder.parent / "bots")
    bot = find_bot("rust/starter")
    kit.chmod(0o555)

    with as_nobody(), pytest.raises(BotError, match=r"Permission denied; make .* malice new DIR --language rust$"):
        build(bot)
    kit.chmod(0o755)


def test_a_folder_that_cannot_be_written_will_do_once_it_is_built(folder: Path) -> None:
    make(folder)
    bot = find_bot(str(folder))
    folder.chmod(0o555)

    with as_nobody():
        assert not build(bot).ran
    folder.chmod(0o755)


def test_a_record_of_a_build_that_lies_elsewhere_is_not_read(folder: Path) -> None:
    """It could be a file that never ends."""
    make(folder)
    (folder / STAMP).rename(folder.parent / "stamp")
    (folder / STAMP).symlink_to(folder.parent / "stamp")

    with pytest.raises(BotError, match=r"^mine: cannot build in .*mine: Too many levels of symbolic links"):
        make(folder)


def test_a_stamp_that_leads_elsewhere_is_not_followed(folder: Path) -> None:
    precious = folder.parent / "precious"
    precious.write_text("mine")
    (folder / STAMP).symlink_to(precious)

    with pytest.raises(BotError, match="mine: cannot build in"):
        make(folder)
    assert precious.read_text() == "mine"


@pytest.mark.slow
def test_of_two_processes_one_builds_and_the_other_waits_for_it(folder: Path) -> None:
    describe(folder, "open('gate').read()\n" + dedent(MAKE), 'ignore = ["out", "log", "gate"]')
    os.mkfifo(folder / "gate")

    with start(folder) as first:
        assert first.stderr
        assert first.stderr.readline().startswith("mine: building:")
        with start(folder) as second:
            assert second.stderr
            assert second.stderr.readline() == "mine: another process is building it, waiting\n"
            (folder / "gate").write_text("go")
            assert (first.communicate()[0], first.returncode) == (f"mine: built in {folder}\n", 0)
            assert (second.communicate()[0], second.returncode) == (f"mine: up to date in {folder}\n", 0)

    assert builds(folder) == 1


@pytest.mark.slow
def test_a_signal_while_a_build_is_started_waits_until_it_can_be_killed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *words: Any, **more: Any) -> None:
            super().__init__(*words, **more)
            started.append(self)
            signal.raise_signal(signal.SIGINT)

    describe(folder, "import signal; signal.pause()")
    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            make(folder)
        assert [builder.returncode for builder in started] == [-signal.SIGKILL]
    finally:
        started[0].kill()
        started[0].wait()


def test_a_build_that_is_killed_is_done_again(folder: Path) -> None:
    make(folder)
    made = (folder / "make.py").read_text()
    describe(folder, "open('gate').read()", 'ignore = ["out", "log", "gate"]')
    os.mkfifo(folder / "gate")
    with start(folder) as killed:
        assert killed.stderr
        assert killed.stderr.readline().startswith("mine: building:")
        killed.terminate()
        assert killed.wait() == 130

    describe(folder, made)
    (folder / "gate").unlink()

    assert make(folder)[0].ran
