"""Writes short lines to stdout for ever when it is asked for a move: protocol."""

import json
import os
import sys

for line in sys.stdin:
    request = json.loads(line)
    while request["type"] == "move":
        os.write(1, b"thinking\n" * 1000)
    print(json.dumps({"id": request.get("id")}), flush=True)
