"""The files of a bot in a sandbox: what it can change, what it sees of its folder, and as which user."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from malice.referee.isolation import bwrap, cgroups, copies, folders, limits, probe
from malice.referee.isolation.boxes import explain_shared_user
from malice.referee.isolation.bwrap import MOST_COVERS, SandboxView
from malice.referee.records import Isolation, Player
from malice.referee.seat import BotSeat
from tests.boxes import boxed, own_groups, run_in_box
from tests.tables import PATIENCE_MS, move_request

BOT = Path(__file__).parent / "isolated_bot.py"
OURS, ITS_OWN = "the user that we are", "a user of its own"

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]


@pytest.fixture(params=[OURS, ITS_OWN])
def user(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run bots with their own user if possible, and with ours, which is weaker."""
    if request.param == OURS:
        monkeypatch.setattr(limits, "explain_missing_uids", lambda: "asked")
    return str(request.param)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty temporary folder, which is in use as the system's."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def make_attempt(paths: str, attempt: str) -> str:
    """Return code that reports the paths with which an attempt succeeds."""
    return f"import os\ntold = []\nfor path in {paths}:\n try: {attempt}; told.append(path)\n except OSError: pass"


# what it can change


def test_nothing_of_the_sandboxs_first_process_can_be_opened(user: str) -> None:
    parts = [
        f"/proc/1/{name}" for name in ("mem", "maps", "environ", "fd/0", "task/1/mem", "root/tmp", "oom_score_adj")
    ]

    assert run_in_box("bwrap", make_attempt(repr(parts), "os.close(os.open(path, os.O_RDONLY))")) == "[]"
    assert (
        run_in_box("bwrap", make_attempt("['/proc/1/mem', '/proc/1/comm']", "os.close(os.open(path, os.O_WRONLY))"))
        == "[]"
    )


@pytest.mark.memory_group
@pytest.mark.parametrize("filtered", [pytest.param(True, marks=pytest.mark.filter), False])
def test_the_first_process_is_counted_and_frozen_too_where_no_filter_keeps_a_bot_from_it(
    filtered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "explain_missing_uids", lambda: "asked")
    if not filtered:
        monkeypatch.setattr(limits, "explain_missing_filter", lambda: "asked")
    where = cgroups.find_parents().freeze
    with boxed("bwrap", "") as seat:
        seat.ask_move(move_request(seat), None)
        (group,) = (each for each in own_groups() if each.parent == (where or cgroups.find_parents().memory))
        members = (group / "cgroup.procs").read_text().split()

        # Only from a group of version 2 our own processes are taken out.
        assert len(members) == (3 if where is None else 1 if filtered else 2)


def test_no_setting_of_the_kernel_can_be_written(user: str) -> None:
    every = "[os.path.join(where, name) for where, _, names in os.walk('/proc/sys') for name in names]"

    assert run_in_box("bwrap", make_attempt(every, "os.close(os.open(path, os.O_WRONLY))")) == "[]"


def test_files_can_be_made_in_two_folders_which_are_no_larger_than_its_memory(user: str) -> None:
    mounted = "[line.split()[1] for line in open('/proc/self/mounts')]"
    every = f"sorted({{up for path in {mounted} for up in (path, os.path.dirname(path), '/etc', '/proc/1')}})"
    size = "size = sum({os.stat(path).st_dev: (s := os.statvfs(path)).f_blocks * s.f_frsize for path in told}.values())"

    with boxed(
        "bwrap", make_attempt(every, "open(path + '/new', 'x').close()") + f"\n{size}\ntold += [size]", memory_mb=64
    ) as at:
        *writable, whole = eval(at.version)

    # A checkout may lie below /tmp, and then so do the folders that lead to it.
    assert [path for path in writable if not path.startswith("/tmp/")] == ["/dev/shm", "/tmp"]
    assert whole <= 64 << 20


