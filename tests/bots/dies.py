"""Plays the first legal action; when it is asked for the given type, it writes some letters to stderr and dies.

By the given exit status, or by the signal of that name.
"""

import json
import os
import signal
import sys

when, how, letters = sys.argv[1], sys.argv[2], int(sys.argv[3])
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == when:
        sys.stderr.write("a" * (letters // 2) + "z" * (letters // 2))
        sys.stderr.flush()
        if how.isdigit():
            sys.exit(int(how))
        os.kill(os.getpid(), signal.Signals[how])
    answer = {"id": request.get("id")}
    if request["type"] == "move":
        answer["move"] = request["legal"][0]
    if request["type"] != "bye":
        print(json.dumps(answer), flush=True)
