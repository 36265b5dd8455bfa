"""What a new process imposes on itself between fork and exec: limits, a user, and a filter of system calls.

The filter is classic BPF, written here without a library.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import platform
import resource
import stat
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from errno import ENOSYS, EPERM
from pathlib import Path
from signal import SIGCONT

from malice.referee.isolation.folders import everybody_may_read

FILE_BYTES = 64 << 20
"""The largest file that a bot may write, and the size of its private /tmp."""
FILES = 256
PROCESSES = 64
"""How many processes and threads a bot may have."""
NICE = 5

_FIRST_UID, _UIDS_EACH = 1_000_000_000, 64
_numbers = itertools.count()


def explain_missing_uids() -> str | None:
    """Why bots cannot have users of their own here; None if they can."""
    if os.geteuid() != 0:
        return "only root may start processes as another user"
    uid = next_uid()
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= uid < first + count:
            return None
    return f"user {uid} is not mapped in this user namespace"


def next_uid() -> int:
    """A user that no other bot on this machine has, from our own pid and a running number."""
    return _FIRST_UID + os.getpid() * _UIDS_EACH + next(_numbers) % _UIDS_EACH


def find_unreadable(paths: Iterable[Path]) -> Path | None:
    """The first of these paths and the folders above them that some users may not read or enter."""
    paths = list(paths)
    for path in paths:
        if not everybody_may_read(path.stat()):
            return path
    above = sorted({parent for path in paths for parent in path.resolve().parents})
    return next((parent for parent in above if not parent.stat().st_mode & stat.S_IXOTH), None)


def count_user_threads() -> int:
    """Count the threads of our user: its limit of processes counts them all."""
    uid, threads = os.getuid(), 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                if folder.stat().st_uid == uid:
                    threads += len(os.listdir(folder / "task"))
    return threads


def make_limiter(memory_mb: int | None, processes: int | None, uid: int | None = None) -> Callable[[], None]:
    """Make a function that puts the calling process under limits.

    Args:
        memory_mb: of address space; None where a control group counts the memory in use.
        processes: of the user; None sets no limit.
        uid: the user, and group, to become.
    """
    limits = [(resource.RLIMIT_FSIZE, FILE_BYTES), (resource.RLIMIT_NOFILE, FILES), (resource.RLIMIT_CORE, 0)]
    if memory_mb is not None:
        limits.append((resource.RLIMIT_AS, memory_mb << 20))
    if processes is not None:
        limits.append((resource.RLIMIT_NPROC, processes))

    def arm() -> None:
        for kind, most in limits:
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))
        os.nice(NICE)
        if uid is not None:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)

    return arm


_CAPABILITIES_VERSION, _CAP_DAC_READ_SEARCH = 0x20080522, 1 << 2


def give_up_capabilities() -> None:
    """Take from the calling process all that root may do, except to read what its mode closes to others.

    A program that it starts can get none of it back, once it has given up new privileges.
    """
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    kept = struct.pack("=6I", _CAP_DAC_READ_SEARCH, _CAP_DAC_READ_SEARCH, 0, 0, 0, 0)
    if _libc.capset(header, kept):
        raise OSError(ctypes.get_errno(), "capset")


_X86_64, _AARCH64 = 0xC000003E, 0xC00000B7
_ARCHITECTURES = {"x86_64": (_X86_64, 0), "aarch64": (_AARCH64, 1)}
"""By machine: the kernel's name for it, and its column below."""

