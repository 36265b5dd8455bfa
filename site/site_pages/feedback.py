"""A page for the author of each bot: its results, faults, worst games and slowest moves, and nothing private of others.

The pages are Markdown, and the same as HTML that needs no other file. Whatever bots wrote stands in them as sanitized
code, and labels are escaped. Beside a page lie its worst games, as replays of one file each.
"""

from __future__ import annotations

import heapq
import re
import shlex
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeVar

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from malice.protocol.messages import ClockRules
from malice.referee.errors import DataError, FamilyError, RecordError
from malice.referee.game import Game
from malice.referee.nouns import format_count
from malice.referee.records import Key, Record, RecordedVerdict, SeatReport
from malice.referee.replay import VOID
from malice.site_pages.docs import render_markdown
from malice.site_pages.front import find_changes
from malice.site_pages.game_list import Reasons
from malice.site_pages.game_pages import render_lone_game
from malice.site_pages.pages import STYLES, make_template_environment
from malice.site_pages.text import make_slug
from malice.site_pages.turning_point import open_game
from malice.tournaments.entries.programs import explain_limits
from malice.tournaments.league.config import LabelledBot
from malice.tournaments.league.contents import Entry, GameSummary
from malice.tournaments.league.progression import Changes, RankChange, compute_part_ratings
from malice.tournaments.league.publication import choose_publication, redact
from malice.tournaments.league.ranking import compute_league_standings, find_state
from malice.tournaments.league.standings import Row, Standings, State
from malice.tournaments.league.store import Store
from malice.tournaments.league.tournament import Tournament
from malice.tournaments.sanitizer import escape_markdown, sanitize
from malice.tournaments.terminal.results import format_rank
from malice.tournaments.terminal.tables import format_number
from malice.tournaments.terminal.transcript import excerpt_stderr

FAULTS = 5
"""Faults of a bot that are told in full; the others are counted."""
WORST = 5
SLOWEST = 5
LINE_WIDTH = 240
MARK = "<!-- malice feedback: {} -->"
"""The last line of a page, with the commit of its tournament: so that a page is known again when it is stale."""

REPLAY_FILE = re.compile(r"\d+(?:\.\d+){3}\.(?:html|json)", re.ASCII)
STATIC = Path(__file__).parent / "static"

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
    """In words."""


T = TypeVar("T", Thought, Loss)


class Findings:
    """What the games of one bot show; `reasons` says why they ended."""

    def __init__(self, reasons: Reasons) -> None:
        self._reasons = reasons
        self.verdicts: Counter[str] = Counter()
        self.faults: list[tuple[Key, RecordedVerdict, str]] = []
        """Each with its game, and the isolation that was in force."""
        self.farewells: list[tuple[Key, SeatReport]] = []
        """Games after which something was wrong with it."""
        self.worst: list[Loss] = []
        self.slowest: list[Thought] = []
        self.micros = array("Q")
        """How long each of its actions took, in microseconds."""
        self.versions: dict[Key, int] = {}
        """By game: the version of the bot that played."""

    def add(self, game: GameSummary, record: Record, seat: int) -> None:
        """Add a game that the bot played at `seat`."""
        self.versions[game.key] = game.versions[seat]
        for fault in record.faults:
            if fault.seat == seat:
                self.verdicts[fault.code] += 1
                if len(self.faults) < FAULTS:
                    self.faults.append((game.key, fault, record.isolation))
        if record.seats[seat].farewell:
            self.farewells.append((game.key, record.seats[seat]))
        if game.places[seat] > 1 and game.reason != VOID:
            others = tuple(label for place, label in enumerate(game.labels) if place != seat)
            behind = max(game.scores) - game.scores[seat]
            _keep_greatest(
                self.worst, Loss(game.places[seat], behind, game.key, seat, others, self._reasons.describe(game)), WORST
            )
        timed = zip(record.actions, record.micros, record.cpu_micros, strict=True)
        for place, ((whose, action), micros, cpu) in enumerate(timed):
            if whose == seat:
                self.micros.append(micros)
                _keep_greatest(self.slowest, (micros, cpu, game.key, place, action), SLOWEST)


def _keep_greatest(heap: list[T], each: T, most: int) -> None:
    if len(heap) < most:
        heapq.heappush(heap, each)
    else:
        heapq.heappushpop(heap, each)


