"""What of a league may be published: no stderr, no absolute path, no name of a machine or a user.

Of what bots wrote, their notes and the tokens that verdicts quote remain, and of an anonymous league not even these.
"""

from __future__ import annotations

import functools
import os
import pwd
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from malice.referee.records import Record, RecordedVerdict
from malice.tournaments.errors import LeagueError
from malice.tournaments.league.contents import NO_VERSION, Entry
from malice.tournaments.league.journal import Absence, Version
from malice.tournaments.league.tournament import Tournament

PATH = "(path)"
HOST = "(host)"
USER = "(user)"
"""What stands where something was left out."""
QUOTE = "'...'"

# In quotes, a path may contain blanks; after a word, a slash is a fraction or the rest of a relative path, and in </b>
# it ends an element. An escape such as \n is not a word.
_BEFORE = r"(?:(?<![\w.~/-])|(?<=\\[nrt]))(?!(?<=<)/\w+>)"
_TMP = r"/tmp(?![^\s\"'<>:;,|()\[\]{}])"
"""Every machine has it, and our hints name it."""
_PATH = re.compile(
    rf"""(?<=")/[^"\n]+(?=")|(?<=')/[^'\n]+(?=')|{_BEFORE}(?!{_TMP})(?:~[\w.-]*)?/[^\s"'<>:;,|()\[\]{{}}]+"""
)
_QUOTED = re.compile(r"""(?<!\w)b?(?:'(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$))(?:\.\.\.)?""")
_TOKEN = re.compile(r"'[\w?!*+-]{1,12}'")
"""What a quotation may say: an action, but no text of a bot."""
_SYSTEM_PROGRAM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/([^/\s]+)")


SITE_OWNER = "data/tournament.json"
"""The file of a site that says whose it is."""


class SiteOwner(Struct, frozen=True):
    """The tournament whose site a folder holds."""

    tournament: str
    """Empty for the site of a whole league."""
    commit: str
    """Of the seed of its first part, which no other league has; empty if it has no part."""


def find_site_owner(tournament: Tournament) -> SiteOwner:
    return SiteOwner(tournament.name, tournament.parts[0].commit if tournament.parts else "")


def read_site_owner(folder: Path) -> SiteOwner | None:
    """Read whose site a folder holds; None if it holds none."""
    try:
        return msgspec.json.decode((folder / SITE_OWNER).read_bytes(), type=SiteOwner)
    except (OSError, msgspec.MsgspecError):
        return None


def require_own_site(folder: Path, owner: SiteOwner) -> None:
    """Make sure that a folder holds no other site than this one.

    Raises:
        LeagueError: it does.
    """
    found = read_site_owner(folder)
    if found is None or found == owner:
        return
    of = " of another league" if found.tournament == owner.tournament else ""
    names = [repr(each.tournament) if each.tournament else "a whole league" for each in (found, owner)]
    raise LeagueError(
        f"{folder}: holds the site of {names[0]}{of}, not of {names[1]}: name another folder, or write over it with"
        " --replace-site"
    )


class SiteSize(Struct, frozen=True):
    """The size of a rendered site, and what was left out of it."""

    pages: int
    """HTML pages on the site."""
    games: int
    bytes: int
    """Size of all files."""
    written: int
    """Files that were new or had changed."""
    withheld: int
    """Verdicts that were published without stderr and the last lines."""


