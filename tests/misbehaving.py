"""The bots of `tests/bots`: what each does wrong, the referee's verdict, and what `malice check` says.

This table has the codes of verdicts; `test_exchange.py`, `test_answers.py` and `test_verdicts.py` assert their
sentences.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from malice.referee.records import Layer
from malice.referee.verdicts import Code

LAYERS: tuple[Layer, ...] = ("none", "rlimit", "bwrap")
WITH_LANDLOCK: tuple[Layer, ...] = ("none", "rlimit", "landlock", "bwrap")
"""For a bot that `landlock` stops in a way of its own; `make hostile` tries the others under it, too."""
BOXED: tuple[Layer, ...] = ("rlimit", "bwrap")
ALONE: tuple[Layer, ...] = ("none",)
"""For a bot that only says something wrong, which no layer can change."""
NOWHERE: tuple[Layer, ...] = ()
"""For bots that do no harm, and for those that only `malice check` tries."""


class Advice(NamedTuple):
    """What `malice check` tells the author."""

    step: str | None
    """The first step that fails; None where all pass."""
    hint: str = ""
    """Part of the hint."""
    says: str = ""
    """Part of the cause, if that is not the referee's sentence."""


class Misbehaving(NamedTuple):
    """A bot of `tests/bots`, and what must happen to it.

    Where layers differ, the fields name what is in force: the words of a record's isolation, and `cgroup` and
    `memory cgroup` where a box has them.
    """

    bot: str
    arguments: tuple[str, ...] = ()
    code: Code | None = None
    """The verdict; None for a bot whose attempt earns none."""
    ends: str = ""
    """The end of the words on how its process ended by itself."""
    instead: Mapping[str, str] = MappingProxyType({})
    """The same by what is in force; the first match counts."""
    waits: str = ""
    """The request that it leaves unanswered until the deadline."""
    leaves: str = ""
    """What it leaves behind, "processes" or "files", unless something in `kept_by` is in force."""
    kept_by: frozenset[str] = frozenset()
    layers: tuple[Layer, ...] = LAYERS
    """The layers under which it plays against an honest bot."""
    memory_mb: int = 1024
    check: Advice | None = None
    """None if another bot shows `malice check` the same, or if the check would not survive the bot."""


DENIED = MappingProxyType({"seccomp": "status 1"})
FEW = MappingProxyType({"pids": "status 1"})
COUNTED = MappingProxyType({"memory cgroup": "(SIGKILL)"})
TWO = '{"id":ID,"protocol":2}'
ARRAY = '{"id":ID,"move":["p-c0"]}'
DEATH = ("move", "SIGSEGV", "30000")