@pytest.mark.filter
@pytest.mark.parametrize("layer", ["rlimit", "bwrap"])
def test_without_a_count_of_memory_a_bot_gets_none_that_belongs_to_no_process(
    layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "find_parents", cgroups.Parents)
    column = 0 if os.uname().machine == "x86_64" else 1

    assert run_in_box(layer, "import os; os.memfd_create('x')") == "PermissionError"  # type: ignore[arg-type]
    for name, arguments in {"shmget": "0, 4096, 0o1600", "semget": "0, 9, 0o1600", "msgget": "0, 0o1600"}.items():
        call = f"ctypes.CDLL(None).syscall({limits._UNCOUNTED[name][column]}, {arguments})"
        assert run_in_box(layer, f"import ctypes; told = {call}") == "-1"  # type: ignore[arg-type]


# what it sees, and as which user


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """Return a bot's folder that only its owner may read."""
    folder = tmp_path / "bot"
    for name in (".git", "__pycache__", "lib/__pycache__", "lib/.cache"):
        (folder / name).mkdir(parents=True)
        (folder / name / "kept").write_text("from the last game")
    (folder / "bot.toml").write_text("")
    (folder / "lib" / "data").write_text("data")
    (folder / ".env").write_text("a dot-file")
    (folder / "link").symlink_to("lib/data")
    (folder / "run").write_text('#!/bin/sh\nexec "$@"\n')
    (folder / "run").chmod(0o700)
    for path in (folder / "bot.toml", folder / "lib" / "data", folder / ".env"):
        path.chmod(0o600)
    folder.chmod(0o700)
    return folder


@contextmanager
def seated(folder: Path, code: str, *, program: str = sys.executable) -> Iterator[BotSeat]:
    """Seat a bot that runs `code` at hello."""
    words = () if program == sys.executable else (sys.executable,)
    player = Player("boxed", "00", (program, *words, "-I", str(BOT), code), str(folder))
    seat = BotSeat(player, PATIENCE_MS, None, isolation=Isolation("bwrap"))
    try:
        seat.begin()
        yield seat
    finally:
        seat.dismiss()


LISTED = "import os; told = [os.listdir(name) for name in ('.git', '__pycache__', 'lib/__pycache__', 'lib/.cache')]"


def test_a_bot_in_a_private_folder_has_a_user_of_its_own_and_plays_from_a_copy(private: Path, temporary: Path) -> None:
    read = "[open(name).read() for name in ('link', 'lib/data', '.env')]"
    code = f"import os; told = [os.getuid(), os.getcwd()[-4:], *{read}]"
    with seated(private, code, program="./run") as seat:
        uid, where, *found = eval(seat.version)
        copied = list(temporary.iterdir())

        assert found == ["data", "data", "a dot-file"]
        assert where == "/bot"
        assert ("uid" in seat.isolation) == (limits.explain_missing_uids() is None)
        if "uid" in seat.isolation:
            assert uid != os.getuid()
            assert [path.stat().st_mode & 0o777 for path in copied] == [0o700]
    assert list(temporary.iterdir()) == []


def test_dot_folders_and_caches_are_empty_and_stay_so(private: Path, temporary: Path, user: str) -> None:
    for mode in (0o700, 0o755):
        for path in (private, *private.rglob("*")):
            path.chmod(path.stat().st_mode | mode & 0o055)
        with seated(private, LISTED) as seat:
            assert seat.version == "[[], [], [], []]"
        with seated(
            private, make_attempt("['.git', 'lib/__pycache__', '.']", "open(path + '/new', 'x').close()")
        ) as seat:
            assert seat.version == "[]"


def test_a_sandbox_shows_what_the_command_names_wherever_it_lies(private: Path, user: str) -> None:
    hidden = private / ".venv" / "bin" / "prog"
    hidden.parent.mkdir(parents=True)
    hidden.write_text('#!/bin/sh\nexec "$@"\n')
    hidden.chmod(0o755)
    with seated(private, LISTED, program=".venv/bin/prog") as seat:
        assert seat.version == "[[], [], [], []]"


def test_a_folder_with_very_many_caches_is_copied_without_them(private: Path, temporary: Path, user: str) -> None:
    for number in range(MOST_COVERS + 1):
        (private / f"package{number}" / "__pycache__").mkdir(parents=True)
    with seated(private, LISTED) as seat:
        assert len(list(temporary.iterdir())) == 1
        assert seat.version == "[[], [], [], []]"


