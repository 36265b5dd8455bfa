"""What the front page shows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from malice.site_pages.changes import ChangeBox, make_change_box
from malice.site_pages.deals import Deals
from malice.site_pages.overall import Overall, make_overall
from malice.site_pages.rankings import Ranking
from malice.site_pages.rounds import RoundsSection, make_rounds_section
from malice.site_pages.sections import Section, make_sections
from malice.site_pages.source import SiteContents
from malice.site_pages.turning_point import FrontGame, find_front_game
from malice.site_pages.wishes import SiteOptions
from malice.tournaments.league.formats.table import make_table_before
from malice.tournaments.league.part_changes import compute_part_changes
from malice.tournaments.league.part_ratings import PartRatings, compute_part_ratings
from malice.tournaments.league.progression import Changes
from malice.tournaments.league.standings import Standings


class Front(Struct, frozen=True):
    """The front page."""

    sections: list[Section]
    course: RoundsSection
    overall: Overall | None
    """None with one ruleset."""
    changes: ChangeBox | None
    game: FrontGame | None
    """The game to open."""
    machines: str = ""
    """How many games workers elsewhere played, and how fast these were, in words."""


def make_front(
    source: SiteContents,
    deals: Deals,
    all_standings: Sequence[Standings],
    rankings: Sequence[Ranking],
    wishes: SiteOptions,
) -> Front:
    """Return what the front page shows.

    Args:
        source: the league.
        deals: who won which deals.
        all_standings: the standings.
        rankings: the same as rankings.
        wishes: what was asked for.
    """
    by_part = compute_part_ratings(source)
    changes = wishes.changes or _find_changes(source, by_part, all_standings)
    labels = [entry.label for entry in source.entries()]
    several = len({standings.ruleset for standings in all_standings}) > 1
    return Front(
        sections=make_sections(source, deals, all_standings, rankings, by_part, SiteOptions(changes, wishes.sharper)),
        course=make_rounds_section(source.situation()),
        overall=make_overall(all_standings) if several else None,
        changes=make_change_box(changes, rankings, labels),
        game=find_front_game(source, all_standings),
    )


def _find_changes(
    source: SiteContents, by_part: Sequence[PartRatings], all_standings: Sequence[Standings]
) -> Changes | None:
    """Return what the newest part changed."""
    if not by_part:
        return None
    newest = max(each.steps[-1].parts[-1] for each in by_part)
    table = make_table_before(source.situation(), newest) if source.table() else ()
    return compute_part_changes(source, by_part, all_standings, table)
