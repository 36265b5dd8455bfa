"""Leaves ten children that sleep and hold its output open, and exits when it is asked for a move: crash."""

import json
import os
import subprocess
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        for _ in range(10):
            subprocess.Popen(["sleep", "600"])
        os._exit(0)
    print(json.dumps({"id": request.get("id")}), flush=True)
