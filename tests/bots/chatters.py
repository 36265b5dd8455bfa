"""Writes so many lines of so many letters before each answer to a move; the answers are those of a good bot."""

import json
import sys

lines, letters = map(int, sys.argv[1:])
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
        sys.stdout.write(("x" * letters + "\n") * lines)
    print(json.dumps(answer), flush=True)
