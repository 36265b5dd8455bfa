"""`malice play`: some games at one table, right now, or the deal of the day."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from malice.tournaments.commands.editors import complete_bots, complete_rulesets
from malice.tournaments.commands.exit_codes import interrupt_on_signals
from malice.tournaments.commands.options import (
    from_option,
    isolation_options,
    json_option,
    name_fit_rulesets,
    print_people,
    print_standings,
    print_stderr,
    read_table_positions,
    require_seats,
)
from malice.tournaments.commands.people import (
    deal_positions_anew,
    describe_course,
    find_plan_hints,
    play_at_page,
    play_daily,
    seat_people,
)
from malice.tournaments.errors import Stopped
from malice.tournaments.league.opening import open_store

if TYPE_CHECKING:
    from malice.referee.batch import BatchSeat
    from malice.referee.records import Layer
    from malice.tournaments.league.people import PeopleList
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.hints import Hints
    from malice.tournaments.running.opening import Playing
    from malice.tournaments.running.orders import MatchOrder
    from malice.tournaments.running.plan import Plan
    from malice.tournaments.terminal.watching import Screen


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...", shell_complete=complete_bots)
@click.option(
    "--ruleset",
    default="standard",
    show_default=True,
    help="The ruleset to play.",
    shell_complete=complete_rulesets,
)
@click.option(
    "--deals",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Deals; each is played in every rotation of seats.",
)
@click.option("--series", is_flag=True, help="Play until every series has a winner, if the ruleset plays series.")
@click.option(
    "--move-ms",
    type=click.IntRange(1),
    metavar="MS",
    help="Time for each action, and 100 ms margin; no bank.",
)
@click.option("--no-clock", is_flag=True, help="No time limit, for a bot in a debugger.")
@click.option("--jobs", type=click.IntRange(1), help="Games at a time [default: one for each processor].")
@click.option("--seed", help="Determines every card.")
@from_option
@click.option("--new-cards", is_flag=True, help="With --from: deal anew all cards that you do not know there.")
@click.option("--db", type=click.Path(dir_okay=False, path_type=Path), help="Keep the games in this league.")
@click.option("--as", "names", multiple=True, metavar="NAME", help="Your name there; repeat it for several people.")
@click.option("--hint", metavar="BOT", help="A bot that you may ask what it would play: h gives a hint.")
@click.option("--replay", "replays", is_flag=True, help="Print every game action by action.")
@click.option("--watch", is_flag=True, help="Show the table after each action, as it is played.")
@click.option(
    "--delay",
    type=click.IntRange(0),
    metavar="MS",
    help="How long --watch shows an action [default: 300 in a terminal, else 0].",
)
@click.option("--stderr", is_flag=True, help="Show what the bots print to stderr, each line with the bot's label.")
@click.option("--quiet", is_flag=True, help="Print only the ranking: no plan, no progress, no line for each game.")
@click.option("--web", is_flag=True, help="Play in the browser; the games of bots alone have no seat there.")
@click.option("--port", type=click.IntRange(0, 65535), default=8750, show_default=True, help="With --web; 0: any.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --web: the address to listen on.")
@click.option("--invite", is_flag=True, help="With --web: print an address and a QR code for each seat.")
@click.option("--no-browser", is_flag=True, help="With --web: open no browser.")
@click.option("--daily", is_flag=True, help="The deal of the day, for you alone: leave with q, and go on later.")
@click.option(
    "--day",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="With --daily: that of another day, YYYY-MM-DD.",
)
@isolation_options
@json_option
@click.pass_context
def play(
    context: click.Context,
    bots: tuple[str, ...],
    ruleset: str,
    deals: int,
    series: bool,
    move_ms: int | None,
    no_clock: bool,
    jobs: int | None,
    seed: str | None,
    begin: str | None,
    new_cards: bool,
    db: Path | None,
    names: tuple[str, ...],
    hint: str | None,
    replays: bool,
    watch: bool,
    delay: int | None,
    stderr: bool,
    quiet: bool,
    web: bool,
    port: int,
    host: str,
    invite: bool,
    no_browser: bool,
    daily: bool,
    day: datetime | None,
    isolation: Layer | None,
    required: bool,
    json: bool,
) -> None:
    """Let bots play at one table, and show the results. One of them may be `you`.

    Example: malice play greedy "node mybot.js" --deals 10

    `you` play in this terminal, without a clock; for a bot in a folder of that name, write ./you. Each deal is played
    again with the seats swapped. Games that you play or watch are played one at a time; Ctrl-C ends them.

    --from begins where another game stood: malice play you planner --from friday.db#0.0.1.1/57

    The deal of the day is the same for everybody, and can be solved; you play it alone: malice play you --daily

    --db keeps what people play in a league of their own, and --as their names beside it; `malice standings` then tells
    what each has reached, and `malice forget` takes a name off: malice play you planner --db people.db --as ann
    """
    from malice.tournaments.entries.bots import PERSON
    from malice.tournaments.league.positions import find_origin, recall_end
    from malice.tournaments.running.orders import MatchOrder
    from malice.tournaments.sanitizer import sanitize

    if names and db is None:
        raise click.UsageError("--as needs --db: the league that keeps the games of that name")
    if len(names) > bots.count(PERSON.manifest.name):
        raise click.UsageError(f"--as: expected at most a name for each `you`, got {len(names)}")
    if daily:
        interrupt_on_signals()
        at = (host, port, False, not no_browser, "") if web else None
        play_daily(
            [name for name in context.params if _is_given(context, name)],
            bots,
            ruleset,
            day.date() if day else None,
            db,
            names,
            at,
        )
        return
    show = Show(replays, watch, delay, stderr, quiet, json, hint)
    person = PERSON.manifest.name in bots
    _refuse_contradictions(
        {
            "--watch shows every hand: it cannot show games that you play in": watch and person,
            "--watch draws in the terminal that --stderr writes to: add 2>FILE": watch
            and stderr
            and _shares_terminal(),
            "--hint is for people: name `you` among the bots": hint is not None and not person,
            "--delay needs --watch": delay is not None and not watch,
            "--no-clock and --move-ms contradict each other": no_clock and move_ms is not None,
            "--jobs: games that you watch or play in are played one at a time": (watch or person) and jobs is not None,
            "--quiet and --replay contradict each other": quiet and replays,
            "--day needs --daily": day is not None,
            "--web seats people: name `you` among the bots": web and not person,
            "--web shows one table: it contradicts --watch, --replay, --json, --stderr and --series": web
            and (watch or replays or json or stderr or series),
            "--port, --host, --invite and --no-browser need --web": not web
            and (invite or no_browser or _is_given(context, "port") or _is_given(context, "host")),
            "--from contradicts --ruleset, --deals and --series: the positions say what is played": begin is not None
            and (series or _is_given(context, "ruleset") or _is_given(context, "deals")),
            "--new-cards needs --from, and you alone among bots": new_cards
            and (begin is None or bots.count(PERSON.manifest.name) != 1),
            "--from contradicts --db: what begins in the midst is no game of a league": begin is not None
            and db is not None,
        }
    )
    interrupt_on_signals()
    positions = read_table_positions(begin, len(bots)) if begin else ()
    if new_cards:
        positions = deal_positions_anew(positions, bots.index(PERSON.manifest.name), seed)
    if positions:
        ruleset, deals = positions[0].ruleset, len(positions)
    else:
        require_seats(bots, ruleset)
    people, labels = seat_people(db, names)
    order = MatchOrder(
        bots=bots,
        rulesets=(ruleset,),
        deals=deals,
        positions=positions,
        origin=find_origin(begin) if begin else "",
        series=series,
        move_ms=move_ms,
        timed=not no_clock,
        seed=seed,
        jobs=1 if watch or person else jobs,
        isolation=isolation,
        required=required,
        stderr=stderr,
        people=labels,
    )
    if web:
        play_at_page(
            order,
            bots.count(PERSON.manifest.name),
            (host, port, invite, not no_browser, hint or ""),
            db,
            people,
            recall_end(begin) if begin else "",
        )
        return
    _play_table(order, db, show, people)
    if begin and person and not json and (end := recall_end(begin)):
        click.echo(sanitize(end))


class Show(NamedTuple):
    """What `malice play` shows."""

    replays: bool
    watch: bool
    delay: int | None
    stderr: bool
    quiet: bool
    json: bool
    hint: str | None
    """The bot that people may ask."""


def _play_table(order: MatchOrder, db: Path | None, show: Show, people: PeopleList | None) -> None:
    """Play the games, and print the finished ones, even if the run stops."""
    from tempfile import TemporaryDirectory

    from malice.tournaments.entries.names import Names
    from malice.tournaments.running.opening import RunTerms
    from malice.tournaments.running.orders import read_order
    from malice.tournaments.running.run import run_tournament

    with (
        TemporaryDirectory(prefix="malice-") as folder,
        open_store(db or Path(folder, "play.db"), create=True) as store,
        open(os.devnull, "w") if show.quiet else nullcontext(sys.stderr) as progress,
    ):
        find = Names(store.path, store, people=True, origin=order.find_origin()).find
        with name_fit_rulesets():
            plan = read_order(store, order, find)
        if people and plan.guests:
            people.write()
        names = people.names if people else {}
        hints = find_plan_hints(plan, find, show.hint) if show.hint else None
        resume = ["malice", *sys.argv[1:]] if db else []
        try:
            terms = RunTerms(plan.config.jobs, resume, playing=_choose_playing(plan, show, names, hints))
            run_tournament(store, plan, progress, terms)
        except Stopped:
            if not store.is_empty():
                _print_games(store, show, people, hints, ranked=not plan.guests)
            raise
        _print_games(store, show, people, hints)


def _choose_playing(plan: Plan, show: Show, names: Mapping[str, str], hints: Hints | None) -> Playing | None:
    """How the games are played: in this terminal, or in referee processes."""
    from malice.tournaments.terminal.person import Person
    from malice.tournaments.terminal.watching import Screen

    out = sys.stderr if show.json else sys.stdout
    if show.watch or plan.guests:
        people = {label: Person(label, sys.stdin.buffer, out, names, hints and hints.copy()) for label in plan.guests}
        return _play_at_terminal(people, Screen(out, os.environ, show.delay) if show.watch else None)
    return _play_in_background() if show.stderr else None


def _refuse_contradictions(contradictions: dict[str, bool]) -> None:
    """Refuse options that contradict each other.

    Args:
        contradictions: for each sentence, whether it applies.

    Raises:
        click.UsageError: with the first sentence that applies.
    """
    for sentence, applies in contradictions.items():
        if applies:
            raise click.UsageError(sentence)


def _shares_terminal() -> bool:
    """Tell whether stdout and stderr both go to a terminal."""
    return sys.stdout.isatty() and sys.stderr is not None and sys.stderr.isatty()


def _play_at_terminal(people: Mapping[str, BatchSeat], screen: Screen | None) -> Playing:
    """The way to play in this process, for a watcher or with people.

    Args:
        people: by label.
        screen: shows the games to a watcher.
    """
    from malice.tournaments.running.in_process import InProcess
    from malice.tournaments.terminal.watching import Watcher

    return InProcess(
        people, Watcher(screen) if screen else None, lambda report: print_stderr(report.label, report.line)
    )


def _play_in_background() -> Playing:
    """The way to play in referee processes that prints stderr, and therefore no progress bar."""
    from functools import partial

    from malice.tournaments.running.coordinator import play_batches

    return partial(play_batches, on_stderr=lambda report: print_stderr(report.label, report.line))


def _print_games(store: Store, show: Show, people: PeopleList | None, hints: Hints | None, ranked: bool = True) -> None:
    """Print the games and what follows from them.

    Args:
        store: the league.
        show: what is shown.
        people: those of a league that is kept.
        hints: the bot that people could ask: it says what it would have played.
        ranked: whether a ranking follows; somebody who leaves early has played too little for one.
    """
    import msgspec

    from malice.tournaments.league.people import is_of_people, show_names
    from malice.tournaments.league.ranking import compute_league_standings
    from malice.tournaments.league.series import score_league_series
    from malice.tournaments.terminal.results import describe_open_series, describe_verdicts, format_game_line
    from malice.tournaments.terminal.transcript import format_transcript

    contents = store.read()
    series = score_league_series(contents)
    by_key = sorted(contents.games, key=lambda game: game.key)
    if show.json:
        games = [
            msgspec.to_builtins(game)
            | {"key": str(game.key), "series": score.points if score else None}
            | {"stray_lines": [seat.stray_lines for seat in store.record(game.key).seats]}
            for game in by_key
            for score in [series.get(game.key)]
        ]
        ranking = [row for each in compute_league_standings(contents) for row in msgspec.to_builtins(each.rows)]
        click.echo(msgspec.json.encode({"games": games, "ranking": ranking}))
        return
    if show.replays:
        for record in store.records():
            for line in format_transcript(record):
                click.echo(line)
            click.echo()
    names = people.names if people else {}
    several = len(store.league().tournaments) > 1
    for game in () if show.quiet else by_key:
        line = format_game_line(show_names(game, names), series.get(game.key))
        click.echo(f"{store.tournament().name}:{line.lstrip()}" if several else line)
        for line in describe_verdicts(store.record(game.key)):
            click.echo(line)
        for line in describe_course(store, game, names, hints):
            click.echo(f"          {line}")
    if not show.quiet:
        for line in describe_open_series(contents):
            click.echo(line)
    if people and is_of_people(store.league()):
        print_people(store)
    elif ranked:
        print_standings(store)
