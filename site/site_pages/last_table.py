"""The last table of a game as text, for readers without JavaScript."""

from __future__ import annotations

from typing import NamedTuple

from malice.referee.errors import FamilyError, RecordError
from malice.referee.families import load_family
from malice.referee.records import Record
from malice.referee.replay import find_rules, replay_asks
from malice.site_pages.game_list import Reasons
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.transcript import format_places


class LastTable(NamedTuple):
    """What a replay page shows of one game without any script."""

    key: str
    text: str
    """The table as a spectator sees it, drawn in lines."""
    result: str


def draw_last_table(game: GameSummary, record: Record, reasons: Reasons) -> LastTable | None:
    """Draw the table at the end of a game; None if its record does not replay.

    Args:
        game: its row.
        record: its whole record.
        reasons: the words for how it ended.
    """
    names = [sanitize(label) for label, _ in record.entries]
    try:
        for ask in replay_asks(record):
            state = ask.after
        view = find_rules(record).view(state, None)
    except (FamilyError, RecordError):
        return None
    lines = load_family(record.family).draw(view, names)
    places = format_places(zip(game.places, names, game.scores, strict=True))
    return LastTable(str(game.key), "\n".join(map(sanitize, lines)), f"{reasons.describe(game)}: {places}")
