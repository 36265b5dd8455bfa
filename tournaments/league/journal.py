"""The journal of a league: tournaments, versions, parts, rulesets and states, in one sequence that only grows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert, json
from msgspec.structs import fields, replace

from malice.referee.errors import FamilyError
from malice.referee.families import Family, has_family, load_family, parse_parameters
from malice.referee.records import Count, Key, Milliseconds, Time
from malice.referee.rulesets import Ruleset
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.config import LABEL_LENGTH, Config, LabelledBot
from malice.tournaments.league.file import StoredRow
from malice.tournaments.league.parts import Part, Positive, VersionKey

Hex64 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Label = Annotated[str, Meta(min_length=1, max_length=LABEL_LENGTH)]
State = Literal["playing", "withdrawn", "disqualified"]
"""Of a withdrawn entry, the games that were played count on; those of a disqualified one count for nobody."""
ROOT = 64 * "0"
"""What stands for the digest before the first event."""


YOU = "you"
"""What a command line calls a person, and the label of one who gave no name."""
PERSON = hashlib.sha256(YOU.encode()).hexdigest()
"""Stands for the content of a person, who has none."""


class Absence(Struct, frozen=True):
    """Why an entry, or its newest version, does not play for now: it could not be built or started."""

    code: str
    """`bot` (there is none, or its folder is invalid or cannot be kept), `build`, `start` (this machine could not start
    it), or the verdict on its `hello`."""
    sentence: str
    output: str
    """The end of what its build printed, or of its stderr."""


class Event(Struct, frozen=True, tag_field="event"):
    """Something that happened to a league."""


class Begun(Event, frozen=True, tag="tournament"):
    """A tournament began."""

    seed: Hex64
    """Every part derives its seed from this one, so it is never told."""


class Version(Event, frozen=True, tag="version"):
    """An entry plays under a content hash for the first time in this league."""

    label: Label
    number: Positive
    """Counted for each label, from 1."""
    hash: Hex64
    """SHA-256 of its files or command line, and of the parameters that differ from its bot.toml."""
    name: str
    version: str
    author: str
    language: str
    command: tuple[str, ...]
    """As its bot.toml says it, with `{python}`; of a command line, the words."""
    rulesets: tuple[str, ...]
    """The rulesets that the bot says it is made for; none means all."""
    parameters: dict[str, str] = {}
    """The parameters that its bot.toml lists, with the values that it plays with."""


class StoredRuleset(Struct, frozen=True):
    """A ruleset as a league keeps it."""

    name: str
    family: str
    package: str
    """The distribution that brought the family; empty if it shipped."""
    about: str
    source: str
    rules: dict[str, Any]
    revision: Positive = 1
    """That of its family's rules, as all other revisions: 1 where an older malice wrote none."""


class FileEntry(Struct, frozen=True):
    """An entry as a run found it."""

    label: Label
    version: Count
    """The version that plays; 0 if none could be started so far."""
    absence: Absence | None = None
    """Why its bot, as it is now, does not play."""
    waits: bool = False
    """Whether its open games wait until the bot is mended; if not, an older version plays, or no game is open."""


class FileRead(Event, frozen=True, tag="file", omit_defaults=True):
    """The tournament file and its bots, as a run found them; each replaces the one before."""

    config: Config
    rulesets: tuple[StoredRuleset, ...]
    entries: tuple[FileEntry, ...]
    """In the order of the file."""
    refused: dict[str, str] = {}
    """The folders that match a pattern and are no entries, and why, not all of them if there are many."""


class Seeded(Event, frozen=True, tag="seeds"):
    """A tournament was seeded by the ratings that the league held then."""

    labels: tuple[Label, ...]
    """All entries, the best first."""


class Revisions(Struct, frozen=True):
    """What decided about a part: another revision may lead to other games."""

    format: Positive = 1
    """Of the tournament's format."""
    families: dict[str, Positive] = {}
    """Of the rules of each game that it plays, by its name."""


class PartCreated(Event, frozen=True, tag="part"):
    """A part was created."""

    part: Part
    suspended: tuple[str, ...] = ()
    """The entries that it leaves out because they were suspended then."""
    shared: bool | UnsetType = UNSET
    """Whether copies of the league play it, so that it stays although no game of it is here; left out if not."""
    revisions: Revisions = Revisions()


class PartClosed(Event, frozen=True, tag="close"):
    """No game of a part is open any more: its seed is published, and it is never played again."""

    part: Count
    absent: tuple[str, ...] = ()
    """The entries whose games in it were left unplayed: they had left, waited for their bot, or played on in another
    version."""


class ShareChosen(Event, frozen=True, tag="share"):
    """This file began to play a share of the open parts; only copies of the league know of it."""

    share: Annotated[str, Meta(pattern=r"^[0-9]{1,6}/[0-9]{1,6}\Z")]
    """Which of how many, such as `2/3`."""


class Overrun(Event, frozen=True, tag="overrun"):
    """A game ran on when the time of a run was over, and was given up; it stays open."""

    key: Key
    label: Label
    """Who had used most of the time."""
    ms: Milliseconds
    """How long it had been played."""


class DealsOver(Struct, frozen=True, array_like=True):
    """Deals of a table that were over in all rotations."""

    part: Count
    table: Count
    first: Count
    end: Count
    """The first deal that was not."""


class StateChanged(Event, frozen=True, tag="state"):
    """The organiser withdrew, disqualified or reinstated an entry."""

    label: Label
    state: State
    reason: str = ""
    who: str = ""
    """Who decided."""
    over: tuple[DealsOver, ...] = ()
    """Where the open parts were then: what of the entry's tables was over. With the same games before it, the same
    follow, however many are played at a time."""


