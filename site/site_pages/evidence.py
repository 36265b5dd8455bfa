"""The verdicts on each bot with their evidence: the line that caused one, the traffic before it, and stderr.

Rows say which games failed; the records of a few of them, and of no others, have the evidence.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from malice.protocol.codec import UNREADABLE
from malice.referee.connection import SHOWN_BYTES
from malice.referee.records import Key, Record, RecordedVerdict
from malice.site_pages import text
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.publication import Publication
from malice.tournaments.sanitizer import sanitize

_EXPECTED = {
    "Expecting property name enclosed in double quotes": "where a double quote should begin a name",
    "Illegal trailing comma before end of object": "which nothing follows",
    "Illegal trailing comma before end of array": "which nothing follows",
    "Expecting value": "where a value should be",
    "Expecting ',' delimiter": "where a comma or the closing bracket should be",
    "Expecting ':' delimiter": "where a colon should be",
    "Extra data": "after the end of the object",
    "Unterminated string starting at": "which begins a string without an end",
    "Invalid control character at": "a control character in a string",
    "Invalid \\escape: ": "which begins no escape of JSON",
    "Invalid \\escape": "which begins no escape of JSON",
    "Invalid \\uXXXX escape": "which begins no escape of JSON",
}
"""What Python's reader of JSON says, in words that follow a byte."""
_CONSTANT = re.compile(r"\b(?:NaN|Infinity)\b")
"""What Python takes for a number, and JSON does not."""
_ESCAPED = re.compile(r"\\x([89a-f][0-9a-f])")
"""A byte that is not UTF-8, as records hold it."""
LITERAL = len("false")
"""The longest word of JSON, of which a line may hold the beginning."""
_FIELD = r'(?<!\\)"{}"\s*:\s*'


class Flaw(NamedTuple):
    """What is wrong with a line: the characters from `start` to `end`, and why."""

    start: int
    end: int
    words: str
    open: bool = False
    """Whether the line was only not at its end yet: more characters might have mended it."""


def find_broken_json(line: str) -> Flaw | None:
    """The first flaw of a line that should be a JSON object; None if it is one.

    Args:
        line: as a record holds it, without the mark of its direction.
    """
    begin = len(line) - len(line.lstrip(" \t\r\n"))
    if line[begin : begin + 1] != "{":
        return _make_flaw(line, begin, "where { should begin an object")
    try:
        msgspec.json.decode(line)
    except UNREADABLE:
        return _find_error(line)
    return None


def find_foreign_byte(line: str) -> Flaw | None:
    """The byte of a line that is not UTF-8; None if all are."""
    if (found := _ESCAPED.search(line)) is None:
        return None
    place = len(line[: found.start()].encode("utf-8", "replace")) + 1
    return Flaw(found.start(), found.end(), f"byte {place}: 0x{found[1]}, which is not UTF-8")


def find_field(line: str, name: str, words: str) -> Flaw | None:
    """The value of a field as the flaw of an object; None if it has no such field."""
    fields = list(re.finditer(_FIELD.format(re.escape(name)), line))
    if not fields:
        return None
    start = fields[-1].end()
    try:
        _, end = json.JSONDecoder().raw_decode(line, start)
    except ValueError:
        return None
    return Flaw(start, end, f"byte {_count_bytes(line, start)}: {words}")


def read_object(line: str) -> dict[str, Any]:
    """Read a line as an object; an empty one if it is none."""
    try:
        value = msgspec.json.decode(line)
    except UNREADABLE:
        return {}
    return value if isinstance(value, dict) else {}


def _find_error(line: str) -> Flaw | None:
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        flaw = _make_flaw(line, error.pos, _EXPECTED.get(error.msg, error.msg.lower()))
        return flaw._replace(open=error.pos > len(line) - LITERAL or error.msg.startswith("Unterminated"))
    except (RecursionError, ValueError):
        return None
    constant = _CONSTANT.search(line)
    return _make_flaw(line, constant.start(), "which begins no value of JSON") if constant else None


def _make_flaw(line: str, at: int, words: str) -> Flaw:
    if at >= len(line):
        return Flaw(len(line), len(line), f"byte {_count_bytes(line, at)}: the line ends {words}")
    between = " " if words.startswith(("where", "after")) else ", "
    return Flaw(at, at + 1, f"byte {_count_bytes(line, at)}: {name_byte(line[at])}{between}{words}")


def _count_bytes(line: str, at: int) -> int:
    """The number of the byte, from 1, with which a character of the line begins."""
    return len(line[:at].encode("utf-8", "replace")) + 1


def name_byte(char: str) -> str:
    """The first byte of a character in hexadecimal, with the character if it can be seen."""
    first = char.encode("utf-8", "replace")[0]
    seen = f" ({char})" if char.isprintable() and char != " " else " (blank)" if char == " " else ""
    return f"{first:#04x}{seen if char.isascii() else f' of U+{ord(char):04X}{seen}'}"


ASKED, ANSWERED = "> ", "< "
"""The marks of direction at the beginning of a stored message."""


