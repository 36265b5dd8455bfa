"""The HTML pages: what each template is given."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from msgspec import Struct

from referee.rules_text import RulesetText
from site_pages import text
from site_pages.chart import Chart
from site_pages.deals import has_partners
from site_pages.docs import DocPage
from site_pages.faults import BotFaults
from site_pages.files import Folder
from site_pages.rankings import Name, OverallRow, Ranking, name
from site_pages.results import Result
from site_pages.series import SeriesRow, standing
from site_pages.sides import SideRow
from tournaments.league.contents import Entry, Game, Tournament
from tournaments.league.series import Score
from tournaments.sanitizer import sanitize

TEMPLATES = Path(__file__).parent / "templates"
PAGER = 3
"""Pages named on either side of the one that is shown."""


class Seat(Struct, frozen=True):
    """Who sat at a seat, and how it left the game if it did."""

    bot: Name
    verdict: str


class GameSide(Struct, frozen=True):
    """The seats that won or lost together; without partners, one seat."""

    team: int
    place: int
    score: int
    seats: tuple[Seat, ...]


class GameRow(Struct, frozen=True):
    """A game in a list."""

    number: int
    key: str
    ruleset: str
    page: str
    """The file name of the ruleset's page."""
    sides: tuple[GameSide, ...]
    """By the first of its seats."""
    partners: bool
    reason: str
    series: str
    """Where the series stands after this game, in words."""
    void: bool
    actions: int


class Page(Struct, frozen=True):
    """A page of the list of games."""

    number: int
    """In the name of its file, from 1."""
    first: int
    last: int


def game_row(game: Game, score: Score | None = None) -> GameRow:
    """Return a game as lists show it; `score` tells where its series stands then."""
    return GameRow(
        number=game.number,
        key=str(game.key),
        ruleset=game.ruleset,
        page=text.make_slug(game.ruleset),
        sides=_sides(game),
        partners=has_partners(game),
        reason=text.describe_reason(game.reason),
        series=standing(score),
        void=game.reason == "void",
        actions=game.actions,
    )


def _sides(game: Game) -> tuple[GameSide, ...]:
    seats: dict[int, list[int]] = {}
    for seat, team in enumerate(game.teams):
        seats.setdefault(team, []).append(seat)
    return tuple(
        GameSide(
            team,
            game.places[own[0]],
            game.scores[own[0]],
            tuple(Seat(name(game.labels[seat]), game.verdicts[seat]) for seat in own),
        )
        for team, own in seats.items()
    )


class Section(Struct, frozen=True):
    """All that the front page says of one ruleset and number of seats."""

    ranking: Ranking
    chart: Chart | None
    sides: list[SideRow]
    series: list[SeriesRow]
    series_target: int


class Pages:
    """The templates, with what all pages share."""

    def __init__(self, tournament: Tournament, suspended: Collection[str], games: int, pages: Sequence[int]) -> None:
        self._env = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._env.filters |= {
            "shown": sanitize,
            "lines": lambda words: sanitize(words, lines=True),
            "label": text.format_label,
            "ms": text.format_milliseconds,
            "counted": text.format_count,
        }
        self._pages = list(pages)
        self._env.globals |= {
            "title": sanitize(tournament.name, 80),
            "tournament": tournament,
            "suspended": suspended,
            "created": datetime.fromtimestamp(tournament.created, UTC).strftime("%Y-%m-%d"),
            "played": games,
            "newest": self._pages[-1] + 1 if self._pages else 1,
        }

    def front(
        self,
        *,
        sections: Sequence[Section],
        rulesets: Sequence[str],
        overall: Sequence[OverallRow],
        entries: Sequence[Entry],
    ) -> bytes:
        """Return index.html."""
        return self._page(
            "index.html",
            root="",
            sections=sections,
            rulesets=rulesets,
            overall=overall,
            warning=next((section.ranking.warning for section in sections if section.ranking.warning), ""),
            entries=[(name(entry.label), entry) for entry in entries],
        )

    def bot(
        self,
        *,
        entry: Entry,
        results: Sequence[Result],
        faults: BotFaults,
        games: Sequence[GameRow],
    ) -> bytes:
        """Return the page of an entry."""
        return self._page(
            "bot.html",
            root="../",
            bot=name(entry.label),
            entry=entry,
            results=results,
            faults=faults,
            games=games,
        )

    def ruleset(self, told: RulesetText) -> bytes:
        """Return the page of a ruleset."""
        return self._page("ruleset.html", root="../", told=told)

    def doc(self, at: int, docs: Sequence[DocPage]) -> bytes:
        """Return the page of the documentation that has this place among all."""
        return self._page(
            "doc.html",
            root="../",
            doc=docs[at],
            docs=docs,
            before=docs[at - 1] if at > 0 else None,
            after=docs[at + 1] if at + 1 < len(docs) else None,
        )

    def put_list(self, folder: Folder, rows: Sequence[GameRow], size: int) -> None:
        """Write the page of the list of games that holds `rows`."""
        here = rows[0].number // size if rows else 0
        at = self._pages.index(here) if rows else 0
        near = self._pages[max(0, at - PAGER) : at + PAGER + 1]
        shown = sorted({*near, *self._pages[:1], *self._pages[-1:]})
        pages = [Page(page + 1, page * size, page * size + size - 1) for page in shown]
        content = self._page(
            "games.html",
            root="../",
            rows=rows,
            here=here + 1,
            pages=pages,
            before=self._pages[at - 1] + 1 if at > 0 else None,
            after=self._pages[at + 1] + 1 if at + 1 < len(self._pages) else None,
        )
        folder.put(f"games/{here + 1}.html", content)

    def replay(self) -> bytes:
        """Return replay.html."""
        return self._page("replay.html", root="")

    def _page(self, template: str, **given: Any) -> bytes:
        return self._env.get_template(template).render(**given).encode("utf-8", "replace")
