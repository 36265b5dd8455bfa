"""`malice new`, `build` and `languages`: from nothing to a bot that plays, in any language that has a starter kit."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from tournaments.commands.exit_codes import interrupt_on_signals


@click.command(short_help="Make a bot from a starter kit.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--language", default="python", show_default=True, help="One of those that malice languages lists.")
def new(folder: Path, language: str) -> None:
    """Make a bot of your own in DIR from the starter kit of a language; it is called like the folder.

    Prints the commands that come next. Example: malice new mybot --language rust
    """
    from tournaments.entries.builds import print_progress
    from tournaments.entries.kits import copy_kit, find_kit
    from tournaments.entries.programs import explain_missing_programs

    kit = find_kit(language)
    bot = copy_kit(kit, folder)
    print_progress(f"{bot.manifest.name}: made from {kit.folder}; its README.md says where to begin")
    if what := explain_missing_programs(bot.manifest.needs):
        print_progress(f"warning: {bot.manifest.name} {what}")
    where = shlex.quote(str(folder))
    if bot.manifest.build:
        click.echo(f"malice build {where}")
    click.echo(f"malice check {where}")
    click.echo(f"malice play {where} greedy --deals 20")


@click.command(short_help="Run a bot's build, if anything changed.")
@click.argument("bot")
@click.option("--force", is_flag=True, help="Build though nothing changed.")
def build(bot: str, force: bool) -> None:
    """Run the build command of a bot if it has one, and if anything changed since it last ran.

    `malice run` and `malice play` do so by themselves. The command runs as you, outside of any isolation.
    """
    from tournaments.entries import builds
    from tournaments.entries.bots import find_bot
    from tournaments.sanitizer import sanitize

    interrupt_on_signals()
    done = builds.build(find_bot(bot), force=force, shown=True)
    if not done.bot.manifest.build:
        told = "nothing to build"
    else:
        told = f"{'built' if done.ran else 'up to date'} in {done.bot.folder}"
    click.echo(sanitize(f"{done.bot.manifest.name}: {told}"))


@click.command(short_help="List the starter kits, and what they lack.")
@click.option("--json", "json", is_flag=True, help="Print JSON.")
@click.option(
    "--tournament",
    "file",
    is_flag=True,
    help="Print a tournament file of all kits that play here; builds them, and says which it leaves out.",
)
def languages(json: bool, file: bool) -> None:
    """List the languages that have a starter kit, and what each lacks on this machine."""
    import msgspec

    from tournaments.entries import kit_tournament, kits
    from tournaments.terminal.tables import format_table

    if json and file:
        raise click.UsageError("--json and --tournament print different things; expected one of them")
    if file:
        interrupt_on_signals()
        click.echo(kit_tournament.make_kit_tournament(), nl=False)
        return
    found = kits.list_languages()
    if json:
        click.echo(msgspec.json.encode(found))
        return
    rows = [
        ("yes" if each.ready else "no", each.language, " ".join(each.missing), each.how_to_get, each.kit)
        for each in found
    ]
    for line in format_table(("ready", "language", "missing", "how to get it", "kit"), rows, left=(0, 1, 2, 3, 4)):
        click.echo(line)
