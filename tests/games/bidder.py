"""A bot for bidding. Its arguments say what it does besides:

log=FILE      writes down what it hears
fails=N:HOW   in round N, or at "hello" or "game_start": exit, pause, spin, half (of a line), garbage, illegal
turns=FOLDER:2,0,1   the seats that are asked answer in this order; a named pipe for each seat tells it when
"""

import json
import os
import random
import signal
import sys
from typing import Any

options = dict(argument.split("=", 1) for argument in sys.argv[1:])
when, _, how = options.get("fails", "").partition(":")
log = os.open(options["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT) if "log" in options else None
pipes: dict[int, int] = {}
if "turns" in options:
    folder, _, seats = options["turns"].partition(":")
    order = [int(seat) for seat in seats.split(",")]
    # Open for both ends, so that no opening waits for another bot.
    pipes = {seat: os.open(f"{folder}/{seat}", os.O_RDWR) for seat in order}


def fail(request: dict[str, Any]) -> None:
    if how == "exit":
        sys.exit(3)
    while how == "spin":
        pass
    if how == "half":
        sys.stdout.write('{"id":' + str(request["id"]))
        sys.stdout.flush()
    if how in ("pause", "half"):
        signal.pause()
    answer = {"id": request["id"], "move": "a fortune"} if how == "illegal" else {"id": 0}
    print(json.dumps(answer), flush=True)


def neighbours(request: dict[str, Any], seat: int) -> tuple[list[int], list[int]]:
    """Return the seats that answer before and after this one."""
    view = request["view"]
    asked = [each for each in order if each not in view["done"] and each not in view["out"]]
    place = asked.index(seat)
    return asked[place - 1 : place] if place else [], asked[place + 1 : place + 2]


seat, chance = 0, random.Random(0)
for line in sys.stdin:
    if log is not None:
        os.write(log, line.encode())
    request = json.loads(line)
    if request["type"] == "bye":
        break
    if request["type"] == "game_start":
        seat, chance = request["seat"], random.Random(request["rng"])
    if when and when in (request["type"], str(request.get("view", {}).get("round"))):
        fail(request)
        continue
    answer = {"id": request["id"]}
    before, after = neighbours(request, seat) if pipes and request["type"] == "move" else ([], [])
    if before:
        os.read(pipes[seat], 1)
    if request["type"] == "move":
        answer["move"] = chance.choice(request["legal"])
        answer["note"] = f"round {request['view']['round']}"
    print(json.dumps(answer), flush=True)
    for other in after:
        os.write(pipes[other], b".")
