"""One site for a league: a front page that lists its tournaments, and a page for each bot across all of them.

The tournaments have sites of their own in folders beneath, which this module does not write.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.files import Folder
from malice.site_pages.pages import STYLES, make_template_environment
from malice.tournaments.league.publication import SITE_OWNER, SiteOwner, find_site_owner
from malice.tournaments.league.ranking import compute_league_standings
from malice.tournaments.league.store import Store
from malice.tournaments.terminal.results import format_rank
from malice.tournaments.terminal.tables import format_number

STATIC = Path(__file__).parent / "static"


class TournamentLine(Struct, frozen=True):
    """A tournament on the front page."""

    name: str
    folder: str
    format: str
    begun: str
    games: int
    entries: int
    complete: bool
    leaders: tuple[tuple[str, str], ...]
    """By ruleset: its name, and who leads."""


class BotLine(Struct, frozen=True):
    """A bot in one ranking of a tournament."""

    tournament: str
    folder: str
    ruleset: str
    rank: str
    elo: str
    games: int
    state: str


def find_league_owner(store: Store) -> SiteOwner:
    """What marks the site of a whole league: no tournament, and the commit of its first part."""
    first = next(iter(store.league().tournaments.values()))
    return SiteOwner("", find_site_owner(first).commit)


def name_folders(names: Sequence[str]) -> dict[str, str]:
    """The folders of tournaments, by name: what the league's own pages are called is not among them."""
    return {name: f"t-{text.make_slug(name)}" for name in names}


def write_league_pages(store: Store, out: Path, names: Sequence[str]) -> int:
    """Write the front page of a league, and the page of each bot; return how many pages that are.

    Args:
        store: the league.
        out: the folder, in which the sites of the tournaments lie as `name_folders` says.
        names: the tournaments.

    Raises:
        OSError: a file cannot be written.
    """
    folder, folders = Folder(out), name_folders(names)
    folder.write(SITE_OWNER, msgspec.json.encode(find_league_owner(store)))
    for name in (*STYLES, "theme.js", "icon.svg"):
        folder.write(f"static/{name}", (STATIC / name).read_bytes())
    tournaments: list[TournamentLine] = []
    bots: defaultdict[str, list[BotLine]] = defaultdict(list)
    for name in names:
        contents = store.view(name).read()
        standings = compute_league_standings(contents)
        leaders = []
        for each in standings:
            leaders += [(each.ruleset, row.label) for row in each.rows[:1] if row.rank is not None]
            for row in each.rows:
                elo = "" if row.rating.elo is None else format_number(row.rating.elo, 0)
                rank = "" if row.rank is None else format_rank(row)
                bots[row.label].append(BotLine(name, folders[name], each.ruleset, rank, elo, row.games, row.state))
        begun = datetime.fromtimestamp(contents.tournament.created, UTC).strftime("%Y-%m-%d")
        entries, games = len(contents.entries), len(list(contents.games))
        format = contents.config.format
        tournaments.append(
            TournamentLine(name, folders[name], format, begun, games, entries, not contents.live, tuple(leaders))
        )
    environment = make_template_environment()
    environment.filters |= {"label": text.format_label, "slug": text.make_slug, "counted": text.format_count}
    template = environment.get_template("league.html")
    common = {"styles": STYLES, "tournaments": tournaments, "bots": sorted(bots)}
    page = template.render(root="", title=store.path.stem, bot=None, lines=(), **common)
    folder.write("index.html", page.encode("utf-8", "replace"))
    for label, lines in bots.items():
        page = template.render(root="../", title=text.format_label(label), bot=label, lines=lines, **common)
        folder.write(f"bots/{text.make_slug(label)}.html", page.encode("utf-8", "replace"))
    folder.delete_stale()
    return folder.pages
