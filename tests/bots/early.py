"""Says its answer to a move before it is asked for one: protocol."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "game_start":
        print(json.dumps({"id": request["id"]}), flush=True)
        print(json.dumps({"id": request["id"] + 1, "move": "p-c0"}), flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
