"""`malice replay`, `log` and `rerun`: look at a stored game, or play it again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from malice.referee.errors import DataError
from malice.tournaments.commands.editors import complete_bots
from malice.tournaments.commands.exit_codes import interrupt_on_signals
from malice.tournaments.commands.options import (
    database_argument,
    find_record,
    isolation_options,
    json_option,
    print_stderr,
    with_isolation,
)
from malice.tournaments.league.opening import open_store

if TYPE_CHECKING:
    from malice.referee.records import Layer, Record
    from malice.tournaments.league.config import Config


@click.command()
@database_argument
@click.argument("key")
def replay(db: Path, key: str) -> None:
    """Print a game action by action; KEY is part.table.deal.rotation, such as 0.3.12.1.

    The part may be left out if there is only one. In a league with several tournaments a game is friday:0.3.12.1.
    """
    from malice.tournaments.terminal.transcript import format_transcript

    with open_store(db, several=True) as store:
        for line in format_transcript(find_record(store, key)):
            click.echo(line)


@click.command()
@database_argument
@click.argument("key")
@click.option("--seat", type=click.IntRange(0), help="Only this seat [default: each in turn].")
@json_option
def log(db: Path, key: str, seat: int | None, json: bool) -> None:
    """Print what referee and bot sent each other in a game, and the part of the bot's stderr that is kept.

    The lines are rebuilt from the record. Requests are as they were sent, except that ids and games are numbered as in
    a fresh process. Of each answer only the action and the note are kept. If there was a verdict, its evidence follows
    unchanged: the last messages, how the process ended, the start and the end of stderr. Without a verdict, no stderr
    is kept.

    With --json each line is an object with seat, direction (>, <, verdict, time, exit, stderr), line and raw.
    """
    import msgspec

    from malice.tournaments.terminal.dialogue import format_dialogue, rebuild_dialogue

    record, rngs, _ = _load_game(db, key)
    for number in range(len(record.entries)) if seat is None else (_check_seat(record, seat),):
        messages = list(rebuild_dialogue(record, rngs, number))
        for line in map(msgspec.json.encode, messages) if json else format_dialogue(record, number, messages):
            click.echo(line)


@click.command()
@database_argument
@click.argument("key")
@click.argument("bot", shell_complete=complete_bots)
@click.option(
    "--seat", type=click.IntRange(0), help="The seat to take [default: the seat of the entry with its name, or 0]."
)
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
    """Ask a bot for every action of one seat in a stored game, and show where it would play differently.

    BOT receives the requests that the seat received, with the same rng and clock, and has the same time for each
    answer. The game follows the record, not BOT's answers: the events show actions that BOT did not choose, which
    may confuse a bot that relies on its memory. A verdict on BOT ends the rerun.

    Example: malice rerun friday.db 0.3.12.1 ./mybot
    """
    import msgspec

    from malice.referee.records import Isolation
    from malice.tournaments.entries.builds import ensure_built
    from malice.tournaments.entries.lookup import require_games
    from malice.tournaments.entries.names import Names
    from malice.tournaments.league.file import list_league_files
    from malice.tournaments.running.isolation import describe_shortcomings
    from malice.tournaments.running.rerun import Surroundings, format_rerun, rerun_game

    interrupt_on_signals()
    record, rngs, config = _load_game(db, key)
    config = with_isolation(config, isolation, required)
    with open_store(db, several=True) as store:
        found = Names(db, store).find(bot)
    require_games(found, found.manifest.name, [record.family])
    built = ensure_built(found)
    name = built.manifest.name
    player = built.make_player(name)
    labels = [label for label, _ in record.entries]
    if seat is None:
        seat = labels.index(name) if name in labels else 0
    for line in describe_shortcomings(config.isolation, [player]):
        click.echo(line, err=True)
    layers = Isolation(config.isolation, config.memory_mb, config.freeze, list_league_files(db), required)
    on_stderr = (lambda line: print_stderr(name, line)) if stderr else None
    around = Surroundings(config.init_ms, layers, on_stderr)
    result = rerun_game(record, rngs, _check_seat(record, seat), player, around)
    if json:
        choices = tuple(choice for choice in result.choices if everything or not choice.agrees)
        click.echo(msgspec.json.encode(msgspec.structs.replace(result, choices=choices)))
        return
    for line in format_rerun(result, everything=everything):
        click.echo(line)


def _load_game(db: Path, key: str) -> tuple[Record, tuple[int, ...], Config]:
    """A game, the rng that each seat received, and the tournament."""
    with open_store(db, several=True) as store:
        record = find_record(store, key)
        order = store.tournament().seeds(record.key.part).order(record.key, len(record.entries))
        return record, order.rngs, store.config()


def _check_seat(record: Record, seat: int) -> int:
    if seat >= (seats := len(record.entries)):
        raise DataError(where="--seat", expected=f"0 to {seats - 1}", got=seat)
    return seat
