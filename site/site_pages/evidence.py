"""A verdict for people: the line that brought it on, marked, then the traffic before it and stderr."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from malice.referee.connection import SHOWN_BYTES
from malice.referee.records import RecordedVerdict
from malice.site_pages import text
from malice.site_pages.bad_bytes import Flaw, find_broken_json, find_field, find_foreign_byte, read_object
from malice.tournaments.sanitizer import sanitize

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
    """Return a verdict as pages show it.

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
    """Return the place of the line that brought a verdict on, and what is wrong with it."""
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
    """Return the id of a request, of which a record may hold only the beginning."""
    flaw = find_field(request[:200], "id", "")
    return request[flaw.start : flaw.end] if flaw else "that of the request"


def _cut(title: str, line: str, flaw: Flaw | None, width: int) -> MarkedLine:
    """Return a line in three pieces, of a long one what stands around the flaw."""
    start, end = (flaw.start, flaw.end) if flaw else (len(line), len(line))
    if flaw is None:
        return MarkedLine(title, sanitize(line, width), "", "", "")
    first = max(0, start - width // 2) if len(line) > width else 0
    pieces: Sequence[str] = line[first:start], line[start:end], line[end:]
    before, marked, after = (sanitize(piece, width // 2 if len(line) > width else width) for piece in pieces)
    return MarkedLine(title, "…" * bool(first) + before, marked, after, sanitize(flaw.words, 200))
