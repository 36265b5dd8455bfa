"""Plays the first legal action, and never exits by itself: neither bye nor the end of its input ends it."""

import json
import signal
import sys

for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request.get("id")}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    if request["type"] != "bye":
        print(json.dumps(answer), flush=True)
signal.pause()
