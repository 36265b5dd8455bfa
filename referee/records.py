"""The input and output of a referee process: batches and records, and the digests that say whether the same was
played.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import force_setattr

from malice.protocol.messages import ClockRules
from malice.referee.errors import DataError
from malice.referee.families import parse_parameters
from malice.referee.game import Position

FORMAT = 2
"""The version of the content of a record and of its digest."""

Count = Annotated[int, Meta(ge=0, le=2**53)]
"""A whole number that JSON carries everywhere."""
Milliseconds = Annotated[float, Meta(ge=0, le=1e15)]
Speed = Annotated[float, Meta(gt=0, le=1e6)]
"""How fast a machine computes, as a multiple of a reference."""
Time = Annotated[float, Meta(ge=0, lt=253_402_300_800)]
"""Seconds since 1970, UTC, before the year 10000."""
LONGEST_BUILD = 300
BuildLine = Annotated[str, Meta(max_length=LONGEST_BUILD)]
"""What built a bot: the programs that it needs, and a hash of its files with those that they made."""


class Key(Struct, frozen=True, order=True, array_like=True, gc=False):
    """Names a game of a tournament: the part, its table of entries, the deal there, the rotation of seats; from 0."""

    part: int
    table: int
    deal: int
    rotation: int

    def __str__(self) -> str:
        return f"{self.part}.{self.table}.{self.deal}.{self.rotation}"

    @classmethod
    def parse(cls, text: str, parts: int = 1) -> Key:
        """Parse a key written as `part.table.deal.rotation`.

        Args:
            text: the key; it may leave out the part if there is only one.
            parts: how many parts there are.

        Raises:
            DataError: `text` is not a key.
        """
        numbers = text.split(".")
        if len(numbers) not in (3, 4) or not all(re.fullmatch("[0-9]{1,9}", number) for number in numbers):
            raise DataError(expected="a key such as 0.3.12.1 (part.table.deal.rotation)", got=repr(text))
        if len(numbers) == 3 and parts > 1:
            raise DataError(
                expected=f"a key with its part, such as 0.{text}, since there are {parts} parts", got=repr(text)
            )
        return cls(*map(int, ["0", *numbers][-4:]))


class Player(Struct, frozen=True):
    """An entry as the referee needs it: its label, its identity, its command."""

    label: str
    hash: str
    """SHA-256 of the bot's files or command line, hex."""
    command: tuple[str, ...]
    cwd: str | None = None
    name: str = ""
    version: str = ""
    anonymous: bool = False
    """Whether the name and version in its answer to `hello` are not used."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables that its process receives on top of what its isolation leaves of ours."""
    home: str | None = None
    """The folder of a bot that has one, which alone its command may name files in; of a copy, the original. None for a
    command line, which its organiser wrote."""
    build: BuildLine = ""
    """What built it on a worker; empty elsewhere, and if nothing did."""


Layer = Literal["auto", "bwrap", "landlock", "rlimit", "none"]
"""The isolation of a bot: a sandbox, rules on files, limits, nothing; auto is the strongest that works on a machine."""


class Isolation(Struct, frozen=True):
    """The isolation to request for every bot; a record names what was in force."""

    layer: Layer = "none"
    memory_mb: int = 1024
    freeze: bool = True
    """Whether to freeze a bot off turn."""
    hidden: tuple[str, ...] = ()
    """Files and folders that no bot may read, even in its own folder: the league holds the seeds."""
    required: bool = False
    """Whether to refuse to play under a weaker layer."""


class GameOrder(Struct, frozen=True):
    """One game of a batch."""

    key: Key
    deal_seed: str
    """32 bytes, hex."""
    seating: tuple[int, ...]
    """By seat: the index of the player in the batch."""
    rngs: tuple[int, ...]
    """By seat: a seed for the bot's own randomness, 31 bits."""
    spared: bool = False
    """Whether the game is played again after a kill for lack of memory; the next such kill is a verdict."""
    position: Position | UnsetType = UNSET
    """Where the game begins; by default with its deal. The deal seed then decides what is still to be shuffled."""


