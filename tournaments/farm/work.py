"""What coordinator and workers say to each other, and what of it the coordinator believes.

It travels as compressed JSON: a network may be slow.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

from malice.referee.compiled import find_core
from malice.referee.errors import FamilyError
from malice.referee.records import FORMAT, Batch, GameOrder, Isolation, Key, Player, Record, TimeUp
from malice.tournaments.entries.bots import Bot
from malice.tournaments.farm.machine import Factor, Speeds
from malice.tournaments.league.stored_games import refuse_unreadable

MOST_BYTES = 2**20
"""What an answer may take, beside its records."""
MOST_GAME_BYTES = 2**22
"""What a record may take, as JSON."""

_encoder = msgspec.json.Encoder()
PACKAGES = ("protocol", "referee", "tournaments")
"""What plays games, and hands them out."""
HEX = 12

MOST_SLOTS = 4096
"""A machine that plays more games at a time is none."""

Block = tuple[Batch, ...]
"""All rotations of some deals of one table, which one machine plays."""
Slots = Annotated[int, Meta(ge=1, le=MOST_SLOTS)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]


class Identity(Struct, frozen=True, forbid_unknown_fields=True):
    """What a malice consists of."""

    version: str
    code: str
    """The hash of its modules, the first digits."""
    core: str
    """The hash of the sources of the compiled rules; empty where Python plays, which plays the same."""

    def explain_difference(self, expected: Identity) -> str | None:
        """Say why this is another malice than was expected; None if it is the same."""
        if self.version != expected.version:
            return f"expected malice {expected.version}, it has {self.version}"
        if self.code != expected.code:
            return f"expected malice {expected.version} with the code {expected.code}, its code is {self.code}"
        if self.core and expected.core and self.core != expected.core:
            return f"expected malice-core of the sources {expected.core}, its core is of {self.core}"
        return None


@cache
def read_identity() -> Identity:
    """What the malice of this process consists of."""
    whole = hashlib.sha256()
    for package in PACKAGES:
        folder = Path(import_module(f"malice.{package}").__path__[0])
        for path in sorted(folder.rglob("*.py")):
            whole.update(f"{package}/{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    try:
        core = str(getattr(find_core(), "__source__", ""))
    except FamilyError:  # each game that needs it says so
        core = ""
    return Identity(version("malice-arena"), whole.hexdigest()[:HEX], core)


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
    lacks: bool = False
    """Whether a bot is no longer there."""
    trouble: str = ""
    """Why no task of this run can be played there."""
    rules: str = ""
    """How the rules of the game failed there."""
    leaving: bool = False
    """Whether it begins no other game, because it was told to leave."""
    measured: Speeds | None = None
    """How fast one slot is now while all others are at work, if it was time to measure that again."""


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


def pack(said: Struct) -> bytes:
    return zlib.compress(_encoder.encode(said))


def unpack(raw: bytes, most_bytes: int = MOST_BYTES) -> bytes:
    """The JSON of what somebody packed.

    Raises:
        ValueError: nobody packed this, or it takes more bytes.
    """
    if not raw:
        raise ValueError("it raised an exception, or returned something else than bytes")
    unpacker = zlib.decompressobj()
    try:
        plain = unpacker.decompress(raw, most_bytes)
    except zlib.error as error:
        raise ValueError(f"expected compressed JSON, got something malformed: {error}") from None
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError(f"expected compressed JSON of at most {most_bytes:,} bytes, got more, or a part of it")
    return plain


def read_reply(raw: bytes, need: Need) -> Introduction | Refusal:
    """Read who a worker says that it is; one that says what cannot be is refused."""
    try:
        reply = msgspec.json.decode(unpack(raw), type=Introduction | Refusal)
    except (ValueError, RecursionError) as error:
        return Refusal("", f"expected an introduction: {error}")
    if isinstance(reply, Introduction) and (odd := sorted(set(reply.lacks) - set(need.contents))):
        return Refusal(reply.host, f"it asks for a bot that is none of this run: {odd[0]}")
    return reply


def read_answer(
    raw: bytes, number: int, asked: Mapping[Key, tuple[Batch, GameOrder]]
) -> tuple[Answer, dict[Key, Record]]:
    """Read a worker's answer, and the records that came with it.

    Args:
        raw: what it sent.
        number: that of the task.
        asked: the games of the task.

    Raises:
        ValueError: it is no answer to this task, or a record is not of a game that was asked for.
    """
    answer = msgspec.json.decode(unpack(raw, MOST_BYTES + MOST_GAME_BYTES * len(asked)), type=Answer)
    if answer.task != number:
        raise ValueError(f"expected an answer to task {number}, got one to {answer.task}")
    records: dict[Key, Record] = {}
    for line in answer.records:
        record = msgspec.json.decode(line, type=Record)
        if record.key not in asked:
            raise ValueError(f"game {record.key} was not asked of it")
        if difference := find_difference(record, *asked[record.key]):
            raise ValueError(f"game {record.key}: {difference}")
        records[record.key] = record  # one that comes twice is the same, or differs in what no digest covers
    return answer, records


def find_difference(record: Record, batch: Batch, order: GameOrder) -> str | None:
    """What is wrong with a record at first sight, if anything; only a replay shows whether its play is legal.

    Args:
        record: what a worker sent.
        batch: what it was to play.
        order: which game of it.
    """
    players = [batch.players[player] for player in order.seating]
    expected = {
        "format": FORMAT,
        "tournament": batch.tournament,
        "family": batch.family,
        "ruleset": batch.ruleset,
        "rules": batch.rules,
        "entries": tuple((player.label, player.hash) for player in players),
        "deal_seed": order.deal_seed,
        "commit": batch.commit,
        "clock": batch.clock,
        "speed": batch.speed,
    }
    for name, value in expected.items():
        if getattr(record, name) != value:
            return f"expected {name} {value}, got {getattr(record, name)}"
    if len(record.builds) not in (0, len(players)):
        return f"expected builds for {len(players)} seats, or none, got {len(record.builds)}"
    try:
        refuse_unreadable(record)
    except ValueError as error:
        return str(error)
    return None