class Replay(Struct, frozen=True):
    """A game beside a page, or on the site."""

    key: Key
    action: int
    """Where it opens: at its turning point."""
    page: bytes
    position: bytes | None
    """The same place as `malice play --from` reads it; None while the part is open, or at the end of the game."""

    @property
    def address(self) -> str:
        """What stands after the name of the page that opens it."""
        return f"#{self.key}/{self.action}"


class FeedbackPage(Struct, frozen=True):
    """What an author is handed."""

    name: str
    """Of its files, without an end."""
    label: str
    markdown: str
    replays: tuple[Replay, ...]


def write_pages(store: Store, out: Path, url: str = "", changes: Changes | None = None) -> Iterator[Path]:
    """Write the pages for each entry, delete those of entries that are gone, and yield the paths of the pages.

    Args:
        store: the league, with the tournament chosen.
        out: the folder.
        url: the address of its public site, with a slash at its end; empty if there is none.
        changes: what changed lately; by default since the newest part.

    Raises:
        DataError: the folder has pages of another tournament, or another file by the name of a page.
        DamagedLeague: as `Store`.
        OSError: a file cannot be written.
    """
    mark = MARK.format(store.parts()[0].commit)
    pages = list(_make_pages(store, url, changes))
    files = {out / f"{page.name}.{end}" for page in pages for end in ("md", "html")}
    before = {path: _read_mark(path) for end in ("md", "html") for path in sorted(out.glob(f"*.{end}"))}
    for path, found in before.items():
        if found != mark and (found or path in files):
            raise DataError(f"{path}: is no page of this tournament: name another folder, or delete it")
    out.mkdir(parents=True, exist_ok=True)
    for page in pages:
        (out / f"{page.name}.md").write_text(f"{page.markdown}\n{mark}\n", encoding="utf-8")
        html = render_alone(page.label, page.markdown, "for the author of this bot alone")
        (out / f"{page.name}.html").write_text(f"{html}\n{mark}\n", encoding="utf-8")
        _write_replays(out / page.name, page.replays)
        yield out / f"{page.name}.md"
        yield out / f"{page.name}.html"
    for path, found in before.items():
        if found and path not in files:
            path.unlink()
            _write_replays(path.with_suffix(""), ())


def _write_replays(folder: Path, replays: Sequence[Replay]) -> None:
    """Write games into a folder, and delete those of before."""
    files = {f"{each.key}.html": each.page for each in replays}
    files |= {f"{each.key}.json": each.position for each in replays if each.position}
    if files:
        folder.mkdir(exist_ok=True)
    for path in folder.glob("*"):
        if REPLAY_FILE.fullmatch(path.name) and path.name not in files:
            path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with suppress(OSError):
        folder.rmdir()  # if nothing is left in it


def render_alone(title: str, markdown: str, foot: str) -> str:
    """Render a text of ours as a page that needs no other file, and loads nothing."""
    styles = [Markup((STATIC / name).read_text("utf-8")) for name in (*STYLES, "docs.css")]
    prose = render_markdown(markdown, lambda link: link)
    template = make_template_environment().get_template("alone.html")
    return template.render(title=sanitize(title, 80), prose=Markup(prose.html), styles=styles, foot=foot)


def _read_mark(page: Path) -> str:
    """Read the mark of a page; nothing if malice did not write it."""
    last = page.read_text("utf-8", "replace").rstrip().rpartition("\n")[2]
    return last if last.startswith(MARK.partition("{")[0]) else ""


def _make_pages(store: Store, url: str, changes: Changes | None) -> Iterator[FeedbackPage]:
    """Yield the page of each entry.

    Raises:
        DamagedLeague: as `Store`.
    """
    with store.snapshot():
        contents = store.read()
        reasons = Reasons(contents.tournament.rulesets)
        findings: defaultdict[str, Findings] = defaultdict(lambda: Findings(reasons))
        for game, record in store.rows():
            for seat, label in enumerate(game.labels):
                findings[label].add(game, record, seat)
        all_standings = compute_league_standings(contents)
        changes = changes or find_changes(contents, compute_part_ratings(contents), all_standings)
        name, entries, suspended = contents.tournament.name, contents.entries, contents.suspended
        prefix = f"{name}:" if len(store.league().tournaments) > 1 else ""
        words = dict(zip((each.label for each in entries), contents.config.entries, strict=False))
        names = _name_files([entry.label for entry in entries])
        for entry, file in zip(entries, names, strict=True):
            mine, folder = findings[entry.label], _name_folder(words.get(entry.label, ""))
            replays = tuple(_list_replays(store, mine, entry.label, url))
            command = Commands(store.path.name, prefix, folder, file, url)
            lines = [f"# {escape_markdown(entry.label)} in {escape_markdown(name)}", ""]
            lines += _describe_state(entry, find_state(entry, suspended))
            if url:
                lines += [f"[Its page on the site]({url}bots/{make_slug(entry.label)}.html)", ""]
            lines += _describe_results(entry.label, all_standings, changes)
            lines += _describe_faults(mine, entry, contents.config.memory_mb)
            lines += _describe_worst(mine, entry, command, {each.key: each for each in replays})
            lines += _describe_clocks(mine, entry, contents.config.clock)
            yield FeedbackPage(file, entry.label, "\n".join(lines).rstrip() + "\n", replays)


