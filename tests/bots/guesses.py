"""Answers the next request together with this one, before it was asked: protocol."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        for id in (request["id"], request["id"] + 1):
            print(json.dumps({"id": id, "move": request["legal"][0]}), flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
