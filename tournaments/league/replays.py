"""What is done with each stored game alone, so that many processes can do it: check, export, measure, pack.

As a program, `python -P -m tournaments.league.replays WORK FILE TOURNAMENT` reads rows of games on stdin and writes
what came of them on stdout; with the word `pack` or `check` alone, it reads records. `replay_pool` starts it.
"""

from __future__ import annotations

import signal
import struct
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from malice.protocol.errors import MaliceError
from malice.protocol.messages import ClockRules
from malice.referee.bot import request_parent_death_signal
from malice.referee.errors import ChangedRules, DataError
from malice.referee.game import Game
from malice.referee.packed_events import encode_events
from malice.referee.records import Record
from malice.referee.replay import VERDICT, check_record, find_luck, measure_luck, replay_packed
from malice.referee.requests import replay_decisions
from malice.tournaments.errors import UnverifiedError
from malice.tournaments.league.contents import GameSummary, summarize_record
from malice.tournaments.league.parts import VersionKey
from malice.tournaments.league.publication import Publication, choose_publication
from malice.tournaments.league.reader import LeagueReader
from malice.tournaments.league.series import Score
from malice.tournaments.league.store import Store
from malice.tournaments.league.stored_games import RecordedRow, refuse_verdicts, rename_entries


class ExportedAction(Struct, frozen=True):
    """An action with the time that it took."""

    seat: int
    action: str
    """`!` and a verdict's code, where a verdict ended the game for the seat."""
    ms: float
    cpu_ms: float
    note: str | UnsetType = UNSET
    """The bot's note; left out if there is none."""


class ExportedEntry(Struct, frozen=True):
    """The entry at a seat."""

    label: str
    hash: str | UnsetType
    """Left out if the tournament is anonymous."""


class ExportedSeat(Struct, frozen=True):
    """The time that a seat used in the whole game."""

    used_ms: float
    """Thinking time."""
    cpu_ms: float
    """CPU time on turn."""
    idle_ms: float
    """CPU time off turn."""
    slowest_ms: float
    """The time of its slowest action."""


class ExportedVerdict(Struct, frozen=True):
    """Why a seat left the game."""

    seat: int
    code: str
    action: int
    """The number of actions before it."""
    sentence: str
    exit: str | None
    """How its process ended; None if it was still alive."""


class ExportedGame(Struct, frozen=True):
    """A game for export; lists over seats are in the order of seats."""

    tournament: str
    key: str
    part: int
    """This number and the next three are those of the key."""
    table: int
    deal: int
    rotation: int
    started: datetime
    """UTC."""
    ruleset: str
    family: str
    rules: Any
    """Every parameter of the ruleset."""
    entries: tuple[ExportedEntry, ...]
    deal_seed: str
    actions: tuple[ExportedAction, ...]
    places: tuple[int, ...]
    scores: tuple[int, ...]
    series: tuple[int, ...] | None
    """Points in the series after this game; None if games are single."""
    reason: str
    digest: str | UnsetType
    """Left out if the tournament is anonymous: it is made from the hashes."""
    seats: tuple[ExportedSeat, ...]
    verdicts: tuple[ExportedVerdict, ...]
    isolation: str
    """The isolation of the bots."""


class ExportedDecision(Struct, frozen=True):
    """An action with everything that its seat saw when it chose."""

    key: str
    ruleset: str
    action: int
    """Its number in the game, from 0."""
    seat: int
    label: str
    view: Struct
    """As in the request to the bot."""
    legal: tuple[str, ...]
    """The legal actions, even if the bot declined the list."""
    played: str
    place: int
    """Of this seat at the end of the game; 1 is best."""
    score: int
    """Of this seat at the end of the game."""


_encoder = msgspec.json.Encoder()


def encode_game(record: Record, series: Score | None, publication: Publication | None = None) -> bytes:
    """Encode a game as one line of JSON, LF included, as `export_game` returns it."""
    return _encode_line(export_game(record, series, publication))