def _name_folder(line: str | LabelledBot) -> str:
    """What the author's own folder is called; `mybot` if nobody can know that."""
    words = (line if isinstance(line, str) else line.bot).partition("?")[0]
    name = words.rpartition("/")[2] if "/" in words and " " not in words else ""
    return f"./{name or 'mybot'}"


def _list_replays(store: Store, findings: Findings, label: str, url: str) -> Iterator[Replay]:
    """Yield the worst games of an entry; of the others they show cards and actions, but no notes and no stderr."""
    tournament = store.tournament()
    publication = choose_publication(tournament)
    for loss in sorted(findings.worst, reverse=True):
        game, record = store.row(loss.key)
        notes = {at: note for at, note in record.notes.items() if record.actions[at][0] == loss.seat}
        try:
            found = open_game(game, record)
        except (FamilyError, RecordError):  # its rules have changed since
            continue
        action = found.turn.action if found.turn else found.last
        shown = render_lone_game(store, game, replace(record, notes=notes), publication, url)
        yield Replay(loss.key, action, shown.page, _make_position(tournament, record, action))


def _make_position(tournament: Tournament, record: Record, action: int) -> bytes | None:
    if record.key.part not in tournament.closed:
        return None  # its mirrors still play these cards
    game = Game.from_record(record, tournament.rulesets[record.ruleset], action)
    return None if game.over else game.position() + b"\n"


