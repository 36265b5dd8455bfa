"""What changed in the standings, as text, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from malice.tournaments.league.progression import Progression, RankChange
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.tables import Cell, format_number, format_table, write_csv

CHANGES_HEAD = ("rank", "was", "bot", "elo", "was", "gain", "")
FIELDS = ("label", "news", "rank_before", "rank", "elo_before", "elo", "gain")


def format_progression(progressions: Sequence[Progression]) -> Iterator[str]:
    """Yield a table of moves for each ruleset and number of seats."""
    for each in progressions:
        yield (
            f"{sanitize(each.ruleset)}, {each.seats} seats: gain from the Elo that was to the Elo now, with the bots"
            f" that did not change at zero (they moved by {each.drift:+.0f})"
        )
        yield from format_table(CHANGES_HEAD, [_format_move(move) for move in each.moves], left=(2, 6))


def _format_move(move: RankChange) -> tuple[str, ...]:
    return (
        _format_rank(move.rank),
        _format_rank(move.rank_before),
        sanitize(move.label),
        format_number(move.elo, 0),
        format_number(move.elo_before, 0),
        "n/a" if move.gain is None else f"{move.gain:+.0f}",
        move.news,
    )


def _format_rank(rank: int | None) -> str:
    return "n/a" if rank is None else str(rank)


def encode_progression_json(progressions: Sequence[Progression], tournament: str) -> str:
    """Return the moves as one JSON array, one object for each ruleset and number of seats."""
    rows = [{"tournament": tournament} | msgspec.to_builtins(each) for each in progressions]
    return msgspec.json.encode(rows).decode()


def encode_progression_csv(progressions: Sequence[Progression], tournament: str) -> str:
    """Return the moves as CSV, one row for each entry and ruleset."""
    rows: list[list[Cell]] = [
        [tournament, each.ruleset, each.seats, *(getattr(move, field) for field in FIELDS)]
        for each in progressions
        for move in each.moves
    ]
    return write_csv(("tournament", "ruleset", "seats", *FIELDS), rows)
