"""Writes to stderr for ever when it is asked for a move, and never answers."""

import json
import os
import sys

for line in sys.stdin:
    request = json.loads(line)
    while request["type"] == "move":
        os.write(2, b"no! " * 1024)
    print(json.dumps({"id": request["id"]}), flush=True)
