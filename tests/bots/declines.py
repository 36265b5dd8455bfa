"""Wants no list of legal actions: it discards the first card of its hand, which the game always allows."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "hello":
        answer["legal"] = False
    if request["type"] == "move":
        assert "legal" not in request
        answer["move"] = f"h{request['view']['hand'][0]}-s0"
    print(json.dumps(answer), flush=True)
