"""Thinks on for a while after it has answered, on the time of others: flagged, not judged."""

import json
import sys
import time

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
    until = time.process_time() + float(sys.argv[1]) / 1000
    while request["type"] == "move" and time.process_time() < until:
        pass
