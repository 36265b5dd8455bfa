"""Writes the pages of a league, and keeps them up to date while a run plays it: at a terminal, or in a process of
that run.
"""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click
import msgspec

from malice.protocol.errors import MaliceError
from malice.referee.bot import prepare_parent_death_signal
from malice.referee.nouns import format_count
from malice.tournaments.commands.exit_codes import interrupt_on_signals
from malice.tournaments.commands.options import compute_changes
from malice.tournaments.errors import Stopped

if TYPE_CHECKING:
    from malice.site_pages import SiteOptions
    from malice.tournaments.league.publication import Publication, SiteSize
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.plan import Plan

PROGRAM = (sys.executable, "-P", "-m", "malice.tournaments.cli")
"""The words that start a command of ours as a process of its own."""
END = b"end\n"
"""What a run writes to the process that keeps its pages, to have them written for the last time."""
FIRST_S = 3.0
"""A run that is over sooner has its pages written once, at its end."""
POLL_S = 1.0
"""How often that process looks whether the tournament has begun, in seconds."""
NICENESS = 10
"""How far it stands behind the games when processors are scarce."""


def _read_url(_: click.Context, __: click.Parameter, url: str) -> str:
    """The address of a folder on the web, with a slash at its end."""
    parts = urlsplit(url)
    if url and not (parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment):
        raise click.BadParameter(f"expected the address of a folder, such as https://example.org/friday/, got: {url}")
    return url and f"{url.rstrip('/')}/"


url_option = click.option(
    "--url",
    default="",
    callback=_read_url,
    help="The address that the pages will have on the web, told to whoever shows links to them.",
)


replace_site_option = click.option(
    "--replace-site", is_flag=True, help="Write over the site of another tournament or league."
)


@dataclass(frozen=True)
class Extras:
    """What a command line asks a site to show beyond what every site does; `SiteOptions` is what comes of it."""

    evidence: Sequence[str] = ()
    """Labels of the entries whose stderr is published; an empty label stands for all entries."""
    changes_since: str | None = None
    """The file or the day since which the front page says what changed; None for no such box."""
    url: str = ""
    """The address that the pages will have on the web, with a slash at its end; empty if unknown."""

    def choose_publication(self, store: Store) -> Publication:
        """Choose what may be shown; raise LeagueError if a label is no entry, or the tournament is anonymous."""
        from malice.tournaments.league.publication import choose_publication

        return choose_publication(store.tournament(), self.evidence)

    def make_options(self, store: Store) -> SiteOptions:
        """Choose what the site shows beyond what every site does, as the league stands now.

        Raises:
            LeagueError: as `choose_publication` or `compute_changes`.
            DataError: as `compute_changes`.
        """
        from malice.site_pages import SiteOptions

        since = self.changes_since
        publication = self.choose_publication(store)
        changes = None if since is None else compute_changes(store, since, publish=True)
        return SiteOptions(publication=publication, changes=changes, url=self.url)


def print_size(store: Store | None, out: Path, size: SiteSize, *, json: bool = False) -> None:
    """Print the address of pages that were written, and what they leave out; `store` is None for a whole league."""
    address = (out.resolve() / "index.html").as_uri()
    if json:
        click.echo(msgspec.json.encode(msgspec.structs.asdict(size) | {"address": address}))
        return
    click.echo(f"{format_count(size.games, 'game')} on {format_count(size.pages, 'page')}", err=True)
    if store is not None:
        print_withheld(store, size.withheld, ["--out", str(out)])
    click.echo(address)


def print_withheld(store: Store, verdicts: int, options: Sequence[str]) -> None:
    """Say how many verdicts lack their evidence, if any, and with which command they have it."""
    if not verdicts:
        return
    words = ["malice", "site", str(store.path), *options, "--with-stderr"]
    how = "" if store.config().anonymous else f" (add it: {shlex.join(words)}, or {words[-1]} LABEL for one bot)"
    click.echo(f"left out: stderr and the last lines of {format_count(verdicts, 'verdict')}{how}", err=True)


