"""Writes 16 MiB into its temporary folder when it is asked for a move, and never answers: timeout."""

import json
import signal
import sys
import tempfile

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        with tempfile.NamedTemporaryFile(prefix="hoard-", delete=False) as file:
            file.write(bytes(1 << 24))
        signal.pause()
    print(json.dumps({"id": request.get("id")}), flush=True)
