"""Rows of games made up by the thousand, and the page that lists them, without a league."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, count, groupby, product
from pathlib import Path
from random import Random
from types import MappingProxyType

from malice.referee.records import Key
from malice.referee.rulesets import load_ruleset
from malice.site_pages import live, shards
from malice.site_pages.build import STATIC
from malice.site_pages.files import Folder
from malice.site_pages.game_list import LATEST, SIZE, ListedGames, Reasons, make_game_row
from malice.site_pages.pages import GameCount, Pages
from malice.site_pages.rankings import Marks
from malice.tournaments.league.contents import GameSummary
from tests.site_league import League

START = 1_767_225_600
"""The first of January 2026, in seconds since 1970."""
REASONS = Reasons({name: load_ruleset(name) for name in ("standard", "multi-3")})
CODES = sorted(REASONS.words["standard"])


def make_games(
    labels: Sequence[str], deals: int, seats: int = 2, ruleset: str = "standard", seed: int = 0
) -> Iterator[GameSummary]:
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
            yield GameSummary(
                key=Key(0, table, deal, rotation),
                number=number,
                ruleset=ruleset,
                labels=seated,
                versions=(1,) * seats,
                teams=tuple(range(seats)),
                places=places,
                scores=tuple(0 if place > 1 or drawn else random.randrange(1, 60) for place in places),
                reason="forfeit" if failed else random.choice(CODES),
                actions=random.randrange(30, 400),
                used_ms=(0.0,) * seats,
                asked=(0,) * seats,
                verdicts=tuple("crash" if failed and place > 1 else "" for place in places),
                digest="",
                started=START + 60 * number,
            )


def write_list(folder: Path, games: Iterable[GameSummary], standings: Mapping[Key, str] = MappingProxyType({})) -> None:
    """Write the page of these games with all that it needs."""
    out = Folder(folder)
    for path in STATIC.iterdir():
        out.write(f"static/{path.name}", path.read_bytes())
    blocks = {number: list(each) for number, each in groupby(games, lambda game: game.number // SIZE)}
    for number, block in blocks.items():
        listed = ListedGames(REASONS, Marks(()))
        for game in block:
            listed.add(game, standings.get(game.key, ""))
        name = f"list-{number}"
        out.write(f"data/{name}.js", shards.make_script(name, shards.make_header(name, number), listed.pack()))
    total = sum(map(len, blocks.values()))
    latest = [make_game_row(game, REASONS.describe(game)) for game in reversed(block[-LATEST:])]
    out.write(live.NAME, live.make_live_script("", live.NEVER))
    pages = Pages(League(deals=0, planned=1).tournament(), {}, GameCount(total, total), "")
    out.write("games.html", pages.render_games(latest, list(blocks)))
