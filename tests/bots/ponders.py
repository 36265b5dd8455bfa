"""Thinks on after it has answered, until something more is asked, on the time of others: flagged, not judged."""

import json
import os
import select

requests = os.fdopen(0, "rb", buffering=0)
while line := requests.readline():
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
    while request["type"] == "move" and not select.select([0], [], [], 0)[0]:
        pass
