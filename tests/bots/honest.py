"""Plays the first legal action; its name is its process number, so that one can see when it was started anew."""

import json
import os
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "hello":
        answer |= {"name": str(os.getpid()), "version": "7"}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
