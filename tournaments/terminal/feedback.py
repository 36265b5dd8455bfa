"""A page for the author of each bot: its results, faults, worst games and slowest moves, and nothing private of others.

The pages are Markdown. Whatever bots wrote stands in them as sanitized code, and labels are escaped.
"""

from __future__ import annotations

import heapq
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from malice.referee.errors import DataError
from malice.referee.nouns import format_count
from malice.referee.records import Key, Record, RecordedVerdict, SeatReport
from malice.referee.replay import VOID
from malice.tournaments.league.contents import Entry, GameSummary
from malice.tournaments.league.publication import redact
from malice.tournaments.league.ranking import compute_league_standings, find_state
from malice.tournaments.league.standings import Row, Standings, State
from malice.tournaments.league.store import Store
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.results import format_rank
from malice.tournaments.terminal.tables import format_number
from malice.tournaments.terminal.transcript import excerpt_stderr

FAULTS = 5
"""Faults of a bot that are told in full; the others are counted."""
WORST = 5
SLOWEST = 5
LINE_WIDTH = 240
SPECIAL = re.compile(r"[\\`*\[\]|<>&~]|(?<![^\W_])_|_(?![^\W_])")
"""What means something in Markdown or HTML wherever it stands; an underscore within a word does not."""
MARK = "<!-- malice feedback: {} -->"
"""The last line of a page, with the commit of its tournament: so that a page is known again when it is stale."""

Thought = tuple[int, int, Key, int, str]
"""An action: its wall and CPU time in microseconds, the key of its game, its place there, and its words."""


class Loss(Struct, frozen=True, order=True):
    """A game that a bot did not win; the greatest is the worst."""

    place: int
    behind: int
    """Points behind the best."""
    key: Key
    seat: int
    others: tuple[str, ...]
    reason: str


T = TypeVar("T", Thought, Loss)


