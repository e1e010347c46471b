"""Stands on the pipes between a daemon and the processor of a shard: pipes.py FOLDER COMMAND... Each line of either way
goes to a file of its own in FOLDER, before it is passed on: nanoseconds, ">" to the processor or "<" from it, the line."""

import os
import subprocess
import sys
import threading
import time

log = open(os.path.join(sys.argv[1], f"{time.time_ns()}-{os.getpid()}"), "ab", buffering=0)
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
log.write(b"%d ! %d\n" % (time.time_ns(), child.pid))


def pump(source, to, mark):
    for line in source:
        log.write(b"%d %s " % (time.time_ns(), mark) + line)
        try:
            to.write(line)
            to.flush()
        except BrokenPipeError:
            break
    try:
        to.close()
    except BrokenPipeError:
        pass


back = threading.Thread(target=pump, args=(child.stdout, sys.stdout.buffer, b"<"), daemon=True)
back.start()
there = threading.Thread(target=pump, args=(sys.stdin.buffer, child.stdin, b">"), daemon=True)
there.start()
code = child.wait()
back.join()
sys.stdout = None  # it is closed
os._exit(code if code >= 0 else 128 - code)
