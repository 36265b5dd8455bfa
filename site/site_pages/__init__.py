"""Renders a league as a static site: standings, bots, lists of games, and a page that replays any game."""

from malice.site_pages.build import SiteWriter, render
from malice.site_pages.contents import SiteContents, SiteOptions
from malice.site_pages.following import Follower
from malice.site_pages.game_pages import LoneGame, render_lone_game
from malice.site_pages.live import Live

__all__ = ["Follower", "Live", "LoneGame", "SiteContents", "SiteOptions", "SiteWriter", "render", "render_lone_game"]