class Looks:
    """Looks at a league for its pages, and says once if they cannot be written.

    Args:
        store: the league, with the tournament chosen.
        out: the folder of the pages.
        extras: what they show beyond what every site does.
    """

    def __init__(self, store: Store, out: Path, extras: Extras) -> None:
        from malice.site_pages import Follower

        self._follower = Follower(store, out)
        self._store = store
        self._extras = extras
        self._failure = ""

    def look(self, *, running: bool) -> SiteSize:
        """Write what changed.

        Args:
            running: whether somebody plays the league.

        Raises:
            OSError, MaliceError: the pages cannot be written, or the league cannot be read.
        """
        return self._follower.look(self._extras.make_options(self._store), running=running)

    def try_look(self, *, running: bool) -> None:
        """Write what changed; if that fails, say why, but the same only once."""
        failure = ""
        try:
            self.look(running=running)
        except (OSError, MaliceError) as error:
            failure = _describe_failure(error)
        if failure and failure != self._failure:
            begin = "\n" if sys.stderr.isatty() else ""  # a run may show its bar there
            with suppress(OSError):
                click.echo(f"{begin}the pages wait, the games go on: {failure}", err=True)
        self._failure = failure

    def wait(self, sleep: Callable[[float], object]) -> bool:
        """Wait until the next look, with the league closed; return whether somebody plays it."""
        from malice.tournaments.league.store import is_played

        with self._store.away():
            sleep(max(0.0, self._follower.pause_s))
            return is_played(self._store.path)

    def leave(self) -> None:
        """Tell the pages that nobody keeps them up to date any more."""
        self._follower.leave()


def _describe_failure(error: OSError | MaliceError) -> str:
    from malice.tournaments.sanitizer import sanitize

    if isinstance(error, OSError) and error.filename:
        return sanitize(f"{error.filename}: {error.strerror}")
    return sanitize(str(error))


def follow_league(store: Store, out: Path, extras: Extras, *, running: bool) -> None:
    """Write the pages of a league until its tournament is complete, or until Ctrl-C.

    Args:
        store: the league, with the tournament chosen.
        out: the folder.
        extras: what they show beyond what every site does.
        running: whether somebody plays the league.

    Raises:
        OSError, MaliceError: the pages cannot be written at first, or at last.
    """
    interrupt_on_signals()
    looks = Looks(store, out, extras)
    try:
        print_size(store, out, looks.look(running=running))
        while not store.tournament().complete:
            running = looks.wait(time.sleep)
            looks.try_look(running=running)
        looks.look(running=False)
    except KeyboardInterrupt:
        looks.leave()


class FollowOrders:
    """The standard input of the process that keeps the pages of a run."""

    def __init__(self) -> None:
        self.ended = False
        """Whether the run is over, and waits for the last pages."""

    def sleep(self, seconds: float) -> None:
        """Wait for so long, or until the run is over; if it is gone, so is this process."""
        if not self.ended and select.select([sys.stdin], [], [], seconds)[0]:
            if os.read(sys.stdin.fileno(), len(END)) != END:
                sys.exit(1)
            self.ended = True


def follow_run(db: Path, tournament: str, out: Path, url: str = "") -> None:
    """Write the pages of a run as its standard input orders, and at last print their size as JSON.

    Prints nothing if the run is over before anything was written, or if the last pages could not be written: then the
    run writes them.
    """
    from malice.tournaments.league.store import Store

    os.nice(NICENESS)
    orders = FollowOrders()
    orders.sleep(FIRST_S)
    while not orders.ended and not _has_begun(db, tournament):
        orders.sleep(POLL_S)
    if orders.ended:
        return
    with Store(db) as store:
        store.select(tournament)
        looks = Looks(store, out, Extras(url=url))
        looks.try_look(running=True)
        while not orders.ended:
            running = looks.wait(orders.sleep)
            if not orders.ended:
                looks.try_look(running=running)
        with suppress(OSError, MaliceError):
            click.echo(msgspec.json.encode(looks.look(running=False)))


def _has_begun(db: Path, tournament: str) -> bool:
    from malice.tournaments.league.store import Store

    with Store(db) as store:
        return tournament in store.league().tournaments


@contextmanager
def keep_site(store: Store, plan: Plan, out: Path | None, url: str = "", *, replace: bool = False) -> Iterator[None]:
    """Keep the pages of a tournament up to date while this context lasts, and write them at its end.

    Args:
        store: the league.
        plan: the tournament.
        out: the folder of the pages; None for no pages.
        url: the address that they will have on the web, with a slash at its end; empty if unknown.
        replace: whether they may take the place of another site.

    Raises:
        LeagueError: the folder holds another site.
        OSError, MaliceError: the last pages cannot be written.
    """
    if out is None:
        yield
        return
    from malice.tournaments.league.publication import find_site_owner, require_own_site

    tournament = plan.tournament.name
    if not replace:
        require_own_site(out, find_site_owner(plan.tournament))
    with LiveSite(store, tournament, out, url) as live:
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

    def __init__(self, store: Store, tournament: str, out: Path, url: str) -> None:
        self._store = store
        self._out = out
        self._url = url
        self._words = [*PROGRAM, "site", "--tournament", tournament, "--out", str(out), "--url", url, "--ordered"]
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
        from malice.tournaments.league.publication import SiteSize

        said, _ = self._process.communicate(END)
        if said:
            size = msgspec.json.decode(said, type=SiteSize)
        else:
            size = Looks(self._store, self._out, Extras(url=self._url)).look(running=False)
        print_size(self._store, self._out, size)
