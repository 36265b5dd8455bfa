"""Answers a move with NaN for an id, as Python's json module writes it: protocol."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        print(json.dumps({"id": float("nan"), "move": "p-c0"}), flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
