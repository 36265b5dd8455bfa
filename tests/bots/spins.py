"""Never stops to think about a move: timeout."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    while request["type"] == "move":
        pass
    print(json.dumps({"id": request.get("id")}), flush=True)
