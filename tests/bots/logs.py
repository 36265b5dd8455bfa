"""Plays the first legal action, and after each answer it writes more to stderr than a pipe holds."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
    print("x" * 100_000, file=sys.stderr, flush=True)