class Publication(Struct, frozen=True):
    """A choice of what to publish."""

    anonymous: bool = False
    """Whether nothing may tell whose bot it is."""
    evidence: tuple[str, ...] | None = ()
    """The labels of the entries whose verdicts keep stderr, the last lines, and their words, also those that they bore;
    None for all."""
    user: str = ""
    """The name of a user of this machine, to be left out of what bots wrote."""

    def shows_evidence(self, label: str) -> bool:
        """Whether the verdicts on an entry are published as they are."""
        return not self.anonymous and (self.evidence is None or label in self.evidence)

    def withholds(self, label: str, fault: RecordedVerdict) -> bool:
        """Whether a verdict on an entry loses evidence."""
        return bool(fault.stderr or fault.lines) and not self.shows_evidence(label)

    def redact_record(self, record: Record) -> Record:
        """A record whose notes and verdicts may be published; its digest stays that of the whole one."""
        return self.redact_notes(self.redact_faults(record))

    def redact_notes(self, record: Record) -> Record:
        """A record whose notes may be published."""
        if not record.notes:
            return record
        if self.anonymous:
            return replace(record, notes={})
        return replace(record, notes={at: self.redact_note(note, record.host) for at, note in record.notes.items()})

    def redact_faults(self, record: Record) -> Record:
        """A record whose verdicts may be published."""
        if not record.faults:
            return record
        faults = (self._redact_fault(record.entries[fault.seat][0], fault, record.host) for fault in record.faults)
        return replace(record, faults=tuple(faults))

    def _redact_fault(self, label: str, fault: RecordedVerdict, host: str) -> RecordedVerdict:
        if self.shows_evidence(label):
            return fault
        exit = fault.exit and redact(fault.exit, host, self.user)
        return replace(fault, sentence=self.redact_sentence(fault.sentence, host), exit=exit, lines=(), stderr="")

    def redact_sentence(self, sentence: str, host: str) -> str:
        """What a verdict says without the text of bots; `host` is the machine that it was given on."""
        drop = _drop_every_quotation if self.anonymous else _drop_long_quotation
        return redact(_QUOTED.sub(drop, sentence), host, self.user)

    def redact_note(self, note: str, host: str) -> str:
        """A note that a bot wrote on a machine, as far as it may be published."""
        return "" if self.anonymous else redact(note, host, self.user)

    def redact_entry(self, entry: Entry) -> Entry:
        """An entry as far as its version may be published; of an anonymous one only what it does here."""
        if self.anonymous:
            absence = entry.absence and Absence(entry.absence.code, "", "")
            version = replace(NO_VERSION, number=entry.version.number)
            return Entry(entry.label, version, absence, waits=entry.waits)
        facts = {name: _redact_fact(getattr(entry.version, name)) for name in Version.__struct_fields__}
        return replace(entry, version=Version(**facts))


def choose_publication(tournament: Tournament, evidence: Sequence[str] = ()) -> Publication:
    """Choose what of a tournament to publish.

    Args:
        tournament: the tournament.
        evidence: labels of the entries whose verdicts keep their evidence; an empty label stands for all entries.

    Raises:
        LeagueError: a label is no entry, or the league is anonymous and evidence is asked for.
    """
    anonymous = tournament.config.anonymous
    if evidence and anonymous:
        raise LeagueError("the tournament is anonymous: what its bots wrote to stderr is never published")
    labels = [entry.label for entry in tournament.list_entries()]
    for label in evidence:
        if label and label not in labels:
            raise LeagueError(f"no entry {label!r}", got=label, hint=f"entries: {', '.join(labels)}")
    bore = {old for old, label in tournament.names.items() if label in evidence}
    return Publication(anonymous, None if "" in evidence else tuple(sorted({*evidence, *bore})), find_user())


def find_user() -> str:
    """The name of our user; empty for root, whose name is a common word and the same everywhere."""
    try:
        return "" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a user without a name, as in a container
        return ""


def redact(text: str, host: str = "", user: str = "", *, keep_names: bool = False) -> str:
    """Take absolute paths out of a text, and the names of a machine and of a user.

    Args:
        text: the text.
        host: the machine; empty for none.
        user: the user; empty for none.
        keep_names: whether the last part of a path stays, so that the author of a bot finds the file.
    """
    if "/" in text:
        text = _PATH.sub(_keep_name if keep_names else PATH, text)
    if host:
        text = _compile_names(host, host.partition(".")[0] or host).sub(HOST, text)
    return _compile_names(user).sub(USER, text) if user else text


@functools.cache
def _compile_names(*names: str) -> re.Pattern[str]:
    choice = "|".join(map(re.escape, dict.fromkeys(names)))
    return re.compile(rf"(?<![^\W_])(?:{choice})(?![^\W_])", re.IGNORECASE)


def _keep_name(path: re.Match[str]) -> str:
    return f"{PATH}/{path[0].rstrip('/').rpartition('/')[2]}"


def _redact_fact(fact: Any) -> Any:
    """Redact what a version says of itself, whatever it is: a text, the words of a command, values by name."""
    if isinstance(fact, dict):
        return {name: redact(value) for name, value in fact.items()}
    if isinstance(fact, tuple):
        return tuple(map(_redact_word, fact))
    return redact(fact) if isinstance(fact, str) else fact


def _redact_word(word: str) -> str:
    """Redact a word of a command; a program or a file keeps its name."""
    if program := _SYSTEM_PROGRAM.fullmatch(word):
        return program[1]
    name = word.rpartition("/")[2]
    return name if word.startswith("/") and "." in name[1:] else redact(word)


def _drop_long_quotation(quotation: re.Match[str]) -> str:
    return quotation[0] if _TOKEN.fullmatch(quotation[0]) else QUOTE


def _drop_every_quotation(_: re.Match[str]) -> str:
    return QUOTE
