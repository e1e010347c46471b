"""The package beside modules that bring copies of the libraries that it uses, loaded before it and after it."""

import importlib.util
import unittest

from world import World

READ = """
import sys
{before}
import sloop
{after}
print(len(list(sloop.read(sys.argv[1], until_tip=True))))
print(sloop.features())
"""
MODULES = {"uvloop": "import uvloop", "cryptography": "from cryptography.hazmat.bindings._rust import openssl",
           "pycurl": "import pycurl; pycurl.Curl()", "apsw": "import apsw; apsw.Connection(':memory:')",
           "sqlite3": "import sqlite3; sqlite3.connect(':memory:')", "ssl": "import ssl; ssl.create_default_context()"}


class Neighbours(World):
    def test_each_before_and_after(self):
        name = self.stream()
        self.box.put(100, stream=name)
        there = {module: text for module, text in MODULES.items() if importlib.util.find_spec(module)}
        alone = self.program(READ.format(before="", after=""), name).splitlines()
        self.assertIn("libuv.so", alone[1])
        for module, text in [*there.items(), ("all", "\n".join(there.values()))]:
            for where in ({"before": text, "after": ""}, {"before": "", "after": text}):
                with self.subTest(module, where=where):
                    self.assertEqual(self.program(READ.format(**where), name).splitlines(), alone)
        print(f"  beside {', '.join(there)}", flush=True)

    def test_another_copy_of_sqlite_is_refused(self):
        if importlib.util.find_spec("apsw") is None:
            self.skipTest("apsw is not installed")
        name = self.stream()
        text = """
            import os, sys, tempfile
            import {module}
            import sloop
            with tempfile.TemporaryDirectory() as folder:
                try:
                    with sloop.Reader(sys.argv[1], app="a", store="sqlite:" + folder + "/leases"):
                        print("opened")
                except sloop.StateError as error:
                    print(error)
            """
        self.assertRegex(self.program(text.format(module="apsw"), name), "apsw.* has another copy of SQLite")
        self.assertEqual(self.program(text.format(module="json"), name), "opened\n")


if __name__ == "__main__":
    unittest.main()
