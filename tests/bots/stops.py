"""Plays the first legal action, until the given type is asked: then it lives on and says nothing more."""

import json
import signal
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == sys.argv[1]:
        break
    answer = {"id": request["id"]}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
signal.pause()
