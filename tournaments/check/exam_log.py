"""What an examination notes on the bot while it plays, and the trouble that ends a process."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from malice.protocol.errors import MaliceError
from malice.referee.verdicts import Code, Verdict
from malice.tournaments.check.report import Thought
from malice.tournaments.check.silence import Silence


class Times(Struct, frozen=True):
    """How long the bot may take, in milliseconds."""

    move_ms: int = 1000
    init_ms: int = 5000
    listen_ms: int = 2000
    """How much longer to listen to a bot that missed a deadline."""
    exit_ms: int = 5000
    """How long the bot may take to exit; after that it counts as staying."""


class Trouble(MaliceError):
    """The bot under examination broke a rule; its process plays no more."""

    def __init__(
        self, what: str, limit_ms: int, verdict: Verdict, lines: tuple[str, ...], exit: str | None, stderr: str
    ) -> None:
        super().__init__(verdict.sentence)
        self.what = what
        """The type of the request."""
        self.limit_ms = limit_ms
        self.code: Code = verdict.code
        self.sentence = verdict.sentence
        self.silent = verdict.silent
        """Whether no answer came; the sentence then ends with a guess."""
        self.lines = lines
        self.exit = exit
        self.stderr = stderr
        self.stray: bytes | None = None
        """The last line that is not a JSON object, if one came instead of the answer."""
        self.silence: Silence | None = None
        """What the bot did after it had missed a deadline."""
        self.legal: tuple[str, ...] = ()
        """The legal actions."""
        self.isolation: tuple[str, ...] = ()
        """The isolation in force around the process."""


class Stray(NamedTuple):
    """The first line on stdout that is not part of the protocol."""

    text: bytes
    where: str
    lines: tuple[str, ...]


class ExamLog:
    """Notes on the bot, over all its processes."""

    def __init__(self) -> None:
        self.where = ""
        """The game or situation under way, for people."""
        self.ruleset = ""
        self.deal_seed = ""
        self.answers = 0
        self.strays = 0
        self.first_stray: Stray | None = None
        self.thoughts: list[Thought] = []
        self.isolation: tuple[str, ...] = ()

    def add_stray(self, line: bytes, evidence: tuple[str, ...]) -> None:
        """Count a stray line; keep the first, with the messages around it."""
        self.strays += 1
        if self.first_stray is None:
            self.first_stray = Stray(line, self.where, evidence)
