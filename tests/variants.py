"""A bot with parameters that tells at hello which ones it received, for tests."""

from __future__ import annotations

from pathlib import Path

MANIFEST = """\
name = "mybot"
run = ["{python}", "-I", "bot.py"]

[parameters]
weight = 250
share = 0.5
bold = false
mode = "slow & steady"
"""
PROGRAM = """\
import json, os, sys
names = [name for name in os.environ if name.startswith("MALICE_") and name != "MALICE_TEST_MARK"]
told = {name: os.environ[name] for name in names}
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "hello":
        answer["version"] = " ".join(value for _, value in sorted(told.items()))
    elif request["type"] == "move":
        answer["move"] = request["legal"][0]
        answer["note"] = " ".join(f"{name}={value}" for name, value in sorted(told.items()))
    print(json.dumps(answer), flush=True)
"""


def write_variable_bot(folder: Path, manifest: str = MANIFEST) -> Path:
    """Write a bot with parameters; its notes and its version say what it received."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.toml").write_text(manifest)
    (folder / "bot.py").write_text(PROGRAM)
    return folder
