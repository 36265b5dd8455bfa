"""What a bot in a box can and cannot do: real bots try it under every layer of this machine."""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSYS, EPERM
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from protocol.messages import ClockRules
from referee.bot_seat import BotSeat
from referee.clock import MS
from referee.isolation import cgroups, limits, seccomp, views
from referee.isolation.layers import name_common_isolation
from referee.playing import play_batch
from referee.records import Isolation, Layer, Player, Record
from referee.verdicts import Verdict
from tests.tables import PATIENCE_MS, batch, move_request, player

BOT = Path(__file__).parent / "isolated_bot.py"
SANDBOX = pytest.param("bwrap", marks=pytest.mark.sandbox)
LAYERS: list[object] = ["rlimit", SANDBOX]

pytestmark = pytest.mark.slow
every_layer = pytest.mark.parametrize("layer", LAYERS)


@contextmanager
def boxed(layer: Layer, *code: str, cwd: Path | None = None, **asked: Any) -> Iterator[BotSeat]:
    """Seat a bot that runs `code`: the first piece at hello, the second with every move."""
    command = (sys.executable, "-I", str(BOT), *code)
    isolation = Isolation(layer, **asked)
    seat = BotSeat(Player("boxed", "00", command, str(cwd) if cwd else None), PATIENCE_MS, None, isolation=isolation)
    try:
        seat.begin()
        yield seat
    finally:
        seat.dismiss()


def run_in_box(layer: Layer, code: str, **asked: Any) -> str:
    """Run `code` in a box; return its `told`, or the name of its error."""
    with boxed(layer, code, **asked) as seat:
        return seat.version


def dies(pid: int) -> bool:
    """Tell whether a process is gone within a second."""
    end = time.monotonic() + 1
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.005)
    return False


# what every layer stops


@every_layer
def test_the_layer_that_was_asked_for_is_in_force(layer: Layer) -> None:
    with boxed(layer, "") as seat:
        assert seat.isolation[0] == layer
        assert "memory" in seat.isolation


