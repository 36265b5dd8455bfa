"""What commands know of the site, which lies above them: they write it, and say what it leaves out."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

import click

from malice.referee.errors import DataError
from malice.referee.nouns import format_count
from malice.tournaments.commands.exit_codes import interrupt_on_signals
from malice.tournaments.commands.options import compute_changes, find_game, take_luck_off, with_isolation
from malice.tournaments.sanitizer import sanitize

if TYPE_CHECKING:
    from malice.referee.records import Layer, Record
    from malice.tournaments.league.comparison import Comparison
    from malice.tournaments.league.contents import GameSummary
    from malice.tournaments.league.progression import Changes
    from malice.tournaments.league.publication import Publication, SiteSize
    from malice.tournaments.league.store import Store
    from malice.tournaments.running.rerun import Opinions


@dataclass(frozen=True)
class Asking:
    """Which bot to ask for a second opinion, and how."""

    words: str
    """What names it."""
    most: int | None
    """About how many games to ask it; None for all."""
    isolation: Layer | None
    """Its isolation; None for the strongest that works."""
    required: bool
    """Whether that isolation is required."""


@contextmanager
def open_opinions(store: Store, asking: Asking | None) -> Iterator[Opinions | None]:
    """Lend a bot to be asked about games of a league, or none; say afterwards on stderr what came of it.

    Raises:
        BotError: there is no such bot, it cannot be built, or it does not play the game of the league.
        IsolationError: its isolation is required, but unavailable.
    """
    if asking is None:
        yield None
        return
    from malice.referee.records import Isolation
    from malice.tournaments.entries.builds import ensure_built
    from malice.tournaments.entries.lookup import require_games
    from malice.tournaments.entries.names import Names
    from malice.tournaments.league.file import list_league_files
    from malice.tournaments.running.isolation import describe_shortcomings
    from malice.tournaments.running.progress import ReplayProgress
    from malice.tournaments.running.rerun import Opinions, Surroundings

    interrupt_on_signals()
    config = with_isolation(store.config(), asking.isolation, asking.required)
    found = Names(store.path, store).find(asking.words)
    require_games(found, found.manifest.name, [ruleset.family for ruleset in store.tournament().rulesets.values()])
    bot = ensure_built(found)
    player = bot.make_player(bot.manifest.name)
    for line in describe_shortcomings(config.isolation, [player]):
        click.echo(line, err=True)
    layers = Isolation(
        config.isolation, config.memory_mb, config.freeze, list_league_files(store.path), asking.required
    )
    with ReplayProgress(sys.stderr, "second opinion") as progress:
        advice = Opinions(store, player, Surroundings(config.init_ms, layers), asking.most, progress)
        yield advice
    _print_opinions(advice)


def _print_opinions(advice: Opinions) -> None:
    from malice.tournaments.terminal.transcript import excerpt_stderr

    bot = sanitize(advice.adviser.name)
    others = f"{advice.moves - advice.agreed:,} of {format_count(advice.moves, 'move')}"
    games = format_count(advice.games, "game")
    click.echo(f"second opinion: {bot} would have played otherwise in {others}, in {games}", err=True)
    for fault in advice.faults:
        place = f"game {fault.key}, seat {fault.seat}, after {format_count(fault.moves, 'move')}"
        click.echo(f"  {bot}: {fault.verdict} in {place}: {sanitize(fault.sentence)}", err=True)
        for line in excerpt_stderr(fault.stderr):
            click.echo(f"    | {line}", err=True)


class PageWriter(Protocol):
    """Writes the pages of a league, as often as it is told."""

    def render(
        self,
        *,
        publication: Publication | None = None,
        changes: Changes | None = None,
        sharper: Sequence[Comparison] | None = None,
    ) -> SiteSize:
        """Write them as the league stands now."""


class PageFollower(Protocol):
    """Writes the pages of a league again and again."""

    @property
    def pause_s(self) -> float:
        """How long to wait until the next look at the league, in seconds."""

    def look(
        self,
        *,
        running: bool,
        publication: Publication | None = None,
        changes: Changes | None = None,
        sharper: Sequence[Comparison] | None = None,
        advice: Opinions | None = None,
    ) -> SiteSize:
        """Write what changed since the last look; `running` if somebody plays the league."""

    def leave(self) -> None:
        """Tell the pages that nobody keeps them up to date any more."""


class GameFile(Protocol):
    """The replay of a game as one file."""

    @property
    def page(self) -> bytes:
        """The file."""

    @property
    def withheld(self) -> int:
        """Verdicts without their evidence."""


class Server(AbstractContextManager["Server"], Protocol):
    """Serves pages."""

    @property
    def loopback(self) -> bool:
        """Whether only this machine can connect."""

    @property
    def url(self) -> str:
        """The address of the front page."""

    def serve_forever(self) -> None:
        """Serve until an exception."""


class SiteProgram(Protocol):
    """The site."""

    @property
    def program(self) -> Sequence[str]:
        """The words that start a command of ours as a process of its own."""

    def open_writer(self, store: Store, out: Path, url: str = "") -> PageWriter:
        """Return what writes the pages of a league into a folder; it reads the league as long as the store is open.

        Args:
            store: the league.
            out: the folder.
            url: the address that the folder will have on the web, with a slash at its end; empty if unknown.
        """

    def follow(self, store: Store, out: Path, url: str = "") -> PageFollower:
        """Return what writes them while somebody plays the league; arguments as of `open_writer`."""

    def render_game(
        self, store: Store, game: GameSummary, record: Record, publication: Publication, url: str = ""
    ) -> GameFile:
        """Return the replay of a game as one file.

        Args:
            store: the league, with the tournament of the game chosen.
            game: its row.
            record: its record.
            publication: what may be shown.
            url: the address of the site, with a slash at its end, for links to its pages; empty for none.
        """

    def open_server(self, folder: Path, host: str, port: int) -> Server:
        """Return a server of the pages in a folder; raise DataError if there are none, or nobody can listen there."""


STDOUT = Path("-")


def _read_url(_: click.Context, __: click.Parameter, url: str) -> str:
    """Return the address of a folder on the web, with a slash at its end."""
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
    """What a site shows beyond what every site does."""

    evidence: Sequence[str] = ()
    """Labels of the entries whose stderr is published; an empty label stands for all entries."""
    changes_since: str | None = None
    """The file or the day since which the front page says what changed; None for no such box."""
    luck: bool = False
    """Whether to play the games again, to show every two entries without luck."""
    asking: Asking | None = None
    """Which bot is asked what it would have played; None for none."""
    url: str = ""
    """The address that the pages will have on the web, with a slash at its end; empty if unknown."""

    def choose_publication(self, store: Store) -> Publication:
        """Return what may be shown; raise LeagueError if a label is no entry, or the tournament is anonymous."""
        from malice.tournaments.league.publication import choose_publication

        return choose_publication(store, self.evidence)

    def compute_changes(self, store: Store) -> Changes | None:
        """Return what the box of changes says; raise as the function of that name."""
        return None if self.changes_since is None else compute_changes(store, self.changes_since, publish=True)


NOTHING = Extras()


def write_site(site: SiteProgram, store: Store, out: Path, extras: Extras = NOTHING) -> None:
    """Write the pages, and print their address, and what they leave out.

    Raises:
        LeagueError: a label is no entry, or the tournament is anonymous; or as `compute_changes`.
        DataError: as `compute_changes`.
        DamagedLeague, RecordError: as `take_luck_off`.
        BotError, IsolationError: as `open_opinions`.
        OSError: a file cannot be written.
    """
    publication, changes = extras.choose_publication(store), extras.compute_changes(store)
    sharper = take_luck_off(store) if extras.luck else None
    follower = site.follow(store, out, extras.url)
    with open_opinions(store, extras.asking) as advice:
        rendered = follower.look(
            running=False, publication=publication, changes=changes, sharper=sharper, advice=advice
        )
    print_rendered(store, out, rendered)


def write_game(site: SiteProgram, store: Store, key: str, out: Path, extras: Extras = NOTHING) -> None:
    """Write the replay of a game as one file, `-` for stdout; print its address, and say what it leaves out.

    Raises:
        DataError: the key is none, or the file is part of the league.
        LeagueError: there is no such game; a label is no entry, or the tournament is anonymous.
        OSError: the file cannot be written.
    """
    from malice.tournaments.league.file import list_league_files

    if str(out.resolve()) in list_league_files(store.path):
        raise DataError(f"--out {out}: expected another file than those of the league")
    game, record = find_game(store, key)  # this chooses the tournament
    lone = site.render_game(store, game, record, extras.choose_publication(store), extras.url)
    _print_withheld(store, lone.withheld, ["--game", key, "--out", str(out)])
    if out == STDOUT:
        sys.stdout.buffer.write(lone.page)
        return
    out.write_bytes(lone.page)
    click.echo(out.resolve().as_uri())


def print_rendered(store: Store, out: Path, rendered: SiteSize) -> None:
    """Print the address of pages that were written, and what they leave out."""
    click.echo(f"{format_count(rendered.games, 'game')} on {format_count(rendered.pages, 'page')}", err=True)
    _print_withheld(store, rendered.withheld, ["--out", str(out)])
    click.echo((out.resolve() / "index.html").as_uri())


def _print_withheld(store: Store, verdicts: int, options: Sequence[str]) -> None:
    """Say how many verdicts lack their evidence, if any, and with which command they have it."""
    if not verdicts:
        return
    words = ["malice", "site", str(store.path), *options, "--with-stderr"]
    how = "" if store.config().anonymous else f" (add it: {shlex.join(words)}, or {words[-1]} LABEL for one bot)"
    click.echo(f"left out: stderr and the last lines of {format_count(verdicts, 'verdict')}{how}", err=True)
