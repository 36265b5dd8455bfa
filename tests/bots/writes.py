"""Adds a note of 60,000 letters to every move, and plays well: no verdict."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        print(json.dumps({"id": request["id"], "move": request["legal"][0], "note": "n" * 60_000}), flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
