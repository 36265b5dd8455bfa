"""What the starter kits take beside their own files: which programs, which libraries, and where to get them."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path

SHIPPED = Path(__file__).parents[1] / "bots"
KITS = {path.parent.parent.name: path.parent for path in sorted(SHIPPED.glob("*/starter/bot.toml"))}
"""The folders of the kits, by language."""

DEBIAN = {
    "c": "gcc libc6-dev libcjson-dev",
    "cpp": "g++ nlohmann-json3-dev",
    "csharp": "mono-mcs libmono-system-runtime-serialization4.0-cil",
    "go": "golang-go",
    "java": "default-jdk-headless maven",
    "javascript": "nodejs",
    "lua": "lua5.4 lua-dkjson",
    "perl": "perl",
    "python": "python3",
    "ruby": "ruby",
    "rust": "cargo",
    "shell": "jq",
    "typescript": "nodejs npm",
}
"""By language: the packages that bring all of it."""

LIBRARIES = {
    "c": ("cJSON", "echo '#include <cjson/cJSON.h>' | cc -E -x c -"),
    "cpp": ("nlohmann-json", "echo '#include <nlohmann/json.hpp>' | c++ -E -x c++ -"),
    "lua": ("dkjson", "lua5.4 -l dkjson -e ''"),
    "perl": ("JSON::PP", "perl -MJSON::PP -e 1"),  # Debian's perl-base is without it
}
"""By language: what the programs need to have, and a command that fails if they do not."""


@cache
def kit_lack(language: str) -> str | None:
    """One sentence on what the kit in this language lacks and where to get it, or None."""
    needs: list[str] = tomllib.loads((KITS[language] / "bot.toml").read_text("utf-8")).get("needs", [])
    gone = [program for program in needs if shutil.which(program) is None]
    if not gone and language in LIBRARIES:
        name, probe = LIBRARIES[language]
        if subprocess.run(probe, shell=True, capture_output=True, check=False).returncode:
            gone = [name]
    return f"{' and '.join(gone)} not found (Debian: apt-get install {DEBIAN[language]})" if gone else None
