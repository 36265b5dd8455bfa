"""Starts a child, tells of it through a named pipe when it is asked for a move, and never answers."""

import json
import signal
import subprocess
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        subprocess.Popen([sys.executable, "-I", "-c", "import signal; signal.pause()"])
        with open(sys.argv[1], "w") as pipe:
            pipe.write("here\n")
        signal.pause()
    print(json.dumps({"id": request["id"]}), flush=True)
