"""Answers each move with the id of the request before: protocol."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        print(json.dumps({"id": request["id"] - 1, "move": request["legal"][0]}), flush=True)
    print(json.dumps({"id": request.get("id")}), flush=True)
