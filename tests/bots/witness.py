"""Plays the first legal action; writes into the given file how long its game was, in nanoseconds."""

import json
import sys
import time
from pathlib import Path

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    if request["type"] == "game_start":
        begin = time.monotonic_ns()
    if request["type"] == "game_end":
        Path(sys.argv[1]).write_text(str(time.monotonic_ns() - begin))
    answer = {"id": request["id"]}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
