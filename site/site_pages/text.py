"""Text from strangers made harmless to look at, file names for it, and figures in words.

HTML is escaped by the templates; here goes what HTML lets through: control characters, characters that turn
the direction of writing, invisible ones, towers of accents.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata

NONE = "n/a"
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Printable by Unicode's tables, but nothing to see."""
_ACCENTS = 2
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}")


def shown(text: str, limit: int = 0, *, lines: bool = False) -> str:
    """Return `text` as it may be shown: what cannot be seen is spelled out, such as `\\u202e`.

    Args:
        text: anything.
        limit: cut to so many characters; 0 is no limit.
        lines: keep line breaks and tabs.
    """
    if limit and len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isascii() and text.isprintable():
        return text
    accents = 0
    out = []
    for char in text:
        accents = accents + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        if (char.isprintable() and char not in _BLANK and accents <= _ACCENTS) or (lines and char in "\n\t"):
            out.append(char)
        elif unicodedata.category(char) == "Zs":
            out.append(" ")
        else:
            out.append(_spelled(ord(char)))
    return "".join(out)


def _spelled(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def label(text: str) -> str:
    """Return the label of an entry as it is shown."""
    return shown(text, 64).strip() or "(no name)"


def slug(text: str) -> str:
    """Return a file name for a label: a plain label itself, another one made plain, with its digest."""
    if _PLAIN.fullmatch(text):
        return text
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", ascii_only)[:32].strip("-")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{stem or 'bot'}.{digest}"


def excerpt(text: str, limit: int) -> str:
    """Return the beginning and the end of a long text, ready to be shown with its line breaks."""
    if len(text) > limit:
        left_out = len(text) - limit
        half = limit // 2
        text = f"{text[:half]}\n… {left_out} characters left out …\n{text[-half:]}"
    return shown(text, lines=True)


def known(value: float | None) -> float | None:
    """Return `value` if it is a figure, None for nan and infinity too."""
    return value if value is not None and math.isfinite(value) else None


def decimal(value: float | None, digits: int = 0) -> str:
    """Return a figure with so many digits after the point, its minus as long as a plus."""
    value = known(value)
    if value is None:
        return NONE
    rounded = round(value, digits) + 0.0
    return f"{rounded:.{digits}f}".replace("-", "−")


def signed(value: float | None) -> str:
    """Return a whole figure with its sign, as Elo differences are written."""
    text = decimal(value)
    return text if text in (NONE, "0") or text.startswith("−") else f"+{text}"


def percent(value: float | None) -> str:
    """Return a share, 0..1, as a percentage."""
    value = known(value)
    return NONE if value is None else f"{decimal(100 * value, 1)} %"


def whole_percent(value: float | None) -> str:
    """Return a share as a percentage without digits after the point."""
    value = known(value)
    return NONE if value is None else f"{decimal(100 * value)} %"


def likelihood(value: float | None) -> str:
    """Return a probability as a percentage that never claims to be certain."""
    value = known(value)
    if value is None or 0.001 <= value <= 0.999:
        return percent(value)
    return "< 0.1 %" if value < 0.5 else "> 99.9 %"


def milliseconds(value: float | None) -> str:
    """Return a time in milliseconds with about three digits that count."""
    value = known(value)
    if value is None:
        return NONE
    return decimal(value, 3 if value < 0.1 else 2 if value < 10 else 1 if value < 100 else 0)


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 game`, `2 games`, `10,000 games`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


_REASONS = {
    "payoff_empty": "pay-off pile emptied",
    "stock_out": "stock ran out",
    "forfeit": "forfeit",
    "max_turns": "turn limit reached",
    "no_progress": "no pay-off card played for too long",
    "stalemate": "everybody passed",
    "void": "void: nobody played",
}


def reason(code: str) -> str:
    """Return why a game ended, in words."""
    return _REASONS.get(code) or shown(code.replace("_", " "), 80)
