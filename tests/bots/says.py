"""Plays the first legal action; but to requests of the given type it writes the given lines, all at once.

In them ID stands for the id of the request, LONG for 70,000 letters.
"""

import json
import sys

when, *lines = sys.argv[1:]
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    texts = lines if request["type"] == when else [json.dumps(answer)]
    for text in texts:
        sys.stdout.write(text.replace("ID", str(request["id"])).replace("LONG", "x" * 70_000) + "\n")
    sys.stdout.flush()
