"""Closes the given descriptor when the given type is asked, before it answers, and lives on."""

import json
import os
import signal
import sys

when, descriptor = sys.argv[1], int(sys.argv[2])
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == when:
        os.close(descriptor)
        if descriptor:
            break
    os.write(1, b'{"id": %d}\n' % request["id"])
    if request["type"] == when:
        break
signal.pause()
