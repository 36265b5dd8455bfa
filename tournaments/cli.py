"""The command line: the one module that knows every command and the site.

Data goes to stdout, everything else to stderr.

Exit codes: 0 done · 1 an internal error · 2 usage, configuration, a bot that cannot start · 3 stopped or
incomplete, resumable, or locked by another program · 4 the required isolation is unavailable · 5 data is damaged,
does not verify, or clashes in a merge · 10 a bot failed its check, or is not better · 11 a comparison is
undecided · 130 interrupted outside a run.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from malice.tournaments.commands.check import check
from malice.tournaments.commands.compare import compare
from malice.tournaments.commands.entry import entry
from malice.tournaments.commands.exit_codes import ExitCodeGroup, take_interrupts
from malice.tournaments.commands.kits import build, new
from malice.tournaments.commands.machine import bench, doctor
from malice.tournaments.commands.merge import merge
from malice.tournaments.commands.play import play
from malice.tournaments.commands.replay import log, replay, rerun
from malice.tournaments.commands.results import export, feedback, standings, verify
from malice.tournaments.commands.rules import rules
from malice.tournaments.commands.run import run
from malice.tournaments.commands.serve import serve
from malice.tournaments.commands.site import site
from malice.tournaments.commands.worker import worker

if TYPE_CHECKING:
    from malice.referee.records import Record
    from malice.site_pages import Follower, LoneGame, SiteWriter
    from malice.site_pages.server import SiteServer
    from malice.tournaments.league.contents import Game
    from malice.tournaments.league.publication import Publication
    from malice.tournaments.league.store import Store


class SectionGroup(ExitCodeGroup):
    """A group whose help lists the commands in titled sections, in the order in which they were added."""

    sections: dict[str, tuple[str, ...]]
    """The names of the commands, by the title of their section."""

    def add_section(self, title: str, *commands: click.Command) -> None:
        """Add commands under a title."""
        for command in commands:
            self.add_command(command)
        self.sections = getattr(self, "sections", {}) | {title: tuple(command.name or "" for command in commands)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the sections."""
        return [name for names in self.sections.values() for name in names]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section as a block; the columns of all blocks have the same width."""
        width = max(map(len, self.list_commands(ctx)))
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), self.commands[name].get_short_help_str()) for name in names])


class Site:
    """The site, for the commands, which lie below it."""

    program = (sys.executable, "-P", "-m", "malice.tournaments.cli")
    """The words that start a command of ours as a process of its own."""

    def open_writer(self, store: Store, out: Path, url: str = "") -> SiteWriter:
        """Return what writes the pages of a league."""
        from malice.site_pages import SiteWriter
        from malice.tournaments.league.remembering import RememberingReader

        return SiteWriter(RememberingReader(store), out, url)

    def follow(self, store: Store, out: Path, url: str = "") -> Follower:
        """Return what writes the pages of a league while somebody plays it."""
        from malice.site_pages import Follower

        return Follower(store, self.open_writer(store, out, url))

    def render_game(
        self, store: Store, game: Game, record: Record, publication: Publication, url: str = ""
    ) -> LoneGame:
        """Return the replay of a game as one file."""
        from malice.site_pages import render_lone_game

        return render_lone_game(store, game, record, publication, url)

    def open_server(self, folder: Path, host: str, port: int) -> SiteServer:
        """Return a server of pages that were written."""
        from malice.site_pages.server import SiteServer

        return SiteServer(folder, host, port)


@click.group(cls=SectionGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="malice-arena")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Run tournaments between bots that play card games.

    A BOT is a folder with bot.toml, the name of a bot that ships, or a quoted command line. A DB is the
    league that `malice run` writes.
    """
    ctx.obj = Site()
    take_interrupts()


main.add_section("Write a bot", new, build, check, play, compare, rerun)
main.add_section("Look at a game", replay, log)
main.add_section("Run a league", run, merge, entry)
main.add_section("Results", standings, site, serve, feedback, export, verify)
main.add_section("This machine", rules, doctor, bench, worker)

if __name__ == "__main__":
    main(prog_name="malice")
