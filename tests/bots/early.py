"""Says its answer to a move before it is asked for one: protocol."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "game_start":
        # In one piece: between two it may be stopped until the request comes.
        answers = ({"id": request["id"]}, {"id": request["id"] + 1, "move": "p-c0"})
        print("\n".join(map(json.dumps, answers)), flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
