"""What the tests of the Python package share: a sandbox, coroutines with a deadline, programs of their own."""

import asyncio
import os
import subprocess
import sys
import sysconfig
import textwrap
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "process"))
from box import NO_LIMITS, Box  # noqa: E402
from command import environment  # noqa: E402
from cpu_waits import Ended, Stopwatch  # noqa: E402, F401

LIMIT = 60
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
COLLECTOR = "the collector of a free-threaded build does not run at each allocation"


class World(unittest.TestCase):
    """A sandbox for the tests of a class. Its environment is this process's while they run."""

    shards = 4
    more = (*NO_LIMITS, "-X", "sandbox.reads_per_second=0")

    @classmethod
    def setUpClass(cls):
        cls.box = Box(cls.shards, *cls.more)
        cls.box.__enter__()
        cls.addClassCleanup(cls.box.__exit__, None, None, None)
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            del os.environ[name]
        os.environ.update(cls.box.env)
        cls.streams = 0

    def stream(self, shards=2):
        """A new stream's name."""
        World.numbers = getattr(World, "numbers", 0) + 1
        name = f"s{World.numbers}"
        self.box.admin(f"/_sandbox/stream?name={name}&shards={shards}")
        return name

    def run_async(self, coroutine, limit=LIMIT):
        return asyncio.run(asyncio.wait_for(coroutine, limit))

    def program(self, text, *args, limit=LIMIT, code=0, env=None):
        """Runs a program in a process of its own. Returns its output; what it says on stderr is in a failure. self.seconds: how
        long it took, less what it waited for a CPU."""
        begun = time.monotonic()
        child = subprocess.Popen([sys.executable, "-X", "dev", "-c", textwrap.dedent(text), *args], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env=program_environment({**self.box.env, **(env or {})}))
        done = Ended(child, begun, limit)
        self.assertFalse(done.too_long, f"killed after {limit} s: {done.out}{done.err}")
        self.assertEqual(child.returncode, code, done.out + done.err)
        self.errors, self.seconds = done.err, done.own
        return done.out


def program_environment(extra):
    return {**environment(extra), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}


def texts_of(put, shard=None):
    """The texts that Box.put() returned, by shard."""
    found = {}
    for one, _, text in put:
        found.setdefault(one, []).append(text)
    return found if shard is None else found[shard]