class Batch(Struct, frozen=True, tag="batch", tag_field="type"):
    """Games of one table in one rotation of seats; the bots start with it and stop after it."""

    family: str
    ruleset: str
    rules: Any
    """The family's `Parameters`; plain data become these."""
    players: tuple[Player, ...]
    """The entries of the table, in its order."""
    clock: ClockRules
    init_ms: int
    commit: str
    games: tuple[GameOrder, ...]
    isolation: Isolation = Isolation()
    cpus: tuple[int, ...] = ()
    """The processors for the referee and its bots; if empty, the system chooses."""
    stderr: bool = False
    """Whether to report every line of a bot's stderr at once."""
    tournament: str = ""
    """Its name, which the digests of the games cover; empty outside of tournaments."""
    speed: Speed | None = None
    """How fast the machine computes, as `Circumstances.speed`; limits of CPU time follow it."""

    def __post_init__(self) -> None:
        force_setattr(self, "rules", parse_parameters(self.family, self.rules))
        everybody = list(range(len(self.players)))
        for order in self.games:
            bytes.fromhex(order.deal_seed)
            if sorted(order.seating) != everybody or len(order.rngs) != len(everybody):
                raise ValueError(f"game {order.key}: expected a seat and an rng for each of {len(everybody)} players")


class EndBatch(Struct, frozen=True, tag="end", tag_field="type"):
    """Ends the batch that is played: the running game finishes, no other begins. Without a batch it has no effect."""


class RecordedVerdict(Struct, frozen=True):
    """A verdict about a seat, with its evidence."""

    seat: int
    code: str
    """crash, timeout, protocol, illegal; for a person, resigned."""
    action: int
    """How many actions were played before."""
    sentence: str
    """What happened, for the author of the bot."""
    exit: str | None
    """How the process ended, in words; None if it was still alive."""
    lines: tuple[str, ...]
    """The last messages, oldest first, each with a mark of its direction."""
    stderr: str
    """The first and the last 8 KiB of the bot's stderr."""
    took_ms: Milliseconds | None = None
    """Where the time for an answer ran out: how long the bot took until it was cut off, of the clock that ran out."""
    limit_ms: Milliseconds | None = None
    """The time that it had, of the same clock."""


class SeatReport(Struct, frozen=True):
    """One seat in one game: who played, time, and stray output; the digest does not cover it."""

    name: str
    """The name that the bot gave in its answer to `hello`, or the name of its entry."""
    version: str = ""
    used_ms: float = 0.0
    """Thinking time; the game runner, which keeps the clocks, fills it in."""
    cpu_ms: float = 0.0
    """CPU time of its thinking; the game runner fills it in."""
    stray_lines: int = 0
    idle_ms: float = 0.0
    """CPU time off turn."""
    wants_legal: bool = True
    """Whether its requests list the legal actions."""
    first_stray: str = ""
    """The start of the first stray line, quoted and in ASCII."""
    farewell: str = ""
    """What was wrong when the bot was told that the game is over, for its author; it costs no game."""
    farewell_stderr: str = ""
    """The bot's stderr then, as in `RecordedVerdict`."""


class Circumstances(Struct, frozen=True, kw_only=True, array_like=True):
    """The part of a record outside its digest: times, notes, evidence, and the machine.

    A league packs it whole, so a new field is written here and where `GameRunner` fills it in, and nowhere else.
    """

    micros: tuple[Count, ...]
    """By action: wall time from the request to the newline of the answer, in microseconds.

    For a verdict: the time from the request that led to it, even a greeting, until the bot was cut off; 0 if there
    was no request. The times of a seat add up to its `used_ms`.
    """
    cpu_micros: tuple[Count, ...]
    """By action: CPU time of the bot process in that time, in microseconds."""
    notes: dict[int, str]
    """By index of the action."""
    seats: tuple[SeatReport, ...]
    faults: tuple[RecordedVerdict, ...]
    clock: ClockRules
    isolation: str
    host: str
    versions: str
    started: Time
    """Seconds since 1970, UTC."""
    elapsed_ms: Milliseconds
    speed: Speed | None = None
    """That of the worker that played the game, under full load; None for a game of the league's own machine.

    A clock that counts CPU time counts it multiplied by this, and `cpu_micros` are as measured.
    """
    builds: tuple[BuildLine, ...] = ()
    """By seat: what built the bots on the worker that played the game; empty if nothing did, or no worker played it."""


