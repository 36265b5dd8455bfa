"""Writes to stdout for ever when it is asked for a move, without a newline: protocol."""

import json
import os
import sys

for line in sys.stdin:
    request = json.loads(line)
    while request["type"] == "move":
        os.write(1, b"x" * 65536)
    print(json.dumps({"id": request.get("id")}), flush=True)
