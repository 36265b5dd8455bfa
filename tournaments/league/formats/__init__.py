"""Formats: what each of them says of a tournament. A module describes it, and the table here names the module."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

if TYPE_CHECKING:
    from malice.tournaments.league.config import Config
    from malice.tournaments.league.contents import TablePlace
    from malice.tournaments.league.formats.decisions import Decision, FormatInput
    from malice.tournaments.league.formats.knockout import Round
    from malice.tournaments.league.formats.swiss import SwissRow
    from malice.tournaments.league.tournament import Tournament

FormatName = Literal["round-robin", "gauntlet", "swiss", "knockout", "comparison"]
"""As tournament files name it."""
FORMATS: Mapping[FormatName, str] = {
    "round-robin": "growing:ROUND_ROBIN",
    "gauntlet": "growing:GAUNTLET",
    "swiss": "swiss:SWISS",
    "knockout": "knockout:KNOCKOUT",
    "comparison": "growing:COMPARISON",
}
"""The module of each, and what describes it there. It is loaded when asked for: modules of formats know tournaments and
their files, which ask for the format."""


class Format(NamedTuple):
    """A format."""

    decide: Callable[[FormatInput], Decision]
    """Returns the next part."""
    fields: Collection[str] = ()
    """The fields of a tournament file that it has and not every format."""
    defaults: Mapping[str, object] = {}
    """What it does otherwise where the file says nothing."""
    check: Callable[[Config, str], None] = lambda config, where: None
    """Refuses values that make no sense in it; `where` begins the message. What a league has passed this."""
    refuse: Callable[[Config, Sequence[str]], None] = lambda config, labels: None
    """Refuses a file that does not describe such a tournament: its configuration, and the labels of its entries."""
    grows: bool = True
    """Whether its games have no rounds: they wait for absent entries, may have more seats and several rulesets."""
    pairs: bool = True
    """Whether its tables have two seats."""
    takes_late_entries: bool = True
    compares: bool = False
    """Whether it compares two bots: a test may end it, and commands that name no tournament do not mean it."""
    revision: int = 1
    """One more whenever it may ask for other parts than before: a league plays no part on of another revision."""
    rank: Callable[[FormatInput], tuple[TablePlace, ...]] = lambda format_input: ()
    """Returns the table after the closed parts, the best first; nothing where ratings rank."""
    rounds: Callable[[FormatInput], Sequence[SwissRow]] | None = None
    """Returns whom each entry met, round by round, to be shown as a table."""
    bracket: Callable[[FormatInput], Sequence[Round]] | None = None
    """Returns the rounds, to be shown as a bracket."""
    announce: Callable[[Tournament], Iterable[str]] = lambda tournament: ()
    """Yields what to know before it is played."""
    rounds_note: str = ""
    """What such a table counts, in sentences for the site."""
    order: str = ""
    """What its table is ordered by, in words for the site."""
    order_title: str = ""
    """The same in a few words."""
    absent: str = "its open games wait"
    """What follows "is absent, and" in the terminal, of an entry whose bot cannot be started any more."""
    absent_page: str = "its open games wait until it is mended"
    """The same for the site."""


def load_format(name: FormatName) -> Format:
    module, _, constant = FORMATS[name].partition(":")
    return cast(Format, getattr(import_module(f"{__name__}.{module}"), constant))


def find_owner(field: str, name: FormatName) -> FormatName | None:
    """The format that a field of tournament files belongs to; None if the one of this name may have it."""
    owners = [owner for owner in FORMATS if field in load_format(owner).fields]
    return None if name in owners or not owners else owners[0]
