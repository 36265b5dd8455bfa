"""Writes so many lines of so many letters after it has answered hello, whether anybody reads them or not."""

import json
import sys

lines, letters = map(int, sys.argv[1:])
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"]}), flush=True)
    if request["type"] == "hello":
        sys.stdout.write(("x" * letters + "\n") * lines)
        sys.stdout.flush()
