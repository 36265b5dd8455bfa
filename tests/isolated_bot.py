"""A bot that runs a piece of Python when it is greeted, and tells as its version what `told` is then, or the error."""

import json
import os
import sys

os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "hello":
        names: dict[str, object] = {"told": None}
        try:
            exec(sys.argv[1], names)
            answer["version"] = str(names["told"])
        except Exception as error:
            answer["version"] = type(error).__name__
    elif request["type"] == "move":
        if len(sys.argv) > 2:
            exec(sys.argv[2])
        answer["move"] = request["legal"][0]
    print(json.dumps(answer), flush=True)