class OldRules(Struct, frozen=True):
    """The rules that a game was played by, where those of its family have changed since."""

    revision: int
    """As `Family.revision`."""
    parameters: dict[str, Any]
    """As they were, plain: the digest covers them."""


class Record(Circumstances, frozen=True, array_like=False, tag="record", tag_field="type"):
    """A finished game; it can be replayed without bots."""

    key: Key
    family: str
    ruleset: str
    rules: Any
    """The family's `Parameters`; plain data become these."""
    entries: tuple[tuple[str, str], ...]
    """By seat: label and content hash."""
    deal_seed: str
    actions: tuple[tuple[int, str], ...]
    """Seat and action, or `!` and the code of a verdict; of one ask first the verdicts, then the actions, by seat."""
    places: tuple[int, ...]
    scores: tuple[int, ...]
    reason: str
    digest: str
    commit: str
    format: int = FORMAT
    tournament: str = ""
    events: bytes = b""
    """What happened, packed (`packed_events.py`); the digest does not cover it. Empty: only a replay tells."""
    figures: tuple[tuple[int, ...], ...] = ()
    """As in `Result`; the digest does not cover them, since they follow from the actions."""
    old_rules: OldRules | UnsetType = UNSET
    """Only in a game of a league; `rules` are then what today's family makes of them."""
    position: Position | UnsetType = UNSET
    """As in `GameOrder`; the actions are those that followed."""

    def __post_init__(self) -> None:
        force_setattr(self, "rules", parse_parameters(self.family, self.rules))


class Started(Struct, frozen=True, tag="started", tag_field="type"):
    """A bot process runs; its pid and start time (clock ticks since boot) allow others to end it."""

    pid: int
    start_time: int


class GameBegun(Struct, frozen=True, tag="begun", tag_field="type"):
    """A game of the batch begins; what the referee reports next about it is its record or a `RefereeFault`."""

    key: Key


class StderrLine(Struct, frozen=True, tag="stderr", tag_field="type"):
    """A line of a bot's stderr, or a part of a long one."""

    label: str
    line: str


class BatchDone(Struct, frozen=True, tag="done", tag_field="type"):
    """Every game of the batch has a record or a `RefereeFault`, unless `EndBatch` came before it began."""


class RefereeFault(Struct, frozen=True, tag="referee_fault", tag_field="type"):
    """A game could not finish, through no fault of a bot; it must be played again."""

    key: Key
    sentence: str
    memory: bool = False
    """Whether a bot was killed for lack of memory."""
    rules: bool = False
    """Whether the rules of the game failed, so that no other game is worth a try."""
    report: str = ""
    """What repeats that, as in `GameFault`."""


class TimeUp(Struct, frozen=True, tag="time_up", tag_field="type"):
    """The time of the run was up in the middle of a game, which was given up; the referee ends."""

    key: Key
    ms: Milliseconds
    """How long it had been played."""
    used_ms: tuple[Milliseconds, ...]
    """By seat: how much of that the player had used, with the request that it had not answered."""


Report = Started | GameBegun | Record | BatchDone | RefereeFault | StderrLine | TimeUp
"""The lines that a referee process writes."""


_encoder = msgspec.json.Encoder()


def compute_digest(record: Record) -> str:
    """SHA-256, hex, of the game and its course, without `Circumstances` and packed events."""
    covered: tuple[object, ...] = (
        record.format,
        record.tournament,
        record.key,
        record.family,
        record.old_rules.parameters if record.old_rules else record.rules,
        record.entries,
        record.deal_seed,
        record.actions,
        record.places,
        record.scores,
        record.reason,
    )
    if record.position:
        covered += (record.position,)
    return hashlib.sha256(_encoder.encode(covered)).hexdigest()


def compute_tournament_sha(digests: Iterable[str]) -> str:
    """SHA-256, hex, of the games' digests (hex, in key order, without separators)."""
    whole = hashlib.sha256()
    for digest in digests:
        whole.update(digest.encode())
    return whole.hexdigest()