def export_game(record: Record, series: Score | None, publication: Publication | None = None) -> ExportedGame:
    """Make what `malice export` writes of a game; `publication` limits it if the tournament is anonymous."""
    anonymous = publication is not None and publication.anonymous
    if publication and anonymous:
        record = publication.redact_record(record)
    return ExportedGame(
        tournament=record.tournament,
        key=str(record.key),
        part=record.key.part,
        table=record.key.table,
        deal=record.key.deal,
        rotation=record.key.rotation,
        started=tell_time(record.started),
        ruleset=record.ruleset,
        family=record.family,
        rules=record.old_rules.parameters if record.old_rules else record.rules,
        entries=tuple(ExportedEntry(label, UNSET if anonymous else hash) for label, hash in record.entries),
        deal_seed=record.deal_seed,
        actions=tuple(_list_actions(record)),
        places=record.places,
        scores=record.scores,
        series=series.points if series else None,
        reason=record.reason,
        digest=UNSET if anonymous else record.digest,
        seats=tuple(_list_seats(record)),
        verdicts=tuple(
            ExportedVerdict(each.seat, each.code, each.action, each.sentence, each.exit) for each in record.faults
        ),
        isolation=record.isolation,
    )


def tell_time(seconds: float) -> datetime:
    """In UTC; `seconds` count since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def _list_seats(record: Record) -> Iterator[ExportedSeat]:
    slowest = [0] * len(record.seats)
    for (seat, _), micros in zip(record.actions, record.micros, strict=True):
        slowest[seat] = max(slowest[seat], micros)
    for report, micros in zip(record.seats, slowest, strict=True):
        yield ExportedSeat(report.used_ms, report.cpu_ms, report.idle_ms, micros / 1000)


def _list_actions(record: Record) -> Iterator[ExportedAction]:
    timed = zip(record.actions, record.micros, record.cpu_micros, strict=True)
    for index, ((seat, action), micros, cpu_micros) in enumerate(timed):
        yield ExportedAction(seat, action, micros / 1000, cpu_micros / 1000, record.notes.get(index, UNSET))


def encode_decisions(record: Record) -> Iterator[bytes]:
    """Yield the decisions of a game, each as one line of JSON, LF included; a verdict is not a decision.

    Raises:
        RecordError: the record does not replay.
    """
    key = str(record.key)
    for each in replay_decisions(record):
        if not each.played.startswith(VERDICT):
            label, _ = record.entries[each.seat]
            end = record.places[each.seat], record.scores[each.seat]
            seen = each.view, each.legal, each.played
            yield _encode_line(ExportedDecision(key, record.ruleset, each.index, each.seat, label, *seen, *end))


def _encode_line(exported: ExportedGame | ExportedDecision) -> bytes:
    return _encoder.encode(exported) + b"\n"


class GameCheck:
    """Compares each game of the chosen tournament with its part.

    Args:
        league: the league.
    """

    def __init__(self, league: LeagueReader) -> None:
        self._tournament = league.tournament()
        self._seeds = [self._tournament.seeds(part.number) for part in self._tournament.parts]
        self._clock = msgspec.convert(msgspec.to_builtins(self._tournament.config.clock), ClockRules)

    def examine(self, row: GameSummary, record: Record) -> str:
        """Check that the seed dealt a game, and that its seats and its play are as the record says.

        Returns:
            A sentence if its play cannot be checked, because the rules have changed since; else nothing.

        Raises:
            UnverifiedError: they are not; the message names the game.
        """
        key, seeds = record.key, self._seeds[record.key.part]
        versions = self._tournament.parts[key.part].tables[key.table].versions
        if record.deal_seed != seeds.deal_seed(key).hex():
            raise UnverifiedError(f"game {key}: its cards were not dealt by the seed of its part")
        seated = [versions[player] for player in seeds.seating(key, len(versions))]
        today = rename_entries(record, self._tournament)
        self._verify_seats(today, seated)
        if record.clock != self._clock:
            raise UnverifiedError(
                f"game {key}: expected the clock of the tournament, {self._clock}, got {record.clock}"
            )
        try:
            refuse_verdicts(record)
        except ValueError as error:
            raise UnverifiedError(f"game {key}: {error}") from None
        numbers = tuple(each.number for each in seated)
        if row != summarize_record(today, row.number, row.teams, numbers, once=row.once):
            raise UnverifiedError(f"game {key}: the summary for standings does not match the record")
        try:
            check_record(record)
        except ChangedRules as error:
            return str(error)
        except DataError as error:
            raise UnverifiedError(str(error)) from None
        return ""

    def _verify_seats(self, record: Record, seated: list[VersionKey]) -> None:
        key = record.key
        if len(record.entries) != len(seated):
            raise UnverifiedError(f"game {key}: expected {len(seated)} seats, the record has {len(record.entries)}")
        versions = map(self._tournament.version, seated)
        for seat, ((label, hash), version) in enumerate(zip(record.entries, versions, strict=True)):
            if (label, hash) != (version.label, version.hash):
                raise UnverifiedError(
                    f"game {key}: expected {version.label!r} (content {version.hash[:12]}) at seat {seat},"
                    f" the record says {label!r} ({hash[:12]})"
                )


Piece = tuple[RecordedRow, Score | None]
"""A game as it is stored, and the score of its series after it."""
T = TypeVar("T")
Replay = Callable[[T], bytes]
"""Returns what comes of a game; raises what is wrong with it."""
PACK = "pack"
CHECK = "check"

_lines = msgspec.json.Decoder(Record)
_LENGTH = struct.Struct(">I")


def make_replay(work: str, league: LeagueReader) -> Replay[Piece]:
    """Make what does a work with each game of the chosen tournament.

    Args:
        work: `examine` compares a game with its part, and yields nothing, or why its play cannot be checked; `games`
            and `decisions` yield the lines of `malice export`, `position 57` those of its positions; `luck` the luck of
            each seat, whose numbers are msgpack.
        league: the league.
    """
    if work == "examine":
        check = GameCheck(league)

        def examine(piece: Piece) -> bytes:
            return check.examine(*league.unpack(piece[0])).encode()

        return examine
    if work == "luck":
        lucks = {name: find_luck(ruleset) for name, ruleset in league.tournament().rulesets.items()}

        def measure(piece: Piece) -> bytes:
            game, record = league.unpack(piece[0])
            luck = lucks[game.ruleset]
            assert luck, "nobody asks where nothing was fitted"
            return msgspec.msgpack.encode(measure_luck(luck, record))

        return measure
    if work == "decisions":
        return lambda piece: b"".join(encode_decisions(league.unpack(piece[0])[1]))
    if work.startswith("position "):
        actions, tournament = int(work.removeprefix("position ")), league.tournament()
        rulesets, closed = tournament.rulesets, tournament.closed

        def encode_position(piece: Piece) -> bytes:
            if piece[0].part not in closed:
                return b""
            record = league.unpack(piece[0])[1]
            if actions >= len(record.actions):
                return b""
            return Game.from_record(record, rulesets[record.ruleset], actions).position() + b"\n"

        return encode_position
    publication = choose_publication(league.tournament())
    return lambda piece: encode_game(league.unpack(piece[0])[1], piece[1], publication)


def pack_events(record: Record) -> bytes:
    """Pack what happened in a game, as its referee would have done.

    Raises:
        RecordError: the game does not replay.
    """
    return encode_events(replay_packed(record))


def find_replay_error(line: bytes) -> bytes:
    """Say what is wrong with a record, a line of JSON; nothing if it replays."""
    try:
        check_record(_lines.decode(line))
    except MaliceError as error:
        return str(error).encode(errors="replace")
    except Exception as error:  # a forged record may break the rules of a game in any way
        return f"does not replay: {type(error).__name__}: {error}".encode(errors="replace")
    return b""


def write_frame(out: IO[bytes], body: bytes) -> None:
    """Write a message, its length before it."""
    out.write(_LENGTH.pack(len(body)) + body)
    out.flush()


def read_frame(source: IO[bytes]) -> bytes | None:
    """Read the next message; None if none is left, or not all of it."""
    head = source.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = source.read(length)
    return body if len(body) == length else None


def _replay_all(replay: Replay[T], pieces: list[T]) -> Iterator[bytes]:
    """Yield what comes of the games before the first with which something is wrong."""
    for piece in pieces:
        try:
            done = replay(piece)
        except Exception:  # who sent the game does it again, and says what is wrong
            return
        yield done


def _serve(decode: Callable[[bytes], list[T]], replay: Replay[T]) -> None:
    """Replay games until stdin ends."""
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        write_frame(sys.stdout.buffer, msgspec.msgpack.encode(list(_replay_all(replay, decode(frame)))))


def main(words: list[str]) -> None:
    """Do the work that the words name; end with the one who asked, at the latest when nothing more comes."""
    request_parent_death_signal(signal.SIGKILL)
    if words == [PACK]:
        _serve(msgspec.msgpack.Decoder(list[Record]).decode, pack_events)
        return
    if words == [CHECK]:
        _serve(msgspec.msgpack.Decoder(list[bytes]).decode, find_replay_error)
        return
    work, path, tournament = words
    with Store(Path(path)) as store:
        store.select(tournament)
        _serve(msgspec.msgpack.Decoder(list[Piece]).decode, make_replay(work, store))


if __name__ == "__main__":
    main(sys.argv[1:])
