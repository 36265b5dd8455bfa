"""What a rendering is asked for beyond the pages that every league has."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tournaments.league.comparison import Comparison
from tournaments.league.progression import Changes
from tournaments.running.opinions import Advice


class Wishes(Struct, frozen=True):
    """Options of the front page, and of replays."""

    changes: Changes | None = None
    """What its box tells; None for what changed since the part before the newest."""
    sharper: Sequence[Comparison] | None = None
    """The pairs whose score without luck is the sharper one; None for no table of them."""
    advice: Advice | None = None
    """A bot that says in replays what it would have played; None for none."""