@pytest.mark.filter
@every_layer
def test_the_network_is_not_reachable(layer: Layer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; told = socket.create_connection(('127.0.0.1', {port}), 2)"

        assert run_in_box(layer, code) in ("PermissionError", "ConnectionRefusedError", "OSError")


@pytest.mark.filter
@every_layer
@pytest.mark.parametrize("family", ["AF_NETLINK", "AF_VSOCK", "AF_PACKET", "AF_ALG"])
def test_sockets_of_other_families_cannot_be_made(layer: Layer, family: str) -> None:
    assert run_in_box(layer, f"import socket; socket.socket(socket.{family}, socket.SOCK_RAW)") == "PermissionError"


@pytest.mark.filter
@every_layer
def test_a_pair_of_sockets_can_be_made(layer: Layer) -> None:
    assert run_in_box(layer, "import socket; socket.socketpair(); told = 1") == "1"


@pytest.mark.filter
@every_layer
@pytest.mark.parametrize("call", ["os.setsid()", "os.setpgid(0, 0)"])
def test_nobody_leaves_the_group(layer: Layer, call: str) -> None:
    assert run_in_box(layer, f"import os\nif os.fork() == 0:\n os._exit(0)\n{call}") == "PermissionError"


@pytest.mark.filter
@every_layer
@pytest.mark.parametrize(
    "name",
    ["ptrace", "keyctl", "unshare", "setns", "bpf", "io_uring_setup", "process_vm_readv", "sched_setaffinity"],
)
def test_the_filter_denies_what_no_game_needs(layer: Layer, name: str) -> None:
    number = seccomp._DENIED[name][0 if os.uname().machine == "x86_64" else 1]
    code = f"import ctypes; c = ctypes.CDLL(None, use_errno=True); c.syscall({number}, 0, 0, 0, 0)"

    assert run_in_box(layer, f"{code}; told = ctypes.get_errno()") == str(EPERM)


@pytest.mark.filter
@every_layer
def test_boxes_cannot_signal_each_other_by_locks_or_the_page_cache(layer: Layer) -> None:
    opened = "import fcntl, mmap, os, struct; file = open('/usr/bin/env', 'rb'); fd = file.fileno(); "
    ask = "struct.pack('hhqqi4x', fcntl.F_RDLCK, 0, 0, 0, 0)"

    for command in ("F_GETLK", "F_SETLK", "F_OFD_GETLK", "F_OFD_SETLK"):
        assert run_in_box(layer, f"{opened}fcntl.fcntl(fd, fcntl.{command}, {ask})") == "PermissionError"
    assert run_in_box(layer, f"{opened}os.preadv(fd, [bytearray(9)], 0, os.RWF_NOWAIT)") == "PermissionError"
    harmless = "os.preadv(fd, [bytearray(9)], 0); told = fcntl.fcntl(fd, fcntl.F_GETFL) >= 0"
    assert run_in_box(layer, opened + harmless) == "True"


@pytest.mark.filter
@every_layer
def test_no_namespace_can_be_made_by_clone(layer: Layer) -> None:
    number, clone3 = (56, 435) if os.uname().machine == "x86_64" else (220, 435)
    code = "import ctypes; c = ctypes.CDLL(None, use_errno=True); "
    asks = f"c.syscall({number}, 0x10000011, 0, 0, 0, 0)"

    assert run_in_box(layer, f"{code}{asks}; told = ctypes.get_errno()") == str(EPERM)
    assert run_in_box(layer, f"{code}c.syscall({clone3}, 0, 0); told = ctypes.get_errno()") == str(ENOSYS)


@every_layer
def test_threads_and_children_work(layer: Layer) -> None:
    code = (
        "import subprocess, threading; found = []; t = threading.Thread(target=found.append, args=(1,));"
        "t.start(); t.join(); told = subprocess.run(['/bin/echo', 'x'], capture_output=True).stdout + bytes(found)"
    )

    assert run_in_box(layer, code) == str(b"x\n\x01")


@every_layer
def test_a_fork_bomb_goes_out_or_nobody_says_that_processes_are_counted(layer: Layer) -> None:
    code = (
        "import os, time\nfor told in range(2000):\n"
        " try: pid = os.fork()\n except OSError: break\n"
        " if not pid: time.sleep(60); os._exit(0)\n"
    )
    with boxed(layer, code) as seat:
        if "pids" in seat.isolation:
            assert int(seat.version) < limits.PROCESSES + 4 * limits.PROCESSES
        else:  # the kernel has no limit for root
            assert os.getuid() == 0
            assert cgroups.find_parents().pids is None


@every_layer
def test_who_eats_memory_gets_a_verdict_or_an_error(layer: Layer) -> None:
    code = "x = [b'x' * (1 << 20) for _ in range(600)]; told = len(x)"
    try:
        found = run_in_box(layer, code, memory_mb=200)
    except Verdict as verdict:
        found = verdict.sentence

    # A group that counts memory tells why the bot was killed.
    killed = "the bot was killed by signal 9 (SIGKILL): it used more memory than it may"
    assert found == (killed if cgroups.find_parents().memory else "MemoryError")


@every_layer
def test_large_files_cannot_be_written(layer: Layer, tmp_path: Path) -> None:
    code = f"f = open('/tmp/malice-large-{os.getpid()}', 'wb'); f.truncate({limits.FILE_BYTES + 1})"
    try:
        assert run_in_box(layer, code) == "OSError"
    finally:
        Path(f"/tmp/malice-large-{os.getpid()}").unlink(missing_ok=True)


@every_layer
@pytest.mark.parametrize(("code", "exit"), [("os.abort()", "killed by signal 6 (SIGABRT)"), ("os._exit(3)", "3")])
def test_the_end_of_a_bot_is_reported_as_without_a_box(layer: Layer, code: str, exit: str) -> None:
    with pytest.raises(Verdict) as caught:
        run_in_box(layer, f"import os; {code}")

    assert caught.value.sentence.endswith(exit)


@every_layer
def test_a_program_that_does_not_exist_is_named(layer: Layer) -> None:
    seat = BotSeat(Player("gone", "00", ("/nowhere/bot",)), PATIENCE_MS, None, isolation=Isolation(layer))

    with pytest.raises(Verdict, match="cannot be started: No such file or directory: '/nowhere/bot'"):
        seat.begin()


@every_layer
def test_the_clock_counts_the_time_of_the_bot_itself(layer: Layer) -> None:
    burn = "import time; end = time.process_time() + 0.1\nwhile time.process_time() < end: pass"
    with boxed(layer, "", burn) as seat:
        _, wall, cpu = seat.ask_move(move_request(seat), None)

    assert 95 * MS <= cpu <= wall + 5 * MS


@every_layer
def test_nothing_is_left_of_a_bot_and_its_children(layer: Layer) -> None:
    code = (
        "import os, time\nr, w = os.pipe()\n"
        "if os.fork() == 0:\n"
        " try: os.setsid()\n except OSError: pass\n"
        " if os.fork() == 0:\n  os.write(w, b'x'); time.sleep(100)\n os._exit(0)\n"
        "os.read(r, 1)"
    )
    before = bots_of_ours()
    with boxed(layer, code):
        started = bots_of_ours() - before
        assert len(started) >= 2

    assert all(dies(pid) for pid in started)
    assert not list(own_groups())


def bots_of_ours() -> set[int]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if BOT.name.encode() in path.read_bytes():
                found.add(int(path.parent.name))
        except OSError:
            continue
    return found


def own_groups() -> Iterator[Path]:
    for folder in cgroups.find_parents().folders():
        yield from folder.glob(f"{cgroups.PREFIX}{os.getpid()}-*")


@pytest.mark.filter
@every_layer
def test_a_bot_stands_still_while_it_is_not_asked(layer: Layer) -> None:
    """A thread counts on and on; between two moves it gets nowhere."""
    code = (
        "import threading, time, builtins\nbuiltins.n = 0\n"
        "def count():\n while True:\n  builtins.n += 1; time.sleep(0.001)\n"
        "threading.Thread(target=count, daemon=True).start()"
    )
    tell = "import sys; print(n, file=sys.stderr, flush=True)"
    for freeze, moved in ((False, True), (True, False)):
        with boxed(layer, code, tell, freeze=freeze) as seat:
            seat.ask_move(move_request(seat), None)
            time.sleep(0.3)
            seat.ask_move(move_request(seat), None)
            assert ("freeze" in seat.isolation) == freeze
            _, _, stderr = seat.dismiss()
        first, second = map(int, stderr.split())
        assert (second - first > 100) == moved, (first, second)


# what only the sandbox stops


@pytest.mark.sandbox
def test_files_outside_cannot_be_read_or_written(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")

    assert run_in_box("bwrap", f"told = open({str(secret)!r}).read()") == "FileNotFoundError"
    assert run_in_box("bwrap", "told = open('/etc/passwd').read()") == "FileNotFoundError"
    assert run_in_box("bwrap", "open('/usr/x', 'w')") in ("OSError", "PermissionError")
    assert run_in_box("bwrap", f"open({str(BOT)!r}, 'a')") in ("OSError", "PermissionError")


@pytest.mark.sandbox
def test_the_folder_is_read_only_and_what_is_hidden_in_it_cannot_be_read(tmp_path: Path) -> None:
    for name in ("open", "league.db"):
        (tmp_path / name).write_text("y")
    hidden = (str(tmp_path / "league.db"), str(tmp_path / "league.db-wal"))

    def try_it(code: str) -> str:
        with boxed("bwrap", code, cwd=tmp_path, hidden=hidden) as seat:
            return seat.version

    assert try_it("told = open('open').read()") == "y"
    assert try_it("open('new', 'w')") in ("OSError", "PermissionError")
    assert try_it("told = open('league.db').read()") in ("", "PermissionError")
    assert not (tmp_path / "new").exists()


@pytest.mark.sandbox
def test_other_processes_are_invisible() -> None:
    assert run_in_box("bwrap", "import os; told = len([p for p in os.listdir('/proc') if p.isdigit()])") == "2"
    assert run_in_box("bwrap", f"import os; os.kill({os.getpid()}, 0)") == "ProcessLookupError"


@pytest.mark.sandbox
def test_tmp_is_private_and_small() -> None:
    fill = (
        "for n in range(9):\n"
        " with open(f'/tmp/{n}', 'wb') as f:\n"
        f"  for _ in range(16): f.write(bytes({limits.FILE_BYTES // 16 - 4096}))"
    )

    with tempfile.NamedTemporaryFile(dir="/tmp") as ours:
        assert Path(ours.name).name not in run_in_box("bwrap", "import os; told = os.listdir('/tmp')")
    assert run_in_box("bwrap", fill) == "OSError"


@pytest.mark.sandbox
def test_the_environment_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")

    found = run_in_box(
        "bwrap", "import os; told = sorted(set(os.environ) - {'PWD', 'LC_CTYPE', 'PYTHONDONTWRITEBYTECODE'})"
    )

    assert found == "['HOME', 'LANG', 'PATH']"


@pytest.mark.sandbox
def test_no_capability_is_left() -> None:
    code = "told = [l.split()[1] for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapPrm', 'CapAmb'))]"

    assert run_in_box("bwrap", code) == str(["0" * 16] * 3)


@pytest.mark.sandbox
@pytest.mark.namespaces
def test_without_a_user_of_its_own_a_bot_is_in_a_user_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "explain_missing_uids", lambda: "asked")

    with boxed("bwrap", "import os; told = os.getuid()") as seat:
        assert seat.version == str(os.getuid())
        assert "uid" not in seat.isolation


@pytest.mark.sandbox
def test_without_control_groups_the_group_is_stopped_by_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "find_parents", cgroups.Parents)

    with boxed("bwrap", "") as seat:
        assert seat.ask_move(move_request(seat), None)[0].move
        assert "freeze" in seat.isolation


