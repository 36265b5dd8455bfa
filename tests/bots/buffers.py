"""Answers every request, and never flushes its output."""

import json
import sys

for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"]}))
