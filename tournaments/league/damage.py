"""Checks stored values against each other: each function raises a `ValueError` that names the value and its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from referee.errors import DataError
from referee.families import make_rules
from referee.records import FORMAT, Key, Record, compute_digest
from referee.replay import VERDICT, VERDICTS
from referee.rulesets import Ruleset
from tournaments.league.config import MOST, Config, EntryLine, assign_labels
from tournaments.league.contents import Entry, Game
from tournaments.league.rows import GameRow

MARKS = ("> ", "< ")
"""The mark of direction at the beginning of a stored message."""


class Common(Struct, frozen=True):
    """What all games of a league have in common."""

    rulesets: dict[str, Ruleset]
    teams: dict[str, tuple[int, ...]]
    """By ruleset: the team of each seat."""
    labels: frozenset[str]
    commit: str


def refuse_entries(entries: Sequence[Entry], positions: Sequence[int], config: Config) -> None:
    """Accept only the entries of the tournament file, in its order."""
    if list(positions) != list(range(len(config.entries))):
        raise ValueError(f"expected the positions 0 to {len(config.entries) - 1}, got {', '.join(map(str, positions))}")
    lines = [EntryLine(line) if isinstance(line, str) else line for line in config.entries]
    expected = assign_labels(line.label or entry.name for line, entry in zip(lines, entries, strict=True))
    for label, entry in zip(expected, entries, strict=True):
        if entry.label != label:
            raise ValueError(f"label: expected {label!r} by the tournament or the bot, got {entry.label!r}")
    if config.anchor is not None and config.anchor not in expected:
        raise ValueError(f"expected the anchor {config.anchor!r} among the labels")


def find_teams(rulesets: Mapping[str, Ruleset], config: Config) -> dict[str, tuple[int, ...]]:
    """Return the teams by ruleset, if the rulesets can be played and the tournament file names the same ones."""
    expected = [Path(name).stem if name.endswith(".toml") else name for name in config.rulesets]
    if list(rulesets) != expected:
        raise ValueError(f"expected {', '.join(expected)}, got {', '.join(rulesets)}")
    teams = {}
    for name, ruleset in rulesets.items():
        try:
            seats = config.seats or ruleset.match.players[0]
            teams[name] = make_rules(ruleset.family, ruleset.rules, seats).teams
        except DataError as error:
            raise ValueError(f"{name}: {error}") from None
    return teams


def refuse_game(game: Game, row: GameRow, common: Common) -> None:
    """Accept the summary of a game only if it agrees with its row and with itself."""
    if game.key != Key(row.table, row.deal, row.rotation):
        raise ValueError(f"key: expected {row.table}.{row.deal}.{row.rotation} as in its columns, got {game.key}")
    if game.number != row.number:
        raise ValueError(f"number: expected {row.number}, got {game.number}")
    if game.digest != row.digest:
        raise ValueError(f"digest: expected {row.digest} as in its column, got {game.digest}")
    if game.ruleset not in common.rulesets:
        raise ValueError(f"ruleset: expected one of {', '.join(common.rulesets)}, got {game.ruleset!r}")
    unknown = [label for label in game.labels if label not in common.labels]
    if unknown or len(set(game.labels)) < len(game.labels):
        raise ValueError(
            f"labels: expected different entries of the tournament, got {', '.join(map(repr, game.labels))}"
        )
    _refuse_lengths(game)
    _refuse_result(game, common.teams[game.ruleset])
    if sum(game.asked) != game.actions:
        raise ValueError(f"actions: expected {sum(game.asked)}, the sum over the seats, got {game.actions}")
    for verdict in game.verdicts:
        if verdict and VERDICT + verdict not in VERDICTS:
            raise ValueError(f"verdicts: expected a verdict, got {verdict!r}")


def _refuse_lengths(game: Game) -> None:
    seats = len(game.labels)
    if game.key.rotation >= seats:
        raise ValueError(f"key: expected a rotation below {seats}, got {game.key.rotation}")
    required = (game.teams, game.places, game.scores, game.used_ms, game.asked, game.verdicts)
    optional = (each for each in (game.cpu_ms, game.idle_ms) if each)
    if any(len(each) != seats for each in (*required, *optional)):
        raise ValueError(f"expected {seats} values in each list of seats")


def _refuse_result(game: Game, teams: tuple[int, ...]) -> None:
    if game.teams != teams:
        raise ValueError(f"teams: expected {teams}, got {game.teams}")
    by_team = set(zip(teams, game.places, strict=True))
    if min(game.places) != 1 or max(game.places) > len(set(teams)) or len(by_team) != len(set(teams)):
        raise ValueError(f"places: expected one for each team, from 1, got {game.places}")


def refuse_record(record: Record, game: Game) -> None:
    """Accept a record only if it agrees with its summary and its digest; whether it replays is not checked."""
    if record.format != FORMAT:
        raise ValueError(f"format: expected {FORMAT}, got {record.format}")
    seats = len(game.labels)
    if tuple(label for label, _ in record.entries) != game.labels:
        raise ValueError(f"entries: expected {game.labels}, got {record.entries}")
    if len(record.seats) != seats:
        raise ValueError(f"reports: expected {seats}, got {len(record.seats)}")
    moves = len(record.actions)
    if not moves == game.actions == len(record.micros) == len(record.cpu_micros):
        raise ValueError(f"actions: expected {game.actions} and as many times, got {moves}")
    if any(seat >= seats for seat, _ in record.actions):
        raise ValueError(f"seats: expected only seats below {seats}")
    if any(not 0 <= place < moves for place in record.notes):
        raise ValueError(f"notes: expected actions below {moves}")
    _refuse_clock(record)
    _refuse_faults(record)
    if compute_digest(record) != record.digest:
        raise ValueError("the digest does not match what the record says")


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
