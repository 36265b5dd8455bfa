"""Colours that anybody can tell apart: of bots, of crosstables, of bars; read from the style sheets themselves."""

from __future__ import annotations

import math
import re
from itertools import combinations
from pathlib import Path

import pytest

from malice import site_pages
from malice.site_pages.rankings import COLOURS, Marks, assign_colours, find_colour, make_name, name_disc, name_line

Colour = tuple[float, float, float]
SHEETS = Path(site_pages.__file__).parent / "static"
THEMES = ("light", "dark")


def read_colours(sheet: str, theme: str) -> dict[str, str]:
    """Return the custom properties of a theme; those of a bot after its class, such as `bot3--bot`."""
    text = (SHEETS / sheet).read_text("utf-8")
    found: dict[str, str] = {}
    for name, body in re.findall(r"(:root|\.bot\d+) \{(.*?)\}", text, re.S):
        for key, value in re.findall(r"(--[\w-]+): ([^;]+);", body):
            both = re.fullmatch(r"light-dark\((.+), (.+)\)", value)
            found[name.strip(".").replace(":root", "") + key] = both[1 + (theme == "dark")] if both else value
    return found


def parse(value: str) -> Colour:
    """Read `#rgb` or `#rrggbb`."""
    digits = value[1:] if len(value) == 7 else "".join(2 * digit for digit in value[1:])
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def linear(colour: Colour) -> Colour:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (each / 255 for each in colour)
    )
    return red, green, blue


def contrast(one: Colour, other: Colour) -> float:
    """As WCAG 2 defines it: 1 to 21."""
    low, high = sorted(
        0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in (linear(one), linear(other))
    )
    return (high + 0.05) / (low + 0.05)


def oklab(colour: Colour) -> Colour:
    """Where equal distances look equally far apart; by Björn Ottosson, 2020."""
    red, green, blue = linear(colour)
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    medium = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


@pytest.mark.parametrize("theme", THEMES)
def test_lines_and_discs_stand_out_and_differ(theme: str) -> None:
    ours, shared = read_colours("colours.css", theme), read_colours("site.css", theme)

    bots = [parse(ours[f"bot{number}--bot"]) for number in range(COLOURS)]
    for background in ("--sheet", "--paper", "--green-wash"):
        assert min(contrast(bot, parse(shared[background])) for bot in bots) >= 3
    assert contrast(parse(ours["--faint"]), parse(shared["--sheet"])) >= 3
    assert min(contrast(bot, parse(ours[f"bot{place}--on-bot"])) for place, bot in enumerate(bots)) >= 4.5
    # Steps of 0.02 can be seen side by side.
    assert min(math.dist(oklab(one), oklab(other)) for one, other in combinations(bots, 2)) >= 0.15


@pytest.mark.parametrize("theme", THEMES)
def test_figures_can_be_read_on_every_heat(theme: str) -> None:
    ours, shared = read_colours("charts.css", theme), read_colours("site.css", theme)
    sheet, ink = parse(shared["--sheet"]), parse(shared["--ink"])

    mix = r"\.h\d \{ background: color-mix\(in srgb, var\((--\w+)\) (\d+)%"
    heats = re.findall(mix, (SHEETS / "charts.css").read_text())
    assert len(heats) == 8
    for name, percent in heats:
        share = float(percent) / 100
        mixed = [share * one + (1 - share) * two for one, two in zip(parse(ours[name]), sheet, strict=True)]
        assert contrast((mixed[0], mixed[1], mixed[2]), ink) >= 4.5


def test_sixty_bots_have_discs_and_more_have_lines_of_their_own_and_keep_them() -> None:
    labels = [f"bot {number}" for number in range(300)]
    colours = assign_colours(labels)

    assert len({name_disc(number) for number in range(60)}) == 60
    assert len({name_line(number) for number in range(300)}) == 300
    assert len({name_line(number).partition(" ")[2] for number in range(COLOURS)}) == COLOURS, "without colours, too"
    assert assign_colours(labels[:7]).items() <= colours.items()
    assert find_colour(colours, "bot 3@1") == find_colour(colours, "bot 3") == 3


def test_an_older_version_has_the_disc_of_its_newest_and_a_stranger_none() -> None:
    marks = Marks(["a", "b@home", "日本"])

    found = [marks.find(make_name(label)) for label in ("b@home", "b@home@2", "日本@1", "c", "c@1")]

    assert found == ["marked bot1 shape1", "marked bot1 shape1", "marked bot2 shape2", "", ""]
