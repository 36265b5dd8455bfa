"""Answers a move in Latin-1, which is no UTF-8: protocol."""

import json
import os
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        os.write(1, b'{"id":%d,"move":"p\xe9"}\n' % request["id"])
        continue
    print(json.dumps({"id": request.get("id")}), flush=True)
