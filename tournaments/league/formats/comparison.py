"""The comparison: is the first entry better than the second? One part, which a test may end early.

With further entries the two do not meet each other: both meet these, on the same cards.
"""

from __future__ import annotations

from collections.abc import Iterator

from malice.referee.errors import DataError
from malice.tournaments.league.formats.situation import Decision, Done, FormatInput, Wait
from malice.tournaments.league.parts import Draft, PartTable, VersionKey


def decide_comparison(situation: FormatInput) -> Decision:
    """Return the part, once.

    Raises:
        DataError: the tournament began with other bots, rulesets or deals.
    """
    tournament = situation.tournament
    if any(not entered.version for entered in tournament.entered):
        return Wait()
    draft = Draft("comparison", tournament.config.deals, tuple(_list_tables(situation)), common_deals=True)
    if not tournament.parts:
        return draft
    part = tournament.parts[0]
    if (part.deals, part.tables) != (draft.deals, draft.tables):
        raise DataError("a comparison keeps its bots, rulesets and deals: give the new one another name")
    return Done() if tournament.complete else Wait()


def _list_tables(situation: FormatInput) -> Iterator[PartTable]:
    new, base, *others = (VersionKey(each.label, each.version) for each in situation.tournament.entered)
    for ruleset in situation.tournament.rulesets:
        if not others:
            yield PartTable(ruleset, (new, base))
        for other in others:
            yield PartTable(ruleset, (new, other))
            yield PartTable(ruleset, (base, other))
