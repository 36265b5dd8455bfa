"""Answers the next request together with this one, before it was asked: protocol."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        # In one piece: between two it may be stopped until the request comes.
        answers = ({"id": request["id"] + more, "move": request["legal"][0]} for more in (0, 1))
        print("\n".join(map(json.dumps, answers)), flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
