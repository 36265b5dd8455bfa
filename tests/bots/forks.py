"""Leaves so many children that sleep and hold its output open, and exits when it is asked for a move: crash."""

import json
import os
import signal
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        for _ in range(int(sys.argv[1])):
            if os.fork() == 0:
                signal.pause()
        os._exit(0)
    print(json.dumps({"id": request.get("id")}), flush=True)
