"""Renders a league as a static site: standings, bots, lists of games, and a page that replays any game."""

from malice.site_pages.build import SiteSummary, SiteWriter, render
from malice.site_pages.following import Follower
from malice.site_pages.live import Live
from malice.site_pages.lone_game import LoneGame, render_lone_game
from malice.site_pages.source import SiteContents

__all__ = ["Follower", "Live", "LoneGame", "SiteContents", "SiteSummary", "SiteWriter", "render", "render_lone_game"]
