"""The filter of system calls: what it denies to bots, and what it answers on every machine."""

from __future__ import annotations

import os
import socket
import struct
from errno import ENOSYS, EPERM

import pytest

from malice.referee.isolation import cgroups, limits
from malice.referee.records import Layer
from tests.boxes import every_layer, run_in_box

pytestmark = pytest.mark.slow


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
    number = limits._DENIED[name][0 if os.uname().machine == "x86_64" else 1]
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


@pytest.mark.parametrize(("machine", "arch"), [("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)])
@pytest.mark.parametrize(
    ("network", "counted", "stopped", "landlocked"),
    [(True, True, False, False), (False, False, True, False), (False, True, True, True)],
)
def test_the_filter_answers_for_every_machine(
    machine: str, arch: int, network: bool, counted: bool, stopped: bool, landlocked: bool
) -> None:
    column = ("x86_64", "aarch64").index(machine)
    program = limits.build_filter(
        network=network, counted=counted, stopped=stopped, landlocked=landlocked, machine=machine
    )
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
    assert all(answer(numbers[column]) == refuse for numbers in limits._DENIED.values() if numbers[column] >= 0)
    unshared = {name: numbers for name, numbers in limits._UNCOUNTED.items() if name not in limits._UNGOVERNED}
    uncounted = {answer(numbers[column]) for numbers in unshared.values()}
    assert uncounted == {allow if counted else refuse}
    ungoverned = {answer(numbers[column]) for numbers in limits._UNGOVERNED.values() if numbers[column] >= 0}
    assert landlocked == (ungoverned == {refuse})
    beyond = refuse if landlocked else allow
    prlimit, ioctl, pairs = limits._PRLIMIT[column], limits._IOCTL[column], limits._SOCKETPAIR[column]
    assert [answer(prlimit, pid) for pid in (0, 7)] == [allow, beyond]
    assert [answer(ioctl, second=request) for request in (0x5401, 0x541B, 0x40086602)] == [allow, allow, beyond]
    kinds = [answer(pairs, 1, second=kind) for kind in (1, 0x80005, 2, 3, 0x80802)]
    assert kinds == [allow, allow, beyond, beyond, beyond]
    assert answer(pairs, 30, second=1) == beyond
    waking = refuse if stopped else allow
    for calls, place in ((limits._SENDING_SECOND, "second"), (limits._SENDING_THIRD, "third")):
        for numbers in calls.values():
            assert [answer(numbers[column], **{place: number}) for number in (9, 18)] == [allow, waking]
    assert {answer(numbers[column]) for numbers in limits._WAKING.values()} == {waking}
    prctl = limits._PRCTL[column]
    assert [answer(prctl, first, second=18) for first in (1, 2)] == [waking, allow]
    assert answer(prctl, 1, second=9) == allow
    assert answer(limits._FCNTL[column], second=10) == waking
    assert answer(limits._CLONE[column], 0x1200012) == waking
    clone, sockets = limits._CLONE[column], limits._SOCKET[column]
    assert [answer(clone, 0x10000000), answer(clone, 17)] == [refuse, allow]
    assert answer(435) == 0x50000 | ENOSYS
    assert answer(1000) == allow
    fcntl, preadv2 = limits._FCNTL[column], limits._PREADV2[column]
    assert [answer(fcntl, second=command) for command in (1, 3, 4, 5, 6, 37, 1024, 1026, 1030)] == [
        *(allow, allow, allow, refuse, refuse, refuse, refuse, refuse, allow)
    ]
    assert [answer(preadv2, sixth=flags) for flags in (0, 8)] == [allow, refuse]
    inet = allow if network else refuse
    assert [answer(sockets, family) for family in (1, 2, 10, 16, 40)] == [beyond, inet, inet, refuse, refuse]
    assert answer(0x40000001) == (refuse if machine == "x86_64" else allow)
