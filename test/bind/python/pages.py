"""The programs of src/bind/python/README.md, run as they stand there."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import sloop
from world import HERE, World, program_environment

PAGE = os.path.join(HERE, "..", "..", "..", "src", "bind", "python", "README.md")


class Pages(World):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(PAGE, encoding="utf-8") as file:
            cls.programs = dict(re.findall(r"```python\n# (\w+)\.py\n(.*?)```", file.read(), re.S))
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.box.make_stream("orders", 2)
        cls.put = cls.box.put(100, stream="orders")

    def begin(self, name, *args):
        path = os.path.join(self.folder.name, name + "_page.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.programs[name])
        return subprocess.Popen([sys.executable, "-X", "dev", path, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, cwd=self.folder.name, env=program_environment(self.box.env))

    def end(self, child, code=0):
        out, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, code, errors)
        self.assertNotIn("ResourceWarning", errors)
        return out

    def test_there_are_five(self):
        self.assertEqual(set(self.programs), {"script", "worker", "service", "table", "operator"})

    def test_script(self):
        lines = self.end(self.begin("script")).splitlines()
        self.assertEqual(sorted(re.findall(r"b'(record \d+ )'", "\n".join(lines))), sorted(p[2] for p in self.put))

    def test_worker_and_operator(self):
        seen = []
        while len(seen) < len(self.put):
            child = self.begin("worker")
            seen.append(child.stdout.readline().split()[1])
            child.send_signal(signal.SIGTERM)
            # Not by communicate(): lines that readline() has read ahead would be lost.
            seen += [line.split()[1] for line in child.stdout.read().splitlines()]
            self.end(child)
        self.assertEqual(sorted(seen), sorted(p[1] for p in self.put))
        lines = self.end(self.begin("operator")).splitlines()
        # A worker that leaves with no new position to write frees its leases by its own row: theirs still name it.
        self.assertEqual(len(lines), 2)
        for _, state, owner, why in map(str.split, lines):
            self.assertEqual((state, why), ("FREE", "FREE" if owner == "-" else "OWNER_DEAD"))

    def test_table(self):
        self.box.make_table("customers")
        self.box.dynamodb("PutItem", TableName="customers", Item={"id": {"S": "a"}, "n": {"N": "1.50"}})
        self.assertEqual(self.end(self.begin("table")), "INSERT {'id': 'a'} {'id': 'a', 'n': Decimal('1.5')}\n")
        self.box.dynamodb("DeleteItem", TableName="customers", Key={"id": {"S": "a"}})
        self.assertEqual(self.end(self.begin("table")), "REMOVE {'id': 'a'} None\n")
        self.assertEqual(self.end(self.begin("table")), "")

    def test_service(self):
        try:
            import aiohttp  # noqa: F401
        except ImportError:
            self.skipTest("aiohttp is not installed")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        child = self.begin("service", str(port))
        text, end = "", time.monotonic() + 30
        while '"records": 100' not in text and time.monotonic() < end:
            time.sleep(0.1)
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
                    text = answer.read().decode()
            except OSError:
                continue
        child.send_signal(signal.SIGTERM)
        self.end(child)
        self.assertIn('{"keys": 100, "records": 100}', text)

    def test_the_page_names_what_is_there(self):
        with open(PAGE, encoding="utf-8") as file:
            text = file.read()
        for name in set(re.findall(r"sloop\.([A-Z]\w+)", text)):
            self.assertTrue(hasattr(sloop, name), name)


if __name__ == "__main__":
    unittest.main()
