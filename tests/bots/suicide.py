"""Kills its whole process group when it is asked for a move: crash."""

import json
import os
import signal
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        os.killpg(0, signal.SIGKILL)
    print(json.dumps({"id": request.get("id")}), flush=True)
