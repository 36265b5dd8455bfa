"""What a bot can do under Landlock, on this kernel and on older ones, and what is said where it is missing."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from malice.referee.isolation import copies, landlock, limits, probe
from malice.referee.isolation.boxes import explain_shared_user
from malice.referee.records import Isolation, Player
from malice.referee.seat import BotSeat
from malice.tournaments.running.isolation import list_capabilities
from tests.boxes import BOT
from tests.tables import PATIENCE_MS

pytestmark = pytest.mark.slow


@pytest.fixture
def folder() -> Iterator[Path]:
    """A bot's folder, with a secret beside it, where a bot with a user of its own can reach both."""
    above, lock = copies.make_locked_folder("malice-test-")
    above.chmod(0o755)
    (folder := above / "bot").mkdir()
    (folder / "bot.toml").write_text("")
    (folder / "own").write_text("its own")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "kept").write_text("from the last game")
    (above / "secret").write_text("the seed")
    yield folder
    assert copies.remove_folder(above)
    os.close(lock)


def attempt(folder: Path, attempts: list[str]) -> tuple[list[int], tuple[str, ...]]:
    """Let a bot try each of these statements; tell which were not refused, and what was in force around it.

    Only refusals count as such: with any other error, an attempt has tried nothing.
    """
    code = (
        "import ctypes, fcntl, os, pathlib, resource, socket, subprocess, tempfile\n"
        "libc, tmp, told = ctypes.CDLL(None, use_errno=True), os.environ['TMPDIR'], []\n"
        "def call(*words):\n"
        " if libc.syscall(*words) < 0: raise OSError(ctypes.get_errno(), str(words))\n"
        f"for number, each in enumerate({attempts!r}):\n"
        " try: exec(each); told.append(number)\n"
        " except OSError as error:\n"
        "  if error.errno not in (1, 13, 18): raise RuntimeError(each)"
    )
    python = next((path for path in ("/usr/bin/python3",) if os.path.exists(path)), sys.executable)
    player = Player("boxed", "00", (python, "-I", "-c", BOT.read_text(), code), str(folder), home=str(folder))
    seat = BotSeat(player, PATIENCE_MS, None, isolation=Isolation("landlock", required=True))
    try:
        seat.begin()
        return eval(seat.version), seat.isolation
    finally:
        seat.dismiss()


def make_forbidden(folder: Path) -> list[str]:
    secret = str(folder.parent / "secret")
    return [
        f"open({secret!r})",
        f"open('/proc/self/root' + {secret!r})",
        "open('../secret')",
        "open('/etc/passwd')",
        "open('.cache/kept')",
        "open('/proc/1/comm')",
        "os.listdir('..')",
        "os.listdir('/tmp')",
        "os.listdir('/proc')",
        "open('own', 'a')",
        "open('new', 'w')",
        "open('/dev/shm/new', 'x')",
        "open('/tmp/new', 'x')",
        "open('/proc/self/mem', 'r+b')",
        "os.remove('own')",
        "os.rename('own', 'other')",
        "os.rename('own', tmp + '/own')",
        "os.link('own', tmp + '/own')",
        "os.mkdir('new')",
        "os.mkfifo('new')",
        "os.symlink('own', 'new')",
        "os.truncate('own', 0)",
        f"os.truncate({secret!r}, 0)",
        "os.chmod('own', 0o777)",
        "os.fchmod(os.open('own', os.O_RDONLY), 0o777)",
        f"os.chmod({secret!r}, 0o777)",
        f"os.chown({secret!r}, os.getuid(), os.getgid())",
        f"os.utime({secret!r})",
        f"os.setxattr({secret!r}, 'user.x', b'x')",
        f"os.listxattr({secret!r})",
        "fcntl.ioctl(open('own'), 0x80086601, bytes(8))",
    ]


ALLOWED = [
    "assert set(os.environ) - {'LC_CTYPE', 'PYTHONDONTWRITEBYTECODE'} == {'HOME', 'LANG', 'PATH', 'TMPDIR'}",
    "os.stat('/etc/passwd'); os.stat('/proc/1/task'); assert os.listdir('.cache') == ['kept']",
    "assert open('own').read() == 'its own'",
    "assert 'own' in os.listdir('.')",
    "open(tmp + '/a', 'w').write('x')",
    "os.mkdir(tmp + '/d'); os.rename(tmp + '/a', tmp + '/d/a')",
    "tempfile.TemporaryFile().write(b'x')",
    "os.symlink('/etc/passwd', tmp + '/link'); os.mkfifo(tmp + '/d/fifo')",
    "open('/dev/null', 'w').write('x'); open('/dev/urandom', 'rb').read(1)",
    "open('/proc/self/maps').read(); open('/proc/cpuinfo').read()",
    "assert subprocess.run(['sh', '-c', 'exec cat own'], capture_output=True).stdout == b'its own'",
    "socket.socketpair()",
]


