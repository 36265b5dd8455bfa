"""What a climb found: as a line for people, as a struct for programs, and the evidence as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from malice.referee.nouns import format_count
from malice.tournaments.entries.bots import Bot
from malice.tournaments.ladder.climb import Climb, Opposition
from malice.tournaments.ladder.ladders import Ladder
from malice.tournaments.ratings.placement import Placement
from malice.tournaments.sanitizer import sanitize
from malice.tournaments.terminal.transcript import format_transcript


class RungResult(Struct, frozen=True):
    """What a bot did against a rung."""

    label: str
    rating: float
    deals: int
    counts: tuple[int, ...]
    """Deals by points, from none to all."""
    score: float | None
    """Its share of the points, 0..1."""
    faults: int
    """Of the bot."""
    spoilt: int
    """Deals that count for nobody, since the rung itself failed."""
    ms: float | None
    """Mean thinking time of the bot for an action."""


class LeftOut(Struct, frozen=True):
    """A rung that was not played against."""

    label: str
    why: str


class Artifacts(Struct, frozen=True):
    """Paths of what shows where the bot is weak; None where there is nothing to show."""

    game: str | None = None
    """The worst game as text: one that a verdict ended, or else one lost to the weakest rung."""
    record: str | None = None
    """The same as JSON, as referees write it."""
    verdict: str | None = None
    """What the referee said of it, with the last lines exchanged."""
    stderr: str | None = None


class Metrics(Struct, frozen=True):
    """Figures that an optimiser may weigh besides the rating."""

    games: int
    score: float | None
    """The share of all points; it hangs on who the opponents were."""
    faults: int
    ms: float | None
    """Mean thinking time for an action."""


class RateReport(Struct, frozen=True):
    """The whole answer of `malice rate`."""

    bot: str
    hash: str
    ladder: str
    passed: bool
    """Whether the bot passed its check; if not, it has not played."""
    failed: tuple[str, ...]
    """The titles of the steps of its check that failed, each with what was seen."""
    rating: float | None
    """In Elo; where a bot plays alone, how many deals of 1,000 it wins."""
    low: float | None
    high: float | None
    """The 95 % interval; one end alone is a bound."""
    deals: int
    above: str | None
    """The highest rung that is not rated higher."""
    below: str | None
    """The lowest rung that is rated higher."""
    seed: str
    """Gives the same cards again with `--seed`; empty where the ladder decides the deals."""
    rungs: tuple[RungResult, ...]
    left_out: tuple[LeftOut, ...]
    metrics: Metrics
    artifacts: Artifacts


def make_report(
    bot: Bot,
    ladder: Ladder,
    *,
    climb: Climb | None = None,
    failed: Sequence[str] = (),
    left_out: Sequence[LeftOut] = (),
    seed: str = "",
) -> RateReport:
    """Report what a climb found, or why there was none."""
    placement = climb.place() if climb else Placement(None, None, None, 0)
    oppositions = climb.oppositions if climb else []
    rungs = tuple(map(_make_result, oppositions))
    above, below = find_neighbours(ladder, placement)
    points = sum(each.meeting.points for each in oppositions)
    actions = sum(each.actions for each in oppositions)
    return RateReport(
        bot=bot.manifest.name,
        hash=bot.hash,
        ladder=ladder.name,
        passed=not failed,
        failed=tuple(failed),
        rating=placement.elo,
        low=placement.low,
        high=placement.high,
        deals=placement.deals,
        above=above,
        below=below,
        seed=seed,
        rungs=rungs,
        left_out=tuple(left_out),
        metrics=Metrics(
            games=sum(each.games for each in oppositions),
            score=points / placement.deals if placement.deals else None,
            faults=sum(each.faults for each in oppositions),
            ms=sum(each.used_ms for each in oppositions) / actions if actions else None,
        ),
        artifacts=Artifacts(),
    )


def _make_result(each: Opposition) -> RungResult:
    deals = sum(each.counts)
    return RungResult(
        label=each.rung.label,
        rating=each.rung.rating,
        deals=deals,
        counts=tuple(each.counts),
        score=each.meeting.points / deals if deals else None,
        faults=each.faults,
        spoilt=each.spoilt,
        ms=each.used_ms / each.actions if each.actions else None,
    )


def find_neighbours(ladder: Ladder, placement: Placement) -> tuple[str | None, str | None]:
    """The rungs just below a rating, or at it, and just above; of a bound alone the one on whose side it lies."""
    at = next((end for end in (placement.elo, placement.low, placement.high) if end is not None), None)
    if at is None:
        return None, None
    lower = [rung.label for rung in ladder.rungs if rung.rating <= at]
    higher = [rung.label for rung in ladder.rungs if rung.rating > at]
    if placement.elo is None and placement.low is None:
        lower = []
    elif placement.elo is None:
        higher = []
    return (lower[-1] if lower else None), (higher[0] if higher else None)


def format_answer(report: RateReport, ladder: Ladder) -> str:
    """The answer in one line."""
    name, faults = sanitize(report.bot), format_count(report.metrics.faults, "fault")
    if not report.passed:
        return f"{name}: no rating on {ladder.name}, since it fails its check: {sanitize(report.failed[0])}"
    figure = describe_placement(Placement(report.rating, report.low, report.high, report.deals))
    if report.above and report.below:
        where = f", between {report.above} and {report.below}"
    elif report.above:
        where = f", above {report.above}"
    elif report.below:
        where = f", below {report.below}"
    else:
        where = ""
    if ladder.alone:
        return f"{name}: wins {figure} of 1,000 deals alone on {ladder.name}{where}; {faults}"
    return f"{name}: {figure} on {ladder.name}{where}; {faults}"


def describe_placement(placement: Placement) -> str:
    """A rating in words, with its interval or its bound."""
    if placement.elo is None:
        if placement.low is not None:
            return f"at least {placement.low:,.0f}"
        return f"at most {placement.high:,.0f}" if placement.high is not None else "no rating yet"
    return f"{placement.elo:,.0f}" + ("" if placement.half is None else f" ±{placement.half:,.0f}")


def format_rungs(report: RateReport, ladder: Ladder) -> list[tuple[str, ...]]:
    """A row for each rung that was met: who, its rating, deals, score, time."""
    rows: list[tuple[str, ...]] = []
    for each in report.rungs:
        if each.deals or each.spoilt:
            score = "n/a" if each.score is None else f"{each.score:.1%}"
            ms = "n/a" if each.ms is None else f"{each.ms:.2f}"
            who = "alone" if ladder.alone else each.label
            rating = "" if ladder.alone else f"{each.rating:,.0f}"
            rows.append((who, rating, str(each.deals), score, str(each.faults), ms))
    return rows


HEAD = ("against", "rating", "deals", "score", "faults", "ms")


def write_artifacts(climb: Climb, folder: Path) -> Artifacts:
    """Write the worst game, its verdict and the bot's stderr into a folder, which is made if it does not exist.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    record = climb.worst
    if record is None:
        return Artifacts()
    game, raw = folder / "worst-game.txt", folder / "worst-game.json"
    game.write_text("".join(f"{line}\n" for line in format_transcript(record)), encoding="utf-8")
    raw.write_bytes(msgspec.json.encode(record))
    found = Artifacts(str(game), str(raw))
    for fault in record.faults:
        if fault.seat in climb.find_own(record):
            verdict, stderr = folder / "verdict.txt", folder / "stderr.txt"
            lines = (f"{fault.code}: {fault.sentence}", *([fault.exit] if fault.exit else []), "", *fault.lines)
            verdict.write_text("".join(f"{sanitize(line)}\n" for line in lines), encoding="utf-8")
            stderr.write_text(fault.stderr, encoding="utf-8")
            return Artifacts(str(game), str(raw), str(verdict), str(stderr))
    return found
