"""`malice new` and `build`: from nothing to a bot that plays, in any language that has a starter kit."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from malice.tournaments.commands.editors import complete_bots, complete_languages
from malice.tournaments.commands.exit_codes import interrupt_on_signals
from malice.tournaments.commands.options import json_option


@click.command()
@click.argument("folder", metavar="DIR", required=False, type=click.Path(path_type=Path))
@click.option(
    "--language",
    shell_complete=complete_languages,
    help="The language of the kit, one that --list names [default: python].",
)
@click.option("--family", metavar="GAME", help="The game that it plays, one that ships or of an installed package.")
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="List the starter kits, and what each lacks on this machine; with --family, those of one game.",
)
@json_option
@click.option(
    "--tournament",
    is_flag=True,
    help="With --list: build the kits, and print a tournament file of those that play here.",
)
def new(
    folder: Path | None, language: str | None, family: str | None, listing: bool, json: bool, tournament: bool
) -> None:
    """Make a bot of your own in DIR from a language's starter kit, and name it after the folder.

    Prints the commands that come next. Example: malice new mybot --language rust

    With --family it plays another game, which may bring kits of its own; without one, the bot is a few lines that know
    no game, in a language where that is enough.

    With --list, print the languages that have a starter kit, what each lacks on this machine, and how to get it. --json
    prints that for scripts; --tournament says on stderr which kits it leaves out.
    """
    if listing:
        if folder is not None or language is not None:
            raise click.UsageError("--list makes no bot: expected no DIR and no --language")
        if json and tournament:
            raise click.UsageError("--json and --tournament print different things; expected one of them")
        if tournament and family is not None:
            raise click.UsageError("--tournament is of the main game: expected no --family")
        _print_tournament() if tournament else _print_kits(family, json)
        return
    if json or tournament:
        raise click.UsageError(f"{'--json' if json else '--tournament'} needs --list")
    if folder is None:
        raise click.UsageError("expected DIR, or --list")
    _make_bot(folder, language, family)


def _make_bot(folder: Path, language: str | None, family: str | None) -> None:
    from malice.referee.games import DEFAULT_FAMILY
    from malice.tournaments.entries.builds import print_progress
    from malice.tournaments.entries.kits import copy_kit, find_kit, has_kit, write_simple_bot
    from malice.tournaments.entries.programs import explain_missing_programs
    from malice.tournaments.ladder.ladders import DEFAULT_LADDER, find_ladder

    family = family or DEFAULT_FAMILY
    language = language or "python"
    if family == DEFAULT_FAMILY or has_kit(family, language):
        kit = find_kit(language, family)
        bot = copy_kit(kit, folder)
        advice = "; its README.md says where to begin" if (folder / "README.md").is_file() else ""
        print_progress(f"{bot.manifest.name}: made from {kit.folder}{advice}")
    else:
        bot = write_simple_bot(folder, language, family)
        print_progress(f"{bot.manifest.name}: plays {family} by any legal action; its program says where to begin")
    if lack := explain_missing_programs(bot.manifest.needs):
        print_progress(f"warning: {bot.manifest.name} {lack}")
    path = shlex.quote(str(folder))
    if bot.manifest.build:
        click.echo(f"malice build {path}")
    click.echo(f"malice check {path}")
    click.echo(f"malice play {path} {_choose_table(family)} --deals 20")
    if ladder := find_ladder(family):
        click.echo(f"malice rate {path}{'' if ladder == DEFAULT_LADDER else f' --ladder {ladder}'}")


def _choose_table(family: str) -> str:
    """Choose opponents and a ruleset for the first games of a bot, as `malice play` takes them."""
    from malice.referee.families import load_family
    from malice.referee.games import DEFAULT_FAMILY
    from malice.referee.rulesets import list_family_rulesets, load_ruleset

    opponent = load_family(family).opponent
    if family == DEFAULT_FAMILY:
        return opponent
    names = list_family_rulesets(family)
    least = {name: load_ruleset(name).match.players[0] for name in names}
    name = min(names, key=lambda name: least[name])
    return f"{' '.join([opponent] * (least[name] - 1))} --ruleset {name}"


def _print_tournament() -> None:
    from malice.tournaments.entries import kits

    interrupt_on_signals()
    click.echo(kits.make_kit_tournament(), nl=False)


def _print_kits(family: str | None, json: bool) -> None:
    import msgspec

    from malice.tournaments.entries.kits import list_all_languages, list_languages, list_plain_languages
    from malice.tournaments.terminal.tables import format_table

    languages = list_all_languages() if family is None else [*list_languages(family), *list_plain_languages(family)]
    if json:
        click.echo(msgspec.json.encode(languages))
        return
    rows = [
        (
            "yes" if kit.ready else "no",
            kit.game,
            kit.language,
            " ".join(kit.missing),
            kit.how_to_get,
            kit.kit or "none: any legal action",
        )
        for kit in languages
    ]
    for line in format_table(
        ("ready", "game", "language", "missing", "how to get it", "kit"), rows, left=(0, 1, 2, 3, 4, 5)
    ):
        click.echo(line)


@click.command()
@click.argument("bot", shell_complete=complete_bots)
@click.option("--force", is_flag=True, help="Build even if nothing changed.")
def build(bot: str, force: bool) -> None:
    """Run the build command of a bot, if anything changed since it last ran.

    `malice run` and `malice play` do this by themselves. The command runs as you, without isolation.
    """
    from malice.tournaments.entries import builds
    from malice.tournaments.entries.bots import find_bot
    from malice.tournaments.entries.variants import find_variant
    from malice.tournaments.sanitizer import sanitize

    interrupt_on_signals()
    result = builds.build(find_variant(bot, Path(), find_bot), force=force, shown=True)
    if not result.bot.manifest.build:
        state = "nothing to build"
    else:
        state = f"{'built' if result.ran else 'up to date'} in {result.bot.folder}"
    click.echo(sanitize(f"{result.bot.manifest.name}: {state}"))


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Make the folder of a course in DIR: its tournament, a page for those who take part, and workflows of a forge.

    Every night the workflow plays what is missing and publishes the site; every pull request has its bot checked.
    """
    from malice.tournaments.entries.courses import write_course

    unknown = write_course(folder)
    click.echo(f"{folder}: a course; its README.md says how others take part, and how its site is published")
    click.echo(f"cd {shlex.quote(str(folder))} && malice new submissions/mybot && ./nightly")
    if unknown:
        click.echo(
            f"warning: {unknown} does not say yet where others get malice: change it before you publish", err=True
        )
