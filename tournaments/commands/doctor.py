"""`malice doctor`: which isolation works on this machine, what is missing, and how to get it."""

from __future__ import annotations

import click


@click.command(short_help="Try every layer of isolation here.")
@click.option("--json", "json", is_flag=True, help="Print JSON.")
def doctor(json: bool) -> None:
    """Try every layer of isolation on this machine; exit 4 if bots can only run without any.

    SECURITY.md says what each layer stops.
    """
    import msgspec

    from tournaments.running.isolation import list_capabilities, require_isolation
    from tournaments.terminal.tables import format_table

    found = list_capabilities()
    if json:
        click.echo(msgspec.json.encode(found))
    else:
        rows = [("yes" if each.works else "no", each.part, each.gives, each.lack) for each in found]
        for line in format_table(("works", "part", "what it gives", "what is missing"), rows, left=(0, 1, 2, 3)):
            click.echo(line)
    require_isolation("rlimit")
