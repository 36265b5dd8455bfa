"""Answers a move with its id and a field that is 30,000 lists deep: protocol."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        deep = "[" * 30_000 + "]" * 30_000
        print(f'{{"x":{deep},"id":{request["id"]},"move":"p-c0"}}', flush=True)
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
