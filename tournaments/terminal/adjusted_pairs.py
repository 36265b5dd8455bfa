"""Every two entries with luck and without, as a table and as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from malice.tournaments.league.comparison import Comparison
from malice.tournaments.ratings.adjustment import Adjustment
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.comparisons import format_range, format_signed
from malice.tournaments.terminal.tables import Cell, format_table, write_csv

HEAD = ("ruleset", "bot", "against", "deals", "elo", "95 %", "without luck", "95 %", "times the games", "95 %")
FIGURES = ("elo", "elo_low", "elo_high", "score", "score_low", "score_high")
"""With luck and, after a prefix, without."""
FACTORS = ("factor", "factor_low", "factor_high")
ADJUSTED_HEAD = (
    *("ruleset", "bot", "against", "deals", *FIGURES),
    *(f"adjusted_{figure}" for figure in FIGURES),
    *(*FACTORS, "exact", "functions"),
)


def format_adjusted(comparisons: Iterable[Comparison]) -> Iterator[str]:
    """Yield a table of pairs with luck and without, or a sentence if there is none."""
    rows = [_format_row(one, one.adjusted) for one in comparisons if one.adjusted]
    if rows:
        yield from format_table(HEAD, rows, left=(0, 1, 2))
    else:
        yield "no two entries have a score that is sharper without luck"


def _format_row(one: Comparison, found: Adjustment) -> tuple[str, ...]:
    plain = one.advantage
    return (
        sanitize(", ".join(one.rulesets)),
        sanitize(one.new.label),
        sanitize(one.base.label),
        str(plain.deals),
        format_signed(plain.elo),
        format_range(plain.elo_low, plain.elo_high),
        format_signed(found.elo),
        format_range(found.elo_low, found.elo_high),
        f"{found.factor:.2f}",
        f"{found.factor_low:.2f} .. {found.factor_high:.2f}",
    )


def encode_adjusted_csv(comparisons: Iterable[Comparison], tournament: str) -> str:
    """Return the same rows as CSV, with the scores and the functions that said what luck was."""
    rows = [[tournament, *list_cells(one, one.adjusted)] for one in comparisons if one.adjusted]
    return write_csv(("tournament", *ADJUSTED_HEAD), rows)


def list_cells(one: Comparison, found: Adjustment) -> list[Cell]:
    """Return a pair with luck and without under `ADJUSTED_HEAD`."""
    return [
        *(", ".join(one.rulesets), one.new.label, one.base.label, one.advantage.deals),
        *(getattr(one.advantage, figure) for figure in FIGURES),
        *(getattr(found, figure) for figure in (*FIGURES, *FACTORS)),
        *(str(one.exact).lower(), " ".join(found.functions)),
    ]
