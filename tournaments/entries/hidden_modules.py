"""Modules and libraries that a bot asks for in vain: it may be the sandbox that hides them."""

from __future__ import annotations

import re

MISSING = re.compile(
    r"ModuleNotFoundError: No module named '(?P<python>[^']+)'"
    r"|Cannot find (?:module|package) '(?P<node>[^']+)'"
    r"|cannot load such file -- (?P<ruby>\S+)"
    r"|Can't locate (?P<perl>\S+) in @INC"
    r"|module '(?P<lua>[^']+)' not found"
    r"|error while loading shared libraries: (?P<library>[^\s:]+)"
    r"|(?:NoClassDefFoundError|ClassNotFoundException): (?P<java>\S+)"
)
"""How each language says so on stderr."""

SHOWN = "a bot sees its own folder, the system's, and the installation of the program that runs it, nothing else"


def explain_hidden_module(stderr: str, isolation: tuple[str, ...]) -> str | None:
    """Return what the author of a bot can do about a module that was not found in a sandbox, or None.

    Args:
        stderr: what the bot wrote there.
        isolation: what was in force around it, the layer first.
    """
    found = MISSING.search(stderr)
    if found is None or "bwrap" not in isolation:
        return None
    way = "put it into the bot's folder"
    if found.lastgroup == "python":
        way += ", or name an interpreter that has it by `python` in bot.toml"
    return (
        f"the sandbox may hide {found[found.lastgroup or 0]!r}: {SHOWN}; {way}"
        " (--isolation none tells whether that is it)"
    )
