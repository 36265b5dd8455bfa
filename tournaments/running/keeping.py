"""Keeps the bots of a run beside its league, so that they play from there whatever becomes of their folders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial

from malice.tournaments.entries.bots import Bot
from malice.tournaments.entries.enrolment import describe_trouble
from malice.tournaments.entries.kept_bots import KeptBots
from malice.tournaments.entries.side_by_side import run_concurrently
from malice.tournaments.league.journal import Absence


def keep_bots(bots: Mapping[str, Bot], kept: KeptBots) -> tuple[dict[str, Bot], dict[str, Absence]]:
    """Keep bots, as many at a time as there are processors; twins and variants in turn, since they share a copy.

    Args:
        bots: by label.
        kept: where they are kept.

    Returns:
        By label, the bots that play from their copies, and why others cannot be kept.
    """
    groups: defaultdict[str, dict[str, Bot]] = defaultdict(dict)
    for label, bot in bots.items():
        groups[bot.content][label] = bot
    results = run_concurrently([partial(_keep_group, kept, group) for group in groups.values()])
    found = {label: result for group in results for label, result in group.items()}
    return (
        {label: result for label, result in found.items() if isinstance(result, Bot)},
        {label: result for label, result in found.items() if isinstance(result, Absence)},
    )


def _keep_group(kept: KeptBots, bots: Mapping[str, Bot], guard: int) -> dict[str, Bot | Absence]:
    return {label: _keep(kept, bot) for label, bot in bots.items()}


def _keep(kept: KeptBots, bot: Bot) -> Bot | Absence:
    try:
        return kept.keep(bot)
    except Exception as error:  # strangers wrote what is copied
        return Absence("bot", describe_trouble(error), "")
