"""Writes its name and notes in control and bidi characters, and plays well: no verdict."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "move":
        print(
            json.dumps({"id": request["id"], "move": request["legal"][0], "note": "\x1b[2J\u202e\r\n</script>"}),
            flush=True,
        )
        continue
    print(json.dumps({"id": request.get("id"), "name": "\x1b[31m\u202egreedy\u2066\0", "version": "<b>\n"}), flush=True)
