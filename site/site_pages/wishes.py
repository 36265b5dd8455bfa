"""What a rendering is asked for beyond the pages that every league has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from malice.referee.records import Key
from malice.tournaments.league.comparison import Comparison
from malice.tournaments.league.progression import Changes
from malice.tournaments.running.opinions import Adviser, Opinion


class OpinionGiver(Protocol):
    """A bot that says what it would have played."""

    @property
    def most(self) -> int | None:
        """About how many games to ask it; None for all."""

    @property
    def adviser(self) -> Adviser:
        """Who it is."""

    def ask(self, keys: Sequence[Key]) -> Iterator[Opinion]:
        """Yield what it says of these games, in this order; of one that does not replay it says nothing."""


class SiteOptions(Struct, frozen=True):
    """Options of the front page, and of replays."""

    changes: Changes | None = None
    """What its box tells; None for what changed since the part before the newest."""
    sharper: Sequence[Comparison] | None = None
    """The pairs whose score without luck is the sharper one; None for no table of them."""
    advice: OpinionGiver | None = None
    """A bot that says in replays what it would have played; None for none."""
