"""Text for pages: labels, file names and figures.

The templates escape HTML. This module removes what escaping lets through in text from strangers: control
characters, characters that change the direction of writing, invisible characters, stacks of accents.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Mapping
from urllib.parse import quote

from malice.referee.nouns import inflect
from malice.tournaments.sanitizer import sanitize

NONE = "n/a"
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}")


def shorten_middle(name: str, most: int) -> str:
    """A name of at most so many characters: a long one without its middle, since names of a kind begin alike."""
    if len(name) <= most:
        return name
    end = most // 2
    return f"{name[: most - end - 1].rstrip()}…{name[-end:].lstrip()}"


def format_label(text: str) -> str:
    """The label of an entry as pages show it."""
    return sanitize(text, 64).strip() or "(no name)"


def make_slug(text: str) -> str:
    """A file name for a label: the label itself if plain, otherwise a plain form of it with its digest."""
    if _PLAIN.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{_make_stem(text) or 'bot'}.{digest}"


def make_games_address(**parts: object) -> str:
    """The address of the list of games with a filter, such as `games.html#bot=greedy&result=lost`.

    An empty part is left out. `bot` and `opponent` are labels as the tournament file has them.
    """
    told = [f"{name}={quote(str(value), safe='', errors='replace')}" for name, value in parts.items() if value != ""]
    return "games.html" + (f"#{'&'.join(told)}" if told else "")


def _make_stem(text: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_only)[:32].strip("-")


def shorten(text: str, limit: int) -> str:
    """A text with its line breaks, sanitized; of a long one, the beginning and the end."""
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}\n… {format_count(len(text) - limit, 'character')} left out …\n{text[-half:]}"
    return sanitize(text, lines=True)


def drop_unknown(value: float | None) -> float | None:
    """`value` if it is a finite number, otherwise None."""
    return value if value is not None and math.isfinite(value) else None


def format_decimal(value: float | None, digits: int = 0) -> str:
    """A figure with this many digits after the point, and a true minus sign."""
    value = drop_unknown(value)
    if value is None:
        return NONE
    rounded = round(value, digits) + 0.0
    return f"{rounded:.{digits}f}".replace("-", "−")


def format_signed(value: float | None) -> str:
    """A whole figure with its sign, as for Elo differences."""
    text = format_decimal(value)
    return text if text in (NONE, "0") or text.startswith("−") else f"+{text}"


def format_percent(value: float | None) -> str:
    """A share, 0..1, as a percentage."""
    value = drop_unknown(value)
    return NONE if value is None else f"{format_decimal(100 * value, 1)} %"


def format_rounded_percent(value: float | None) -> str:
    """A percentage without digits after the point."""
    value = drop_unknown(value)
    return NONE if value is None else f"{format_decimal(100 * value)} %"


def format_likelihood(value: float | None) -> str:
    """A probability as a percentage that never claims certainty."""
    value = drop_unknown(value)
    if value is None or 0.001 <= value <= 0.999:
        return format_percent(value)
    return "< 0.1 %" if value < 0.5 else "> 99.9 %"


def format_milliseconds(value: float | None) -> str:
    """A time in milliseconds with about three significant digits."""
    value = drop_unknown(value)
    if value is None:
        return NONE
    return format_decimal(value, 3 if value < 0.1 else 2 if value < 10 else 1 if value < 100 else 0)


def format_count(count: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 game`, `2 games`, `10,000 games`."""
    return f"{count:,} {inflect(count, one, many)}"


_REASONS = {"forfeit": "forfeit", "void": "void: nobody played", "endless": "void: it had no end"}
"""Why any game can end; a family has words for its other reasons."""


def describe_reason(code: str, reasons: Mapping[str, str]) -> str:
    """Why a game ended, in words; `reasons` are those of its family."""
    return _REASONS.get(code) or sanitize(reasons.get(code) or code.replace("_", " "), 80)
