"""Runs a command and is the parent of every orphan that it makes, which it buries: so nothing it starts can hide."""

import ctypes
import os
import sys

PR_SET_CHILD_SUBREAPER = 36

ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
for descriptor in (0, 1):
    os.close(descriptor)  # or nobody would see that the command has closed its own
while True:
    pid, status = os.wait()
    if pid == child:
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