@pytest.mark.landlock
@pytest.mark.parametrize("oldest", [False, True])
def test_a_bot_opens_what_it_is_shown_and_changes_nothing_of_ours(
    folder: Path, oldest: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if oldest:  # and without a user of its own, whom modes would hold back, too
        monkeypatch.setattr(landlock, "find_version", lambda: landlock.LEAST_VERSION)
        monkeypatch.setattr(limits, "explain_missing_uids", lambda: "asked")
    before = {path: (path.stat().st_mode, path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}
    (temporary := folder.parent / "temporary").mkdir()
    temporary.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    forbidden = make_forbidden(folder)

    done, isolation = attempt(folder, [*forbidden, *ALLOWED])

    assert [(*forbidden, *ALLOWED)[number] for number in done] == ALLOWED
    assert isolation[:2] == ("landlock", "seccomp")
    after = {path: (path.stat().st_mode, path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}
    assert after == before
    assert list(temporary.iterdir()) == []


@pytest.mark.landlock
def test_a_bot_reaches_nobody_else(folder: Path) -> None:
    column = 0 if os.uname().machine == "x86_64" else 1
    names = ("shmget", "semget", "msgget", "mq_open")
    shared = [f"call({limits._UNGOVERNED[name][column]}, 0, 0, 0)" for name in names]
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0malice-{os.getpid()}")
        local.listen()
        attempts = [
            f"socket.create_connection({tcp.getsockname()!r})",
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
            f"socket.socket(socket.AF_UNIX).connect({local.getsockname()!r})",
            f"socket.socketpair()[0].bind({local.getsockname() + b'x'!r})",
            "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
            "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
            "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
            "os.sched_setscheduler(os.getppid(), os.SCHED_IDLE, os.sched_param(0))",
            *shared,
        ]

        assert attempt(folder, attempts)[0] == []


@pytest.mark.landlock
@pytest.mark.landlock_signals
def test_a_bot_signals_nobody_but_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "explain_missing_uids", lambda: "asked")
    own = "pid = os.fork() or os.execv('/bin/sleep', ['sleep', '600']); os.kill(pid, 9); os.waitpid(pid, 0)"

    assert attempt(folder, ["os.kill(os.getppid(), 0)", f"os.kill({os.getpid()}, 0)", own])[0] == [2]


@pytest.mark.landlock
@pytest.mark.landlock_signals
def test_the_kernels_rules_stop_tcp_and_abstract_sockets_without_the_filter_too() -> None:
    rules = landlock.LandlockRules([Path("/")], [], None)
    prctl = ctypes.CDLL(None).prctl

    def arm() -> None:
        prctl(38, 1, 0, 0, 0)  # no new privileges
        rules.restrict()

    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0malice-rules-{os.getpid()}")
        local.listen()
        attempts = [
            f"socket.create_connection({tcp.getsockname()!r})",
            "socket.create_server(('127.0.0.1', 0))",
            f"socket.socket(socket.AF_UNIX).connect({local.getsockname()!r})",
        ]
        code = (
            f"import socket\nfor each in {attempts!r}:\n"
            " try: eval(each); print('done')\n"
            " except PermissionError: print('refused')"
        )
        told = subprocess.check_output([sys.executable, "-I", "-c", code], preexec_fn=arm, text=True)
    rules.close()

    assert told.split() == ["refused"] * len(attempts)


@pytest.mark.landlock
def test_root_keeps_the_right_to_read_alone_where_a_bot_has_no_user_of_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "explain_missing_uids", lambda: "asked")
    rights = "open('/proc/self/status').read().split('Cap{}:')[1].split()[0]"
    kept = f"{4 if os.getuid() == 0 else 0:016x}"

    done, isolation = attempt(folder, [f"assert {rights.format(each)} == {kept!r}" for each in ("Eff", "Prm")])

    assert (done, "uid" in isolation) == ([0, 1], False)


def test_a_bot_has_no_user_of_its_own_where_that_could_not_reach_its_place_to_write(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "explain_missing_uids", lambda: None)
    monkeypatch.setattr(probe, "find_strongest_layer", lambda _: "landlock")
    (private := folder / "tmp").mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    player = Player("x", "00", ("/bin/sh",), str(folder))

    assert explain_shared_user(player, Isolation("landlock")) == f"others may not read {private}"


def test_a_folder_is_removed_however_deep_and_closed_it_is(folder: Path) -> None:
    at = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=at)
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.symlink(folder.parent / "secret", "link", dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
    (folder / "d" / "d").chmod(0)

    assert copies.remove_folder(folder)
    assert not folder.exists()
    assert (folder.parent / "secret").read_text() == "the seed"
    folder.mkdir()


@pytest.mark.parametrize(
    ("version", "missing", "powers"),
    [(0, "no Landlock here", 0), (2, "Landlock 2 of this kernel", 0), (4, None, 1), (7, None, 3)],
)
def test_the_doctor_tells_what_the_kernels_version_gives(
    version: int, missing: str | None, powers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "find_version", lambda: version)
    monkeypatch.setattr(probe, "explain_missing_landlock", landlock.explain_missing_version)

    found = {each.part: each for each in list_capabilities() if each.part.startswith("landlock")}

    assert found["landlock"].works == (missing is None)
    assert found["landlock"].lack.startswith(missing or "")
    assert [name for name, each in found.items() if each.works][1 if missing is None else 0 :] == [
        power.part for power in landlock.POWERS[:powers]
    ]
    if version == 4:
        assert found["landlock signals"].lack == "needs Landlock 6 (Linux 6.12), this kernel has 4"
    assert probe.find_strongest_layer("landlock") == ("landlock" if missing is None else "rlimit")