def test_what_cannot_be_copied_is_named(private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.executable)
    own.parent.parent.chmod(0o700)
    (large := tmp_path / "large").mkdir(mode=0o700)
    with (large / "sparse").open("wb") as file:
        file.truncate(copies.MOST_BYTES + 1)

    def lack(program: Path, folder: Path) -> str | None:
        return SandboxView([str(program)], program, folder).explain_missing_user()

    (shared := tmp_path / "shared").mkdir(mode=0o700)
    os.mkfifo(shared / "pipe")

    python = Path("/bin/sh")
    assert lack(python, shared) == f"others may not read {shared}, and no copy could hold {shared / 'pipe'}"
    (shared / "bot.toml").write_text("")
    assert lack(python, shared) is None
    assert lack(python, private) is None
    assert lack(own, private) == f"others may not read {own.parent.parent}"
    assert str(lack(python, large)).startswith(f"others may not read all of {large}, which is too large to copy")
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result((0,) * 8 + (os.ST_NOEXEC, 0)))
    assert "nothing in" in str(lack(python, private))


def test_a_bot_shares_our_user_only_where_others_get_their_own(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    player = Player("x", "00", ("/bin/sh",), str(private))
    monkeypatch.setattr(limits, "explain_missing_uids", lambda: None)

    assert str(explain_shared_user(player, Isolation("rlimit"))).startswith("others may not read ")
    monkeypatch.setattr(limits, "explain_missing_uids", lambda: "only root may")
    assert explain_shared_user(player, Isolation("rlimit")) is None
    assert explain_shared_user(player, Isolation("none")) is None


def test_a_survey_of_a_folder_counts_what_a_bot_sees(private: Path) -> None:
    survey = folders.walk_folder(private)

    assert survey.hidden == tuple(private / name for name in (".git", "__pycache__", "lib/.cache", "lib/__pycache__"))
    assert survey.unreadable == private
    assert survey.size == sum((private / name).stat().st_size for name in ("bot.toml", "lib/data", ".env", "run"))
    assert survey.entries == 10
    assert survey.special is None
    assert folders.walk_folder(private, 2).entries < 10


# what a killed referee leaves


def test_a_copy_leaves_the_locks_of_a_league_in_the_folder_alone(private: Path, temporary: Path) -> None:
    league = private / "league.db"
    leave_wal = f"import sqlite3; sqlite3.connect({str(league)!r}).execute('PRAGMA journal_mode = DELETE')"
    with closing(sqlite3.connect(league)) as ours:
        ours.execute("PRAGMA journal_mode = WAL")
        ours.execute("CREATE TABLE games (number)")

        copy = copies.Copies().add(private, {league})

        other = subprocess.run([sys.executable, "-c", leave_wal], capture_output=True, text=True, check=False)
        assert "database is locked" in other.stderr
    assert (copy / "league.db").read_bytes() == b""


def test_copies_of_a_killed_process_are_swept_and_those_of_another_stay(private: Path, temporary: Path) -> None:
    make = (
        f"import sys, tempfile; tempfile.tempdir = {str(temporary)!r}\n"
        "from pathlib import Path; from malice.referee.isolation.copies import Copies\n"
        f"copies = Copies(); print(copies.add(Path({str(private)!r})).parent, flush=True); sys.stdin.read()"
    )
    makers = [
        subprocess.Popen([sys.executable, "-P", "-c", make], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    with makers[0], makers[1]:
        made = [Path((maker.stdout or sys.stdin).readline().strip()) for maker in makers]
        makers[0].send_signal(signal.SIGKILL)
        makers[0].wait()
        assert all(path.exists() for path in made)

        copies.sweep()

        assert [path.exists() for path in made] == [False, True]
    (foreign := temporary / f"{copies.PREFIX}link").symlink_to(private)
    copies.sweep()
    assert [path.exists() for path in (made[1], foreign, private / "run")] == [False, True, True]


def test_a_sandbox_of_little_memory_can_be_made() -> None:
    true = Path("/bin/true")
    words = bwrap.Sandbox([str(true)], true, SandboxView([str(true)], true, Path("/")), 1).build_command(
        None, 2, disable=False
    )

    assert words.count(str(1 << 19)) == 2
    assert probe.explain_missing_sandbox() is None
