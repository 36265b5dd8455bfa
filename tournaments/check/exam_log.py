"""What an examination notes of the bot while it plays, and the trouble that ends a process."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from protocol.errors import MaliceError
from referee.bot import BotProcess
from referee.exchange import BotConnection
from referee.verdicts import Code, Verdict
from tournaments.check.report import Thought
from tournaments.check.silence import Silence


class Times(Struct, frozen=True):
    """How long everything may take, in milliseconds."""

    move_ms: int = 1000
    init_ms: int = 5000
    listen_ms: int = 2000
    """How much longer a bot is listened to that has not answered in time."""
    exit_ms: int = 5000
    """How long it may take to exit, before it is said to stay."""


class Trouble(MaliceError):
    """The bot under examination broke a rule; nothing more is played with this process."""

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
        """Whether nothing came, so that the sentence ends with a guess."""
        self.lines = lines
        self.exit = exit
        self.stderr = stderr
        self.stray: bytes | None = None
        """The last line without JSON, if one came instead of the answer."""
        self.silence: Silence | None = None
        """What was heard after a deadline had passed."""
        self.legal: tuple[str, ...] = ()
        """What could have been played."""
        self.isolation: tuple[str, ...] = ()
        """What was in force around the process."""


class Stray(NamedTuple):
    """The first line on stdout that was none of the protocol."""

    text: bytes
    where: str
    lines: tuple[str, ...]


class Journal:
    """What is noted of the bot over all its processes."""

    def __init__(self) -> None:
        self.where = ""
        """What is going on."""
        self.ruleset = ""
        self.deal_seed = ""
        self.answers = 0
        self.strays = 0
        self.first_stray: Stray | None = None
        self.thoughts: list[Thought] = []
        self.isolation: tuple[str, ...] = ()


class Wire(BotConnection):
    """A line that notes what is no message."""

    def __init__(self, bot: BotProcess, journal: Journal) -> None:
        super().__init__(bot, None)
        self._journal = journal
        self.last_stray: bytes | None = None
        """The last one since the last answer."""

    def last(self) -> str:
        """Return the line that came last."""
        return self.evidence()[-1]

    def _count_stray(self, raw: bytes) -> None:
        self.last_stray = raw
        journal = self._journal
        journal.strays += 1
        if journal.first_stray is None:
            journal.first_stray = Stray(raw, journal.where, self.evidence())
        super()._count_stray(raw)
