"""What a bot in a box can and cannot do: real bots try it under every layer of this machine."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.batch import play_batch
from malice.referee.clock import MS
from malice.referee.isolation import cgroups, limits
from malice.referee.isolation.boxes import name_common_isolation
from malice.referee.records import Isolation, Layer, Player, Record
from malice.referee.seat import BotSeat
from malice.referee.verdicts import Verdict
from tests.boxes import BOT, LANDLOCK, SANDBOX, boxed, every_layer, every_layer_and_landlock, own_groups, run_in_box
from tests.processes import await_end
from tests.tables import PATIENCE_MS, batch, move_request, player

COUNTED = 600
"""How far we count between two moves, in the same way as the bot, which then gets about as far if it may."""

pytestmark = pytest.mark.slow


# what every layer stops


@every_layer_and_landlock
def test_the_layer_that_was_asked_for_is_in_force(layer: Layer) -> None:
    with boxed(layer, "") as seat:
        assert seat.isolation[0] == layer
        assert "memory" in seat.isolation


@every_layer_and_landlock
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


@every_layer_and_landlock
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


@every_layer_and_landlock
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

    assert await_end(lambda: sorted(started & bots_of_ours())) == []
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
            for _ in range(COUNTED):
                time.sleep(0.001)
            seat.ask_move(move_request(seat), None)
            assert ("freeze" in seat.isolation) == freeze
            _, _, stderr = seat.dismiss()
        first, second = map(int, stderr.split())
        # However busy the machine is, it counts on by some; how far it would get, nobody knows.
        assert second > first if moved else second - first <= COUNTED // 3, (first, second)


# what only the sandbox stops


@pytest.mark.sandbox
def test_files_outside_cannot_be_read_or_written(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")

    assert run_in_box("bwrap", f"told = open({str(secret)!r}).read()") == "FileNotFoundError"
    assert run_in_box("bwrap", "told = open('/etc/passwd').read()") == "FileNotFoundError"
    assert run_in_box("bwrap", "open('/usr/x', 'w')") in ("OSError", "PermissionError")
    assert run_in_box("bwrap", f"open({str(BOT)!r}, 'a')") in ("OSError", "PermissionError")


@pytest.mark.parametrize("layer", [SANDBOX, LANDLOCK])
def test_the_folder_is_read_only_and_what_is_hidden_in_it_cannot_be_read(layer: Layer, tmp_path: Path) -> None:
    (tmp_path / "league.bots").mkdir()
    for name in ("open", "league.db", "league.bots/x"):
        (tmp_path / name).write_text("y")
    hidden = tuple(str(tmp_path / name) for name in ("league.db", "league.db-wal", "league.bots"))

    def try_it(code: str) -> str:
        with boxed(layer, code, cwd=tmp_path, hidden=hidden) as seat:
            return seat.version

    assert try_it("told = open('open').read()") == "y"
    assert try_it("open('new', 'w')") in ("OSError", "PermissionError")
    assert try_it("told = open('league.db').read()") in ("", "PermissionError")
    assert try_it("told = open('league.bots/x').read()") in ("FileNotFoundError", "PermissionError")
    assert not (tmp_path / "new").exists()


@pytest.mark.sandbox
def test_a_python_bot_imports_malice_and_sees_nothing_else_of_a_checkout() -> None:
    assert run_in_box("bwrap", "import malice; told = malice.Game('standard').turn") == "1"
    assert run_in_box("bwrap", f"told = open({str(BOT.parents[2] / 'README.md')!r}).read()") == "FileNotFoundError"


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


@every_layer
def test_without_control_groups_memory_is_limited_all_the_same(layer: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "find_parents", cgroups.Parents)

    assert run_in_box(layer, "x = bytearray(1 << 30)", memory_mb=200) == "MemoryError"


# records


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


def test_a_signal_that_freezes_goes_to_nobody_after_the_end() -> None:
    with boxed("rlimit", "") as seat:
        seat.dismiss()
        os.kill(os.getpid(), signal.SIGCONT)
