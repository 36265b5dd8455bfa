"""Text from strangers, made safe to print in a terminal and to show on a page.

The templates escape HTML. This module handles what HTML lets through: control characters, characters that reverse the
direction of writing, invisible ones, and towers of accents. Emoji that consist of several characters stay whole.
"""

from __future__ import annotations

import re
import unicodedata

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that Unicode's tables call printable although they show nothing."""
_ACCENTS = 2
"""Accents that may stand on one character."""
_JOINER = "\u200d"
"""Makes one emoji of two, such as a family or a rainbow flag."""
_MODIFIERS = "\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
"""They change the emoji before them: the first colours it, the others are tones of skin."""
_FLAGS = re.compile(
    "|".join(
        "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in code) + "\U000e007f"
        for code in ("gbeng", "gbsct", "gbwls")
    )
)
"""The flags that are spelled in invisible letters after a black flag: England, Scotland, Wales."""


def sanitize(text: str, limit: int = 0, *, lines: bool = False) -> str:
    """Make `text` safe to show: what cannot be seen is spelled out, such as `\\u202e`.

    Args:
        text: anything.
        limit: the most characters to keep; 0 is no limit.
        lines: keep line breaks and tabs.
    """
    if limit and len(text) > limit:
        text = _cut(text, limit - 1) + "…"
    if text.isascii() and text.isprintable():
        return text
    accents = 0
    out = []
    whole = _find_emoji_parts(text)
    for place, char in enumerate(text):
        accents = accents + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        if (
            (char.isprintable() and char not in _BLANK and accents <= _ACCENTS)
            or (lines and char in "\n\t")
            or place in whole
        ):
            out.append(char)
        elif unicodedata.category(char) == "Zs":
            out.append(" ")
        else:
            out.append(_spell_out(ord(char)))
    return "".join(out)


def _cut(text: str, limit: int) -> str:
    """The beginning of a text, without the first half of an emoji."""
    end = limit
    while end and (text[end] in _JOINER + _MODIFIERS or text[end - 1] == _JOINER):
        end -= 1
    return text[:end]


def _find_emoji_parts(text: str) -> set[int]:
    """The places of invisible characters that make one emoji of several characters."""
    flags = {place for flag in _FLAGS.finditer(text) for place in range(*flag.span())}
    return flags | {place for place, char in enumerate(text) if char == _JOINER and _joins(text, place)}


def _joins(text: str, place: int) -> bool:
    before = text[max(0, place - 3) : place].rstrip(_MODIFIERS)[-1:]
    return _is_picture(before) and _is_picture(text[place + 1 : place + 2])


def _is_picture(char: str) -> bool:
    return bool(char) and char not in _BLANK and (unicodedata.category(char) == "So" or char == "↔")


def _spell_out(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_MARKDOWN = re.compile(r"[\\`*\[\]|<>&~]|(?<![^\W_])_|_(?![^\W_])")
"""What means something in Markdown or HTML wherever it stands; an underscore within a word does not."""


def escape_markdown(text: str) -> str:
    """Escape text of strangers so that Markdown and HTML show it as it is."""
    return _MARKDOWN.sub(r"\\\g<0>", sanitize(text))