@pytest.mark.filter
@every_layer
def test_who_is_stopped_by_signals_cannot_be_woken_by_what_it_has_set_up(
    layer: Layer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "find_parents", cgroups.Parents)
    tries = (
        "os.kill(os.getpid(), 18)",
        "os.killpg(0, 18)",
        "signal.pidfd_send_signal(os.pidfd_open(os.getpid()), 18)",
        "signal.pthread_kill(threading.get_ident(), 18)",
        "fcntl.fcntl(0, 10, 18)",
        "c.timer_create(1, None, ctypes.byref(ctypes.c_void_p())) == 0 or os.stat('/proc/self/mem/x')",
        "c.prctl(1, 18, 0, 0, 0) == 0 or os.stat('/proc/self/mem/x')",
        "os.kill(os.getpid(), 0)",
    )
    code = (
        "import ctypes, fcntl, os, signal, threading\nc = ctypes.CDLL(None)\ntold = []\n"
        f"for number, each in enumerate({tries!r}):\n"
        " try: exec(each); told.append(number)\n except OSError: pass"
    )

    assert run_in_box(layer, code) == str([len(tries) - 1])


@every_layer
def test_without_control_groups_memory_is_limited_all_the_same(layer: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "find_parents", cgroups.Parents)

    assert run_in_box(layer, "x = bytearray(1 << 30)", memory_mb=200) == "MemoryError"


