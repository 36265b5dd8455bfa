"""Text from strangers, made safe to print in a terminal and to show on a page.

The templates escape HTML. This module handles what HTML lets through: control characters, characters that reverse the
direction of writing, invisible ones, and towers of accents.
"""

from __future__ import annotations

import unicodedata

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that Unicode's tables call printable although they show nothing."""
_ACCENTS = 2
"""Accents that may stand on one character."""


def sanitize(text: str, limit: int = 0, *, lines: bool = False) -> str:
    """Return `text` safe to show: what cannot be seen is spelled out, such as `\\u202e`.

    Args:
        text: anything.
        limit: the most characters to keep; 0 is no limit.
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
            out.append(_spell_out(ord(char)))
    return "".join(out)


def _spell_out(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
