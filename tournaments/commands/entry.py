"""`malice entry`: the entries of a league, and what the organiser decides about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from malice.tournaments.commands.options import database_argument, json_option, open_store, tournament_option

if TYPE_CHECKING:
    from malice.tournaments.league.store import Store


@click.group()
def entry() -> None:
    """List the entries of a league, and decide which of them play on.

    A decision holds in every tournament that has the entry, but for comparisons, or in the one that is named.
    After a change, the command that began the tournament goes on with it: open games of an entry that left are not
    played, and a part without open games closes; what a reinstated entry missed becomes a new part.
    """


def _change(name: str, help: str) -> click.Command:
    """Return the command that changes the state of an entry."""

    @click.command(name, help=help, short_help=help.split(":")[0] + ".")
    @database_argument
    @click.argument("label")
    @click.option("--reason", default="", help="Why, for people; standings and pages show it.")
    @tournament_option
    def command(db: Path, label: str, reason: str, tournament: str | None) -> None:
        from malice.tournaments.league import states

        def change(store: Store) -> None:
            if name == "reinstate":
                states.reinstate(store, label, reason)
            else:
                states.exclude(store, label, "withdrawn" if name == "withdraw" else "disqualified", reason)

        with open_store(db, tournament=tournament, write=True, several=True) as store:
            meant = [tournament] if tournament else store.league().list_meant()
            for each in states.change_everywhere(store, meant, label, change):
                _print_state(each, label, name)

    return command


def _print_state(tournament: str, label: str, what: str) -> None:
    from malice.tournaments.sanitizer import sanitize

    done = {"withdraw": "withdrawn from", "disqualify": "disqualified in", "reinstate": "plays again in"}[what]
    click.echo(f"{sanitize(label)}: {done} {sanitize(tournament)}", err=True)


@entry.command("list", short_help="Print the entries with their versions.")
@database_argument
@tournament_option
@json_option
def list_entries(db: Path, tournament: str | None, json: bool) -> None:
    """Print every entry: the version that plays, its state, how many games it played, and its content hash."""
    import msgspec

    from malice.tournaments.entries.kept_bots import KeptBots, explain_large_size
    from malice.tournaments.terminal.entries import format_entries, list_entry_statuses
    from malice.tournaments.terminal.results import describe_choice
    from malice.tournaments.terminal.tables import format_bytes

    with open_store(db, tournament=tournament, several=True) as store, store.snapshot():
        kept = KeptBots(db)
        sizes = kept.list_kept()
        variants = kept.list_variants()
        league, tables = store.league(), {}
        for name in [tournament] if tournament else league.list_meant():
            store.select(name)
            tables[name] = list_entry_statuses(store, sizes, variants)
    if json:
        click.echo(msgspec.json.encode([line for lines in tables.values() for line in lines]))
        return
    for number, (name, lines) in enumerate(tables.items()):
        for line in (*([""] if number else []), *describe_choice(league, name), *format_entries(lines)):
            click.echo(line)
    if sizes:
        click.echo(f"{format_bytes(sum(sizes.values()))} of bots are kept in {kept.folder.name}", err=True)
    for each in {line.label: line for lines in tables.values() for line in lines}.values():
        size = sizes.get(variants.get(each.hash, each.hash), 0)
        if advice := explain_large_size(each.label, size):
            click.echo(advice, err=True)


entry.add_command(_change("withdraw", "Let an entry play no more: the games that it played count on"))
entry.add_command(_change("disqualify", "Let an entry play no more: its games count for nobody"))
entry.add_command(_change("reinstate", "Let an entry play again: one that was suspended, withdrawn or disqualified"))