# records, filters and what a sandbox shows


@every_layer
def test_a_record_says_what_was_in_force(layer: Layer) -> None:
    reports: list[object] = []
    game = batch(player("honest"), player("honest"), clock=ClockRules())
    play_batch(replace(game, isolation=Isolation(layer)), None, reports.append)

    (record,) = (report for report in reports if isinstance(report, Record))
    assert record.isolation.split("+")[0] == layer
    assert not record.faults


def test_different_boxes_are_named_by_what_they_have_in_common() -> None:
    assert name_common_isolation([("bwrap", "seccomp", "uid"), (), ("bwrap", "seccomp")]) == "bwrap+seccomp"
    assert name_common_isolation([("bwrap",), ("rlimit",)]) == "none"
    assert name_common_isolation([(), ()]) == "none"


@pytest.mark.parametrize(("machine", "arch"), [("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)])
@pytest.mark.parametrize(("network", "counted", "stopped"), [(True, True, False), (False, False, True)])
def test_the_filter_answers_for_every_machine(
    machine: str, arch: int, network: bool, counted: bool, stopped: bool
) -> None:
    column = ("x86_64", "aarch64").index(machine)
    program = seccomp.build_filter(network=network, counted=counted, stopped=stopped, machine=machine)
    code = list(struct.iter_unpack("=HBBI", program))

    def answer(number: int, argument: int = 0, arch: int = arch, **more: int) -> int:
        """Run the filter as the kernel does."""
        at, held = 0, 0
        while True:
            kind, yes, no, value = code[at]
            at += 1
            if kind == 0x06:
                return int(value)
            if kind == 0x20:
                others = {place: more.get(name, 0) for place, name in ((24, "second"), (32, "third"), (56, "sixth"))}
                held = {0: number, 4: arch, 16: argument, **others}[value]
            elif kind == 0x54:
                held &= value
            else:
                test = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[kind]
                at += yes if test else no

    allow, refuse = 0x7FFF0000, 0x50000 | EPERM
    assert answer(0, arch=1) == 0x80000000
    assert all(answer(numbers[column]) == refuse for numbers in seccomp._DENIED.values() if numbers[column] >= 0)
    uncounted = {answer(numbers[column]) for numbers in seccomp._UNCOUNTED.values()}
    assert uncounted == {allow if counted else refuse}
    waking = refuse if stopped else allow
    for calls, place in ((seccomp._SENDING_SECOND, "second"), (seccomp._SENDING_THIRD, "third")):
        for numbers in calls.values():
            assert [answer(numbers[column], **{place: number}) for number in (9, 18)] == [allow, waking]
    assert {answer(numbers[column]) for numbers in seccomp._WAKING.values()} == {waking}
    prctl = seccomp._PRCTL[column]
    assert [answer(prctl, first, second=18) for first in (1, 2)] == [waking, allow]
    assert answer(prctl, 1, second=9) == allow
    assert answer(seccomp._FCNTL[column], second=10) == waking
    assert answer(seccomp._CLONE[column], 0x1200012) == waking
    clone, sockets = seccomp._CLONE[column], seccomp._SOCKET[column]
    assert [answer(clone, 0x10000000), answer(clone, 17)] == [refuse, allow]
    assert answer(435) == 0x50000 | ENOSYS
    assert answer(1000) == allow
    fcntl, preadv2 = seccomp._FCNTL[column], seccomp._PREADV2[column]
    assert [answer(fcntl, second=command) for command in (1, 3, 4, 5, 6, 37, 1024, 1026, 1030)] == [
        *(allow, allow, allow, refuse, refuse, refuse, refuse, refuse, allow)
    ]
    assert [answer(preadv2, sixth=flags) for flags in (0, 8)] == [allow, refuse]
    inet = allow if network else refuse
    assert [answer(sockets, family) for family in (1, 2, 10, 16, 40)] == [allow, inet, inet, refuse, refuse]
    assert answer(0x40000001) == (refuse if machine == "x86_64" else allow)


def test_a_program_is_shown_with_its_installation_and_a_home_is_not(tmp_path: Path) -> None:
    real = tmp_path / "python" / "bin"
    venv = tmp_path / "venv" / "bin"
    for folder in (real, venv):
        folder.mkdir(parents=True)
    (real / "python3").touch()
    (venv / "python").symlink_to(real / "python3")

    assert list(views.list_installations(venv / "python"))[:2] == [venv.parent, real.parent]
    assert Path.home() not in views.list_installations(Path.home() / "bin" / "tool")


def test_a_virtual_environment_of_copies_is_shown_with_the_python_that_it_names_and_with_nothing_else(
    tmp_path: Path,
) -> None:
    base, secret, copied = (tmp_path / name / "bin" for name in ("python", "secret", "venv"))
    for folder in (base, secret, copied, base.parent / "lib/python3.13"):
        folder.mkdir(parents=True)
        (folder / "python").touch()
    (base.parent / "lib/python3.13/os.py").touch()
    config = copied.parent / "pyvenv.cfg"

    config.write_text(f"home = {base}\nversion = 3.13.0\n")
    assert list(views.list_installations(copied / "python")) == [copied.parent, base.parent]
    for home in (secret, copied, "bin"):
        config.write_text(f"home = {home}\n")
        assert list(views.list_installations(copied / "python")) == [copied.parent]


def test_a_python_that_another_program_starts_is_shown_with_its_installation(tmp_path: Path) -> None:
    python, other = (tmp_path / name / "bin" / "x" for name in ("python", "other"))
    for program in (python, other):
        program.parent.mkdir(parents=True)
        program.touch()
    (tmp_path / "python/lib/python3.13").mkdir(parents=True)
    (tmp_path / "python/lib/python3.13/os.py").touch()

    view = views.View(["nice", str(python), str(other)], Path("/usr/bin/nice"), Path("/tmp"))

    assert view.roots == [tmp_path / "python", other]


def test_what_the_sandbox_shows_by_itself_is_not_shown_again() -> None:
    java = Path("/etc/alternatives/java")  # between /usr/bin/java and the real one, on Debian
    assert views.View(["/usr/bin/true", str(java)], java, Path("/usr")).roots == []


def test_a_signal_that_freezes_goes_to_nobody_after_the_end() -> None:
    with boxed("rlimit", "") as seat:
        seat.dismiss()
        os.kill(os.getpid(), signal.SIGCONT)
