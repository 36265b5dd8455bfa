"""Plays the first legal action but for what its first argument says is wrong with it."""

import json
import os
import random
import re
import secrets
import signal
import subprocess
import sys
import time
from typing import Any

WRONG, *REST = sys.argv[1:]
KNOWN = {"type", "id", "protocol", "referee", "limits", "game", "family", "ruleset", "rules", "seat", "seats", "rng"}
KNOWN |= {"commit", "clock", "view", "events", "legal", "place", "places", "scores", "reason", "key"}
TYPES = ("hello", "game_start", "move", "game_end", "bye")


def understood(line: str) -> Any:
    """Read a request, as badly as it is wished."""
    if WRONG == "no reader" and '{"type":"' not in line:
        sys.exit("expected the type first")
    if WRONG == "short lines" and len(line) > 8000:
        sys.exit("a longer line than I can read")
    request = json.loads(line)
    if WRONG == "unknown fields" and not request.keys() <= KNOWN:
        sys.exit("an unknown field")
    if WRONG == "unknown types" and request["type"] not in TYPES:
        sys.exit("an unknown type")
    return request


def chosen(legal: list[str], actions: int, mine: random.Random) -> str:
    """Choose an action, by what must not decide in some ways of being wrong."""
    if WRONG == "leaks":
        return legal[actions % len(legal)]
    if WRONG == "gambles":
        return secrets.choice(legal)
    return mine.choice(legal) if WRONG == "seeded" else legal[0]


def main() -> None:
    """Answer until it is time to go."""
    actions, mine = 0, random.Random(0)
    if WRONG == "locks":
        os.close(os.open(REST[0], os.O_CREAT | os.O_EXCL))
    for line in sys.stdin.readlines() if WRONG == "reads all" else sys.stdin:
        request = understood(line)
        kind = request["type"]
        if kind == "bye":
            if WRONG == "last words":
                sys.exit('"but":"I am not done"')
            if WRONG != "ignores bye":
                break
            continue
        answer = {"id": request["id"]}
        if kind == "game_start":
            mine.seed(request["rng"])
            if WRONG == "prints":
                print("a new game")
        if kind == "move":
            answer["move"] = chosen(request["legal"], actions, mine)
            actions += 1
            if WRONG == "late":
                time.sleep(1.5)
            answer["id"] = {"text id": str(answer["id"]), "wrong id": answer["id"] + 1}.get(WRONG, answer["id"])
            if WRONG == "no id":
                del answer["id"]
        if kind == "game_end" and WRONG == "silent at the end":
            continue
        if WRONG == "mutters at unknown types" and kind not in TYPES:
            print("what is", kind, flush=True)
            continue
        told = json.dumps(answer)
        if (WRONG == "quotes" and kind == "move") or (WRONG == "quotes long lines" and len(line) > 8000):
            told = re.sub('"', "'", told)
        print(told, flush=WRONG != "buffers actions" or kind != "move")
        if WRONG == "prints an object" and kind == "game_start":
            print({"hand": None})
    if WRONG == "leaves a child":
        subprocess.Popen(["sleep", "600"])
    if WRONG == "locks":
        os.unlink(REST[0])
    if WRONG == "ignores the end" and kind != "bye":
        signal.pause()


main()
