"""What the starter kits take beside their own files, and whether it is here; asked by tests, and by CI as a program."""

from __future__ import annotations

import tomllib
from pathlib import Path

from malice.tournaments.entries.programs import explain_missing_programs, list_missing_programs, list_packages

SHIPPED = Path(__file__).parents[1] / "bots"
KITS = {path.parent.parent.name: path.parent for path in sorted(SHIPPED.glob("*/starter/bot.toml"))}
"""The folders of the kits, by language."""


def needs(language: str) -> tuple[str, ...]:
    """The programs and libraries that the kit in this language names."""
    found: dict[str, list[str]] = tomllib.loads((KITS[language] / "bot.toml").read_text("utf-8"))
    return tuple(found.get("needs", ()))


def kit_lack(language: str) -> str | None:
    """One sentence on what the kit in this language lacks and where to get it, or None."""
    what = explain_missing_programs(needs(language))
    return f"the kit {what}" if what else None


if __name__ == "__main__":
    print(*list_packages(list_missing_programs(dict.fromkeys(need for language in KITS for need in needs(language)))))
