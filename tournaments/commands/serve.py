"""`malice serve`: serves the folder of a site to browsers."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from malice.tournaments.commands.exit_codes import interrupt_on_signals

if TYPE_CHECKING:
    from malice.tournaments.commands.pages import SiteProgram


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The name or address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.pass_obj
def serve(site: SiteProgram, folder: Path, host: str, port: int) -> None:
    """Serve a site that `malice site` or `malice run --site` wrote, and print its address; Ctrl-C ends it.

    Nothing but the files of the folder is served, for reading, by default to this machine alone. A run may go on
    writing the site meanwhile.
    """
    interrupt_on_signals()
    with suppress(KeyboardInterrupt), site.open_server(folder, host, port) as server:
        if not server.loopback:
            click.echo(f"{host} is not this machine alone: whoever can reach it can read these pages", err=True)
        click.echo(server.url)
        server.serve_forever()