_DENIED: dict[str, tuple[int, int]] = {
    # leave the group that is killed and frozen
    "setsid": (112, 157),
    "setpgid": (109, 154),
    # reach into other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # move to the processors of another game
    "sched_setaffinity": (203, 122),
    # keys, locks and watches: boxes that see the same files share them
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "flock": (73, 32),
    "mincore": (27, 232),
    "cachestat": (451, 451),
    "vmsplice": (278, 75),
    "inotify_init": (253, -1),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    # other namespaces and mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # large and rarely used parts of the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "personality": (135, 92),
    "modify_ldt": (154, -1),
    "move_pages": (279, 239),
    # the machine itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, -1),
    "ioperm": (173, -1),
    "vhangup": (153, 58),
}
_UNCOUNTED: dict[str, tuple[int, int]] = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "landlock_create_ruleset": (444, 444),
}
"""Memory that belongs to no process: only a control group counts it."""
_UNGOVERNED: dict[str, tuple[int, int]] = {
    # change a file that was not opened for writing
    "chmod": (90, -1),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, -1),
    "fchown": (93, 55),
    "lchown": (94, -1),
    "fchownat": (260, 54),
    "utime": (132, -1),
    "utimes": (235, -1),
    "futimesat": (261, -1),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    # read attributes of any file by its path
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "getxattrat": (464, 464),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "listxattrat": (465, 465),
    "file_getattr": (468, 468),
    # give a socket an address, or find one
    "bind": (49, 200),
    "listen": (50, 201),
    "connect": (42, 203),
    # memory and messages that processes share by a number or a name
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # slow down other processes of the same user
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
"""What Landlock does not govern, and would let a bot reach beyond its box."""
_SOCKETPAIR, _SOCKET_TYPE, _STREAM, _SEQPACKET = (53, 199), 0xF, 1, 5
"""A pair of sockets of these two types stays a pair; another could send to any address."""
_PRLIMIT = (302, 261)
"""Its first argument names another process."""
_IOCTL, _REQUEST_KIND, _TERMINALS = (16, 29), 0xFF00, ord("T") << 8
"""Requests of this kind ask about terminals and pipes; others can change a file that is open only to be read."""
_WAKING: dict[str, tuple[int, int]] = {
    "timer_create": (222, 107),
    "mq_notify": (244, 184),
}
"""Calls that can send any signal later, even SIGCONT, which wakes a stopped process."""
_SENDING_SECOND: dict[str, tuple[int, int]] = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "pidfd_send_signal": (424, 424),
}
_SENDING_THIRD: dict[str, tuple[int, int]] = {"tgkill": (234, 131), "rt_tgsigqueueinfo": (297, 240)}
"""Calls that send a signal now; the second or the third argument names it."""
_PRCTL, _PR_SET_PDEATHSIG = (157, 167), 1
_SET_SIGNAL = 10
"""F_SETSIG of fcntl: sets the signal for a file that is ready."""
_EXIT_SIGNAL = 0xFF
"""The bits in the flags of clone that name the signal for the end of the child."""
_CLONE, _SOCKET, _CLONE3 = (56, 220), (41, 198), 435
_FCNTL = (72, 25)
_SHARED_COMMANDS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)
"""Commands of fcntl by which boxes that see one file could signal each other.

GETLK, SETLK, SETLKW, the same as OFD_, SETLEASE, GETLEASE, NOTIFY.
"""
_PREADV2, _PWRITEV2 = (327, 286), (328, 287)
"""Their flag RWF_NOWAIT reveals what is in the page cache, and so what others have read."""
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
_UNIX, _INET, _INET6 = 1, 2, 10
_X32 = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _KEEP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_NUMBER, _ARCH, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT, _SIXTH_ARGUMENT = 0, 4, 16, 24, 32, 56

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _MODE_FILTER = 22, 38, 2
_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def explain_missing_filter() -> str | None:
    """Why no filter is available on this machine; None if one is."""
    if platform.machine() not in _ARCHITECTURES:
        return f"filters are written for {' and '.join(_ARCHITECTURES)}, not for {platform.machine()}"
    return None


def build_filter(*, network: bool, counted: bool, stopped: bool, landlocked: bool = False, machine: str = "") -> bytes:
    """Build the filter as an array of `struct sock_filter`.

    Args:
        network: whether to allow internet sockets: only where the box has a network of its own.
        counted: whether a control group counts memory; if not, deny memory that belongs to no process.
        stopped: whether signals stop bots off turn; if so, no bot may wake another, or arrange its own waking.
        landlocked: whether to deny what Landlock does not govern, and every socket that could get an address.
        machine: as `platform.machine` names it; by default this one.
    """
    arch, column = _ARCHITECTURES[machine or platform.machine()]
    families = (_UNIX, _INET, _INET6) if network else () if landlocked else (_UNIX,)
    code = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, arch), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    if arch == _X86_64:
        code += _unless((_AT_LEAST, 0, 1, _X32), EPERM)
    # glibc falls back to `clone`, whose flags a filter can read.
    code += _unless((_EQUAL, 0, 1, _CLONE3), ENOSYS)
    denied = [*_DENIED.values(), *(() if counted else _UNCOUNTED.values())]
    for numbers in (*denied, *(_UNGOVERNED.values() if landlocked else ())):
        if numbers[column] >= 0:
            code += _unless((_EQUAL, 0, 1, numbers[column]), EPERM)
    if stopped:
        code += _against_waking(column)
    if landlocked:
        code += _against_reaching_out(column)
    commands = (*_SHARED_COMMANDS, _SET_SIGNAL) if stopped else _SHARED_COMMANDS
    code += _with_argument(_FCNTL[column], _SECOND_ARGUMENT, [(_EQUAL, each) for each in commands])
    for number in (_PREADV2[column], _PWRITEV2[column]):
        code += _with_argument(number, _SIXTH_ARGUMENT, [(_ANY_BIT, 0xFFFFFFFF)])
    clone = _unless((_ANY_BIT, 0, 1, _NEW_NAMESPACES), EPERM)
    if stopped:
        clone += [(_KEEP_BITS, 0, 0, _EXIT_SIGNAL), *_unless((_EQUAL, 0, 1, SIGCONT), EPERM)]
    code += [(_EQUAL, 0, len(clone) + 2, _CLONE[column]), (_LOAD, 0, 0, _FIRST_ARGUMENT), *clone]
    code += [(_RETURN, 0, 0, _ALLOW)]
    code += [(_EQUAL, 0, len(families) + 2, _SOCKET[column]), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    code += [(_EQUAL, len(families) - place, 0, family) for place, family in enumerate(families)]
    code += [(_RETURN, 0, 0, _errno(EPERM)), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *line) for line in code)


