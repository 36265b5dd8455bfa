"""Leaves a child in a session of its own, and exits when it is asked for a move: crash.

Without isolation nobody can tell afterwards whose child that was.
"""

import json
import os
import subprocess
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        os._exit(0)
    print(json.dumps({"id": request.get("id")}), flush=True)
