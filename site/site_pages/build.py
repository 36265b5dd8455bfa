"""The whole site in two passes over the games: first which there are, then what happened in them."""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee import rules_text
from referee.records import Key, Record
from site_pages import shards, text
from site_pages.chart import make_chart
from site_pages.deals import Deals
from site_pages.docs import attachments, doc_pages
from site_pages.faults import BotFaults
from site_pages.files import Folder
from site_pages.keys import KeyIndex
from site_pages.pages import GameRow, Pages, Section, game_row
from site_pages.rankings import Ranking, make_overall, make_ranking
from site_pages.results import list_results
from site_pages.series import series_rows, standing
from site_pages.sides import side_rows
from site_pages.source import Source
from tournaments.league.contents import Entry, Game, Tournament
from tournaments.league.series import Score, score_league_series, tally_series
from tournaments.league.standings import Standings, compute_league_standings
from tournaments.league.suspension import find_suspended_entries

STATIC = Path(__file__).parent / "static"
LIST = 200
"""Games on a page of the list."""
LATEST = 25
"""Games on a bot's page."""

Progress = Callable[[int, int], None]
"""Told how many games of how many are done."""


class Rendered(Struct, frozen=True):
    """What the site consists of."""

    pages: int
    """HTML pages."""
    games: int
    bytes: int
    """Of all files together."""
    written: int
    """Files that were new or differed."""


def render(source: Source, out: Path, progress: Progress | None = None) -> Rendered:
    """Write the site of a league to the folder `out`; files that would not change are left alone.

    Raises:
        OSError: a file cannot be written.
    """
    folder = Folder(out)
    for path in sorted(STATIC.iterdir()):
        folder.put(f"static/{path.name}", path.read_bytes())
    tournament = source.tournament()
    survey = _survey(source)
    pages = Pages(tournament, find_suspended_entries(source), survey.index.count, survey.pages)
    told = _games(source, folder, pages, survey, tournament, progress)
    _index_data(folder, survey)
    all_standings = compute_league_standings(source)
    rankings = _rankings(all_standings)
    entries = source.entries()
    _front_page(folder, pages, all_standings, _sections(source, survey, all_standings, rankings), entries)
    for ruleset in source.rulesets():
        folder.put(f"rules/{text.make_slug(ruleset.name)}.html", pages.ruleset(rules_text.describe_ruleset(ruleset)))
    for entry in entries:
        folder.put(
            f"bots/{text.make_slug(entry.label)}.html",
            pages.bot(
                entry=entry,
                results=list_results(entry.label, all_standings, rankings, survey.deals),
                faults=told.faults[entry.label],
                games=list(reversed(told.latest[entry.label])),
            ),
        )
    folder.put("replay.html", pages.replay())
    _documentation(folder, pages)
    folder.drop_stale()
    return Rendered(folder.pages, survey.index.count, folder.size, folder.written)


