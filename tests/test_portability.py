"""Games, environments and `malice rules` need nothing that Linux alone has."""

from __future__ import annotations

import subprocess
import sys

import pytest

FORBID = """
import asyncio, builtins, multiprocessing, os, select, signal, socket, subprocess, sys, tempfile, trio
import gymnasium, numpy, pettingzoo  # know other systems by themselves

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"):
            raise ImportError(f"{name} is of Unix alone")

sys.meta_path.insert(0, Refuse())
for name in ("fcntl", "grp", "pwd", "resource", "syslog", "termios"):
    sys.modules.pop(name, None)
KEPT = {
    os: {"name", "O_RDONLY", "O_WRONLY", "O_RDWR", "O_CREAT", "O_EXCL", "O_TRUNC", "O_APPEND"},
    signal: {"SIGINT", "SIGTERM", "SIGABRT", "SIGFPE", "SIGILL", "SIGSEGV", "SIG_DFL", "SIG_IGN"},
}
GONE = {
    os: "fork forkpty pidfd_open sched_getaffinity sched_setaffinity setsid killpg getuid geteuid getgid getegid "
    "setpriority "
    "mkfifo wait3 wait4 waitid posix_spawn pipe2 memfd_create chroot getpgid getsid nice uname statvfs openpty "
    "register_at_fork sysconf getloadavg fchmod fchown chown lchown initgroups WNOHANG SCHED_OTHER "
    + " ".join(name for name in dir(os) if name.startswith("O_")),
    signal: "pthread_sigmask pthread_kill alarm setitimer sigwait sigtimedwait SIG_BLOCK SIG_UNBLOCK Sigmasks "
    + " ".join(name for name in dir(signal) if name.startswith("SIG")),
    select: "epoll poll",
    socket: "AF_UNIX AF_NETLINK socketpair",
}
for module, names in GONE.items():
    for name in names.split():
        if name not in KEPT.get(module, ()) and hasattr(module, name):
            delattr(module, name)
real = builtins.open

def guarded(file, *rest, **more):
    if str(file).startswith(("/proc", "/sys", "/dev")):
        raise FileNotFoundError(file)
    return real(file, *rest, **more)

builtins.open = guarded
"""
GAMES = """
import random
import malice

rng = random.Random(1)
for ruleset in ("standard", "skipbo", "klondike-3", "nuts-2", "double-solitaire"):
    game = malice.Game(ruleset, seed=1)
    while not game.over and game.actions < 30:
        game.play({seat: rng.choice(game.legal(seat)) for seat in game.to_act})
    if not game.over:
        game.resample(0, rng)
    assert malice.Game.from_position(game.position()).turn == game.turn
    assert len(game.rollout("uniform", 2, rng)) == 2
"""
ENVIRONMENTS = """
import malice.rl

env = malice.rl.standard_v0.env()
env.reset(seed=1)
for agent in env.agent_iter():
    observation, _, ended, cut, _ = env.last()
    if ended or cut:
        break
    env.step(observation["action_mask"].argmax())
seat = gymnasium.make("malice/standard-v0", opponents=["planner"]).unwrapped
observation, info = seat.reset(seed=1)
seat.step(seat.action_masks().argmax())
"""
RULES = """
from malice.tournaments.launch import main

sys.argv = ["malice", "rules", "show", "standard"]
main()
"""


@pytest.mark.parametrize("what", [GAMES, ENVIRONMENTS, RULES], ids=["games", "environments", "rules"])
def test_what_needs_no_processes_runs_without_what_linux_alone_has(what: str) -> None:
    words = [sys.executable, "-c", FORBID + what]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
