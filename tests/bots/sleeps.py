"""Sleeps for ever when a game starts: timeout."""

import json
import signal
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "game_start":
        signal.pause()
    print(json.dumps({"id": request.get("id")}), flush=True)