class MarkedLine(Struct, frozen=True):
    """The line that brought a verdict on, in three pieces."""

    title: str
    """What it is, and which of the lines below."""
    before: str
    marked: str
    """What is wrong with it; may be empty."""
    after: str
    flaw: str
    """The bad byte, and what should be there; empty if none is bad."""


class Evidence(Struct, frozen=True):
    """What a page shows of a verdict; all texts are sanitized."""

    seat: int
    code: str
    action: int
    """How many actions were played before."""
    sentence: str
    exit: str
    """How the process ended; empty if it was still alive."""
    time: str
    """How long a late answer took, and its limit; empty otherwise."""
    line: MarkedLine | None
    """None if the line is unknown or not published."""
    lines: list[str]
    """The last messages, the oldest first, each with the mark of its direction."""
    stderr: str


def make_evidence(fault: RecordedVerdict, line: int, stderr: int) -> Evidence:
    """A verdict as pages show it.

    Args:
        fault: the verdict, as far as it may be published.
        line: the most characters of a line to show, around what is wrong with it.
        stderr: the most characters of stderr to show.
    """
    return Evidence(
        seat=fault.seat,
        code=sanitize(fault.code, 40),
        action=fault.action,
        sentence=sanitize(fault.sentence, 800),
        exit=sanitize(fault.exit or "", 300),
        time=_describe_time(fault),
        line=_mark_line(fault, line),
        lines=[sanitize(each, line) for each in fault.lines],
        stderr=text.shorten(fault.stderr, stderr),
    )


def _describe_time(fault: RecordedVerdict) -> str:
    if fault.took_ms is None or fault.limit_ms is None:
        return ""
    over = f"{fault.took_ms - fault.limit_ms:,.1f} ms over it"
    return f"Cut off after {fault.took_ms:,.1f} ms; the limit was {fault.limit_ms:,g} ms, so {over}."


def _mark_line(fault: RecordedVerdict, width: int) -> MarkedLine | None:
    if fault.code == "crash" and (last := _find_last_words(fault.stderr)):
        return _cut("The last line of its stderr", last, None, width)
    if not fault.lines:
        return None
    place, flaw = _find_offending(fault)
    line = fault.lines[place]
    title = f"Line {place + 1} of the last {len(fault.lines)}: {_describe_line(fault.code, line)}"
    return _cut(title, line[len(ASKED) :], flaw, width)


def _describe_line(code: str, line: str) -> str:
    if line.startswith(ANSWERED):
        return "what it wrote, too late" if code == "timeout" else "what it wrote"
    return "the request that it did not answer" if code in ("timeout", "crash") else "what it was asked"


