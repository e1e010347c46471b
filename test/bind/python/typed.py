"""The package's types and text: mypy --strict, pyright strict, ruff, and stubtest against the extension. What is not
installed in the Python that runs this is skipped."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
USER = '''
import sloop

async def work() -> None:
    async with sloop.Consumer("orders", app="billing", start=sloop.OLDEST, lease_ms=5000, order="shard") as c:
        async for batch in c:
            for record in batch:
                size: int = len(record.data)
                if record.change is not None and record.arrived_at is not None:
                    print(record.change.keys, record.arrived_at.year, bytes(record), size)
            await batch.done()
            batch.done(3)
        print(c.stats()["records"], (await c.shards())[0].id)

for record in sloop.read("orders", until_tip=True):
    print(record.key)
'''


class Typed(unittest.TestCase):
    def run_tool(self, module, *args):
        if importlib.util.find_spec(module.split(".")[0]) is None:
            self.skipTest(f"{module} is not installed")
        done = subprocess.run([sys.executable, "-m", module, *args], cwd=ROOT, capture_output=True, text=True, timeout=300,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_mypy(self):
        self.run_tool("mypy", "--cache-dir", os.devnull, "src/bind/python/sloop")

    def test_mypy_of_a_user(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "user.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(USER)
            self.run_tool("mypy", "--strict", "--cache-dir", os.devnull, path)
            with open(path, "a", encoding="utf-8") as file:
                file.write('sloop.read("orders", until_typ=True)\n')
            with self.assertRaisesRegex(AssertionError, "until_typ"):
                self.run_tool("mypy", "--strict", "--cache-dir", os.devnull, path)

    def test_stubs(self):
        self.run_tool("mypy.stubtest", "--allowlist", os.path.join(HERE, "stubs_allowed.txt"), "--ignore-unused-allowlist",
                      "sloop._native")

    def test_pyright(self):
        self.run_tool("pyright", "-p", "pyproject.toml")

    def test_ruff(self):
        self.run_tool("ruff", "check", "--no-cache", "src/bind/python", "test/bind/python")


if __name__ == "__main__":
    unittest.main()
