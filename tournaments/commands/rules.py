"""`malice rules`: lists the rulesets, prints one of them, compares two."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from referee.rules_text import RulesetDiff, RulesetText, SeatsText

WIDTH = 100


@click.group(invoke_without_command=True, short_help="List, show and compare rulesets.")
@click.option("--json", "json", is_flag=True, help="Print JSON.")
@click.pass_context
def rules(ctx: click.Context, json: bool) -> None:
    """List the rulesets, one line each; a NAME may also be a ruleset's TOML file."""
    if ctx.invoked_subcommand:
        return
    import msgspec

    from referee.games import DEFAULT_RULESET
    from referee.rulesets import list_rulesets, load_ruleset
    from tournaments.terminal.tables import format_table

    rulesets = [load_ruleset(name) for name in list_rulesets()]
    if json:
        fields = [
            {
                "name": each.name,
                "family": each.family,
                "about": each.about,
                "source": each.source,
                "default": each.name == DEFAULT_RULESET,
            }
            for each in rulesets
        ]
        click.echo(msgspec.json.encode(fields))
        return
    rows = [
        (
            "-".join(map(str, sorted({*each.match.players}))),
            f"{each.name} (default)" if each.name == DEFAULT_RULESET else each.name,
            each.about,
        )
        for each in rulesets
    ]
    for line in format_table(("seats", "ruleset", "about"), rows, left=(1, 2)):
        click.echo(line)


@rules.command()
@click.argument("name")
@click.option("--json", "json", is_flag=True, help="Print JSON.")
def show(name: str, json: bool) -> None:
    """Print every parameter of a ruleset, what it means, and what differs from `standard`."""
    import msgspec

    from referee import rules_text
    from referee.rulesets import find_ruleset

    text = rules_text.describe_ruleset(find_ruleset(name, Path()))
    if json:
        click.echo(msgspec.json.encode(text))
        return
    for line in _print_ruleset(text):
        click.echo(line)


@rules.command()
@click.argument("left")
@click.argument("right")
@click.option("--json", "json", is_flag=True, help="Print JSON.")
def diff(left: str, right: str, json: bool) -> None:
    """Print the parameters that two rulesets set differently."""
    import msgspec

    from referee import rules_text
    from referee.rulesets import find_ruleset

    differences = rules_text.compare_rulesets(find_ruleset(left, Path()), find_ruleset(right, Path()))
    if json:
        click.echo(msgspec.json.encode(differences))
        return
    for line in _differences(differences):
        click.echo(line)


def _print_ruleset(text: RulesetText) -> Iterator[str]:
    yield f"{text.name}: {text.about}"
    yield f"from {text.source}"
    for seats in text.seats:
        yield f"with {_describe_seats(seats)}"
    yield ""
    for parameter in text.parameters:
        standard = f"    (standard: {parameter.standard})" if parameter.differs else ""
        yield f"{'*' if parameter.differs else ' '} {parameter.name} = {parameter.value}{standard}"
        yield from textwrap.wrap(parameter.prose, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _describe_seats(counts: SeatsText) -> str:
    figures = ", ".join(f"{figure} {caption}" for caption, figure in counts.figures.items())
    return f"{counts.seats} seats" + (f": {figures}" if figures else "")


def _differences(diff: RulesetDiff) -> Iterator[str]:
    if not diff.differences:
        yield f"{diff.left} and {diff.right} play alike"
    for each in diff.differences:
        yield f"{each.name}: {each.left} in {diff.left}, {each.right} in {diff.right}"
        yield from textwrap.wrap(each.prose, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
