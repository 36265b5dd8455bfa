"""Render the site in two passes over the games: the first lists them, the second replays them."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee import rules_text
from referee.families import load_family
from referee.records import Key, Record
from site_pages import shards, text
from site_pages.changes import make_change_box
from site_pages.crosstable import write_crosstables
from site_pages.deals import Deals
from site_pages.docs import list_attachments, render_docs
from site_pages.faults import BotFaults
from site_pages.files import SHARD, Folder
from site_pages.game_pages import GamePage, write_game_pages
from site_pages.keys import KeyIndex
from site_pages.overall import make_overall
from site_pages.pages import GameRow, Games, Pages, make_game_row
from site_pages.results import list_results
from site_pages.rounds import make_course
from site_pages.sections import make_rankings, make_sections
from site_pages.series import describe_standing
from site_pages.source import PublishedSource, Source, list_games
from tournaments.league.choice import Picker
from tournaments.league.comparison import Comparison
from tournaments.league.contents import Game
from tournaments.league.extent import measure_extent
from tournaments.league.progression import Changes
from tournaments.league.publication import Publication, choose_publication
from tournaments.league.ranking import compute_league_standings, find_state
from tournaments.league.series import Score, score_league_series
from tournaments.league.standings import State
from tournaments.league.tournament import Tournament

STATIC = Path(__file__).parent / "static"
LIST = 200
"""Games per page of the list."""
LATEST = 25
"""Latest games on a bot's page."""

Progress = Callable[[int, int], None]
"""Receives the number of games done, and of all games."""


class SiteSummary(Struct, frozen=True):
    """The size of a rendered site."""

    pages: int
    """HTML pages on the site."""
    games: int
    bytes: int
    """Size of all files."""
    written: int
    """Files that were new or had changed."""
    withheld: int = 0
    """Verdicts that were published without stderr and the last lines."""


def render(
    source: Source,
    out: Path,
    progress: Progress | None = None,
    publication: Publication | None = None,
    changes: Changes | None = None,
    sharper: Sequence[Comparison] | None = None,
) -> SiteSummary:
    """Write the site of a league to the folder `out`; rewrite only files whose content changes.

    `publication` says what may be shown; by default it is no evidence of verdicts. With `changes`, a box on the front
    page tells them. With `sharper`, the pairs whose score without luck is the sharper one, it shows those, too.

    Raises:
        OSError: a file cannot be written.
    """
    publication = publication or choose_publication(source)
    folder = Folder(out)
    for path in sorted(STATIC.iterdir()):
        folder.write(f"static/{path.name}", path.read_bytes())
    tournament = source.tournament()
    games = write_game_pages(folder, {ruleset.family for ruleset in tournament.rulesets.values()})
    survey = _survey_games(source)
    planned = measure_extent(tournament, survey.tables).games
    pages = Pages(tournament, _find_states(source), Games(survey.index.count, planned), survey.pages)
    published = PublishedSource(source, publication)
    bots = _write_games(published, folder, pages, survey, tournament, progress)
    _write_index(folder, survey, games, source)
    all_standings = compute_league_standings(source)
    rankings = make_rankings(all_standings)
    entries = published.entries()
    several = len({standings.ruleset for standings in all_standings}) > 1
    rulesets, rows = make_overall(all_standings) if several else ([], [])
    sections = make_sections(source, survey.deals, all_standings, rankings, sharper)
    write_crosstables(folder, [(one, section.crossings) for one, section in zip(all_standings, sections, strict=True)])
    front = pages.render_front(
        sections=sections,
        course=make_course(source.situation()),
        rulesets=rulesets,
        overall=rows,
        entries=entries,
        changes=make_change_box(changes, rankings, [entry.label for entry in entries]),
    )
    folder.write("index.html", front)
    _write_rulesets(folder, pages, source)
    for entry in entries:
        folder.write(
            f"bots/{text.make_slug(entry.label)}.html",
            pages.render_bot(
                entry=entry,
                results=list_results(entry.label, all_standings, rankings, survey.deals),
                faults=bots.faults[entry.label],
                withheld=not publication.shows_evidence(entry.label),
                games=list(reversed(bots.latest[entry.label])),
            ),
        )
    folder.write("replay.html", pages.render_replay())
    _write_docs(folder, pages, frozenset(games))
    folder.delete_stale()
    return SiteSummary(folder.pages, survey.index.count, folder.size, folder.written, published.withheld)


def _write_rulesets(folder: Folder, pages: Pages, source: Source) -> None:
    for ruleset in source.rulesets():
        page = pages.render_ruleset(rules_text.describe_ruleset(ruleset))
        folder.write(f"rules/{text.make_slug(ruleset.name)}.html", page)


def _find_states(source: Source) -> dict[str, State]:
    suspended = source.suspended()
    return {entry.label: find_state(entry, suspended) for entry in source.entries()}


