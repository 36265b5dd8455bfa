"""A game as the database stores it: its row, its record packed by column, and checks for values that disagree.

Each check raises a `ValueError` that names the value and its place.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from malice.referee.game import Position
from malice.referee.records import FORMAT, Circumstances, Count, Key, OldRules, Record, compute_digest
from malice.referee.replay import VERDICT, VERDICTS, find_rules
from malice.referee.rulesets import Ruleset
from malice.tournaments.league.config import MOST
from malice.tournaments.league.contents import Finished, GameSummary, parse_times, summarize_record
from malice.tournaments.league.file import StoredRow
from malice.tournaments.league.journal import Hex64
from malice.tournaments.league.tournament import Tournament

Digest = Annotated[str, Meta(min_length=64, max_length=64)]
"""A pattern would cost as much as all other checks."""
OF_TOURNAMENT = "WHERE games.tournament = ? AND games.number < ? ORDER BY games.number"


class FailedRow(StoredRow, frozen=True):
    """A game by its number alone; `failed` is as in `PlacedRow`, where anybody did."""

    TABLE: ClassVar[str] = "games"
    SELECT: ClassVar[str] = "SELECT games.number, NULLIF(games.failed, '[]') FROM games NOT INDEXED"

    number: Count
    failed: str | None


class PlacedRow(StoredRow, frozen=True):
    """A game by its place alone; `failed` is a JSON list of labels."""

    TABLE: ClassVar[str] = "games"
    # All columns are qualified: SQLite takes an unknown "name" for a string, but not an unknown table."name".
    SELECT: ClassVar[str] = """
        SELECT games.number, games.part, games."table", games.deal, games.rotation, games.failed FROM games NOT INDEXED
    """

    number: Count
    part: Count
    table: Count
    deal: Count
    rotation: Count
    failed: str


class DigestRow(PlacedRow, frozen=True):
    """A game by its place and its digest."""

    SELECT: ClassVar[str] = """
        SELECT games.number, games.part, games."table", games.deal, games.rotation, games.failed, games.digest
        FROM games NOT INDEXED
    """

    digest: Digest


class SummaryRow(PlacedRow, frozen=True):
    """A game without its record; `summary` is JSON."""

    SELECT: ClassVar[str] = """
        SELECT games.number, games.part, games."table", games.deal, games.rotation, games.failed, games.summary,
            games.digest FROM games NOT INDEXED
    """

    summary: str
    digest: Digest


class RecordedRow(SummaryRow, frozen=True):
    """A game with its packed record, if it has one."""

    SELECT: ClassVar[str] = """
        SELECT games.number, games.part, games."table", games.deal, games.rotation, games.failed, games.summary,
            games.digest, records.* FROM games NOT INDEXED LEFT JOIN records ON records.number = games.number
    """

    recorded: Count | None
    """The number again; None if there is no record."""
    record: bytes | None
    events: bytes | None = None
    """Packed; None if the league is older than this column."""


class OneRow(RecordedRow, frozen=True):
    """One game with its record, found by its number."""

    SELECT: ClassVar[str] = """
        SELECT games.number, games.part, games."table", games.deal, games.rotation, games.failed, games.summary,
            games.digest, records.* FROM games LEFT JOIN records ON records.number = games.number
    """


Numbered = TypeVar("Numbered", PlacedRow, SummaryRow, RecordedRow, GameSummary)


def pick_games(games: Iterable[Numbered], numbers: Iterable[int]) -> Iterator[Numbered]:
    """Yield the games of these numbers; both are in playing order."""
    chosen = iter(numbers)
    number = next(chosen, None)
    for game in games:
        if game.number == number:
            yield game
            number = next(chosen, None)


MOST_BYTES = 1 << 26
"""Most bytes of an unpacked record: many times the longest game, but a damaged one cannot fill the memory."""


class Columns(Struct, frozen=True, array_like=True):
    """The blob of a game: columns compress best."""

    entries: tuple[tuple[str, str], ...]
    deal_seed: Hex64
    seats: Annotated[str, Meta(pattern=r"^[0-9]*\Z")]
    """The seat of each action, one digit per action."""
    actions: str
    """The actions, separated by spaces."""
    format: int
    circumstances: Circumstances


WINDOW_BITS = 13
MEMORY_LEVEL = 6
"""Records have some kilobytes: to clear the usual tables of zlib takes half as long again, and saves hardly a byte."""
DIGITS = bytes((number + ord("0")) % 256 for number in range(256))
"""Turns the numbers of seats into text; `NUMBERS` turns it back. Both at once: a run does so with every action."""
NUMBERS = bytes((byte - ord("0")) % 256 for byte in range(256))

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Columns)


def pack_record(record: Record) -> bytes:
    """Pack what the league stores of a game in addition to its row."""
    packer = zlib.compressobj(wbits=WINDOW_BITS, memLevel=MEMORY_LEVEL)
    return packer.compress(encode_columns(record)) + packer.flush()


def encode_columns(record: Record) -> bytes:
    """Encode what is packed of a game, before it is compressed."""
    columns = Columns(
        entries=record.entries,
        deal_seed=record.deal_seed,
        seats=bytes([seat for seat, _ in record.actions]).translate(DIGITS).decode(),
        actions=" ".join([action for _, action in record.actions]),
        format=record.format,
        circumstances=Circumstances(**_fields(record)),
    )
    return _encoder.encode(columns)


def unpack_record(
    blob: bytes,
    game: GameSummary,
    ruleset: Ruleset,
    commit: str,
    tournament: str,
    old_rules: OldRules | UnsetType = UNSET,
    position: Position | UnsetType = UNSET,
) -> Record:
    """Rebuild the record from its blob and from what the league stores elsewhere.

    Args:
        blob: what `pack_record` returned; the others are those of `decode_columns`.

    Raises:
        ValueError, zlib.error: `blob` is not a result of `pack_record`.
    """
    return decode_columns(_decompress(blob), game, ruleset, commit, tournament, old_rules, position)


def decode_columns(
    columns: bytes,
    game: GameSummary,
    ruleset: Ruleset,
    commit: str,
    tournament: str,
    old_rules: OldRules | UnsetType = UNSET,
    position: Position | UnsetType = UNSET,
) -> Record:
    """Put a record together from its columns and from what the league stores elsewhere.

    Args:
        columns: what `encode_columns` returned.
        game: its summary.
        ruleset: what was played.
        commit: that of its part.
        tournament: its name.
        old_rules: the rules that it was played by, if they have changed since.
        position: where it began, if not with its deal.

    Raises:
        ValueError: `columns` is not a result of `encode_columns`.
    """
    if len(columns) > MOST_BYTES:
        raise ValueError(f"expected at most {MOST_BYTES} bytes of a record")
    whole = _decoder.decode(columns)
    if whole.seats.strip("0123456789"):
        raise ValueError(f"seats: expected digits, got {whole.seats!r}")
    return Record(
        key=game.key,
        family=ruleset.family,
        ruleset=game.ruleset,
        rules=ruleset.rules,
        entries=whole.entries,
        deal_seed=whole.deal_seed,
        actions=tuple(zip(whole.seats.encode().translate(NUMBERS), whole.actions.split(), strict=True)),
        places=game.places,
        scores=game.scores,
        reason=game.reason,
        digest=game.digest,
        commit=commit,
        format=whole.format,
        tournament=tournament,
        figures=game.figures,
        old_rules=old_rules,
        position=position,
        **_fields(whole.circumstances),
    )


def _fields(packed: Circumstances) -> dict[str, Any]:
    """The fields that `Circumstances` names, of a record or of what was packed."""
    return {name: getattr(packed, name) for name in Circumstances.__struct_fields__}


def _decompress(blob: bytes) -> bytes:
    packer = zlib.decompressobj()
    whole = packer.decompress(blob, MOST_BYTES)
    if not packer.eof or packer.unused_data:
        raise ValueError(f"expected a packed record of at most {MOST_BYTES} bytes, and nothing after it")
    return whole


_summaries = msgspec.json.Decoder(GameSummary)

MARKS = ("> ", "< ")
"""The mark of direction at the beginning of a stored message."""
LONGEST = 64
"""More buckets than any time of an action needs."""
NOBODY = "[]"
"""The column `failed` of most games."""


def encode_failed(game: Finished) -> str:
    """The labels of those that ended a game by a verdict, as a league stores them."""
    return msgspec.json.encode(game.failed).decode() if game.failed else NOBODY


def refuse_game(game: GameSummary, row: SummaryRow, tournament: Tournament) -> None:
    """Accept the summary of a game only if it agrees with its row, its part and itself."""
    if game.key != Key(row.part, row.table, row.deal, row.rotation):
        place = f"{row.part}.{row.table}.{row.deal}.{row.rotation}"
        raise ValueError(f"key: expected {place} as in its columns, got {game.key}")
    if game.number != row.number:
        raise ValueError(f"number: expected {row.number}, got {game.number}")
    if game.digest != row.digest:
        raise ValueError(f"digest: expected {row.digest} as in its column, got {game.digest}")
    if row.failed != NOBODY or any(game.verdicts):
        _refuse_failed(game, row)
    _refuse_place(game, tournament)
    _refuse_lengths(game)
    changed = tournament.find_old_rules(game.key.part, game.ruleset)
    _refuse_result(game, game.teams if changed else tournament.teams(game.ruleset, len(game.labels)))
    if sum(game.asked) != game.actions:
        raise ValueError(f"actions: expected {sum(game.asked)}, the sum over the seats, got {game.actions}")


def _refuse_failed(game: GameSummary, row: SummaryRow) -> None:
    for verdict in game.verdicts:
        if verdict and VERDICT + verdict not in VERDICTS:
            raise ValueError(f"verdicts: expected a verdict, got {verdict!r}")
    if row.failed != encode_failed(game.finish()):
        raise ValueError(f"verdicts: expected them for {row.failed}, as in its column, got {game.verdicts}")


def _refuse_place(game: GameSummary, tournament: Tournament) -> None:
    """Accept a game only if its part has it, with its ruleset and its entries."""
    key = game.key
    if key.part >= len(tournament.parts) or not tournament.schedules[key.part].has(key):
        raise ValueError(f"key: the tournament has no game {key}")
    if game.number != (number := tournament.schedules[key.part].number(key)):
        raise ValueError(f"number: expected {number}, got {game.number}")
    table = tournament.parts[key.part].tables[key.table]
    if game.ruleset != table.ruleset:
        raise ValueError(f"ruleset: expected {table.ruleset!r}, got {game.ruleset!r}")
    if game.once != (once := tournament.schedules[key.part].plays_once(key.table)):
        raise ValueError(f"once: expected {once}, as the ruleset says, got {game.once}")
    expected = [(version.label, version.number) for version in table.versions]
    if sorted(zip(game.labels, game.versions, strict=True)) != sorted(expected):
        raise ValueError(f"labels: expected the versions {expected}, got {game.labels}, {game.versions}")


def _refuse_lengths(game: GameSummary) -> None:
    seats = len(game.labels)
    if game.key.rotation >= seats:
        raise ValueError(f"key: expected a rotation below {seats}, got {game.key.rotation}")
    required = len(game.teams) == len(game.places) == len(game.scores) == len(game.asked) == len(game.verdicts) == seats
    optional = len(game.cpu_ms or game.used_ms) == len(game.idle_ms or game.used_ms) == len(game.used_ms) == seats
    if not (required and optional):
        raise ValueError(f"expected {seats} values in each list of seats")
    if game.thinking and not _agree_times(game):
        raise ValueError(f"thinking: expected the times of {game.asked} actions or one less, got {game.thinking!r}")


def _agree_times(game: GameSummary) -> bool:
    """Whether there are times of each seat, and as many as it was asked, except for a verdict."""
    try:
        seats = parse_times(game.thinking)
    except ValueError:
        return False
    if len(seats) != len(game.asked):
        return False
    for asked, (first, counts) in zip(game.asked, seats, strict=True):
        if not 0 <= asked - sum(counts) <= 1 or first + len(counts) > LONGEST:
            return False
    return True


def _refuse_result(game: GameSummary, teams: tuple[int, ...]) -> None:
    if game.teams != teams:
        raise ValueError(f"teams: expected {teams}, got {game.teams}")
    by_team = set(zip(teams, game.places, strict=True))
    if min(game.places) != 1 or max(game.places) > len(set(teams)) or len(by_team) != len(set(teams)):
        raise ValueError(f"places: expected one for each team, from 1, got {game.places}")


def rename_entries(record: Record, tournament: Tournament) -> Record:
    """A record with the labels of today; its digest stays that of the labels of its time."""
    if not tournament.names:
        return record
    return replace(record, entries=tuple((tournament.identify(label), hash) for label, hash in record.entries))


def refuse_record(record: Record, game: GameSummary, names: Mapping[str, str] = MappingProxyType({})) -> None:
    """Accept a record only if it agrees with its summary and its digest; whether it replays is not checked.

    Args:
        record: the record, with the labels of its time.
        game: its summary, with those of today.
        names: by labels that entries bore, those that they bear today.
    """
    if record.format != FORMAT:
        raise ValueError(f"format: expected {FORMAT}, got {record.format}")
    seats = len(game.labels)
    if tuple(names.get(label, label) for label, _ in record.entries) != game.labels:
        raise ValueError(f"entries: expected {game.labels}, got {record.entries}")
    if len(record.seats) != seats:
        raise ValueError(f"reports: expected {seats}, got {len(record.seats)}")
    moves = len(record.actions)
    if not moves == game.actions == len(record.micros) == len(record.cpu_micros):
        raise ValueError(f"actions: expected {game.actions} and as many times, got {moves}")
    if max(map(itemgetter(0), record.actions), default=0) >= seats:
        raise ValueError(f"seats: expected only seats below {seats}")
    if any(not 0 <= place < moves for place in record.notes):
        raise ValueError(f"notes: expected actions below {moves}")
    _refuse_clock(record)
    _refuse_faults(record)
    if compute_digest(record) != record.digest:
        raise ValueError("the digest does not match what the record says")


def refuse_unreadable(record: Record) -> None:
    """Accept a record only if a league that stores it reads it back as it is; whether it replays is not checked."""
    try:
        game = summarize_record(record, 0, find_rules(record).teams, (0,) * len(record.entries))
        game = _summaries.decode(_encoder.encode(game))
        ruleset = Ruleset(record.ruleset, record.family, "", "", record.rules)
        kept = decode_columns(
            encode_columns(record), game, ruleset, record.commit, record.tournament, position=record.position
        )
        _refuse_lengths(game)
        _refuse_result(game, game.teams)
        refuse_record(kept, game)
        refuse_verdicts(record)
    except Exception as error:  # a forged record may break anything that counts on what records are
        raise ValueError(f"no league can keep it: {error}") from None
    if kept != replace(record, events=b""):
        raise ValueError("no league can keep it: it would be read back as another one")


def refuse_verdicts(record: Record) -> None:
    """Accept a record only if its verdicts, which decide suspensions, are those of its actions."""
    marked = [(place, *each) for place, each in enumerate(record.actions) if each[1][:1] == VERDICT]
    expected = [(seat, word.removeprefix(VERDICT), place - nth) for nth, (place, seat, word) in enumerate(marked)]
    verdicts = [(fault.seat, fault.code, fault.action) for fault in record.faults]
    if verdicts != expected:
        raise ValueError(f"expected the verdicts {expected} (seat, code, action), got {verdicts}")


def _refuse_clock(record: Record) -> None:
    clock = record.clock
    for value in (clock.move_ms, clock.bank_ms, clock.increment_ms, clock.margin_ms, clock.cap_ms):
        if value is not None and not 0 <= value <= MOST:
            raise ValueError(f"clock: expected 0 to {MOST}, got {value}")


def _refuse_faults(record: Record) -> None:
    for fault in record.faults:
        if not 0 <= fault.seat < len(record.entries):
            raise ValueError(f"faults: expected a seat below {len(record.entries)}, got {fault.seat}")
        if not 0 <= fault.action <= len(record.actions):
            raise ValueError(f"faults: expected an action up to {len(record.actions)}, got {fault.action}")
        if not all(line.startswith(MARKS) for line in fault.lines):
            raise ValueError("faults: expected the direction before each line")
