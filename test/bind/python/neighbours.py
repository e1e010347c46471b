"""The package beside modules that bring copies of the libraries that it uses, loaded before it and after it."""

import importlib.util
import os
import re
import tempfile
import unittest

import sloop
from world import World

READ = """
import sys
{before}
import sloop
{after}
print(len(list(sloop.read(sys.argv[1], until_tip=True))))
print(sorted(sloop.running().items()))
"""
MODULES = {"uvloop": "import uvloop", "cryptography": "from cryptography.hazmat.bindings._rust import openssl",
           "pycurl": "import pycurl; pycurl.Curl()", "apsw": "import apsw; apsw.Connection(':memory:')",
           "sqlite3": "import sqlite3; sqlite3.connect(':memory:')", "ssl": "import ssl; ssl.create_default_context()",
           "psycopg": "import psycopg; psycopg.pq.version()", "brotli": "import brotli"}
# What the wheel of a release has inside; its neighbours bring copies of them.
INSIDE = ("SSL_CTX_new", "EVP_MD_fetch", "inflate", "crc32", "uv_run", "nghttp2_session_mem_recv", "curl_multi_socket_action",
          "sqlite3_open_v2")


class Neighbours(World):
    def test_each_before_and_after(self):
        name = self.stream()
        self.box.put(100, stream=name)
        there = {module: text for module, text in MODULES.items() if importlib.util.find_spec(module)}
        alone = self.program(READ.format(before="", after=""), name).splitlines()
        self.assertIn("libuv", alone[1])
        for module, text in [*there.items(), ("all", "\n".join(there.values()))]:
            for where in ({"before": text, "after": ""}, {"before": "", "after": text}):
                with self.subTest(module, where=where):
                    self.assertEqual(self.program(READ.format(**where), name).splitlines(), alone)
        print(f"  beside {', '.join(there)}", flush=True)

    def bindings(self, text, name):
        """(from, to, symbol) of each symbol that the dynamic linker bound while the program ran."""
        with tempfile.TemporaryDirectory() as folder:
            self.program(text, name, env={"LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": folder + "/said"})
            said = ""
            for file in sorted(os.listdir(folder)):
                with open(os.path.join(folder, file), encoding="utf-8", errors="replace") as one:
                    said += one.read()
        return re.findall(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `([^']+)'", said)

    def test_no_call_leaves_the_wheel(self):
        ours = sloop.running()
        if os.path.realpath(ours["libuv"][1]) != os.path.realpath(sloop._native.__file__):
            self.skipTest("this package uses the libraries of the system")
        for library, (_, file) in ours.items():
            self.assertEqual(file, ours["sloop"][1], library)
        name = self.stream()
        self.box.put(10, stream=name)
        there = "\n".join(text for module, text in MODULES.items() if importlib.util.find_spec(module))
        seen = set()
        for where in ({"before": there, "after": ""}, {"before": "", "after": there}):
            with self.subTest(where=where):
                bindings = self.bindings(READ.format(**where), name)
                outward = {(os.path.basename(to), symbol) for source, to, symbol in bindings
                           if "/sloop/_native." in source and "/sloop/_native." not in to}
                inward = {symbol for _, to, symbol in bindings if "/sloop/_native." in to}
                self.assertTrue({"malloc", "PyDict_New"} <= {symbol for _, symbol in outward}, outward)
                for file, symbol in outward:
                    self.assertRegex(file, r"^(lib(c|m|dl|pthread|gcc_s)\.so|ld-linux|linux-vdso|libpython|python)", symbol)
                    self.assertNotIn(symbol, INSIDE)
                self.assertEqual(inward, {"PyInit__native"})
                seen |= {symbol for source, _, symbol in bindings if "/sloop/_native." not in source}
        # The test sees what it would have to see: the neighbours do bind such symbols, each to its own copy.
        self.assertTrue(set(INSIDE) & seen, there)

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
        own = os.path.realpath(sloop.running()["sqlite"][1]) == os.path.realpath(sloop._native.__file__)
        self.assertRegex(self.program(text.format(module="sqlite3"), name), "has another copy" if own else "^opened\n$")


if __name__ == "__main__":
    unittest.main()
