"""A comparison as text: a sentence to quote, its deals, the figures, and every two entries with luck and without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from malice.referee.nouns import format_count
from malice.tournaments.league.comparison import ComparedEntry, Comparison, RulesetScore
from malice.tournaments.ratings.comparison import Adjustment, Advantage
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.tables import Cell, format_number, format_table, write_csv

BAR = 40
"""Characters of the longest bar."""
OF_TWO_GAMES = ("lost both", "lost one, drew one", "one each", "won one, drew one", "won both")


def format_comparison(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of a comparison."""
    if comparison.fit:
        look = " and one look" if comparison.anytime else ""
        los = _format_los(comparison.fit.lead.los)
        yield f"{comparison.fit.sentence}, LOS {los}; plain 95 % of this pair alone{look}"
        yield f"the games of the two alone: {comparison.sentence}"
    else:
        yield comparison.sentence
    if not comparison.exact:
        yield "a test chose when to stop, so that is not a 95 % interval"
    elif comparison.answer and comparison.advantage.nelo is not None:
        yield "the test chose when to stop: the estimate and its 95 % interval are corrected for that"
    yield ""
    yield _describe_games(comparison)
    yield from _draw_deals(comparison)
    yield ""
    yield from _describe_figures(comparison)
    yield ""
    yield from format_table(
        ("bot", "games", "faults", "ms/action", "CPU ms/action", "time", "CPU time"),
        [_format_side(side) for side in (comparison.new, comparison.base)],
        left=(0,),
    )
    if len(comparison.meetings) > 1:
        yield ""
        yield from format_table(
            ("ruleset", "bot", "against", "games", "score", "deal and seat"),
            [_format_meeting(meeting) for meeting in comparison.meetings],
            left=(0, 1, 2),
        )


def _describe_games(comparison: Comparison) -> str:
    new, base = sanitize(comparison.new.label), sanitize(comparison.base.label)
    games = sum(meeting.games for meeting in comparison.meetings)
    where = f"{', '.join(map(sanitize, comparison.rulesets))}: {format_count(games, 'game')}"
    if comparison.opponents:
        return f"{new} and {base} against {', '.join(map(sanitize, comparison.opponents))}, {where}"
    return f"{new} against {base}, {where}"


