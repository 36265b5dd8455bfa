"""The instant bot: it answers the first legal action, and does not think at all.

Benchmarks use it, so its loop avoids what costs microseconds: bytes in and out, one write per answer,
no encoder. Every other bot here has the same loop, written for the reader.
"""

import json
import os
import sys


def main() -> None:
    decode = json.JSONDecoder().raw_decode
    for line in sys.stdin.buffer:
        request, _ = decode(line.decode())
        if request["type"] == "move":
            os.write(1, b'{"id":%d,"move":"%s"}\n' % (request["id"], request["legal"][0].encode()))
        elif request["type"] == "bye":
            break
        else:
            os.write(1, b'{"id":%d}\n' % request["id"])


if __name__ == "__main__":
    main()
