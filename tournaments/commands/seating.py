"""Refuses a table that cannot be seated, and names the words of `malice play` that can."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def require_seats(bots: Sequence[str], name: str) -> None:
    """Make sure that the ruleset allows as many seats as there are bots.

    Raises:
        DataError: it does not, or is unknown; the message names the way out.
    """
    from malice.referee.errors import DataError
    from malice.referee.games import DEFAULT_RULESET
    from malice.referee.rulesets import find_ruleset
    from malice.tournaments.league.seats import describe_misfit

    ruleset = find_ruleset(name, Path())
    least, most = ruleset.match.players
    if len(bots) > most:
        way_out = f"choose a ruleset for {len(bots)} with --ruleset NAME (malice rules lists them)"
    elif missing := max(0, least - len(bots)):
        words = ["malice", "play", *bots, *["BOT"] * missing, *(["--ruleset", name] if name != DEFAULT_RULESET else [])]
        way_out = f"name {'another bot' if missing == 1 else f'{missing} more bots'}: {shlex.join(words)}"
    else:
        return
    raise DataError(f"{describe_misfit(ruleset, len(bots))}; {way_out}")


@contextmanager
def name_fit_rulesets() -> Iterator[None]:
    """Add to the refusal of a bot which rulesets it can play."""
    from malice.referee.errors import DataError
    from malice.tournaments.entries.games import UnfitBot

    try:
        yield
    except UnfitBot as error:
        folder = error.bot.folder or Path()
        names = [
            os.path.relpath(folder / name) if name.endswith(".toml") else name for name in error.bot.manifest.rulesets
        ]
        if not names:
            raise
        raise DataError(f"{error}; play it with --ruleset NAME, where NAME is {' or '.join(names)}") from None
