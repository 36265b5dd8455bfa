"""Answers a move with a zero byte in it: illegal."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        print(json.dumps({"id": request["id"], "move": request["legal"][0] + "\0"}), flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
