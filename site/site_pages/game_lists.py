"""The list of games: two hundred on a page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from site_pages.files import Folder
from site_pages.pages import GameRow, Pages, make_game_row
from site_pages.reasons import Reasons
from site_pages.survey import Survey
from tournaments.league.contents import Game

LIST = 200
"""Games per page of the list."""


class GameRows:
    """Makes rows of lists."""

    def __init__(self, survey: Survey, reasons: Reasons) -> None:
        self._survey = survey
        self._reasons = reasons

    def make(self, game: Game) -> GameRow:
        """Return a game as lists show it."""
        return make_game_row(game, self._reasons.describe(game), self._survey.series.get(game.key))


def list_pages(survey: Survey) -> list[int]:
    """Return the numbers of the pages that have games, from 0."""
    return list(dict.fromkeys(game.number // LIST for game in _list_games(survey)))


def write_game_lists(folder: Folder, pages: Pages, survey: Survey, rows: GameRows) -> None:
    """Write all pages of the list; one without games if there are none."""
    for _, games in groupby(_list_games(survey), lambda game: game.number // LIST):
        pages.write_game_list(folder, [rows.make(game) for game in games], LIST)
    if not survey.games:
        pages.write_game_list(folder, [], LIST)


def _list_games(survey: Survey) -> Iterator[Game]:
    for games in survey.blocks.values():
        yield from games