def _name_files(labels: Sequence[str]) -> list[str]:
    """Name files by the labels alone, whoever else takes part.

    A label that is no plain name is told from others that look like it by a digest of it.
    """
    plain = [re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-.")[:60] for label in labels]
    return [
        name if name == label else f"{name or 'bot'}-{sha256(label.encode()).hexdigest()[:6]}"
        for name, label in zip(plain, labels, strict=True)
    ]


def _quote(lines: Iterable[str]) -> list[str]:
    """Make lines a block of code, without paths of this machine."""
    quoted = [f"    {redact(sanitize(line), keep_names=True)}" for line in lines]
    return ["", *quoted, ""] if quoted else [""]


def _describe_state(entry: Entry, state: State) -> Iterator[str]:
    if entry.version.number:
        yield f"Content {entry.version.hash[:12]}."
    if entry.version.parameters:
        values = (f"{name} = {escape_markdown(value)}" for name, value in entry.version.parameters.items())
        yield f"Parameters: {', '.join(values)}."
    if state not in ("playing", "absent"):
        yield f"It is {state}{f': {escape_markdown(entry.reason)}' if entry.reason else ''}."
    if entry.absence is None:
        yield "It was built and started without a fault."
        yield ""
        return
    if state == "absent":
        yield f"It is absent: `{entry.absence.code}`. Its games are played once it can be built and started."
    else:
        yield f"Its bot, as it is now, could not be built or started: `{entry.absence.code}`."
    yield from _quote([entry.absence.sentence, *excerpt_stderr(entry.absence.output)])


def _describe_results(label: str, all_standings: Sequence[Standings], changes: Changes | None) -> Iterator[str]:
    yield "## Results"
    yield ""
    moves = {
        (each.ruleset, each.seats): move
        for each in (changes.progressions if changes else ())
        for move in each.moves
        if move.label == label
    }
    for standings in all_standings:
        row = next(row for row in standings.rows if row.label == label)
        yield f"- {escape_markdown(standings.ruleset)}, {standings.seats} seats: {_describe_row(row)}"
        if changes and (move := moves.get((standings.ruleset, standings.seats))):
            yield f"  - {_describe_move(move, changes)}"
        for other, meeting in standings.crosstable[label].items():
            record = f"{meeting.wins}-{meeting.draws}-{meeting.losses}"
            yield f"  - against {escape_markdown(other)}: {record} in {format_count(meeting.games, 'game')}"
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


def _describe_move(move: RankChange, changes: Changes) -> str:
    since = f"before {changes.part}" if changes.part else f"{changes.since}"
    if move.news:
        return f"{move.news} since {escape_markdown(since)}"
    before = "not ranked" if move.rank_before is None else f"rank {move.rank_before}"
    gain = "" if move.gain is None else f", {format_number(move.gain, 0)} Elo since"
    return f"{escape_markdown(since)}: {before}{gain}"


def _name_game(key: Key, findings: Findings, entry: Entry) -> str:
    """The key of a game, with the version that played if another one plays now."""
    version = findings.versions[key]
    return f"{key}" if version == entry.version.number else f"{key} (version {version})"


def _describe_faults(findings: Findings, entry: Entry, memory_mb: int) -> Iterator[str]:
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
    for key, fault, isolation in findings.faults:
        yield f"### Game {_name_game(key, findings, entry)}: {fault.code} after {format_count(fault.action, 'action')}"
        ended = [f"process: {fault.exit}"] if fault.exit else []
        lines = [line[:LINE_WIDTH] for line in fault.lines]
        yield from _quote([fault.sentence, *ended])
        if cause := next((line for line in reversed(lines) if line.startswith(("< ", "> "))), ""):
            yield "The line that caused it:" if cause.startswith("< ") else "The request that it did not answer:"
            yield from _quote([cause[2:]])
        if len(lines) > 1:
            yield "What was said before, the newest last:"
            yield from _quote(lines)
        evidence = f"{fault.sentence}\n{fault.stderr}"
        if hint := explain_limits(evidence, isolation.split("+"), memory_mb):
            yield f"{escape_markdown(hint[:1].upper() + hint[1:])}."
            yield ""
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


class Commands(NamedTuple):
    """What the commands on a page name."""

    league: str
    prefix: str
    """What stands before a key."""
    folder: str
    """Of the author."""
    name: str
    """Of the folder with the replays."""
    url: str


def _describe_worst(
    findings: Findings, entry: Entry, command: Commands, replays: Mapping[Key, Replay]
) -> Iterator[str]:
    yield "## Worst games"
    yield ""
    if not findings.worst:
        yield "It lost none."
    for loss in sorted(findings.worst, reverse=True):
        others = ", ".join(map(escape_markdown, loss.others))
        points = f", {format_count(loss.behind, 'point')} behind" if loss.behind else ""
        yield f"### Game {_name_game(loss.key, findings, entry)} against {others}"
        yield ""
        yield f"Place {loss.place}{points} ({escape_markdown(loss.reason)})."
        yield ""
        replay = replays.get(loss.key)
        if replay:
            site = f" · [On the site]({command.url}replay.html{replay.address})" if command.url else ""
            yield f"[Watch it from where it turned]({command.name}/{loss.key}.html{replay.address}){site}"
            yield ""
        if replay and replay.position:
            yield "Play on from there, with your bot and another:"
            yield from _quote(
                [f"malice play {shlex.quote(command.folder)} greedy --from {command.name}/{loss.key}.json"]
            )
        yield "With the league at hand:"
        key, file = shlex.quote(f"{command.prefix}{loss.key}"), shlex.quote(command.league)
        yield from _quote(
            [
                f"malice replay {file} {key}",
                f"malice log {file} {key} --seat {loss.seat}",
                f"malice rerun {file} {key} {shlex.quote(command.folder)} --seat {loss.seat}",
            ]
        )
    yield ""


def _describe_clocks(findings: Findings, entry: Entry, clock: ClockRules) -> Iterator[str]:
    yield "## Time"
    yield ""
    if findings.micros:
        ordered = sorted(findings.micros)
        half, most = ordered[len(ordered) // 2], ordered[int(0.99 * (len(ordered) - 1))]
        allowed = "" if clock.move_ms is None else f"; {clock.move_ms} ms are allowed for one"
        yield (
            f"{format_count(len(ordered), 'action')}: half of them took at most {half / 1000:.1f} ms,"
            f" 99 % at most {most / 1000:.1f} ms{allowed}."
        )
        yield ""
    yield "### Slowest moves"
    yield ""
    if not findings.slowest:
        yield "It was never asked."
    for micros, cpu, key, place, action in sorted(findings.slowest, reverse=True):
        times = f"{micros / 1000:.1f} ms ({cpu / 1000:.1f} ms of CPU time)"
        yield f"- {times}: game {_name_game(key, findings, entry)}, action {place}, {escape_markdown(action)}"
