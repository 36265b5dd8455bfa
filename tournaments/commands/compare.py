"""`malice compare`: is one bot better than another?"""

from __future__ import annotations

import math
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from malice.tournaments.commands.cluster import dask_options, open_farm
from malice.tournaments.commands.editors import complete_bots, complete_rulesets
from malice.tournaments.commands.event_output import STDOUT, EventOutput, events_option, tell_events
from malice.tournaments.commands.exit_codes import FINDINGS, interrupt_on_signals
from malice.tournaments.commands.options import (
    from_option,
    isolation_options,
    json_option,
    name_fit_rulesets,
    parse_span,
    read_table_positions,
)
from malice.tournaments.errors import Stopped
from malice.tournaments.league.opening import open_store

if TYPE_CHECKING:
    from malice.referee.records import Layer
    from malice.tournaments.league.comparison import Comparison
    from malice.tournaments.league.store import Store
    from malice.tournaments.ratings.sprt import Model
    from malice.tournaments.running.opening import RunTerms
    from malice.tournaments.running.plan import Plan


@click.command()
@click.argument("new", metavar="NEW", shell_complete=complete_bots)
@click.argument("base", metavar="BASE", shell_complete=complete_bots)
@click.option("--opponents", metavar="A,B", help="Let both play against these bots, on the same cards.")
@click.option(
    "--ruleset",
    "rulesets",
    multiple=True,
    help="A ruleset; may be repeated [default: standard].",
    shell_complete=complete_rulesets,
)
@click.option("--max-deals", type=click.IntRange(1), help="Give up after so many deals [default: 20000].")
@click.option("--deals", type=click.IntRange(1), help="Play exactly so many deals, without a test.")
@click.option("--elo0", type=float, help="Not better means this much [default: 0].")
@click.option("--elo1", type=float, help="Better means this much [default: 20].")
@click.option("--model", type=click.Choice(["normalised", "logistic"]), help="The kind of Elo [default: normalised].")
@click.option("--time", "span", metavar="SPAN", help="Stop after 10m, 90s or 1h30m, whatever the answer.")
@click.option("--no-clock", is_flag=True, help="No time limit, for bots that are not to be judged by it.")
@click.option("--jobs", type=click.IntRange(1), help="Games at a time [default: one for each processor].")
@click.option("--seed", help="Determines every card.")
@from_option
@click.option("--db", type=click.Path(dir_okay=False, path_type=Path), help="Keep the games; the same command goes on.")
@dask_options
@events_option
@isolation_options
@json_option
@click.pass_context
def compare(
    ctx: click.Context,
    new: str,
    base: str,
    opponents: str | None,
    rulesets: tuple[str, ...],
    max_deals: int | None,
    deals: int | None,
    elo0: float | None,
    elo1: float | None,
    model: Model | None,
    span: str | None,
    no_clock: bool,
    jobs: int | None,
    seed: str | None,
    begin: str | None,
    db: Path | None,
    scheduler: str | None,
    min_factor: float | None,
    patience: str | None,
    events_to: str | None,
    isolation: Layer | None,
    required: bool,
    json: bool,
) -> None:
    """Let two bots play deal after deal, each in both seats, until a test says whether NEW is better than BASE.

    Example: malice compare mybot mybot@HEAD

    With --from each position is a deal: both play it in every seat.

    Exit 0 if NEW is better, 10 if not, 11 if the deals or the time did not decide. Ctrl-C prints
    what there is and exits 3.
    """
    from dataclasses import replace
    from tempfile import TemporaryDirectory

    from malice.tournaments.entries.kept_bots import KeptBots
    from malice.tournaments.entries.names import Names
    from malice.tournaments.running.orders import ComparisonOrder, read_order

    bots = (new, base, *(opponents.split(",") if opponents else ()))
    if begin and rulesets:
        raise click.UsageError("--from: the positions name the ruleset: it contradicts --ruleset")
    positions = read_table_positions(begin, 2) if begin else ()
    rulesets = (positions[0].ruleset,) if positions else rulesets or ("standard",)
    order = ComparisonOrder(
        bots=bots,
        rulesets=rulesets,
        deals=deals,
        positions=positions,
        max_deals=max_deals,
        elo0=elo0,
        elo1=elo1,
        model=model,
        timed=not no_clock,
        seed=seed,
        jobs=jobs,
        isolation=isolation,
        required=required,
    )
    if order.contradicts_itself:
        raise click.UsageError("--deals plays without a test: it contradicts --max-deals, --elo0, --elo1 and --model")
    if json and events_to == STDOUT:
        raise click.UsageError("--json contradicts --events -: both write to stdout")
    interrupt_on_signals()
    until = math.inf if span is None else (datetime.now().astimezone() + parse_span(span, "--time")).timestamp()
    with (
        tell_events(events_to, db) as output,
        TemporaryDirectory(prefix="malice-") as folder,
        open_store(db or Path(folder, "compare.db"), create=True) as store,
        name_fit_rulesets(),
    ):
        plan = read_order(store, order, Names(store.path, store).find)
        terms = _make_terms(plan, db, until, output)
        kept = KeptBots(store.path)
        with open_farm(scheduler, kept, min_factor, patience) as farm:
            if farm:
                terms = replace(terms, elsewhere=farm, kept=kept, jobs=farm.slots)
            found = _play(store, plan, terms, output, json=json)
        ctx.exit(FINDINGS[found.finding])


def _make_terms(plan: Plan, db: Path | None, until: float, output: EventOutput) -> RunTerms:
    from malice.tournaments.entries.kept_bots import KeptBots
    from malice.tournaments.running.opening import RunTerms

    resume = ["malice", *sys.argv[1:]] if db else []
    return RunTerms(plan.config.jobs, resume, until, kept=KeptBots(db) if db else None, events=output.events)


def _play(store: Store, plan: Plan, terms: RunTerms, output: EventOutput, *, json: bool) -> Comparison:
    """Play until there is an answer, and print it; if the run stops, print what there is."""
    from malice.tournaments.running.run import run_tournament

    try:
        if run_tournament(store, plan, sys.stderr, terms):
            output.reason = "time"
    except Stopped:
        if not store.is_empty() and plan.config.name in store.league().tournaments:
            _print_comparison(store, output, json=json, adjusted=False)  # whoever stops it waits for nothing more
        raise
    return _print_comparison(store, output, json=json, adjusted=True)


def _print_comparison(store: Store, output: EventOutput, *, json: bool, adjusted: bool) -> Comparison:
    import msgspec

    from malice.tournaments.league.comparison import read_comparison
    from malice.tournaments.running.progress import ReplayProgress
    from malice.tournaments.running.result_events import ComparisonResult
    from malice.tournaments.terminal.comparisons import format_comparison

    try:
        with ReplayProgress(sys.stderr) as progress:
            found = read_comparison(store, adjusted=adjusted, watcher=progress)
    except KeyboardInterrupt:  # to play games again may take a while, and the answer is known without it
        found = read_comparison(store)
    if json:
        click.echo(msgspec.json.encode(found))
    else:
        for line in format_comparison(found):
            click.echo(line)
    output.tell(ComparisonResult(comparison=found))
    return found
