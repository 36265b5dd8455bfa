"""Rows of games made up by the thousand, and the page that lists them, without a league."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, count, product
from pathlib import Path
from random import Random

from referee.records import Key
from site_pages.build import STATIC
from site_pages.files import Folder
from site_pages.game_list import GameList
from site_pages.pages import Games, Pages
from tests.test_site_league import League
from tournaments.league.contents import Game
from tournaments.league.series import Score

START = 1_767_225_600
"""The first of January 2026, in seconds since 1970."""
REASONS = {"duel": {"emptied": "pay-off pile emptied", "stock": "stock ran out"}, "trio": {"emptied": "out of cards"}}


def make_games(labels: Sequence[str], deals: int, seats: int = 2, ruleset: str = "duel", seed: int = 0) -> Iterator[Game]:
    """Yield a round-robin, table by table: a game a minute, the first label wins most, every 50th fails."""
    random = Random(seed)
    numbers = count()
    for table, around in enumerate(combinations(labels, seats)):
        for rotation, deal in product(range(seats), range(deals)):
            number = next(numbers)
            seated = around[rotation:] + around[:rotation]
            winner = seated.index(min(seated) if random.random() < 0.6 else max(seated))
            drawn = random.random() < 0.1
            places = tuple(1 if drawn or seat == winner else 2 for seat in range(seats))
            failed = number % 50 == 49 and not drawn
            yield Game(
                key=Key(0, table, deal, rotation),
                number=number,
                ruleset=ruleset,
                labels=seated,
                versions=(1,) * seats,
                teams=tuple(range(seats)),
                places=places,
                scores=tuple(0 if place > 1 or drawn else random.randrange(1, 60) for place in places),
                reason="forfeit" if failed else random.choice(list(REASONS[ruleset])),
                actions=random.randrange(30, 400),
                used_ms=(0.0,) * seats,
                asked=(0,) * seats,
                verdicts=tuple("crash" if failed and place > 1 else "" for place in places),
                digest="",
                started=START + 60 * number,
            )


def write_list(folder: Path, games: Iterable[Game], series: dict[Key, Score] | None = None) -> GameList:
    """Write the page of these games with all that it needs."""
    found = GameList(REASONS, series or {})
    total = 0
    for game in games:
        found.add(game)
        total += 1
    out = Folder(folder)
    for path in STATIC.iterdir():
        out.write(f"static/{path.name}", path.read_bytes())
    found.write(out)
    pages = Pages(League(deals=0, planned=1).tournament(), {}, Games(total, total))
    out.write("games.html", pages.render_games(found.list_latest(), found.blocks))
    return found
