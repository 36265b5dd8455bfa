"""Answers a move with 60,000 open brackets: protocol."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        print("[" * 60_000, flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
