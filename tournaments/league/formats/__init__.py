"""The formats of tournaments. A module describes each of them, and the table here names it."""

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
"""By name: the module, and the constant in it. `load_format` imports it only when needed: such a module imports
tournaments and their files, and these load formats."""


class Format(NamedTuple):
    """All that distinguishes a format: how it decides and ranks, its fields and defaults, and the words for it."""

    decide: Callable[[FormatInput], Decision]
    """Returns the next part."""
    fields: Collection[str] = ()
    """The fields of a tournament file that it has, and not every other format."""
    defaults: Mapping[str, object] = {}
    """Its values of fields that the file leaves out, where they differ from those of `Config`."""
    check: Callable[[Config, str], None] = lambda config, where: None
    """Refuses values that make no sense in it; `where` begins the message. A league holds only what has passed."""
    refuse: Callable[[Config, Sequence[str]], None] = lambda config, labels: None
    """Refuses a file that does not describe such a tournament: its configuration, and the labels of its entries."""
    grows: bool = True
    """Whether it has no rounds: then games wait for absent entries, and there may be more seats and rulesets."""
    pairs: bool = True
    """Whether its tables have two seats."""
    takes_late_entries: bool = True
    compares: bool = False
    """Whether it compares two bots: a test may end it, and commands choose it only by its name."""
    revision: int = 1
    """Raise it whenever the format may ask for other parts than before: a run continues no part of another revision."""
    rank: Callable[[FormatInput], tuple[TablePlace, ...]] = lambda format_input: ()
    """Returns the table after the closed parts, the best first; nothing if ratings rank the entries."""
    rounds: Callable[[FormatInput], Sequence[SwissRow]] | None = None
    """Returns whom each entry met, round by round, to be shown as a table."""
    bracket: Callable[[FormatInput], Sequence[Round]] | None = None
    """Returns the rounds, to be shown as a bracket."""
    announce: Callable[[Tournament], Iterable[str]] = lambda tournament: ()
    """Yields what to know before such a tournament is played, line by line."""
    rounds_note: str = ""
    """What the table of rounds counts, in sentences for the site."""
    order: str = ""
    """What follows "The order is" on the site, of the ranking."""
    order_title: str = ""
    """The same in a few words."""
    absent: str = "its open games wait"
    """What follows "is absent, and" in the terminal, if the bot of an entry can no longer be started."""
    absent_page: str = "its open games wait until it is mended"
    """The same for the site."""


def load_format(name: FormatName) -> Format:
    module, _, constant = FORMATS[name].partition(":")
    return cast(Format, getattr(import_module(f"{__name__}.{module}"), constant))


def find_owner(field: str, name: FormatName) -> str:
    """The formats that a field of tournament files belongs to, as a file spells them; none if this one may have it."""
    owners = [owner for owner in FORMATS if field in load_format(owner).fields]
    return "" if name in owners else '" or "'.join(owners)
