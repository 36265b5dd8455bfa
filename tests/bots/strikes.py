"""Kills the referee when it is asked for a move, unless the given folder exists: nobody's loss, played again.

If it may not, it plays the first legal action.
"""

import contextlib
import json
import os
import signal
import sys

for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request.get("id")}
    if request["type"] == "move":
        if not os.path.isdir(sys.argv[1]):
            with contextlib.suppress(PermissionError):
                os.kill(os.getppid(), signal.SIGKILL)
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
