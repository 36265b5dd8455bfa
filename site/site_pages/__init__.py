"""A league as a static site: standings, bots, lists of games, and one page that replays any of them."""

from site_pages.build import Rendered, render
from site_pages.source import Source

__all__ = ["Rendered", "Source", "render"]