def _find_last_words(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _find_offending(fault: RecordedVerdict) -> tuple[int, Flaw | None]:
    """The place of the line that brought a verdict on, and what is wrong with it."""
    lines = fault.lines
    asked = max((place for place, line in enumerate(lines) if line.startswith(ASKED)), default=-1)
    request = lines[asked][len(ASKED) :] if asked >= 0 else ""
    answers = range(asked + 1, len(lines))
    if not answers or fault.code == "crash":
        return max(asked, 0), None
    for place in answers:
        if flaw := _find_flaw(fault, lines[place][len(ANSWERED) :], request):
            return place, flaw
    return answers[-1], None


def _find_flaw(fault: RecordedVerdict, line: str, request: str) -> Flaw | None:
    if fault.code == "timeout":  # the answer was right, but came too late
        return None
    if fault.code == "illegal":
        return find_field(line, "move", "an action that is not in the list of legal ones")
    if fault.sentence.startswith("expected UTF-8"):
        return find_foreign_byte(line)
    flaw = find_broken_json(line)
    if flaw is None:
        return next(_compare_answer(line, request), None)
    # A record holds the beginning of a long line, which seems to end too early.
    return None if flaw.open and len(line.encode("utf-8", "replace")) >= SHOWN_BYTES else flaw


def _compare_answer(line: str, request: str) -> Iterator[Flaw]:
    """Yield what makes an object the wrong answer to a request."""
    answer, asked = read_object(line), _find_id(request)
    id = answer.get("id")
    if "id" not in answer:
        yield Flaw(0, len(line), f"an object without id, which should be {asked}")
    elif isinstance(id, bool) or not isinstance(id, int | float) or str(id).removesuffix(".0") != asked:
        if flaw := find_field(line, "id", f"an id that should be {asked}"):
            yield flaw
    elif '"type":"move"' in request[:200]:
        if "move" not in answer:
            yield Flaw(0, len(line), "an object without move")
        elif not isinstance(answer["move"], str) and (flaw := find_field(line, "move", "a move that is not a string")):
            yield flaw


def _find_id(request: str) -> str:
    """The id of a request, of which a record may hold only the beginning."""
    flaw = find_field(request[:200], "id", "")
    return request[flaw.start : flaw.end] if flaw else "that of the request"


def _cut(title: str, line: str, flaw: Flaw | None, width: int) -> MarkedLine:
    """A line in three pieces, of a long one what stands around the flaw."""
    start, end = (flaw.start, flaw.end) if flaw else (len(line), len(line))
    if flaw is None:
        return MarkedLine(title, sanitize(line, width), "", "", "")
    first = max(0, start - width // 2) if len(line) > width else 0
    pieces: Sequence[str] = line[first:start], line[start:end], line[end:]
    before, marked, after = (sanitize(piece, width // 2 if len(line) > width else width) for piece in pieces)
    return MarkedLine(title, "…" * bool(first) + before, marked, after, sanitize(flaw.words, 200))


READ = 8
"""Games per code whose records are read."""
GROUPS = 3
"""Different sentences shown per code, each with its evidence."""
LINE = 2000
"""Characters of a line shown."""
STDERR = 8000

Reader = Callable[[Iterable[Key]], Iterator[Record]]
"""Yields the records of some games, as far as they may be published."""


@dataclass
class VerdictGroup:
    """Verdicts about one bot in the same words."""

    words: str
    evidence: Evidence
    """That of the first."""
    key: str
    """The key of its game."""
    others: list[tuple[str, int]] = field(default_factory=list)
    """The keys of further games that were read, each with the seat of the verdict."""


class VerdictCode(Struct, frozen=True):
    """The verdicts of one code on a bot."""

    code: str
    games: int
    groups: list[VerdictGroup]
    """Of the first games, in their order."""
    unread: int
    """Games whose words are not known here."""


class VerdictList:
    """Collects which games a bot ended by which verdict."""

    def __init__(self) -> None:
        self._games: Counter[str] = Counter()
        self._first: dict[str, list[tuple[Key, int]]] = {}

    def add(self, game: GameSummary, seat: int) -> None:
        """Add a game with a verdict on a seat, in the order of the schedule."""
        code = game.verdicts[seat]
        self._games[code] += 1
        first = self._first.setdefault(code, [])
        if len(first) < READ:
            first.append((game.key, seat))

    @property
    def games(self) -> int:
        """The number of games that ended for the bot by a verdict."""
        return self._games.total()

    def read(self, reader: Reader) -> list[VerdictCode]:
        """Read the verdicts, the most frequent code first, and at most `READ` records per code."""
        return [self._read_code(code, games, reader) for code, games in self._games.most_common()]

    def _read_code(self, code: str, games: int, reader: Reader) -> VerdictCode:
        groups: dict[str, VerdictGroup] = {}
        first = self._first[code]
        known = 0
        for (key, seat), record in zip(first, reader([key for key, _ in first]), strict=True):
            fault = next(each for each in record.faults if each.seat == seat)
            known += _add_verdict(groups, str(key), fault)
        return VerdictCode(code, games, list(groups.values()), games - known)


def collect_verdicts(failed: Sequence[GameSummary]) -> dict[str, VerdictList]:
    """Collect the verdicts on each bot, by label.

    Args:
        failed: the games with a verdict, in the order of the schedule.
    """
    found: dict[str, VerdictList] = {}
    for game in failed:
        for seat, verdict in enumerate(game.verdicts):
            if verdict:
                found.setdefault(game.labels[seat], VerdictList()).add(game, seat)
    return found


class Farewell(Struct, frozen=True):
    """How a bot failed once games were over, which costs none; all texts are sanitized."""

    games: int
    key: str
    """The first of these games."""
    sentence: str
    stderr: str
    """Empty if it is not published."""


def read_farewell(label: str, games: Sequence[GameSummary], read: Reader, publication: Publication) -> Farewell | None:
    """Read how a bot failed after the first of some games.

    Args:
        label: the bot.
        games: those after which some bot failed, in the order of the schedule.
        read: reads records.
        publication: what of them may be shown.

    Returns:
        What the page of the bot shows; None if it failed after none.
    """
    own = [
        (game.key, seat)
        for game in games
        for seat, failed in enumerate(game.farewells)
        if failed and game.labels[seat] == label
    ]
    if not own:
        return None
    key, seat = own[0]
    (record,) = read([key])
    report, shows = record.seats[seat], publication.shows_evidence(label)
    sentence = report.farewell if shows else publication.redact_sentence(report.farewell, record.host)
    stderr = text.shorten(report.farewell_stderr, STDERR) if shows else ""
    return Farewell(len(own), str(key), sanitize(sentence, 800), stderr)


def _add_verdict(groups: dict[str, VerdictGroup], key: str, fault: RecordedVerdict) -> bool:
    """Add a verdict to its kind; return whether it has one."""
    words = _drop_history(fault.sentence)
    if kind := groups.get(words):
        kind.others.append((key, fault.seat))
    elif len(groups) < GROUPS:
        groups[words] = VerdictGroup(words, make_evidence(fault, LINE, STDERR), key)
    return words in groups


def _drop_history(sentence: str) -> str:
    """Cut off the bot's earlier answers, which differ from game to game, so that equal verdicts have equal words."""
    return sentence.partition(" (it had answered ")[0]