class _Survey:
    """What the first pass finds out: which games there are, what each shard is made from, and who won deals."""

    def __init__(self, series: dict[Key, Score]) -> None:
        self.series = series
        self.deals = Deals()
        self.index = KeyIndex()
        self.numbers: set[int] = set()
        self._shards: defaultdict[int, Any] = defaultdict(hashlib.sha256)
        self.pages: list[int] = []

    def add(self, game: Game) -> None:
        self.index.add(game.number, game.key)
        self.numbers.add(game.number)
        self.deals.add(game)
        # With its times: they tell a game from the same one played again elsewhere.
        self._shards[game.number // shards.SIZE].update(msgspec.json.encode((game, self.series.get(game.key))))
        page = game.number // LIST
        if not self.pages or self.pages[-1] != page:
            self.pages.append(page)

    def digest(self, shard: int) -> str:
        """Return what tells the games of a shard from all others."""
        return str(self._shards[shard].hexdigest())


def _survey(source: Source) -> _Survey:
    survey = _Survey(score_league_series(source))
    for game in source.games():
        survey.add(game)
    return survey


class _BotPages:
    """What the second pass keeps for the bots' pages."""

    def __init__(self) -> None:
        self.latest: defaultdict[str, deque[GameRow]] = defaultdict(lambda: deque(maxlen=LATEST))
        self.faults: defaultdict[str, BotFaults] = defaultdict(BotFaults)

    def add(self, row: GameRow, game: Game, record: Record) -> None:
        for label in dict.fromkeys(game.labels):
            self.latest[label].append(row)
        for fault in record.faults:
            self.faults[game.labels[fault.seat]].add(row.key, fault)


def _games(
    source: Source,
    folder: Folder,
    pages: Pages,
    survey: _Survey,
    tournament: Tournament,
    progress: Progress | None,
) -> _BotPages:
    """Write the shards and the lists of games."""
    told = _BotPages()
    rows: list[GameRow] = []
    done = 0
    for number, games in _by_shard(_pairs(source, survey.numbers)):
        name = f"games-{number}"
        first_line = shards.header(name, (survey.digest(number), tournament.rulesets))
        shard = None if folder.holds(f"data/{name}.js", first_line) else shards.Shard(tournament.rulesets)
        for game, record in games:
            if rows and game.number // LIST != rows[0].number // LIST:
                pages.put_list(folder, rows, LIST)
                rows = []
            score = survey.series.get(game.key)
            row = game_row(game, score)
            rows.append(row)
            told.add(row, game, record)
            if shard is not None:
                shard.add(game, record, standing(score))
            done += 1
        if shard is not None:
            folder.put(f"data/{name}.js", shards.script(name, first_line, shard.payload()))
        if progress is not None:
            progress(done, survey.index.count)
    if rows or not survey.pages:
        pages.put_list(folder, rows, LIST)
    return told


def _pairs(source: Source, numbers: set[int]) -> Iterator[tuple[Game, Record]]:
    """Match games with their records; what was added since the first pass is left for the next rendering."""
    records = source.records()
    for game in source.games():
        if game.number in numbers:
            yield game, _record_of(game.key, records)


def _record_of(key: Key, records: Iterator[Record]) -> Record:
    for record in records:
        if record.key == key:
            return record
    raise LookupError(f"expected a record of game {key}, got to the end of the records")


def _by_shard(pairs: Iterator[tuple[Game, Record]]) -> Iterator[tuple[int, Iterator[tuple[Game, Record]]]]:
    waiting = next(pairs, None)

    def of_shard(number: int) -> Iterator[tuple[Game, Record]]:
        nonlocal waiting
        while waiting is not None and waiting[0].number // shards.SIZE == number:
            pair, waiting = waiting, next(pairs, None)
            yield pair

    while waiting is not None:
        number = waiting[0].number // shards.SIZE
        yield number, of_shard(number)


def _index_data(folder: Folder, survey: _Survey) -> None:
    payload = survey.index.payload() | {"size": shards.SIZE, "list": LIST}
    folder.put("data/index.js", shards.script("index", shards.header("index", payload), payload))


def _rankings(all_standings: tuple[Standings, ...]) -> list[Ranking]:
    names = [standings.ruleset for standings in all_standings]
    return [
        make_ranking(standings, several_sizes=names.count(standings.ruleset) > 1 or standings.seats > 2)
        for standings in all_standings
    ]


def _sections(
    source: Source, survey: _Survey, all_standings: tuple[Standings, ...], rankings: list[Ranking]
) -> list[Section]:
    targets = {ruleset.name: ruleset.rules.match_target for ruleset in source.rulesets()}
    won = (
        tally_series((game for game in source.games() if targets[game.ruleset]), targets)
        if any(targets.values())
        else {}
    )
    return [
        Section(
            ranking=shown,
            chart=make_chart(standings),
            sides=side_rows(survey.deals, (standings.ruleset, standings.seats)),
            series=series_rows(won.get(standings.ruleset, {})),
            series_target=targets[standings.ruleset],
        )
        for standings, shown in zip(all_standings, rankings, strict=True)
    ]


def _documentation(folder: Folder, pages: Pages) -> None:
    docs = doc_pages()
    for at, doc in enumerate(docs):
        folder.put(f"docs/{doc.name}.html", pages.doc(at, docs))
    for name, path in attachments():
        folder.put(f"docs/{name}", path.read_bytes())


def _front_page(
    folder: Folder,
    pages: Pages,
    all_standings: tuple[Standings, ...],
    sections: list[Section],
    entries: tuple[Entry, ...],
) -> None:
    several = len({standings.ruleset for standings in all_standings}) > 1
    rulesets, rows = make_overall(all_standings) if several else ([], [])
    folder.put("index.html", pages.front(sections=sections, rulesets=rulesets, overall=rows, entries=entries))
