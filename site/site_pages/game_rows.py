"""Games as lists show them, a row for each."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct

from malice.site_pages import text
from malice.site_pages.deals import has_partners
from malice.site_pages.rankings import Name, make_name
from malice.site_pages.series import describe_standing
from malice.tournaments.league.contents import GameSummary
from malice.tournaments.league.series import Score


class RowSeat(Struct, frozen=True):
    """The bot at a seat; the verdict is empty unless one ended its game."""

    bot: Name
    verdict: str


class GameTeam(Struct, frozen=True):
    """The seats that won or lost together; without partners, one seat."""

    number: int
    place: int
    score: int
    seats: tuple[RowSeat, ...]


class GameRow(Struct, frozen=True):
    """A game in a list."""

    number: int
    key: str
    ruleset: str
    page: str
    """The file name of the ruleset's page."""
    teams: tuple[GameTeam, ...]
    """In the order of their first seats."""
    has_partners: bool
    reason: str
    series: str
    """The state of the series after this game, in words."""
    void: bool
    actions: int
    started: str
    """Day and time, UTC; empty if unknown."""


def make_game_row(game: GameSummary, reason: str, score: Score | None = None) -> GameRow:
    """Return a game as lists show it.

    Args:
        game: its row.
        reason: why it ended, in words.
        score: the state of its series after it.
    """
    return GameRow(
        number=game.number,
        key=str(game.key),
        ruleset=game.ruleset,
        page=text.make_slug(game.ruleset),
        teams=_group_seats(game),
        has_partners=has_partners(game),
        reason=reason,
        series=describe_standing(score),
        void=game.reason == "void",
        actions=game.actions,
        started=_format_minute(game.started),
    )


def _format_minute(started: float) -> str:
    return datetime.fromtimestamp(started, UTC).strftime("%Y-%m-%d %H:%M") if started else ""


def _group_seats(game: GameSummary) -> tuple[GameTeam, ...]:
    seats: dict[int, list[int]] = {}
    for seat, team in enumerate(game.teams):
        seats.setdefault(team, []).append(seat)
    return tuple(
        GameTeam(
            team,
            game.places[own[0]],
            game.scores[own[0]],
            tuple(RowSeat(make_name(game.labels[seat]), game.verdicts[seat]) for seat in own),
        )
        for team, own in seats.items()
    )
