"""Takes all the memory that it can get when it is asked for a move: crash.

It sets itself a limit of 256 MiB, for the sake of the machine that runs the tests.
"""

import json
import resource
import sys

resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        hoard = []
        while True:
            hoard.append(b"x" * (1 << 24))
    print(json.dumps({"id": request.get("id")}), flush=True)
