"""Answers a move with two moves under the same key, the second no legal one: illegal."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        print(f'{{"id":{request["id"]},"move":"{request["legal"][0]}","move":"all"}}', flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