class Readmitted(Event, frozen=True, tag="readmit"):
    """The organiser lifted a suspension."""

    label: Label
    number: Count
    """The number of the game that suspended the entry."""
    who: str = ""


class Renamed(Event, frozen=True, tag="rename"):
    """An entry goes on under another label, in all tournaments of the league; what it played keeps the old one."""

    label: Label
    new: Label
    """Never the label of another entry, before or after."""
    reason: str = ""
    who: str = ""


AnyEvent = (
    Renamed
    | Begun
    | Version
    | FileRead
    | Seeded
    | PartCreated
    | PartClosed
    | ShareChosen
    | Overrun
    | StateChanged
    | Readmitted
)

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def collect_names(known: Mapping[str, str], events: Iterable[AnyEvent]) -> dict[str, str]:
    """By labels that entries bore, those that they bear after these events; nothing if no event renames one."""
    names = dict(known)
    for event in events:
        if isinstance(event, Renamed):
            names = {old: event.new if new == event.label else new for old, new in names.items()}
            names[event.label] = event.new
    return {} if names == known else names


def relabel_event(event: AnyEvent, names: Mapping[str, str]) -> AnyEvent:
    """An event under the labels that entries bear today, by those that they bore then."""

    def call(label: str) -> str:
        return names.get(label, label)

    def call_versions(versions: Iterable[VersionKey]) -> tuple[VersionKey, ...]:
        return tuple(replace(each, label=call(each.label)) for each in versions)

    match event:
        case Version() | Overrun() | StateChanged() | Readmitted():
            return replace(event, label=call(event.label))
        case FileRead(config=config):
            config = relabel_config(config, names)
            entries = tuple(replace(entry, label=call(entry.label)) for entry in event.entries)
            return replace(event, config=config, entries=entries)
        case Seeded(labels):
            return Seeded(tuple(map(call, labels)))
        case PartCreated(part=part):
            tables = tuple(replace(table, versions=call_versions(table.versions)) for table in part.tables)
            part = replace(part, tables=tables, byes=call_versions(part.byes))
            return replace(event, part=part, suspended=tuple(sorted(map(call, event.suspended))))
        case PartClosed():
            return replace(event, absent=tuple(sorted(map(call, event.absent))))
    return event


def relabel_config(config: Config, names: Mapping[str, str]) -> Config:
    """A configuration under the labels that entries bear today, by those that they bore."""
    lines = tuple(
        replace(line, label=names.get(line.label, line.label)) if isinstance(line, LabelledBot) and line.label else line
        for line in config.entries
    )
    challengers, opponents = (
        tuple(names.get(each, each) for each in labels) for labels in (config.challengers, config.opponents)
    )
    anchor = names.get(config.anchor, config.anchor) if config.anchor else None
    return replace(config, entries=lines, challengers=challengers, opponents=opponents, anchor=anchor)


class JournalRow(StoredRow, frozen=True):
    """An event of a tournament; `event` is JSON."""

    TABLE: ClassVar[str] = "journal"
    SELECT: ClassVar[str] = """
        SELECT journal.number, journal.tournament, journal.at, journal.event, journal.digest FROM journal NOT INDEXED
    """

    number: Count
    tournament: str
    at: Time
    event: str
    digest: Hex64
    """SHA-256 over the digest before and this row, so that no event changes or disappears unnoticed."""


def encode_event(event: AnyEvent) -> str:
    """Encode an event as the journal stores it."""
    return _encoder.encode(event).decode()


def decode_event(text: str) -> AnyEvent:
    """Decode a stored event, or raise MsgspecError or RecursionError."""
    return _decoder.decode(text)


def chain_event(before: str, number: int, tournament: str, at: float, event: str) -> str:
    """The digest of an event, chained to that of the event before.

    Args:
        before: the digest of the event before it, or `ROOT`.
        number: its place in the journal.
        tournament: the tournament's name.
        at: seconds since 1970.
        event: what `encode_event` returned.
    """
    return hashlib.sha256(_encoder.encode((before, number, tournament, at, event))).hexdigest()


def store_ruleset(ruleset: Ruleset) -> StoredRuleset:
    """A ruleset as the journal keeps it."""
    family = load_family(ruleset.family)
    rules = json.decode(json.encode(ruleset.rules))  # as it is read back, lists for tuples
    name, about, source = ruleset.name, ruleset.about, ruleset.source
    return StoredRuleset(name, ruleset.family, family.package, about, source, rules, family.revision)


def restore_ruleset(stored: StoredRuleset) -> Ruleset:
    """Restore a ruleset that the journal keeps; of one of another revision, what today's parameters know of it.

    Raises:
        LeagueError: its game comes from a package that is not installed, or that has changed.
        ValueError: its parameters are not those of its game.
    """
    if stored.package and not has_family(stored.family):
        raise LeagueError(
            f"the game {stored.family!r} comes from the package {stored.package!r}, which is not installed"
        )
    try:
        family = load_family(stored.family)
        known = stored.rules if stored.revision == family.revision else _choose_known(family, stored.rules)
        rules = parse_parameters(stored.family, known)
    except FamilyError as error:
        raise (LeagueError if stored.package else ValueError)(str(error)) from None
    except ValidationError as error:
        raise ValueError(str(error)) from None
    return Ruleset(stored.name, stored.family, stored.about, stored.source, rules)


def _choose_known(family: Family, rules: dict[str, Any]) -> dict[str, Any]:
    """Choose the parameters that a family still has, as far as it knows their values."""
    known = {}
    for field in fields(family.parameters):
        if field.encode_name in rules:
            with suppress(ValidationError):
                convert(rules[field.encode_name], field.type)
                known[field.encode_name] = rules[field.encode_name]
    return known
