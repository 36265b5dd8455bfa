"""Plays the middle legal action."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "move":
        answer["move"] = request["legal"][len(request["legal"]) // 2]
    print(json.dumps(answer), flush=True)
