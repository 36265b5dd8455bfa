"""Renders a league as a static site: standings, bots, lists of games, and a page that replays any game."""

from site_pages.build import SiteSummary, SiteWriter, render
from site_pages.source import Source

__all__ = ["SiteSummary", "SiteWriter", "Source", "render"]
