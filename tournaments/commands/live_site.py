"""Keeps the pages of a league up to date while a run plays it, in a process of its own."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec import Struct

from malice.protocol.errors import MaliceError
from malice.referee.bot import prepare_parent_death_signal
from malice.tournaments.commands.following import END
from malice.tournaments.commands.pages import Extras, print_rendered, write_site
from malice.tournaments.errors import Stopped

if TYPE_CHECKING:
    from malice.tournaments.commands.pages import SiteProgram
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.plan import Plan


class Rendered(Struct, frozen=True):
    """The size of a site, as the process that wrote it says."""

    pages: int
    games: int
    bytes: int
    withheld: int


@contextmanager
def keep_site(
    site: SiteProgram, store: Store, plan: Plan, out: Path | None, url: str = "", *, replace: bool = False
) -> Iterator[None]:
    """Keep the pages of a tournament up to date while this context lasts, and write them at its end.

    Args:
        site: writes them.
        store: the league.
        plan: the tournament.
        out: the folder of the pages; None for no pages.
        url: as of `SiteProgram.open_writer`.
        replace: whether they may take the place of another site.

    Raises:
        LeagueError: the folder holds another site.
        OSError, MaliceError: the last pages cannot be written.
    """
    if out is None:
        yield
        return
    from malice.tournaments.league.publication import require_own_site

    tournament = plan.tournament.name
    if not replace:
        require_own_site(out, plan.tournament)
    with LiveSite(site, store, tournament, out, url) as live:
        try:
            yield
        except Stopped:
            with _say_failure():
                if tournament in store.league().tournaments and store.has_games():
                    live.finish()
            raise
        live.finish()


@contextmanager
def _say_failure() -> Iterator[None]:
    """Say why the last pages could not be written, where another error is about to end the command."""
    try:
        yield
    except (OSError, MaliceError) as error:
        with suppress(OSError):  # the terminal may be what is gone
            click.echo(f"the pages are not up to date: {error}", err=True)


class LiveSite:
    """The process that keeps the pages of a run; it ends with this context, and with the run whatever ends that.

    Args: as `keep_site`.
    """

    def __init__(self, site: SiteProgram, store: Store, tournament: str, out: Path, url: str) -> None:
        self._site = site
        self._store = store
        self._out = out
        self._url = url
        self._words = [*site.program, "site", "--tournament", tournament, "--out", str(out), "--url", url, "--ordered"]
        self._words += ["--", str(store.path)]

    def __enter__(self) -> LiveSite:
        self._process = subprocess.Popen(
            self._words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C in the terminal reaches only us; we want the last pages
            preexec_fn=prepare_parent_death_signal(signal.SIGKILL),
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def finish(self) -> None:
        """Have the last pages written, or write them if that process did not; print their address.

        Raises:
            OSError, MaliceError: they cannot be written.
        """
        said, _ = self._process.communicate(END)
        if said:
            print_rendered(self._store, self._out, msgspec.json.decode(said, type=Rendered))
        else:
            write_site(self._site, self._store, self._out, Extras(url=self._url))
