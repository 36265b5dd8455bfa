"""`malice schema` and `completion`: what editors and shells complete by."""

from __future__ import annotations

from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem, get_completion_class

from malice.referee.games import DEFAULT_FAMILY


@click.command()
@click.argument("kind", type=click.Choice(["tournament", "bot", "ruleset"]))
@click.option("--game", default=DEFAULT_FAMILY, show_default=True, help="Whose parameters a ruleset has.")
def schema(kind: str, game: str) -> None:
    """Print the JSON Schema of a tournament file, of bot.toml, or of a ruleset.

    An editor that knows TOML checks a file by it, and shows what a field means: write it to a file, and name that in
    the first line of yours, as in `#:schema ./bot.schema.json`. `malice new` and `init` have done so.
    """
    from malice.tournaments.entries.schemas import format_schema, make_file_schema

    click.echo(format_schema(make_file_schema(kind, game)), nl=False)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands and options in a shell.

    For bash: eval "$(malice completion bash)" in ~/.bashrc; for zsh likewise; for fish: malice completion fish | source
    """
    found = get_completion_class(shell)
    assert found
    click.echo(found(ctx.find_root().command, {}, "malice", "_MALICE_COMPLETE").source())


def complete_bots(_: click.Context, __: click.Parameter, word: str) -> list[CompletionItem]:
    """Complete the name of a bot that ships, and any other word as a file: most bots are folders."""
    from malice.tournaments.entries.bots import list_shipped_bots

    return _complete(sorted(list_shipped_bots()), word)


def complete_rulesets(_: click.Context, __: click.Parameter, word: str) -> list[CompletionItem]:
    """Complete the name of a ruleset that ships, and any other word as a file."""
    from malice.referee.rulesets import list_rulesets

    return _complete(list_rulesets(), word)


def complete_languages(_: click.Context, __: click.Parameter, word: str) -> list[CompletionItem]:
    """Complete the name of a language that has a starter kit."""
    from malice.tournaments.entries.kits import list_all_languages

    names = sorted({kit.language for kit in list_all_languages()})
    return [CompletionItem(name) for name in names if name.startswith(word)]


def _complete(names: Sequence[str], word: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(word)] or [CompletionItem(word, type="file")]
