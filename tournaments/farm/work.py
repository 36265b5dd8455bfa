"""What coordinator and workers say to each other: what a run needs, who a worker is, tasks, and answers."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

from malice.referee.records import Batch, Isolation, Key, Player, TimeUp
from malice.tournaments.entries.bots import Bot
from malice.tournaments.farm.identity import Identity

MOST_SLOTS = 4096
"""A machine that plays more games at a time is none."""

Slots = Annotated[int, Meta(ge=1, le=MOST_SLOTS)]
Factor = Annotated[float, Meta(ge=0.001, le=1000)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]


class Ticket(Struct, frozen=True, forbid_unknown_fields=True):
    """How a worker finds a bot: among those that travelled, by content; a command line by its words, on its disk."""

    content: str
    """SHA-256 of its files or command line, hex."""
    given: dict[str, str]
    """Its parameters that differ from its bot.toml."""
    home: str | None = None
    """The folder that holds what did not travel, such as a virtual environment."""
    command: tuple[str, ...] = ()
    """The words of a command line; none for a folder that travels."""
    folder: str = ""
    """Where a command line runs."""


def make_ticket(bot: Bot) -> Ticket:
    """The ticket of a bot that plays from its kept copy, or of a command line."""
    if bot.owns_folder and bot.folder is not None:
        return Ticket(bot.content, bot.given, str(bot.home) if bot.home else None)
    return Ticket(bot.content, bot.given, command=bot.command, folder=str(bot.folder))


class Need(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run asks of every worker before it hands out work."""

    malice: Identity
    """That of the coordinator, which the worker must have too."""
    families: tuple[str, ...]
    isolation: Isolation
    cpus_per_game: int
    contents: tuple[str, ...]
    """The content hashes of the bots that travel."""


class Introduction(Struct, frozen=True, forbid_unknown_fields=True, tag="introduction"):
    """The answer to a `Need` of a worker that can play."""

    host: str
    slots: Slots
    """Games at a time."""
    slots_per_game: Slots
    """How many slots a game takes that needs several processors."""
    speed: Factor
    """How fast it computes with all slots at work, as a multiple of a reference, by CPU time."""
    wall_speed: Factor | None = None
    """The same by the clock on the wall; None if nobody measured it."""
    lacks: tuple[str, ...] = ()
    """The content hashes of bots that it does not have yet."""
    warnings: tuple[str, ...] = ()
    """What weakens it, but does not rule it out."""

    def __post_init__(self) -> None:
        """Refuse a worker without room for a game."""
        if self.slots_per_game > self.slots:
            raise ValueError(f"expected at most {self.slots} slots for a game, got {self.slots_per_game}")

    @property
    def capacity(self) -> int:
        """How many games of the run it plays at a time, at least 1."""
        return self.slots // self.slots_per_game

    def choose_speed(self, *, by_wall: bool) -> float:
        """The speed that counts where clocks count wall time, or CPU time."""
        return self.wall_speed if by_wall and self.wall_speed is not None else self.speed


class Refusal(Struct, frozen=True, forbid_unknown_fields=True, tag="refusal"):
    """The answer to a `Need` of a worker that cannot play in this run."""

    host: str
    why: str


class Task(Struct, frozen=True, forbid_unknown_fields=True):
    """All rotations of a block of deals at one table, batch by batch, for one worker."""

    number: int
    run: str
    """Names the run, so that a worker can let its games finish."""
    batches: tuple[Batch, ...]
    tickets: tuple[Ticket, ...]
    """By player of the table."""
    slots: int = 1
    """How many slots it takes."""
    latest: float | None = None
    """The time, in seconds since 1970, from which on no game may begin."""
    give_up_at: float | None = None
    """The time at which games that still run are given up."""


class Measured(Struct, frozen=True, forbid_unknown_fields=True):
    """How fast a worker is now, measured on one slot while all others were at work."""

    speed: Factor
    wall_speed: Factor


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """What became of a task."""

    task: int
    records: tuple[Raw, ...] = ()
    """A record for each game that was played, as the referee wrote it."""
    seconds: Seconds = 0.0
    """How long they took, with the start of the referee process; what waits for a slot takes nothing."""
    given_up: tuple[tuple[Key, str], ...] = ()
    """Games that the referee could not finish, and why."""
    late: bool = False
    """Whether games were not begun because of `Task.latest`."""
    overruns: tuple[TimeUp, ...] = ()
    """Games that were given up because of `Task.give_up_at`."""
    lacks: tuple[str, ...] = ()
    """The content hashes of bots that are no longer there."""
    trouble: str = ""
    """Why no task of this run can be played there."""
    rules: str = ""
    """How the rules of the game failed there."""
    leaving: bool = False
    """Whether it begins no other game, because it was told to leave."""
    measured: Measured | None = None
    """How fast it is now, if it was time to measure that again."""


class Exam(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot that a worker examines with `malice check`."""

    ticket: Ticket
    words: tuple[str, ...]
    """The options of the command."""


class ExamAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """What became of an examination."""

    report: str = ""
    """What `malice check --json` printed."""
    trouble: str = ""
    """Why there is no report."""


def place_player(player: Player, bot: Bot, build: str) -> Player:
    """A player as it starts on this machine, where `build` made it."""
    folder = str(bot.folder) if bot.folder else None
    return replace(player, command=bot.command, cwd=folder, home=bot.own_home, build=build)
