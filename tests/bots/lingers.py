"""Answers all but moves; after bye it closes its output, and some seconds later it writes a file and exits."""

import json
import os
import sys
import time
from pathlib import Path

file, seconds = Path(sys.argv[1]), float(sys.argv[2])
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        os.close(1)
        time.sleep(seconds)
        file.touch()
        os._exit(0)
    print(json.dumps({"id": request["id"]}), flush=True)
