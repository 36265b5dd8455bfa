"""Plays the first legal action; when its third game begins it tells so through a named pipe.

It goes on when the reader closes the pipe: until then it fills it.
"""

import contextlib
import json
import os
import sys

fifo = sys.argv[1]

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "game_start" and request["game"] == 3 and os.path.exists(fifo):
        with contextlib.suppress(BrokenPipeError), open(fifo, "w") as pipe:
            pipe.write("here\n" + " " * 1_000_000)
    answer = {"id": request.get("id")}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    if request["type"] != "bye":
        print(json.dumps(answer), flush=True)
