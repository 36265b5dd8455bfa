"""Writes to stderr before each answer, and says in it which one."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    print("grumble", request["id"], file=sys.stderr, flush=True)
    print(json.dumps({"id": request["id"]}), flush=True)