class Findings:
    """What the games of one bot show."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self.faults: list[tuple[Key, RecordedVerdict]] = []
        self.farewells: list[tuple[Key, SeatReport]] = []
        """Games after which something was wrong with it."""
        self.worst: list[Loss] = []
        self.slowest: list[Thought] = []
        self.versions: dict[Key, int] = {}
        """By game: the version of the bot that played."""

    def add(self, game: GameSummary, record: Record, seat: int) -> None:
        """Add a game that the bot played at `seat`."""
        self.versions[game.key] = game.versions[seat]
        for fault in record.faults:
            if fault.seat == seat:
                self.verdicts[fault.code] += 1
                if len(self.faults) < FAULTS:
                    self.faults.append((game.key, fault))
        if record.seats[seat].farewell:
            self.farewells.append((game.key, record.seats[seat]))
        if game.places[seat] > 1 and game.reason != VOID:
            others = tuple(label for place, label in enumerate(game.labels) if place != seat)
            behind = max(game.scores) - game.scores[seat]
            _keep_greatest(self.worst, Loss(game.places[seat], behind, game.key, seat, others, game.reason), WORST)
        timed = zip(record.actions, record.micros, record.cpu_micros, strict=True)
        for place, ((whose, action), micros, cpu) in enumerate(timed):
            if whose == seat:
                _keep_greatest(self.slowest, (micros, cpu, game.key, place, action), SLOWEST)


def _keep_greatest(heap: list[T], each: T, most: int) -> None:
    if len(heap) < most:
        heapq.heappush(heap, each)
    else:
        heapq.heappushpop(heap, each)


def write_pages(store: Store, out: Path) -> Iterator[Path]:
    """Write a page for each entry, delete those of entries that are gone, and yield the paths of the pages.

    Raises:
        DataError: the folder has pages of another tournament, or another file by the name of a page.
        DamagedLeague: as `Store`.
        OSError: a file cannot be written.
    """
    mark = MARK.format(store.parts()[0].commit)
    pages = {out / name: page for name, page in _make_pages(store)}
    before = {path: _read_mark(path) for path in sorted(out.glob("*.md"))}
    for path, found in before.items():
        if found != mark and (found or path in pages):
            raise DataError(f"{path}: is no page of this tournament: name another folder, or delete it")
    out.mkdir(parents=True, exist_ok=True)
    for path, page in pages.items():
        path.write_text(f"{page}\n{mark}\n", encoding="utf-8")
        yield path
    for path, found in before.items():
        if found and path not in pages:
            path.unlink()


def _read_mark(page: Path) -> str:
    """Return the mark of a page; nothing if malice did not write it."""
    last = page.read_text("utf-8", "replace").rstrip().rpartition("\n")[2]
    return last if last.startswith(MARK.partition("{")[0]) else ""


def _make_pages(store: Store) -> Iterator[tuple[str, str]]:
    """Yield for each entry the name of a file and its page.

    Raises:
        DamagedLeague: as `Store`.
    """
    with store.snapshot():
        contents = store.read()
        findings: defaultdict[str, Findings] = defaultdict(Findings)
        for game, record in store.rows():
            for seat, label in enumerate(game.labels):
                findings[label].add(game, record, seat)
        all_standings = compute_league_standings(contents)
        name, entries, suspended = contents.tournament.name, contents.entries, contents.suspended
        prefix = f"{name}:" if len(store.league().tournaments) > 1 else ""
    names = _name_files([entry.label for entry in entries])
    for entry, file in zip(entries, names, strict=True):
        lines = [f"# {escape(entry.label)} in {escape(name)}", ""]
        lines += _describe_state(entry, find_state(entry, suspended))
        lines += _describe_results(entry.label, all_standings)
        lines += _describe_faults(findings[entry.label], entry)
        lines += _describe_worst(findings[entry.label], entry, store.path.name, prefix)
        lines += _describe_clocks(findings[entry.label], entry)
        yield file, "\n".join(lines).rstrip() + "\n"


def escape(text: str) -> str:
    """Escape text of strangers so that Markdown and HTML show it as it is."""
    return SPECIAL.sub(r"\\\g<0>", sanitize(text))


def _name_files(labels: Sequence[str]) -> list[str]:
    """Return names of files that hang on the labels alone, not on who else takes part.

    A label that is no plain name is told from others that look like it by a digest of it.
    """
    plain = [re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-.")[:60] for label in labels]
    return [
        f"{name}.md" if name == label else f"{name or 'bot'}-{sha256(label.encode()).hexdigest()[:6]}.md"
        for name, label in zip(plain, labels, strict=True)
    ]


def _quote(lines: Iterable[str]) -> list[str]:
    """Return lines as a block of code, without paths of this machine."""
    quoted = [f"    {redact(sanitize(line), keep_names=True)}" for line in lines]
    return ["", *quoted, ""] if quoted else [""]


def _describe_state(entry: Entry, state: State) -> Iterator[str]:
    if entry.version.number:
        yield f"Content {entry.version.hash[:12]}."
    if entry.version.parameters:
        values = (f"{name} = {escape(value)}" for name, value in entry.version.parameters.items())
        yield f"Parameters: {', '.join(values)}."
    if state not in ("playing", "absent"):
        yield f"It is {state}{f': {escape(entry.reason)}' if entry.reason else ''}."
    if entry.absence is None:
        yield "It was built and started without a fault."
        yield ""
        return
    if state == "absent":
        yield f"It is absent: `{entry.absence.code}`. Its games are played once it can be built and started."
    else:
        yield f"Its bot, as it is now, could not be built or started: `{entry.absence.code}`."
    yield from _quote([entry.absence.sentence, *excerpt_stderr(entry.absence.output)])


def _describe_results(label: str, all_standings: Sequence[Standings]) -> Iterator[str]:
    yield "## Results"
    yield ""
    for standings in all_standings:
        row = next(row for row in standings.rows if row.label == label)
        yield f"- {escape(standings.ruleset)}, {standings.seats} seats: {_describe_row(row)}"
        for other, meeting in standings.crosstable[label].items():
            record = f"{meeting.wins}-{meeting.draws}-{meeting.losses}"
            yield f"  - against {escape(other)}: {record} in {format_count(meeting.games, 'game')}"
    if not all_standings:
        yield "No game was played yet."
    yield ""


def _describe_row(row: Row) -> str:
    rating = row.rating
    if rating.elo is None:
        return f"not ranked, {format_count(row.games, 'game')}"
    rank = "not ranked" if row.rank is None else f"rank {format_rank(row)}"
    return (
        f"{rank}, Elo {format_number(rating.elo, 0)}, {format_count(row.games, 'game')},"
        f" won-drawn-lost {rating.wins}-{rating.draws}-{rating.losses}, {format_count(row.forfeits, 'forfeit')},"
        f" {format_number(row.mean_ms, 2)} ms an action ({format_number(row.cpu_ms, 2)} ms of CPU time)"
    )


def _name_game(key: Key, findings: Findings, entry: Entry) -> str:
    """The key of a game, with the version that played if another one plays now."""
    version = findings.versions[key]
    return f"{key}" if version == entry.version.number else f"{key} (version {version})"


def _describe_faults(findings: Findings, entry: Entry) -> Iterator[str]:
    yield "## Faults"
    yield ""
    if not findings.verdicts:
        yield "None."
        yield ""
        yield from _describe_farewells(findings, entry)
        return
    counts = ", ".join(f"{code} {count}" for code, count in findings.verdicts.most_common())
    yield f"Games that ended for it by a verdict: {counts}. `malice check` finds most causes."
    yield ""
    for key, fault in findings.faults:
        yield f"### Game {_name_game(key, findings, entry)}: {fault.code} after {format_count(fault.action, 'action')}"
        ended = [f"process: {fault.exit}"] if fault.exit else []
        lines = [line[:LINE_WIDTH] for line in fault.lines]
        yield from _quote([fault.sentence, *ended, *lines])
        if stderr := excerpt_stderr(fault.stderr):
            yield "Its stderr:"
            yield from _quote(stderr)
    yield from _describe_farewells(findings, entry)


def _describe_farewells(findings: Findings, entry: Entry) -> Iterator[str]:
    """Yield what was wrong when games were over."""
    if not findings.farewells:
        return
    key, first = findings.farewells[0]
    yield f"After {format_count(len(findings.farewells), 'game')} something was wrong with it, which costs no game."
    yield f"The first was {_name_game(key, findings, entry)}:"
    yield from _quote([first.farewell, *excerpt_stderr(first.farewell_stderr)])


def _describe_worst(findings: Findings, entry: Entry, league: str, prefix: str) -> Iterator[str]:
    yield "## Worst games"
    yield ""
    if not findings.worst:
        yield "It lost none."
    for loss in sorted(findings.worst, reverse=True):
        others = ", ".join(map(escape, loss.others))
        points = f", {format_count(loss.behind, 'point')} behind" if loss.behind else ""
        yield f"### Game {_name_game(loss.key, findings, entry)} against {others}"
        yield ""
        yield f"Place {loss.place}{points} ({escape(loss.reason)})."
        key, file = shlex.quote(f"{prefix}{loss.key}"), shlex.quote(league)
        yield from _quote(
            [
                f"malice replay {file} {key}",
                f"malice log {file} {key} --seat {loss.seat}",
                f"malice rerun {file} {key} ./mybot --seat {loss.seat}",
            ]
        )
    yield ""


def _describe_clocks(findings: Findings, entry: Entry) -> Iterator[str]:
    yield "## Slowest moves"
    yield ""
    if not findings.slowest:
        yield "It was never asked."
    for micros, cpu, key, place, action in sorted(findings.slowest, reverse=True):
        times = f"{micros / 1000:.1f} ms ({cpu / 1000:.1f} ms of CPU time)"
        yield f"- {times}: game {_name_game(key, findings, entry)}, action {place}, {escape(action)}"
