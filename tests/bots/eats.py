"""Takes all the memory that it can get when it is asked for a move: crash.

It sets itself a limit of so many MiB, if one is given: without any it is nothing for a machine that limits nobody.
"""

import json
import resource
import sys

if sys.argv[1:]:
    limit = int(sys.argv[1]) << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        hoard = []
        while True:
            hoard.append(b"x" * (1 << 24))
    print(json.dumps({"id": request.get("id")}), flush=True)
