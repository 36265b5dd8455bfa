"""Modules and libraries that a bot cannot find, perhaps because the sandbox hides them."""

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
"""The message of each language on stderr."""

SHOWN = "a bot sees only its own folder, the system's, and the installation of the program that runs it"


def explain_hidden_module(stderr: str, isolation: tuple[str, ...]) -> str | None:
    """Return what the author can do about a module that the bot did not find in the sandbox, or None.

    Args:
        stderr: what the bot wrote to stderr.
        isolation: the isolation in force around it, the layer first.
    """
    match = MISSING.search(stderr)
    if match is None or "bwrap" not in isolation:
        return None
    way = "copy it into the bot's folder"
    if match.lastgroup == "python":
        way += ", or set `python` in bot.toml to an interpreter that has it"
    return (
        f"the sandbox may hide {match[match.lastgroup or 0]!r}: {SHOWN}; {way}"
        " (--isolation none shows whether that is the cause)"
    )
