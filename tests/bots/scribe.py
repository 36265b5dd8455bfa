"""Writes every line that it gets, and every line that it says, into the given file; plays a legal action or other.

With the word `declines` it wants no list and discards, with `fails` and a number it says `nonsense` to the move of
that number, counted over all of its games.
"""

import json
import sys
from pathlib import Path

path, *how = sys.argv[1:]
moves = 0

with Path(path).open("a", encoding="utf-8") as file:
    for line in sys.stdin:
        file.write("> " + line)
        file.flush()
        request = json.loads(line)
        if request["type"] == "bye":
            break
        answer = {"id": request["id"]}
        if request["type"] == "hello":
            answer |= {"name": f"scribe {path[-5]} \u202e", "version": "7", "legal": "declines" not in how}
        if request["type"] == "move":
            moves += 1
            legal = request.get("legal") or [f"h{request['view']['hand'][0]}-s0"]
            # The pay-off card whenever it fits, and else something else each time.
            answer["move"] = legal[0] if legal[0] == "p-c0" else legal[moves % len(legal)]
            if "fails" in how and moves == int(how[1]):
                answer["move"] = "nonsense"
                print("it went wrong", file=sys.stderr, flush=True)
            if moves % 3 == 0:
                answer["note"] = f"the move {moves} of mine"
        said = json.dumps(answer)
        file.write("< " + said + "\n")
        print(said, flush=True)
