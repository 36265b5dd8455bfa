"""The HTML pages: what each template is given."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from msgspec import Struct

from referee.records import Fault
from site_pages import text
from site_pages.chart import Chart
from site_pages.files import Folder
from site_pages.rankings import Name, OverallRow, Ranking, Result, name
from tournaments.league import Entry, Game, Tournament

TEMPLATES = Path(__file__).parent / "templates"
PAGER = 3
"""Pages named on either side of the one that is shown."""


class Seat(Struct, frozen=True):
    """Who sat at a seat, and how it went."""

    bot: Name
    place: int
    score: int
    verdict: str
    team: int


class GameRow(Struct, frozen=True):
    """A game in a list."""

    number: int
    key: str
    ruleset: str
    seats: tuple[Seat, ...]
    partners: bool
    reason: str
    void: bool
    actions: int


class BotFault(Struct, frozen=True):
    """A verdict about a bot, with its game; the fault's own words are not yet fit to be shown."""

    game: GameRow
    fault: Fault
    stderr: str


class Page(Struct, frozen=True):
    """A page of the list of games."""

    number: int
    """In the name of its file, from 1."""
    first: int
    last: int


def game_row(game: Game) -> GameRow:
    """Return a game as lists show it."""
    return GameRow(
        number=game.number,
        key=str(game.key),
        ruleset=game.ruleset,
        seats=tuple(
            Seat(name(label), place, score, verdict, team)
            for label, place, score, verdict, team in zip(
                game.labels, game.places, game.scores, game.verdicts, game.teams, strict=True
            )
        ),
        partners=len(set(game.teams)) < len(game.teams),
        reason=text.reason(game.reason),
        void=game.reason == "void",
        actions=game.actions,
    )


class Pages:
    """The templates, with what all pages share."""

    def __init__(self, tournament: Tournament, games: int, pages: Sequence[int]) -> None:
        self._env = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._env.filters |= {
            "shown": text.shown,
            "lines": lambda words: text.shown(words, lines=True),
            "label": text.label,
            "ms": text.milliseconds,
            "counted": text.counted,
        }
        self._pages = list(pages)
        self._env.globals |= {
            "title": text.shown(tournament.name, 80),
            "tournament": tournament,
            "created": datetime.fromtimestamp(tournament.created, UTC).strftime("%Y-%m-%d"),
            "played": games,
            "newest": self._pages[-1] + 1 if self._pages else 1,
        }

    def front(
        self,
        *,
        rankings: Sequence[Ranking],
        charts: Sequence[Chart | None],
        rulesets: Sequence[str],
        overall: Sequence[OverallRow],
        entries: Sequence[Entry],
    ) -> bytes:
        """Return index.html."""
        return self._page(
            "index.html",
            root="",
            ranked=list(zip(rankings, charts, strict=True)),
            rulesets=rulesets,
            overall=overall,
            entries=[(name(entry.label), entry) for entry in entries],
        )

    def bot(
        self,
        *,
        entry: Entry,
        results: Sequence[Result],
        faults: Sequence[BotFault],
        fault_count: int,
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
            fault_count=fault_count,
            games=games,
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
