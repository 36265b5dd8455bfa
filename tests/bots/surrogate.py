"""Answers a move with half of a surrogate pair: protocol."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        print(json.dumps({"id": request["id"], "move": "\ud800"}), flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
