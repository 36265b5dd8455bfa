"""The tournament file that people write, decoded into frozen structs, and how many entries its tables seat."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, json
from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.errors import DataError
from malice.referee.families import make_rules
from malice.referee.game import Position
from malice.referee.games import DEFAULT_RULESET
from malice.referee.records import Layer
from malice.referee.rulesets import Ruleset, find_ruleset
from malice.referee.toml_files import convert, read_toml
from malice.tournaments.league.formats import FormatName, find_owner, load_format
from malice.tournaments.ratings.sprt import Sprt

MOST = 2**31 - 1
"""The largest number anywhere: in milliseconds 24 days."""
MOST_DEALS = 1_000_000
LABEL_LENGTH = 100
CAP_TIMES = 10
"""The default wall-clock cap of an action, as a multiple of its CPU time."""


ClockKind = Literal["wall", "cpu"]


class LabelledBot(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry with a label of its own; or in a file, the best of another tournament."""

    bot: str = ""
    """A folder, a bot that ships, or a command line."""
    label: str | None = None
    """Its name in standings; by default the name in its bot.toml."""
    top: int = 0
    """How many of the best of `source` the line stands for, or of how many the entry was one; 0 for none."""
    source: str = msgspec.field(name="from", default="")
    """The tournament of the league whose ranking says who is the best."""


class ClockLines(ClockRules, frozen=True, forbid_unknown_fields=True):
    """The table [clock] of a tournament file."""