def _draw_deals(comparison: Comparison) -> Iterator[str]:
    """Yield a bar for each score of a deal; scores in between that no deal had are left out."""
    counts = comparison.advantage.counts
    most, last = max(*counts, 1), len(counts) - 1
    rows = [(_name_score(comparison, place / last), count) for place, count in enumerate(counts)]
    shown = [row for place, row in enumerate(rows) if row[1] or place in (0, last // 2, last)]
    width, digits = max(len(name) for name, _ in shown), len(str(most))
    for name, count in shown:
        yield f"{name:<{width}}  {count:>{digits}}  {'#' * -(-BAR * count // most)}".rstrip()


def _name_score(comparison: Comparison, score: float) -> str:
    if comparison.opponents:
        return f"{200 * score - 100:+z.1f} %"
    return OF_TWO_GAMES[round(4 * score)] if len(comparison.advantage.counts) == 5 else f"{100 * score:.1f} %"


def _describe_figures(comparison: Comparison) -> Iterator[str]:
    found = comparison.advantage
    mark = "" if comparison.exact else ", not 95 %"
    yield f"Elo    {format_signed(found.elo)} ({format_range(found.elo_low, found.elo_high)}{mark})"
    yield f"nElo   {format_signed(found.nelo)}"
    played = "" if found.played == found.score else f", {_format_score(comparison, found.played)} as played"
    yield f"{_describe_score(comparison, found)}{mark}){played}"
    if at_any := comparison.anytime:
        elos = format_range(at_any.elo_low, at_any.elo_high)
        yield f"so far Elo {elos}: 95 % of all looks together, whenever you stop"
    if not comparison.answer:  # after a test they would mean something else
        yield f"LOS    {_format_los(found.los)}"
        yield f"p      {_format_p(found.p)}, by flipping the signs of deals"
    if answer := comparison.answer:
        test = answer.test
        yield (
            f"LLR    {answer.llr:.2f} ({answer.lower:.2f} .. {answer.upper:.2f}), H0: {test.elo0:g} and"
            f" H1: {test.elo1:g} Elo, {test.model}"
        )
    if comparison.adjusted:
        yield _describe_adjusted(comparison, comparison.adjusted, ", not 95 %" if comparison.answer else mark)
    if len(comparison.meetings) == 1:
        yield f"deal and seat explain {_describe_luck(comparison.meetings[0])} of the variance of games"


def _describe_adjusted(comparison: Comparison, found: Adjustment, mark: str) -> str:
    """The figures without luck, and how many times the games would say as much with it."""
    functions = ", ".join(function[:8] for function in found.functions)
    elo = f"{format_signed(found.elo)} Elo ({format_range(found.elo_low, found.elo_high)}{mark})"
    return (
        f"without luck ({functions}): {elo}, {' '.join(_describe_score(comparison, found).split())}{mark}),"
        f" as good as {found.factor:.2f} times the games ({found.factor_low:.2f} .. {found.factor_high:.2f})"
    )


def _describe_score(comparison: Comparison, found: Advantage | Adjustment) -> str:
    """The score with its interval; against others, how much more the new bot scores than the base."""
    others = bool(comparison.opponents)
    low, high = (
        None if each is None else 200 * each - 100 if others else 100 * each
        for each in (found.score_low, found.score_high)
    )
    score = _format_score(comparison, found.score)
    return f"{'lead ' if others else 'score'}  {score} ({format_number(low, 1)} .. {format_number(high, 1)}"


def _format_score(comparison: Comparison, score: float | None) -> str:
    if score is None:
        return "n/a"
    return f"{200 * score - 100:+z.1f} %" if comparison.opponents else f"{100 * score:.1f} %"


def _describe_luck(meeting: RulesetScore) -> str:
    if meeting.luck is None:
        return "n/a"
    interval = ""
    if meeting.luck_low is not None and meeting.luck_high is not None:
        interval = f" ({100 * meeting.luck_low:z.0f} .. {100 * meeting.luck_high:z.0f})"
    return f"{100 * meeting.luck:z.0f} %{interval}"


def _format_side(side: ComparedEntry) -> tuple[str, ...]:
    return (
        sanitize(side.label),
        str(side.games),
        str(side.faults),
        format_number(side.ms, 2),
        format_number(side.cpu_ms, 2),
        f"{side.seconds:.1f} s",
        f"{side.cpu_seconds:.1f} s",
    )


def _format_meeting(meeting: RulesetScore) -> tuple[str, ...]:
    return (
        sanitize(meeting.ruleset),
        sanitize(meeting.first),
        sanitize(meeting.second),
        str(meeting.games),
        "n/a" if meeting.score is None else f"{100 * meeting.score:.1f} %",
        _describe_luck(meeting),
    )


def _format_los(los: float | None) -> str:
    return "n/a" if los is None else f"{100 * los:.1f} %"


def _format_p(p: float | None) -> str:
    return "n/a" if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def format_signed(value: float | None) -> str:
    """A whole figure with its sign, or n/a for None."""
    return "n/a" if value is None else f"{value:+z.0f}"


def format_range(low: float | None, high: float | None) -> str:
    """The ends of an interval; n/a for an end that is not known."""
    return f"{format_number(low, 0)} .. {format_number(high, 0)}"


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
    """Encode the same rows as CSV, with the scores and the functions that said what luck was."""
    rows = [[tournament, *list_cells(one, one.adjusted)] for one in comparisons if one.adjusted]
    return write_csv(("tournament", *ADJUSTED_HEAD), rows)


def list_cells(one: Comparison, found: Adjustment) -> list[Cell]:
    """A pair with luck and without under `ADJUSTED_HEAD`."""
    return [
        *(", ".join(one.rulesets), one.new.label, one.base.label, one.advantage.deals),
        *(getattr(one.advantage, figure) for figure in FIGURES),
        *(getattr(found, figure) for figure in (*FIGURES, *FACTORS)),
        *(str(one.exact).lower(), " ".join(found.functions)),
    ]
