"""How much of a name fits into a drawing, which cannot shorten it by itself."""

from __future__ import annotations

import unicodedata

FONT = 12
"""The size of letters in charts, in their own units."""
JOINERS = "\u200d\ufe0f"
"""Characters without a width that join or change their neighbours."""


def shorten_name(name: str, room: float) -> str:
    """Return as much of a name as surely fits into `room`, whatever the font of the reader."""
    if sum(map(_measure, name)) * FONT <= room:
        return name
    used = _measure("…")
    kept = ""
    for char in name:
        used += _measure(char)
        if used * FONT > room:
            break
        kept += char
    return f"{kept.rstrip(JOINERS + ' ')}…"


def _measure(char: str) -> float:
    """Return how wide a character is at most, in ems of a bold and wide font."""
    if unicodedata.combining(char) or char in JOINERS:
        return 0.0
    if unicodedata.east_asian_width(char) in "WF" or char > "\uffff":
        return 1.4
    if char in "mwMW@%…—" or unicodedata.category(char) in ("So", "Lo"):
        return 1.15
    return 0.42 if char in "ijltfrI.,:;|!'() " else 0.85 if char.isupper() else 0.72
