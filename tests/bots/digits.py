"""Answers a move with an id of 50,000 digits: protocol."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        print('{"id":' + "9" * 50_000 + ',"move":"p-c0"}', flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
