"""Commands about games: some are played right now, and each can be looked at again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from referee.errors import DataError
from tournaments.commands.exit_codes import interrupt_on_signals
from tournaments.commands.options import (
    database_argument,
    isolation_options,
    json_option,
    open_store,
    play_open,
    print_standings,
    with_isolation,
)
from tournaments.errors import Stopped

if TYPE_CHECKING:
    from referee.records import Layer, Record
    from tournaments.league.config import Config
    from tournaments.league.store import Store
    from tournaments.running.run import Playing


@click.command(short_help="Let bots, or you, play at one table.")
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...")
@click.option("--ruleset", default="standard", show_default=True, help="The rules to play by.")
@click.option(
    "--deals",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Deals; each is played in every rotation of seats.",
)
@click.option("--series", is_flag=True, help="Play on until every series has a winner, where the ruleset plays series.")
@click.option("--move-ms", type=click.IntRange(1), metavar="MS", help="Time for each action, and no bank.")
@click.option("--no-clock", is_flag=True, help="All the time in the world, for a bot in a debugger.")
@click.option("--jobs", type=click.IntRange(1), help="Games at a time [default: one for each processor].")
@click.option("--seed", help="Fixes every card.")
@click.option("--db", type=click.Path(dir_okay=False, path_type=Path), help="Keep the games in this league.")
@click.option("--replay", "replays", is_flag=True, help="Print every game action by action.")
@click.option("--watch", is_flag=True, help="Show the table after each action, while it is played.")
@click.option(
    "--delay",
    type=click.IntRange(0),
    metavar="MS",
    help="How long --watch shows an action [default: 300 in a terminal, else 0].",
)
@click.option("--stderr", is_flag=True, help="Show what the bots print to stderr, each line with the bot's label.")
@click.option("--quiet", is_flag=True, help="Print the ranking alone: no plan, no progress, no line for each game.")
@isolation_options
@json_option
def play(
    bots: tuple[str, ...],
    ruleset: str,
    deals: int,
    series: bool,
    move_ms: int | None,
    no_clock: bool,
    jobs: int | None,
    seed: str | None,
    db: Path | None,
    replays: bool,
    watch: bool,
    delay: int | None,
    stderr: bool,
    quiet: bool,
    isolation: Layer | None,
    required: bool,
    json: bool,
) -> None:
    """Let bots play at one table and show how it went. One of them may be `you`.

    Example: malice play greedy "node mybot.js" --deals 10

    `you` play in this terminal, without a clock; a folder of that name is ./you. Remember that each deal comes back
    in other seats. Games with you, and games that you watch, are played one at a time; Ctrl-C leaves them.
    """
    from tempfile import TemporaryDirectory

    from tournaments.entries.bots import PERSON
    from tournaments.league.config import Config, check_config

    in_process = watch or PERSON.manifest.name in bots
    _refuse_contradictions(
        {
            "--watch shows every hand: it is not for games that you play in": watch and PERSON.manifest.name in bots,
            "--watch draws in the terminal that --stderr writes to: add 2>FILE": watch
            and stderr
            and _shares_terminal(),
            "--delay goes with --watch": delay is not None and not watch,
            "--no-clock leaves --move-ms nothing to say": no_clock and move_ms is not None,
            "--jobs: games that somebody watches or plays in come one by one": in_process and jobs is not None,
            "--quiet and --replay say the opposite": quiet and replays,
        }
    )
    interrupt_on_signals()
    config = Config(
        entries=bots,
        name="play",
        suspend_after=0,
        rulesets=(ruleset,),
        seats=len(bots),
        deals=deals,
        series=series,
        seed=seed,
        **_read_clock_options(move_ms, no_clock=no_clock),
    )
    config = with_isolation(check_config(config, "play"), isolation, required)
    with (
        TemporaryDirectory(prefix="malice-") as folder,
        open_store(db or Path(folder, "play.db"), create=True) as store,
        open(os.devnull, "w") if quiet else nullcontext(sys.stderr) as progress,
    ):
        again = ["malice", *sys.argv[1:]] if db else []
        face = _at_terminal(watch, delay, sys.stderr if json else sys.stdout) if in_process else None
        if stderr and not face:
            face = _play_in_background
        try:
            base, at_once = Path.cwd(), 1 if in_process else jobs or 0
            play_open(store, config, base, at_once, again, required, at_terminal=face, stderr=stderr, out=progress)
        except Stopped:
            if not store.is_empty():
                _print_games(store, replays, json, quiet)
            raise
        _print_games(store, replays, json, quiet)


def _refuse_contradictions(found: dict[str, bool]) -> None:
    """Refuse the first contradiction among options that was found.

    Args:
        found: by sentence, whether it is so.

    Raises:
        click.UsageError: one is.
    """
    for sentence, is_so in found.items():
        if is_so:
            raise click.UsageError(sentence)


def _shares_terminal() -> bool:
    """Tell whether stdout and stderr are both seen."""
    return sys.stdout.isatty() and sys.stderr is not None and sys.stderr.isatty()


def _read_clock_options(move_ms: int | None, *, no_clock: bool) -> dict[str, Any]:
    """Return the fields of a configuration that the options about time change."""
    from tournaments.league.config import MOST, ClockLines

    if no_clock:
        return {"clock": ClockLines(move_ms=None, bank_ms=None), "init_ms": MOST}
    return {} if move_ms is None else {"clock": ClockLines(move_ms=move_ms, bank_ms=None)}


@click.command(short_help="Print a game action by action.")
@database_argument
@click.argument("key")
def replay(db: Path, key: str) -> None:
    """Print a game action by action; KEY is table.deal.rotation, such as 0.12.1."""
    from referee.records import Key
    from tournaments.terminal.transcript import format_transcript

    with open_store(db) as store:
        for line in format_transcript(store.record(Key.parse(key))):
            click.echo(line)


@click.command(short_help="Print what referee and bot said in a game.")
@database_argument
@click.argument("key")
@click.option("--seat", type=click.IntRange(0), help="Only this one [default: each in turn].")
@json_option
def log(db: Path, key: str, seat: int | None, json: bool) -> None:
    """Print what referee and bot said to each other in a game, and what is kept of the bot's stderr.

    The lines are rebuilt from the record: requests as they were sent, but for their ids and the count of games,
    which are those of a fresh process; answers as far as they are kept, which is their action and their note. Where
    a verdict fell, its evidence follows as it was: the last messages, how the process ended, the start and the end
    of stderr. Of other games no stderr is kept.

    With --json each line is an object with seat, direction (>, <, verdict, time, exit, stderr), line and raw.
    """
    import msgspec

    from tournaments.terminal.dialogue import format_dialogue, rebuild_dialogue

    record, rngs, _ = _load_game(db, key)
    for number in range(len(record.entries)) if seat is None else (_seat(record, seat),):
        said = list(rebuild_dialogue(record, rngs, number))
        for line in map(msgspec.json.encode, said) if json else format_dialogue(record, number, said):
            click.echo(line)


@click.command(short_help="Put a stored game before another bot.")
@database_argument
@click.argument("key")
@click.argument("bot")
@click.option("--seat", type=click.IntRange(0), help="Whose place [default: of the entry of its name, or 0].")
@click.option("--all", "everything", is_flag=True, help="Print every move, not only those that differ.")
@click.option("--stderr", is_flag=True, help="Show what the bot prints to stderr, each line with its label.")
@isolation_options
@json_option
def rerun(
    db: Path,
    key: str,
    bot: str,
    seat: int | None,
    everything: bool,
    stderr: bool,
    isolation: Layer | None,
    required: bool,
    json: bool,
) -> None:
    """Put a game before a bot, and show where it would have played otherwise.

    BOT gets every request that the seat got, its rng and the state of its clock too, and has the time for each
    answer that the seat had. The game goes on as it was played, whatever BOT answers: the events tell it of
    actions that it did not choose, which may confuse a bot that relies on its memory. A verdict on BOT ends it.

    Example: malice rerun friday.db 0.12.1 ./mybot
    """
    import msgspec

    from referee.records import Isolation
    from tournaments.entries.bots import find_bot
    from tournaments.entries.builds import ensure_built
    from tournaments.running.isolation import shortcomings
    from tournaments.running.plan import list_league_files
    from tournaments.running.rerun import format_rerun
    from tournaments.running.rerun import rerun_game as rerun_game

    interrupt_on_signals()
    record, rngs, config = _load_game(db, key)
    config = with_isolation(config, isolation, required)
    found = ensure_built(find_bot(bot))
    name = found.manifest.name
    labels = [label for label, _ in record.entries]
    if seat is None:
        seat = labels.index(name) if name in labels else 0
    for line in shortcomings(config.isolation, [found.make_player(name)]):
        click.echo(line, err=True)
    around = Isolation(config.isolation, config.memory_mb, config.freeze, list_league_files(db), required)
    on_stderr = (lambda line: _show_stderr(name, line)) if stderr else None
    told = rerun_game(record, rngs, _seat(record, seat), found.make_player(name), config.init_ms, around, on_stderr)
    if json:
        shown = told.choices if everything else tuple(choice for choice in told.choices if not choice.agrees)
        click.echo(msgspec.json.encode(msgspec.structs.replace(told, choices=shown)))
        return
    for line in format_rerun(told, everything=everything):
        click.echo(line)


def _load_game(db: Path, key: str) -> tuple[Record, tuple[int, ...], Config]:
    """Return a game, the seeds that its bots were told, and the tournament."""
    from referee.records import Key
    from tournaments.league.schedule import Seeds

    with open_store(db) as store:
        record = store.record(Key.parse(key))
        order = Seeds(store.seed()).order(record.key, len(record.entries))
        return record, order.rngs, store.config()


def _seat(record: Record, seat: int) -> int:
    """Return a seat of the game, or say which there are."""
    if seat >= (seats := len(record.entries)):
        raise DataError(f"--seat: expected 0 to {seats - 1}, got {seat}")
    return seat


@click.command(short_help="Print every game as a line of JSON.")
@database_argument
@click.option("--views", is_flag=True, help="Print a line for every decision: what the seat saw, and what it played.")
def export(db: Path, views: bool) -> None:
    """Print every game as a line of JSON: who sat where, every action with its times and note, the result.

    With --views every decision is a line instead, for those who learn from games: key, ruleset, number of the action,
    seat, label, view and legal as the bot was told, played, and the seat's place and score in the end. What a verdict
    stands for is no decision.
    """
    from tournaments.league.export import encode_decisions, encode_game
    from tournaments.league.series import score_league_series

    with open_store(db) as store:
        series = {} if views else score_league_series(store)
        for record in store.records():
            lines = encode_decisions(record) if views else [encode_game(record, series.get(record.key))]
            click.echo(b"".join(lines), nl=False)


@click.command(short_help="Replay every game and check all of it.")
@database_argument
@json_option
def verify(db: Path, json: bool) -> None:
    """Replay every game, check cards, actions, results and digests; exit 5 if something does not hold.

    What is said of the tournament is compared with its games too; the last line but one names what nothing contradicts.
    """
    import msgspec

    from tournaments.league.verify import verify_league as verify_league
    from tournaments.running.progress import Progress

    with open_store(db) as store, Progress(len(store.keys()), 0, sys.stderr) as progress:
        verified = verify_league(store, progress.game)
    if json:
        click.echo(msgspec.json.encode(verified))
        return
    state = f"of {verified.planned}, not complete"
    if verified.complete:
        state = "complete but for the games of suspended bots" if verified.suspended else "complete"
    click.echo(f"games           {verified.games} ({state}), all of them replay")
    click.echo(f"commit          {verified.commit}")
    click.echo(f"seed            {verified.seed or 'told when the tournament is complete'}")
    click.echo(f"not covered     {', '.join(verified.not_covered)}")
    click.echo(f"tournament SHA  {verified.sha}")


def _at_terminal(watch: bool, delay: int | None, out: TextIO) -> Callable[[Sequence[str]], Playing]:
    """Return how games are played in this process, before a watcher or with the people that there are."""
    from tournaments.running.in_process import InProcess
    from tournaments.terminal.person import Person
    from tournaments.terminal.watching import Screen, Watcher

    def playing(people: Sequence[str]) -> Playing:
        guests = {label: Person(label, sys.stdin.buffer, out) for label in people}
        watcher = Watcher(Screen(out, os.environ, delay)) if watch else None
        return InProcess(guests, watcher, lambda said: _show_stderr(said.label, said.line))

    return playing


def _play_in_background(people: Sequence[str]) -> Playing:
    """Return how games are played in referee processes while stderr is shown, which leaves no room for a bar."""
    from functools import partial

    from tournaments.running.coordinator import play_batches

    return partial(play_batches, on_stderr=lambda said: _show_stderr(said.label, said.line))


def _show_stderr(label: str, line: str) -> None:
    """Pass a line of a bot's stderr on, to whoever still reads."""
    from tournaments.terminal.transcript import stderr_line

    with suppress(OSError):
        click.echo(stderr_line(label, line), err=True)


def _print_games(store: Store, replays: bool, json: bool, quiet: bool) -> None:
    import msgspec

    from tournaments.league.series import score_league_series
    from tournaments.league.standings import compute_league_standings
    from tournaments.terminal.tables import describe_faults, format_game_line
    from tournaments.terminal.transcript import format_transcript

    series = score_league_series(store)
    by_key = sorted(store.games(), key=lambda game: game.key)
    if json:
        games = [
            msgspec.to_builtins(game)
            | {"key": str(game.key), "series": score.points if score else None}
            | {"stray_lines": [seat.stray_lines for seat in store.record(game.key).seats]}
            for game in by_key
            for score in [series.get(game.key)]
        ]
        ranking = [row for each in compute_league_standings(store) for row in msgspec.to_builtins(each.rows)]
        click.echo(msgspec.json.encode({"games": games, "ranking": ranking}))
        return
    if replays:
        for record in store.records():
            for line in format_transcript(record):
                click.echo(line)
            click.echo()
    for game in () if quiet else by_key:
        click.echo(format_game_line(game, series.get(game.key)))
        for line in describe_faults(store.record(game.key)):
            click.echo(line)
    print_standings(store)
