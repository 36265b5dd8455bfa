"""Answers each move twice: protocol."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        print((json.dumps({"id": request["id"], "move": request["legal"][0]}) + "\n") * 2, end="", flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
