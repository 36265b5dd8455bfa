"""The colour of a bot, its shape and its dashes: the same on every page, in charts and at the seats of a game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from malice.site_pages import text
from malice.site_pages.rankings import Name

COLOURS = 12
"""`bot0` to `bot11` in static/colours.css."""
SHAPES = 5
"""The shapes of discs and of marks in charts; no divisor in common with the colours, so 60 discs differ."""
DASHES = 5
"""The dashes of lines; with the shapes, they tell 25 lines apart where nobody sees a colour."""


def assign_colours(labels: Iterable[str]) -> dict[str, int]:
    """Number the bots in the order of entry, from 0: a bot that enters later changes no colour.

    `name_disc` and `name_line` turn a number into classes of the style sheet.
    """
    return {label: number for number, label in enumerate(labels)}


def find_colour(colours: Mapping[str, int], label: str) -> int:
    """Return the number of a bot; an older version (`label@2`) has that of its newest.

    Raises:
        KeyError: no bot entered under this label.
    """
    return colours[label if label in colours else label.rpartition("@")[0]]


def find_shape(number: int) -> int:
    """Return the shape of a bot's discs and marks."""
    return number % SHAPES


def name_disc(number: int) -> str:
    """Return the classes of the disc of the bot with this number; static/game.js has the same."""
    return f"bot{number % COLOURS} shape{find_shape(number)}"


def name_line(number: int) -> str:
    """Return the classes of the line of the bot with this number."""
    return f"{name_disc(number)} dash{number // SHAPES % DASHES}"


class Marks:
    """The classes of the discs beside names; for templates, which know names and pages, not labels.

    Args:
        labels: those of all entries, in the order of entry.
    """

    def __init__(self, labels: Iterable[str]) -> None:
        self._classes = {
            text.make_slug(label): f"marked {name_disc(number)}" for label, number in assign_colours(labels).items()
        }

    def find(self, bot: Name) -> str:
        """Return the classes of the link to a bot; empty for one that never entered."""
        found = self._classes.get(bot.slug)
        return self._classes.get(text.make_slug(bot.label.rpartition("@")[0]), "") if found is None else found