def _against_waking(column: int) -> list[tuple[int, int, int, int]]:
    """The part that refuses to send SIGCONT, now or later."""
    code = [line for numbers in _WAKING.values() for line in _unless((_EQUAL, 0, 1, numbers[column]), EPERM)]
    for argument, calls in ((_SECOND_ARGUMENT, _SENDING_SECOND), (_THIRD_ARGUMENT, _SENDING_THIRD)):
        for numbers in calls.values():
            code += _with_argument(numbers[column], argument, [(_EQUAL, SIGCONT)])
    code += [(_EQUAL, 0, 6, _PRCTL[column]), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_EQUAL, 0, 3, _PR_SET_PDEATHSIG)]
    code += [(_LOAD, 0, 0, _SECOND_ARGUMENT), *_unless((_EQUAL, 0, 1, SIGCONT), EPERM), (_RETURN, 0, 0, _ALLOW)]
    return code


def _against_reaching_out(column: int) -> list[tuple[int, int, int, int]]:
    """The part that refuses limits of other processes, requests to files, and pairs of sockets that may part."""
    code = _with_argument(_PRLIMIT[column], _FIRST_ARGUMENT, [(_ANY_BIT, 0xFFFFFFFF)])
    code += [(_EQUAL, 0, 5, _IOCTL[column]), (_LOAD, 0, 0, _SECOND_ARGUMENT), (_KEEP_BITS, 0, 0, _REQUEST_KIND)]
    code += [(_EQUAL, 1, 0, _TERMINALS), (_RETURN, 0, 0, _errno(EPERM)), (_RETURN, 0, 0, _ALLOW)]
    code += [(_EQUAL, 0, 8, _SOCKETPAIR[column]), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_EQUAL, 0, 4, _UNIX)]
    code += [(_LOAD, 0, 0, _SECOND_ARGUMENT), (_KEEP_BITS, 0, 0, _SOCKET_TYPE)]
    code += [(_EQUAL, 2, 0, _STREAM), (_EQUAL, 1, 0, _SEQPACKET)]
    return [*code, (_RETURN, 0, 0, _errno(EPERM)), (_RETURN, 0, 0, _ALLOW)]


def open_filter(*, counted: bool, stopped: bool) -> int:
    """Open a descriptor with the filter of a box that has a network of its own; it can be read once."""
    descriptor = os.memfd_create("seccomp")
    os.write(descriptor, build_filter(network=True, counted=counted, stopped=stopped))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def make_filter_loader(*, counted: bool, stopped: bool, landlocked: bool = False) -> Callable[[], None]:
    """Make a function that puts the calling process under the filter of a box without a network of its own.

    Call this before the fork.
    """
    code = build_filter(network=False, counted=counted, stopped=stopped, landlocked=landlocked)
    # It holds the only reference to the bytes that the kernel reads.
    program = _Program(len(code) // 8, code)

    def arm() -> None:
        if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or _libc.prctl(
            _PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0
        ):
            raise OSError(ctypes.get_errno(), "seccomp")

    return arm


def _errno(number: int) -> int:
    return 0x50000 | number


def _with_argument(number: int, argument: int, tests: list[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """The part that refuses one system call if the low half of an argument passes any of the tests."""
    refusals = [line for test, value in tests for line in _unless((test, 0, 1, value), EPERM)]
    return [(_EQUAL, 0, len(refusals) + 2, number), (_LOAD, 0, 0, argument), *refusals, (_RETURN, 0, 0, _ALLOW)]


def _unless(test: tuple[int, int, int, int], number: int) -> list[tuple[int, int, int, int]]:
    """A test, and a refusal that is skipped if the test fails."""
    return [test, (_RETURN, 0, 0, _errno(number))]
