"""`malice rules`: lists the rulesets, prints one of them, compares two, tests a game."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from malice.referee.games import DEFAULT_RULESET
from malice.tournaments.commands.editors import complete_rulesets

if TYPE_CHECKING:
    from malice.referee.rules_text import RulesetDiff, RulesetText
    from malice.referee.rulesets import Ruleset
    from malice.referee.sample_games import Subject
    from malice.referee.testing import Claim

WIDTH = 100


@click.group(invoke_without_command=True)
@click.option("--family", metavar="GAME", help="Only the rulesets of this game.")
@click.option("--json", "json", is_flag=True, help="Print JSON.")
@click.pass_context
def rules(ctx: click.Context, family: str | None, json: bool) -> None:
    """List the rulesets, one line each; a NAME may also be a ruleset's TOML file.

    Where packages bring other games, each line names the game.
    """
    if ctx.invoked_subcommand:
        if family is not None:
            raise click.UsageError("--family lists rulesets: it goes with no other command")
        return
    import msgspec

    rulesets = list(_load_rulesets(family))
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
    for line in _list_in_table(rulesets):
        click.echo(line)


def _load_rulesets(family: str | None) -> Iterator[Ruleset]:
    """Yield the rulesets of a game, or of all games; a broken package is a warning unless its game is asked for."""
    from malice.referee.errors import FamilyError
    from malice.referee.families import list_clashes, list_folders
    from malice.referee.rulesets import list_family_rulesets, list_rulesets, load_ruleset

    for clash in list_clashes():
        click.echo(f"warning: {clash}", err=True)
    for name in [name for name, _ in list_folders()] if family is None else [family]:
        try:
            names = list_family_rulesets(name) if family else list_rulesets(name)
            yield from [load_ruleset(each) for each in names]
        except FamilyError as error:
            if family:
                raise
            click.echo(f"warning: {error}", err=True)


def _list_in_table(rulesets: Sequence[Ruleset]) -> Iterator[str]:
    from malice.tournaments.terminal.tables import format_table

    several = len({each.family for each in rulesets}) > 1
    rows = [
        (
            "-".join(map(str, sorted({*each.match.players}))),
            *((each.family,) if several else ()),
            f"{each.name} (default)" if each.name == DEFAULT_RULESET else each.name,
            each.about,
        )
        for each in rulesets
    ]
    head = ("seats", *(("game",) if several else ()), "ruleset", "about")
    yield from format_table(head, rows, left=tuple(range(1, len(head))))


@rules.command()
@click.argument("name", shell_complete=complete_rulesets)
@click.option("--json", "json", is_flag=True, help="Print JSON.")
def show(name: str, json: bool) -> None:
    """Print every parameter of a ruleset, what it means, and what is unusual."""
    import msgspec

    from malice.referee import rules_text
    from malice.referee.rulesets import find_ruleset

    text = rules_text.make_ruleset_text(find_ruleset(name, Path()))
    if json:
        click.echo(msgspec.json.encode(text))
        return
    for line in _print_ruleset(text):
        click.echo(line)


@rules.command()
@click.argument("left", shell_complete=complete_rulesets)
@click.argument("right", shell_complete=complete_rulesets)
@click.option("--json", "json", is_flag=True, help="Print JSON.")
def diff(left: str, right: str, json: bool) -> None:
    """Print the parameters that two rulesets set differently."""
    import msgspec

    from malice.referee import rules_text
    from malice.referee.rulesets import find_ruleset

    differences = rules_text.compare_rulesets(find_ruleset(left, Path()), find_ruleset(right, Path()))
    if json:
        click.echo(msgspec.json.encode(differences))
        return
    for line in _differences(differences):
        click.echo(line)


def _print_ruleset(text: RulesetText) -> Iterator[str]:
    yield f"{text.name}: {text.about}"
    yield f"from {text.source}"
    for seats, figures in text.group_seats():
        told = ", ".join(f"{figure} {caption}" for caption, figure in figures.items())
        yield f"with {seats} seats" + (f": {told}" if told else "")
    yield ""
    for parameter in text.parameters:
        usual = f"    ({text.usual}: {parameter.standard})" if parameter.differs else ""
        yield f"{'*' if parameter.differs else ' '} {parameter.name} = {parameter.value}{usual}"
        yield from textwrap.wrap(parameter.prose, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _differences(diff: RulesetDiff) -> Iterator[str]:
    if not diff.differences:
        yield f"{diff.left} and {diff.right} play alike"
    for each in diff.differences:
        yield f"{each.name}: {each.left} in {diff.left}, {each.right} in {diff.right}"
        yield from textwrap.wrap(each.prose, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)


@rules.command(short_help="Test the promises that every game makes.")
@click.argument("family", metavar="GAME")
@click.option("--games", type=click.IntRange(1), default=3, show_default=True, help="Games for each promise and table.")
@click.option("--json", "json", is_flag=True, help="Print JSON.")
def test(family: str, games: int, json: bool) -> None:
    """Test whether a game keeps the promises of the interface, as the page on adding a game tells them.

    Each promise is tested on games of every ruleset, with its fewest and its most seats: the types of all that the game
    returns, that cards and actions determine it, that states stay as they are, that `play` takes what is legal and
    nothing else, withdrawals, words for people, and whether a seat seems to learn what is hidden from it. The first
    game that breaks a promise is shown. The exit code is 10 if there is one.

    Example: malice rules test stairs --games 20
    """
    import msgspec

    from malice.tournaments.commands.exit_codes import ANSWER_IS_NO
    from malice.tournaments.sanitizer import sanitize

    results = []
    for promise, about, found in _test_promises(family, games):
        results.append({"promise": promise, "kept": found is None, "about": about, "found": found})
        if not json:
            click.echo(f"{'ok  ' if found is None else 'FAIL'} {promise}: {sanitize(found or about)}")
    if json:
        click.echo(msgspec.json.encode(results))
    click.get_current_context().exit(0 if all(each["kept"] for each in results) else ANSWER_IS_NO)


def _test_promises(family: str, games: int) -> Iterator[tuple[str, str, str | None]]:
    """Yield each promise of a game: its name, what it says, and a sentence if it is broken."""
    from malice.referee.families import load_family
    from malice.referee.rulesets import list_family_rulesets, load_ruleset
    from malice.referee.sample_games import Subject
    from malice.referee.testing import CLAIMS

    tables = [
        Subject(load_family(family), ruleset.rules, seats, ruleset.name)
        for ruleset in map(load_ruleset, list_family_rulesets(family))
        for seats in sorted({*ruleset.match.players})
    ]
    typed = True
    for promise, claim in CLAIMS.items():
        about = (claim.__doc__ or "").splitlines()[0]
        broken = (_find_broken(claim, table, seed, typed=typed) for table in tables for seed in range(games))
        found = next((sentence for sentence in broken if sentence), None)
        typed = typed and found is None
        yield promise, about, found


def _find_broken(claim: Claim, table: Subject, seed: int, *, typed: bool) -> str | None:
    """Say how a game breaks a promise; None if it keeps it, or if its ruleset makes no game for so many seats.

    Args:
        claim: the promise.
        table: the game.
        seed: chooses cards and actions.
        typed: whether it has kept all promises before, of which the first is that its types are right: without that it
            may make anything fail.
    """
    from malice.referee.errors import FamilyError, RulesetError
    from malice.referee.families import explain_failure
    from malice.referee.sample_games import BrokenClaim

    try:
        table.make()
    except RulesetError:
        return None
    where = f"{table.ruleset}, {table.seats} seats, game {seed}"
    try:
        claim(table, seed)
    except (BrokenClaim, FamilyError) as error:
        return f"{where}: {error}"
    except (Exception, SystemExit) as error:  # whatever somebody else's rules raise
        sentence = explain_failure(error, table.family.name)
        if sentence is None and typed:
            raise
        return f"{where}: {sentence or f'after what is broken above, {type(error).__name__}: {error}'}"
    return None
