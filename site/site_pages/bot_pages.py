"""The pages of the bots: gathers what each shows, and writes them with their tables to download."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from malice.site_pages import text
from malice.site_pages.bot_details import BotResult, DetailMaker, list_results, read_notes
from malice.site_pages.chart import make_histogram
from malice.site_pages.contents import PublishedContents
from malice.site_pages.evidence import VerdictList, collect_verdicts, read_farewell
from malice.site_pages.files import Folder, write_table
from malice.site_pages.game_list import GameRows
from malice.site_pages.opinions import Diagnosis
from malice.site_pages.pages import BotPage, Pages
from malice.site_pages.sections import Section
from malice.site_pages.survey import Survey
from malice.tournaments.league.contents import Entry
from malice.tournaments.league.standings import Standings
from malice.tournaments.terminal.tables import Cell

OPPONENTS = ("opponent", "games", "wins", "draws", "losses", "score", "elo", "los")
STATISTICS = ("statistic", "games", "mean", "best")
TIMES = ("from_us", "below_us", "actions")


class BotPages:
    """The pages of all bots of one rendering.

    Args:
        published: the league, as far as it may be published.
        survey: what its games come to.
        rows: makes the rows of lists of games.
        all_standings: the standings.
        sections: those of the front page, in the same order.
        diagnosis: what a second opinion found; None without one.
    """

    def __init__(
        self,
        published: PublishedContents,
        survey: Survey,
        rows: GameRows,
        all_standings: Sequence[Standings],
        sections: Sequence[Section],
        diagnosis: Diagnosis | None = None,
    ) -> None:
        self._diagnosis = diagnosis
        self._published = published
        self._survey = survey
        self._rows = rows
        self._standings = all_standings
        self._sections = sections
        self._faults = collect_verdicts(survey.failed)
        self._details = DetailMaker(survey.bots, [each.versions.standings for each in sections if each.versions])

    def write(self, folder: Folder, pages: Pages) -> None:
        """Write the pages."""
        for entry in self._published.entries():
            page = self._gather(entry)
            folder.write(f"bots/{page.slug}.html", pages.render_bot(page))
            self._write_tables(folder, page)

    def _gather(self, entry: Entry) -> BotPage:
        label = entry.label
        games = list(reversed(self._survey.latest[label]))
        faults = self._faults.get(label) or VerdictList()
        rankings = [section.ranking for section in self._sections]
        results = list_results(label, self._standings, rankings, self._survey.deals)
        shown = {result.anchor for result in results}
        return BotPage(
            entry=entry,
            results=results,
            details={
                section.ranking.anchor: self._details.make(label, standings, section.by_part)
                for standings, section in zip(self._standings, self._sections, strict=True)
                if section.ranking.anchor in shown
            },
            fault_games=faults.games,
            faults=faults.read(self._published.read_records),
            withheld=not self._published.publication.shows_evidence(label),
            times=make_histogram(self._survey.bots.count_times(label)),
            notes=read_notes(self._published, label, games),
            games=[self._rows.make(game) for game in games],
            slug=text.make_slug(label),
            diagnosis=self._diagnosis,
            costs=self._diagnosis.choices.get(label) if self._diagnosis else None,
            machines=self._survey.describe_machines(label),
            farewell=read_farewell(
                label, self._survey.farewells, self._published.read_records, self._published.publication
            ),
        )

    def _write_tables(self, folder: Folder, page: BotPage) -> None:
        results = {result.anchor: result for result in page.results}
        for standings, section in zip(self._standings, self._sections, strict=True):
            if (result := results.get(section.ranking.anchor)) and result.opponents:
                rows = _list_opponents(page.entry.label, standings, result)
                write_table(folder, f"bot-{page.slug}.{result.anchor}", OPPONENTS, rows)
        for result in page.results:
            if result.statistics:
                counted = [
                    (each.caption, each.games.sort, each.mean.sort, each.best.sort) for each in result.statistics
                ]
                write_table(folder, f"bot-{page.slug}.{result.anchor}.statistics", STATISTICS, counted)
        if page.times is not None:
            times = ((bar.least, bar.most, bar.count) for bar in page.times.bars)
            write_table(folder, f"bot-{page.slug}.times", TIMES, times)


def _list_opponents(label: str, standings: Standings, result: BotResult) -> Iterator[Sequence[Cell]]:
    meetings = standings.crosstable.get(label, {})
    others = [row.label for row in standings.rows if row.label != label and row.label in meetings]
    for other, line in zip(others, result.opponents, strict=True):
        met, duel = meetings[other], line.duel
        figures = (duel.elo.sort, duel.los.sort) if duel else (None, None)
        yield (other, met.games, met.wins, met.draws, met.losses, met.score, *figures)
