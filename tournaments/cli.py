"""The command line: the one module that knows every command.

Data goes to stdout, everything else to stderr.

Exit codes: 0 done · 1 an internal error · 2 usage, configuration, a bot that cannot start · 3 stopped or
incomplete, resumable, or locked by another program · 4 the required isolation is unavailable · 5 data is damaged,
does not verify, or clashes in a merge · 10 a bot failed its check, or is not better · 11 a comparison is
undecided · 130 interrupted outside a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

from malice.tournaments.commands.exit_codes import ExitCodeGroup, take_interrupts

SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Write a bot": {
        "new": ("kits", "Make a bot from a starter kit."),
        "build": ("kits", "Run a bot's build, if anything changed."),
        "check": ("check", "Examine bots step by step."),
        "play": ("play", "Let bots, or you, play at one table."),
        "compare": ("compare", "Find out whether one bot is better than another."),
        "rate": ("rate", "Measure a bot on a ladder that never changes."),
        "rerun": ("replay", "Play a stored game again with another bot."),
    },
    "Look at a game": {
        "replay": ("replay", "Print a game action by action."),
        "log": ("replay", "Print the dialogue of a bot and the referee."),
    },
    "Run a league": {
        "init": ("kits", "Make the folder of a course: submissions, nights, pages."),
        "run": ("run", "Play a tournament, or resume it."),
        "status": ("league", "Print who plays a league, and how far it is."),
        "stop": ("league", "End the run that plays a league."),
        "merge": ("league", "Bring back the games played on copies of a league."),
        "entry": ("league", "List, withdraw, disqualify or reinstate entries."),
        "backup": ("league", "Write a league with its bots to one file."),
        "restore": ("league", "Write a league as a backup holds it."),
        "forget": ("people", "Take a person's name off their games."),
    },
    "Results": {
        "standings": ("results", "Print the ranking."),
        "report": ("results", "Print what happened since a day."),
        "site": ("site", "Write the pages of a league."),
        "serve": ("site", "Serve the pages of a league to browsers."),
        "feedback": ("results", "Write a page for the author of each bot."),
        "export": ("results", "Print every game as a line of JSON."),
        "verify": ("results", "Replay every game and check all of it."),
    },
    "This machine": {
        "rules": ("rules", "List, show and compare rulesets, test a game."),
        "schema": ("editors", "Print the schema of a file, for editors."),
        "completion": ("editors", "Print what completes commands in a shell."),
        "doctor": ("machine", "Try every layer of isolation here."),
        "bench": ("machine", "Measure what malice costs here."),
        "worker": ("machine", "Lend this machine to runs elsewhere."),
    },
}
"""By section and name of the command: its module, and its line in the list of commands."""
MODULES = {name: module for commands in SECTIONS.values() for name, (module, _) in commands.items()}


class SectionGroup(ExitCodeGroup):
    """The commands in titled sections; the module of a command is imported when somebody calls it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the sections."""
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of this name; None if there is none."""
        if cmd_name not in MODULES:
            return None
        command: click.Command = getattr(import_module(f"malice.tournaments.commands.{MODULES[cmd_name]}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section as a block; the columns of all blocks have the same width."""
        width = max(map(len, MODULES))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, (_, text) in commands.items()])


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from malice.tournaments.commands.machine import describe_version

        click.echo(describe_version())
        ctx.exit()


TRY = """\
Three things to try:

  malice play you greedy --web        play against a bot, in the browser
  malice new mybot                    make a bot of your own; malice play mybot greedy lets it play
  malice play greedy planner --watch  watch two bots

malice --help lists all commands.\
"""


@click.group(cls=SectionGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version, and which engine plays.",
)
@click.pass_context
def main(ctx: click.Context) -> None:
    """Run tournaments between bots that play card games.

    A BOT is a folder with bot.toml, the name of a bot that ships, or a quoted command line. A DB is the
    league that `malice run` writes.
    """
    take_interrupts()
    if ctx.invoked_subcommand is None:
        click.echo(TRY)


if __name__ == "__main__":
    main(prog_name="malice")