NO_CLOCK = ClockLines(move_ms=None, bank_ms=None)


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that a tournament file may say."""

    entries: tuple[str | LabelledBot, ...]
    """The bots that play: names, folders, patterns of folders such as "submissions/*", or command lines."""
    name: str = "tournament"
    """Names the tournament in its league."""
    league: str | None = None
    """The database that keeps it, relative to the file; by default the name of the file with .db."""
    format: FormatName = "round-robin"
    """Who meets whom, and when."""
    challengers: tuple[str, ...] = ()
    """The labels of those who meet all others in a gauntlet."""
    opponents: tuple[str, ...] = ()
    """Instead of `challengers`: the labels of those whom all others meet."""
    seeding: Literal["file", "rating"] = "file"
    """What seeds a knockout or Swiss: the order of the file, or the ratings in the other tournaments of its league."""
    rounds: int = 0
    """Rounds of a Swiss tournament."""
    rulesets: tuple[str, ...] = (DEFAULT_RULESET,)
    """Every table plays each of these: rulesets that ship, or files such as "./mine.toml"."""
    seats: int = 0
    """Entries at a table; 0 for the fewest that each ruleset allows."""
    tables: int = 0
    """Tables for each ruleset, drawn so that all entries sit equally often; 0 for every set of entries."""
    deals: int = 50
    """Deals per table; each is played once in every rotation of seats. Matches of a Swiss or a knockout have 10."""
    common_deals: bool = False
    """Whether all tables get the same cards, so that chance is the same for all; a gauntlet does unless told not to."""
    series: bool = True
    """Whether tables of a ruleset with match_target play on after these deals until every series is decided."""
    clock: ClockLines = ClockLines()
    init_ms: int = 5000
    """Time for a bot to start, and for every answer that is not an action."""
    sprt: Sprt | None = None
    """In a comparison, the test that ends it early."""
    seed: str | None = None
    """Fixes every card; only for tests and demos, since bots could guess it."""
    jobs: int = 0
    """Referee processes; 0 for as many as the processors allow."""
    cpus_per_game: int = 1
    """Processors for a referee and its bots, if there are enough."""
    isolation: Layer = "auto"
    """The isolation of each bot: a sandbox, limits, or nothing; auto is the strongest that works."""
    memory_mb: int = 1024
    """Memory for each bot, under any isolation."""
    freeze: bool = True
    """Whether an isolated bot is frozen off turn."""
    suspend_after: int = 3
    """Verdicts in a row that suspend a bot; 0 suspends nobody."""
    anonymous: bool = False
    """Whether the entries play under neutral names, and nothing that is published tells whose they are."""
    new_versions: Literal["refuse", "play"] = "refuse"
    """Whether a run stops when a bot has changed, or the new version plays from now on."""
    keep_going: bool = False
    """Whether a run plays without the bots that cannot be built or started, or whose folders are gone."""
    until: str = ""
    """When each run is to be over, such as "06:00"; empty for no limit."""
    positions: tuple[Position, ...] = ()
    """By deal: where its games begin. No tournament file has them, since such games are not rated."""
    anchor: str | None = None
    """The label of the entry that ratings are relative to; by default, the mean of all."""


def read_config(path: Path) -> Config:
    """Read the tournament in the TOML file at `path`.

    Raises:
        DataError: the file is not valid; the message names the place.
    """
    data = read_toml(path)
    if "positions" in data:
        raise DataError(f"{path}: positions: no tournament begins in them; they are for --from of `malice compare`")
    config = convert(data, Config, str(path))
    for line in config.entries:
        if isinstance(line, LabelledBot):
            _check_line(line, f"{path}: entries")
    defaults = load_format(config.format).defaults
    config = replace(config, **{field: value for field, value in defaults.items() if field not in data})
    if "kind" not in data.get("clock", {}):
        config = replace(config, clock=replace(config.clock, kind=choose_clock_kind(config.rulesets, path.parent)))
    return check_config(config, str(path))


def _check_line(line: LabelledBot, where: str) -> None:
    if bool(line.bot) == bool(line.source):
        raise DataError(
            where=where, expected='bot = "..." or top = 8, from = "..."', got="both" if line.bot else "neither"
        )
    if line.source and (line.top < 1 or line.label):
        got = f"label = {line.label!r}" if line.label else f"top = {line.top}"
        raise DataError(where=where, expected="top = 8 or another number from 1, and no label, beside from", got=got)
    if line.top and not line.source:
        raise DataError(where=f"{where}: top", expected="from beside it, the tournament whose best are meant")


def find_league(config: Config, path: Path) -> Path:
    """The database of a tournament: what its file says, or else a name like that of the file.

    Args:
        config: the content of the file.
        path: the file.
    """
    return path.parent / config.league if config.league else Path(f"{path.stem}.db")


def choose_clock_kind(rulesets: Iterable[str | Ruleset], base: Path) -> ClockKind:
    """Choose the kind of clock of a tournament that names none.

    CPU time if a game asks several seats at the same time: bots that think side by side may share a processor.
    What is wrong with a ruleset is no matter here.

    Args:
        rulesets: their names or files, or themselves.
        base: the folder that files are relative to.
    """
    for name in rulesets:
        with contextlib.suppress(DataError):
            ruleset = find_ruleset(name, base) if isinstance(name, str) else name
            if ruleset.match.simultaneous:
                return "cpu"
    return "wall"


def check_config(config: Config, where: str) -> Config:
    """Check that the values of `config` are in range, and fill in the default cap of its clock.

    Raises:
        DataError: a value is out of range; the message names the field.
    """
    bounds: list[tuple[str, int, int]] = [
        ("deals", config.deals, 1),
        ("init_ms", config.init_ms, 1),
        ("jobs", config.jobs, 0),
        ("suspend_after", config.suspend_after, 0),
        ("seats", config.seats, 0),
        ("tables", config.tables, 0),
        ("rounds", config.rounds, 0),
        ("cpus_per_game", config.cpus_per_game, 1),
        ("memory_mb", config.memory_mb, 16),
        ("clock.margin_ms", config.clock.margin_ms, 0),
        ("clock.increment_ms", config.clock.increment_ms, 0),
    ]
    clock = config.clock
    limits = {"clock.move_ms": clock.move_ms, "clock.bank_ms": clock.bank_ms, "clock.cap_ms": clock.cap_ms}
    bounds += [(field, value, 1) for field, value in limits.items() if value is not None]
    for field, value, least in bounds:
        if value < least:
            raise DataError(where=f"{where}: {field}", expected=f"at least {least}", got=value)
        if value > (most := MOST_DEALS if field == "deals" else MOST):
            raise DataError(where=f"{where}: {field}", expected=f"at most {most}", got=value)
    for line in config.entries:
        if isinstance(line, LabelledBot) and line.label is not None and not 1 <= len(line.label) <= LABEL_LENGTH:
            raise DataError(where=f"{where}: label", expected=f"1 to {LABEL_LENGTH} characters", got=len(line.label))
    if clock.kind == "wall" and clock.cap_ms is not None:
        raise DataError(f'{where}: clock.cap_ms: applies only with kind = "cpu"; with kind = "wall" move_ms is the cap')
    if not config.rulesets:
        raise DataError(where=f"{where}: rulesets", expected="at least one")
    if len(set(config.rulesets)) < len(config.rulesets):
        raise DataError(where=f"{where}: rulesets", expected="each name once", got=", ".join(config.rulesets))
    if config.positions and config.deals > len(config.positions):
        raise DataError(
            where=f"{where}: deals", expected=f"at most {len(config.positions)}, the positions", got=config.deals
        )
    if config.sprt is not None and (owner := find_owner("sprt", config.format)):
        raise DataError(f'{where}: sprt: applies only with format = "{owner}"')
    load_format(config.format).check(config, where)
    return replace(config, clock=_add_cap(clock))


def _add_cap(clock: ClockLines) -> ClockLines:
    """Give a CPU clock its default wall-clock cap, without which a bot could sleep for ever."""
    if clock.kind == "wall" or clock.cap_ms is not None:
        return clock
    least = min((part for part in (clock.move_ms, clock.bank_ms) if part is not None), default=MOST)
    return replace(clock, cap_ms=min(CAP_TIMES * least, MOST))


def encode_identity(config: Config) -> str:
    """Encode as JSON what a league keeps: everything but the settings of the machine."""
    return json.encode(forget_machine(config)).decode()


def forget_machine(config: Config) -> Config:
    """A configuration with the defaults for what may differ on every machine and in every run."""
    kept = replace(config, jobs=0, cpus_per_game=1, isolation="auto", league=None, new_versions="refuse")
    return replace(kept, keep_going=False, until="")


MAY_CHANGE = ("entries", "rulesets", "deals", "anchor", "challengers", "opponents", "rounds")
"""What a tournament file may say differently when its tournament goes on; entries, rulesets and deals only grow."""


def describe_differences(old: Config, new: Config) -> str:
    """The fields that a tournament cannot change once it has begun, with both values."""
    # A field that an older malice did not have counts as its default.
    before, after = (json.decode(encode_identity(config)) for config in (old, new))
    return ", ".join(
        f"{field} = {json.encode(before.get(field)).decode()} (now {json.encode(value).decode()})"
        for field, value in after.items()
        if field not in MAY_CHANGE and before.get(field) != value
    )


def assign_labels(names: Iterable[str]) -> list[str]:
    """Make names unique: twins become `greedy` and `greedy#2`."""
    seen: dict[str, int] = {}
    labels = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        labels.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return labels


def find_seats(config: Config, ruleset: Ruleset) -> int:
    """The number of seats at the tables of a ruleset: what the file says, or else the fewest it allows."""
    return config.seats or ruleset.match.players[0]


def require_seats(config: Config, ruleset: Ruleset, entries: int) -> tuple[int, ...]:
    """The team of each seat at the tables of a ruleset.

    Raises:
        DataError: the ruleset does not allow the number of seats, or there are too few entries for a table.
    """
    seats = find_seats(config, ruleset)
    least, most = ruleset.match.players
    if not least <= seats <= most:
        raise DataError(describe_misfit(ruleset, seats))
    if entries < seats:
        raise DataError(where="entries", expected=f"at least {seats} for a table of {ruleset.name}", got=entries)
    return make_rules(ruleset.family, ruleset.rules, seats).teams


def describe_misfit(ruleset: Ruleset, seats: int) -> str:
    """Say that a ruleset does not allow a number of seats."""
    least, most = ruleset.match.players
    allowed = str(least) if least == most else f"{least} to {most}"
    return f"{ruleset.name}: is played by {allowed}, not by {seats}"