class _Survey:
    """Results of the first pass: the games, a digest per shard, and who won which deals."""

    def __init__(self, series: dict[Key, Score]) -> None:
        self.series = series
        self.deals = Deals()
        self.index = KeyIndex()
        self.numbers: set[int] = set()
        self.tables: Counter[tuple[int, int]] = Counter()
        """By part and table, how many games there are."""
        self._blocks: defaultdict[int, Any] = defaultdict(hashlib.sha256)
        self.pages: list[int] = []
        self.splits: dict[int, list[int]] = {}
        """By block with several shards: the numbers of the games with which the others begin."""

    def add(self, game: Game, picked: Game | None) -> None:
        self.index.add(game.number, game.key)
        self.numbers.add(game.number)
        self.tables[game.key.part, game.key.table] += 1
        if picked is not None:
            self.deals.add(picked)
        # The times are included: they distinguish a game from the same game in another run.
        self._blocks[game.number // shards.SIZE].update(msgspec.json.encode((game, self.series.get(game.key))))
        page = game.number // LIST
        if not self.pages or self.pages[-1] != page:
            self.pages.append(page)

    def digest(self, block: int) -> str:
        """Return the digest of the games in a block."""
        return str(self._blocks[block].hexdigest())


def _survey_games(source: Source) -> _Survey:
    survey = _Survey(score_league_series(source))
    picker = Picker(source)
    for game in list_games(source):
        survey.add(game, picker.pick(game))
    return survey


class _BotPages:
    """Collects, in the second pass, what the pages of the bots show."""

    def __init__(self) -> None:
        self.latest: defaultdict[str, deque[GameRow]] = defaultdict(lambda: deque(maxlen=LATEST))
        self.faults: defaultdict[str, BotFaults] = defaultdict(BotFaults)

    def add(self, row: GameRow, game: Game, record: Record) -> None:
        for label in dict.fromkeys(game.labels):
            self.latest[label].append(row)
        for fault in record.faults:
            self.faults[game.labels[fault.seat]].add(row.key, fault)


def _write_games(
    source: PublishedSource,
    folder: Folder,
    pages: Pages,
    survey: _Survey,
    tournament: Tournament,
    progress: Progress | None,
) -> _BotPages:
    """Write the shards and the lists of games."""
    bots = _BotPages()
    reasons = {name: load_family(ruleset.family).reasons for name, ruleset in tournament.rulesets.items()}
    rows: list[GameRow] = []
    done = 0
    for number, games in _group_by_block(_pair_records(source, survey.numbers)):
        name = f"games-{number}"
        header = shards.make_header(name, (survey.digest(number), tournament.rulesets, source.publication))
        others = _keep_shards(folder, name, header)
        block = shards.Block() if others is None else None
        for game, record in games:
            if rows and game.number // LIST != rows[0].number // LIST:
                pages.write_game_list(folder, rows, LIST)
                rows = []
            score = survey.series.get(game.key)
            reason = text.describe_reason(game.reason, reasons[game.ruleset])
            row = make_game_row(game, reason, score)
            rows.append(row)
            bots.add(row, game, record)
            if block is not None:
                block.add(game, source.publication.redact_notes(record), reason, describe_standing(score))
            done += 1
        if block is not None:
            others = block.write(folder, name, header)
        if others:
            survey.splits[number] = others
        if progress is not None:
            progress(done, survey.index.count)
    if rows or not survey.pages:
        pages.write_game_list(folder, rows, LIST)
    return bots


def _pair_records(source: PublishedSource, numbers: set[int]) -> Iterator[tuple[Game, Record]]:
    """Yield each game with its record; skip games added since the first pass; the next rendering includes them."""
    records = source.records()
    for game in source.games():
        if game.number in numbers:
            yield game, _find_record(game.key, records)


def _find_record(key: Key, records: Iterator[Record]) -> Record:
    for record in records:
        if record.key == key:
            return record
    raise LookupError(f"expected a record of game {key}, got the end of the records")


def _keep_shards(folder: Folder, name: str, header: bytes) -> list[int] | None:
    """Keep the shards of a block; return with which games the others begin, or None if one has to be made anew."""
    first_line = folder.read_first_line(f"data/{name}.js")
    if not first_line.startswith(header) or not SHARD.fullmatch(first_line + b"\n"):
        return None
    others = [int(number) for number in first_line.removeprefix(header).split()]
    names = shards.name_parts(name, len(others))
    headers = [folder.read_first_line(f"data/{part}.js") for part in names[1:]]
    if headers != [header.replace(name.encode(), part.encode(), 1) for part in names[1:]]:
        return None
    for part in names:
        folder.keep(f"data/{part}.js")
    return others


def _group_by_block(pairs: Iterator[tuple[Game, Record]]) -> Iterator[tuple[int, Iterator[tuple[Game, Record]]]]:
    upcoming = next(pairs, None)

    def take_block(number: int) -> Iterator[tuple[Game, Record]]:
        nonlocal upcoming
        while upcoming is not None and upcoming[0].number // shards.SIZE == number:
            pair, upcoming = upcoming, next(pairs, None)
            yield pair

    while upcoming is not None:
        number = upcoming[0].number // shards.SIZE
        yield number, take_block(number)


def _write_index(folder: Folder, survey: _Survey, games: dict[str, GamePage], source: Source) -> None:
    payload = survey.index.make_payload() | {
        "size": shards.SIZE,
        "list": LIST,
        "splits": survey.splits,
        "families": games,
        "bots": [text.make_slug(entry.label) for entry in source.entries()],  # in the order of their colours
    }
    script = shards.make_script("index", shards.make_header("index", payload), shards.pack(payload))
    folder.write("data/index.js", script)


def _write_docs(folder: Folder, pages: Pages, families: frozenset[str]) -> None:
    docs = render_docs(families)
    for place, doc in enumerate(docs):
        folder.write(f"docs/{doc.name}.html", pages.render_doc(place, docs))
    for name, path in list_attachments():
        folder.write(f"docs/{name}", path.read_bytes())