MISBEHAVING = (
    Misbehaving("babbles", ("200", "10"), "protocol", layers=ALONE, check=Advice("stdout", "to standard error")),
    Misbehaving("blank", (), "protocol", layers=ALONE, check=Advice("stdout", "to standard error")),
    Misbehaving("brackets", (), "protocol", waits="move", layers=ALONE, check=Advice("stdout")),
    Misbehaving(
        "buffers",
        (),
        "timeout",
        waits="hello",
        layers=ALONE,
        check=Advice("flushes", "`print(..., flush=True)`", "it had waited in a buffer"),
    ),
    Misbehaving("chatters", ("101", "3"), "protocol", layers=ALONE, check=Advice("stdout")),
    Misbehaving("closes", ("game_start", "0"), "crash", check=Advice("games", "read until")),
    Misbehaving("closes", ("move", "1"), "crash", check=Advice("games", "do not close")),
    Misbehaving(
        "daemon",
        (),
        "crash",
        "status 0",
        instead=DENIED,
        leaves="processes",
        kept_by=frozenset({"bwrap", "seccomp", "cgroup"}),
        layers=WITH_LANDLOCK,
        check=Advice("games", "left its loop too early"),
    ),
    Misbehaving(
        "deaf",
        (),
        "timeout",
        waits="hello",
        layers=ALONE,
        check=Advice("starts", "read your input", "it has not even read the request"),
    ),
    Misbehaving("declines", layers=NOWHERE, check=Advice("families", "`legal`")),
    Misbehaving("dies", DEATH, "crash", "(SIGSEGV)", check=Advice("games")),
    Misbehaving("dies", ("game_end", "7", "0"), check=Advice("games")),
    Misbehaving("digits", (), "protocol", waits="move", layers=ALONE, check=Advice("answers", "JSON library")),
    Misbehaving("disguise", layers=ALONE),
    Misbehaving("doubles", (), "illegal", layers=ALONE, check=Advice("games", "copy a string from `legal`")),
    Misbehaving("drips", (), "timeout", waits="move", layers=ALONE, check=Advice("answers", "end each answer with")),
    Misbehaving("early", (), "protocol", layers=ALONE, check=Advice("answers", "write one answer for each request")),
    Misbehaving("eats", ("256",), "crash", "status 1", check=Advice("games")),
    Misbehaving("eats", (), "crash", "status 1", instead=COUNTED, layers=BOXED, memory_mb=256),
    Misbehaving("endless", (), "protocol", layers=ALONE, check=Advice("answers")),
    Misbehaving("floods", (), "protocol", layers=ALONE, check=Advice("answers")),
    Misbehaving("forks", ("10",), "crash", "status 0", check=Advice("games")),
    Misbehaving("forks", ("600",), "crash", "status 0", instead=FEW),
    Misbehaving("freezes", (), "timeout", waits="move", check=Advice("clock", "find out what it waits for")),
    Misbehaving("grumbles", layers=NOWHERE, check=Advice("answers", "put a field `move` into the answer")),
    Misbehaving("guesses", (), "protocol", layers=ALONE, check=Advice("answers")),
    Misbehaving(
        "hoards",
        (),
        "timeout",
        waits="move",
        leaves="files",
        kept_by=frozenset({"landlock", "bwrap"}),
        layers=WITH_LANDLOCK,
        check=Advice("clock", says="is idle, and sends nothing"),
    ),
    Misbehaving("honest", layers=NOWHERE, check=Advice(None)),
    Misbehaving("latin", (), "protocol", layers=ALONE, check=Advice("answers", "write UTF-8")),
    Misbehaving("leaves", (), "crash", "status 0", check=Advice("games", "left its loop too early")),
    Misbehaving("lingers", ("nothing", "0"), layers=NOWHERE, check=Advice("answers")),
    Misbehaving("logs", layers=NOWHERE, check=Advice(None)),
    Misbehaving(
        "nan", (), "protocol", waits="move", layers=ALONE, check=Advice("answers", "JSON library", "invalid character")
    ),
    Misbehaving("nests", (), "protocol", waits="move", layers=ALONE, check=Advice("answers", says="nested too deeply")),
    Misbehaving("parent", ("nothing",), waits="move", layers=NOWHERE, check=Advice("clock")),
    Misbehaving("ponders", layers=NOWHERE),
    Misbehaving("pours", (), "protocol", layers=ALONE, check=Advice("stdout")),
    Misbehaving("says", ("move", ARRAY), "protocol", layers=ALONE, check=Advice("answers")),
    Misbehaving("says", ("move", "LONG"), "protocol", layers=ALONE, check=Advice("answers")),
    Misbehaving("says", ("hello", TWO), "protocol", layers=ALONE, check=Advice("hello")),
    Misbehaving(
        "scribe",
        (os.devnull,),
        layers=NOWHERE,
        check=Advice("reuse", "forget everything about the last game", "state of earlier games is left"),
    ),
    Misbehaving("shouts", (), "timeout", waits="move", check=Advice("clock")),
    Misbehaving(
        "sleeps",
        (),
        "timeout",
        waits="game_start",
        layers=ALONE,
        check=Advice("answers", "answer every line but `bye`"),
    ),
    Misbehaving("spins", (), "timeout", waits="move", check=Advice("clock", "think less", "it is still thinking")),
    Misbehaving("stale", (), "protocol", layers=ALONE, check=Advice("answers")),
    Misbehaving("stays", check=Advice("bye", says="it stays after bye")),
    Misbehaving("stops", ("game_end",), waits="game_end", layers=ALONE, check=Advice("answers")),
    Misbehaving("strikes", ("/nowhere",), layers=("bwrap",)),
    Misbehaving("stubborn", (), "timeout", waits="move", check=Advice("clock")),
    Misbehaving("suicide", (), "crash", "(SIGKILL)", check=Advice("games")),
    Misbehaving("surrogate", (), "protocol", waits="move", layers=ALONE, check=Advice("answers")),
    Misbehaving("teller", ("nothing",), layers=NOWHERE),
    Misbehaving("twice", (), "protocol", layers=ALONE, check=Advice("answers")),
    Misbehaving("vanishes", (), "crash", "status 5", check=Advice("starts")),
    Misbehaving("writes", layers=ALONE),
    Misbehaving("zeros", (), "illegal", layers=ALONE, check=Advice("games")),
)

HOSTILE = tuple(each for each in MISBEHAVING if each.layers)
CHECKED = tuple(each for each in MISBEHAVING if each.check)


def title(each: Misbehaving) -> str:
    """Return the name of a test with this bot."""
    return "-".join((each.bot, *each.arguments[:1])).replace("/", "")
