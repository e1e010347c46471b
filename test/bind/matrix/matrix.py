"""Runs each cell of runtime x way of running x neighbour loaded before or after, and prints the tables.

    matrix.py [--install] [--write] [--only WORDS]...   # --write: into README.md beside this file

A cell is a process (cell.py, cell.js) that reads 100 records over TLS twice, plainly and with leases in DynamoDB, and uses its
neighbour, a package with its own copy of a library that sloop uses, before, while and after. It passes when every record came,
and when the copies of libraries that ran are those that run without a neighbour. A cell whose neighbour does not work there
without sloop either is marked "n/a"; "refused" is a cell that must be refused by a named error, and was.

--install makes the environments in .cache/matrix: a virtual environment for each CPython that is found, and a folder of npm.
SLOOP_MATRIX_PYTHONS lists the interpreters, else those of the path and of pyenv are taken; the majors of node are those of
test/install.sh ci and the path's. The packages under test are built where they are not: CPython 3.11 and newer share a binary.
SLOOP_BIN names stream-tail, SLOOP_NODE_PACKAGE the package for Node. Some minutes on an idle machine.
"""

import argparse
import asyncio
import collections
import concurrent.futures
import datetime
import glob
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(1, os.path.join(ROOT, "test", "process"))

from box import NO_LIMITS, Box  # noqa: E402
from command import environment  # noqa: E402

CACHE = os.path.join(os.environ.get("SLOOP_TEST_CACHE", os.path.join(ROOT, ".cache")), "matrix")
COUNT, LIMIT_S, AT_ONCE = 100, 150, 2
VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15", "3.13t", "3.14t", "3.15t")
PYTHON_NEIGHBOURS = ("ssl", "sqlite3", "cryptography", "pycurl", "uvloop", "psycopg", "apsw", "brotli")
PYTHON_PACKAGES = ("uvloop", "cryptography", "pycurl", "psycopg[binary]", "apsw", "brotli", "typing_extensions")
PYTHON_WAYS = (("asyncio", "asyncio", False), ("uvloop", "uvloop", False), ("plain", "plain", False),
               ("asyncio, thread", "asyncio", True))
MAJORS = ("18", "20", "22", "24")
NODE_PACKAGES = ("sharp@0.35.5", "zeromq@6.8.0", "bcrypt@6.0.0", "libsql@0.5.29", "aws-crt@1.33.2", "sodium-native@5.1.0",
                 "koffi@3.3.4")
NODE_NEIGHBOURS = ("sharp", "zeromq", "bcrypt", "libsql", "aws-crt", "sodium-native", "system libcurl", "system OpenSSL",
                   "system SQLite", "system libuv")
NODE_WAYS = (("main thread", "node", False), ("worker thread", "node", True))
ALL = "all of them"
# Cells that must be refused by an error that says this: these files of the system call node's OpenSSL then.
REFUSED = {(name, "before"): "another add-on loaded " for name in ("system libcurl", "system OpenSSL")}
Runtime = collections.namedtuple("Runtime", "name language program neighbours env ways")
Cell = collections.namedtuple("Cell", "runtime neighbour way when")


class Front(threading.Thread):
    """TLS in front of the sandbox, on a loop of its own."""

    def __init__(self, folder, url):
        super().__init__(daemon=True)
        self.port_of_box = int(url.rsplit(":", 1)[1])
        self.ca, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", self.ca, "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                       check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.ca, key)
        self.ready = threading.Event()
        self.loop = asyncio.new_event_loop()

    async def serve(self, reader, writer):
        try:
            inner, outer = await asyncio.open_connection("127.0.0.1", self.port_of_box)
            await asyncio.gather(self.pass_on(reader, outer), self.pass_on(inner, writer))
        except (OSError, ssl.SSLError):
            pass  # one of them left
        finally:
            writer.close()

    @staticmethod
    async def pass_on(reader, writer):
        try:
            while True:
                data = await reader.read(1 << 16)
                if not data:
                    break
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()

    def run(self):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.context))
        self.url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self.ready.set()
        self.loop.run_forever()


# ---- what there is -------------------------------------------------------------------------------------------------


def version_of(python):
    text = ("import sys, sysconfig; print(sys.implementation.name, '%d.%d' % sys.version_info[:2] +"
            " ('t' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''), sys.version.split()[0])")
    done = subprocess.run([python, "-c", text], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else ("?", "?", "?")


def find_pythons():
    """{version: (interpreter, full version)}."""
    named = os.environ.get("SLOOP_MATRIX_PYTHONS", "").split(":")
    tried = [one for one in named if one] or [
        *(shutil.which(f"python{version}") for version in VERSIONS),
        *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))), sys.executable]
    found = {}
    for python in tried:
        if python:
            kind, version, full = version_of(python)
            if kind == "cpython" and version in VERSIONS:
                found.setdefault(version, (python, full))
    return found


def built_for(version, python):
    """The folder with the package for that interpreter."""
    stable = not version.endswith("t") and int(version.split(".")[1]) >= 11
    folder = os.path.join(ROOT, "build-ci-python" + ("" if stable else version))
    package = os.path.join(folder, "src", "bind", "python")
    if not glob.glob(os.path.join(package, "sloop", "_native*.so")):
        arguments = f"-Dwerror=true -Dpython=enabled -Dpython_binary={python}"
        subprocess.run(["sh", os.path.join(ROOT, "test", "build.sh"), folder, "python-package"], check=True, cwd=ROOT,
                       env={**os.environ, "MESON_ARGS": arguments})
    return package


def venv_of(version):
    return os.path.join(CACHE, "python" + version)


def install():
    os.makedirs(CACHE, exist_ok=True)
    for version, (python, _) in find_pythons().items():
        folder = venv_of(version)
        subprocess.run([python, "-m", "venv", folder], check=True)
        for package in PYTHON_PACKAGES:  # each by itself: not every one has a wheel for every version
            done = subprocess.run([os.path.join(folder, "bin", "python"), "-m", "pip", "install", "-q", "--no-input",
                                   "--disable-pip-version-check", "--only-binary", ":all:", package],
                                  check=False, capture_output=True, text=True)
            if done.returncode:
                print(f"python {version}: {package}: {done.stderr.strip().splitlines()[-1]}")
    folder = os.path.join(CACHE, "node")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
        file.write('{"name": "sloop-node-neighbours", "private": true}\n')
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *NODE_PACKAGES], check=True, cwd=folder)


def python_runtimes():
    runtimes = []
    for version, (python, full) in sorted(find_pythons().items(), key=lambda one: VERSIONS.index(one[0])):
        own = os.path.join(venv_of(version), "bin", "python")
        if not os.path.exists(own):
            print(f"skip CPython {full}: no {own} (--install)")
            continue
        package = built_for(version, python)
        there = subprocess.run([own, "-c", "import importlib.util as u, sys; print(*(n for n in sys.argv[1:] if u.find_spec(n)))",
                                *PYTHON_NEIGHBOURS], capture_output=True, text=True, check=True).stdout.split()
        ways = [way for way in PYTHON_WAYS if way[1] != "uvloop" or "uvloop" in there]
        name = f"CPython {full}" + ("t" if version.endswith("t") else "")
        runtimes.append(Runtime(name, "python", [own, "-X", "dev", os.path.join(HERE, "cell.py")], there,
                                {"PYTHONPATH": package, "PYTHONWARNINGS": "ignore::ResourceWarning"}, ways))
    return runtimes


def node_runtimes():
    runtimes = []
    modules = os.path.join(os.path.dirname(CACHE), "node", "bind", "node_modules")
    places = {major: os.path.join(modules, f"node{major}", "bin", "node") for major in MAJORS}
    on_path = shutil.which("node")
    for major, place in places.items():
        for node in (place, on_path):
            if node and os.path.exists(node):
                version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
                if version.startswith(f"v{major}."):
                    runtimes.append(Runtime(f"node {version[1:]}", "node", [node, os.path.join(HERE, "cell.js")],
                                            list(NODE_NEIGHBOURS), {}, NODE_WAYS))
                    break
        else:
            print(f"skip node {major}: not installed")
    return runtimes


# ---- the cells -----------------------------------------------------------------------------------------------------


def cells_of(runtime):
    for way in runtime.ways:
        yield Cell(runtime, "none", way, "before")
        for neighbour in (*runtime.neighbours, ALL):
            for when in ("before", "after"):
                yield Cell(runtime, neighbour, way, when)


class Matrix:
    def __init__(self, box, front, put):
        self.box, self.front, self.put = box, front, sorted(put)
        self.numbers, self.lock = 0, threading.Lock()
        self.alone = {}  # (runtime, way) -> the copies that run without a neighbour
        self.working = {}  # (runtime, way) -> the neighbours that work there without sloop

    def run(self, cell, names, when):
        """Runs a process. Returns (status, what it said)."""
        with self.lock:
            self.numbers += 1
            number = self.numbers
        _, loop, thread = cell.way
        spec = {"neighbours": names, "when": when, "loop": loop, "thread": thread, "url": self.front.url, "ca": self.front.ca,
                "stream": "fixed", "app": f"cell-{number}", "count": COUNT, "folder": os.path.join(CACHE, "node"),
                "package": os.path.abspath(os.environ.get("SLOOP_NODE_PACKAGE", "."))}
        try:
            done = subprocess.run([*cell.runtime.program, json.dumps(spec)], capture_output=True, text=True, timeout=LIMIT_S,
                                  check=False, stdin=subprocess.DEVNULL, env={**environment(self.box.env), **cell.runtime.env})
        except subprocess.TimeoutExpired as late:
            return "time", f"{late.stdout or b''}\n{late.stderr or b''}"
        return done.returncode, done.stdout if done.returncode == 0 else done.stdout + done.stderr

    def working_in(self, runtime, way):
        """The neighbours that work there by themselves, each and then all together."""
        key = runtime.name, way[0]
        with self.lock:
            known = self.working.get(key)
        if known is None:
            control = Cell(runtime, "", way, "never")
            known = [name for name in runtime.neighbours if self.run(control, [name], "never")[0] == 0]
            with self.lock:
                self.working[key] = known
        return known

    @staticmethod
    def shares_libcurl(alone):
        """Whether the package uses a libcurl that others can load too."""
        return alone["libcurl"]["file"] != alone["sloop"]["file"]

    def judge(self, cell):
        """Returns ("ok" or "refused" or "n/a" or "FAIL", why)."""
        place = cell.runtime.name, cell.way[0]
        alone = self.alone.get(place)  # written before the others are run
        if alone is None and cell.neighbour != "none":
            return "FAIL", "not run: the cell without a neighbour, which this is held against, failed"
        working = self.working_in(cell.runtime, cell.way)
        if cell.neighbour == ALL:
            names = [name for name in working if (name, cell.when) not in REFUSED]
        elif cell.neighbour == "none":
            names = []
        elif cell.neighbour not in working:
            return "n/a", "the neighbour does not work here without sloop either"
        else:
            names = [cell.neighbour]
        status, said = self.run(cell, names, cell.when)
        expected = REFUSED.get((cell.neighbour, cell.when))
        if expected and self.shares_libcurl(alone):
            right = status == 1 and expected in said
            return ("refused", "") if right else ("FAIL", f"it was not refused: {status} {said[-1500:]}")
        if status != 0:
            return "FAIL", f"status {status}: {said[-1500:]}"
        told = json.loads(said.strip().splitlines()[-1])
        for way, got in zip(("plainly", "with leases"), told["read"]):
            if got != self.put:
                return "FAIL", f"{way} it read {len(got)} records, not the {len(self.put)} that were put"
        if cell.neighbour == "none":
            self.alone[place] = told["running"]
        elif told["running"] != alone:
            return "FAIL", f"other copies ran: {told['running']}, alone {alone}"
        return "ok", ""


def table_of(runtime, results):
    """Rows are neighbours, columns are ways of running and whether the neighbour came before or after."""
    columns = [(way, when) for way in runtime.ways for when in ("before", "after")]
    lines = ["| neighbour | " + " | ".join(f"{way[0]}, {when}" for way, when in columns) + " |",
             "|---" * (len(columns) + 1) + "|"]
    for neighbour in ("none", *runtime.neighbours, ALL):
        words = [results.get(Cell(runtime.name, neighbour, way[0], when), ("", ""))[0] for way, when in columns]
        lines.append(f"| {neighbour} | " + " | ".join(words) + " |")
    return "\n".join(lines)


def key_of(cell):
    return Cell(cell.runtime.name, cell.neighbour, cell.way[0], cell.when)


def chosen_of(runtime, only):
    """The cells that have all the words, and those without a neighbour of the same ways, which they are held against."""
    cells = list(cells_of(runtime))
    chosen = [cell for cell in cells if all(word in " ".join(key_of(cell)) for word in only)]
    ways = {cell.way for cell in chosen}
    return [cell for cell in cells if cell in chosen or (cell.neighbour == "none" and cell.way in ways)]


def run_all(runtimes, only):
    results = {}
    with tempfile.TemporaryDirectory() as folder, Box(2, *NO_LIMITS, "-X", "sandbox.reads_per_second=0") as box:
        box.make_stream("fixed", 2)
        put = [text for _, _, text in box.put(COUNT, stream="fixed")]
        front = Front(folder, box.url)
        front.start()
        front.ready.wait()
        matrix = Matrix(box, front, put)

        def one(cell):
            key = key_of(cell)
            verdict, why = results[key] = matrix.judge(cell)
            print(f"{verdict:7} {', '.join(key)}" + "".join(f"\n     {line}" for line in why.splitlines()), flush=True)

        for runtime in runtimes:
            for cell in (cells := chosen_of(runtime, only)):
                if cell.neighbour == "none":
                    one(cell)  # first: what runs alone is what the others are held against
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(one, [cell for cell in cells if cell.neighbour != "none"]))
        front.loop.call_soon_threadsafe(front.loop.stop)
        front.join()
    return results


def write_page(runtimes, results):
    """Writes the tables of the runtimes that were run as a whole, and keeps those of others."""
    path = os.path.join(HERE, "README.md")
    with open(path, encoding="utf-8") as file:
        head, *sections = re.split(r"(?m)^## ", file.read())
    tables = {section.split("\n", 1)[0].rsplit(",", 1)[0]: "## " + section.rstrip() for section in sections}
    for runtime in runtimes:
        cells = [key_of(cell) for cell in cells_of(runtime)]
        if all(cell in results for cell in cells):
            counts = collections.Counter(results[cell][0] for cell in cells)
            told = ", ".join(f"{n} {word}" for word, n in sorted(counts.items()))
            tables[runtime.name] = f"## {runtime.name}, {datetime.date.today()}\n\n{told}.\n\n{table_of(runtime, results)}"
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n\n".join([head.rstrip(), *(tables[name] for name in sorted(tables, key=order_of))]) + "\n")


def order_of(name):
    return [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", name)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    if options.install:
        install()
    runtimes = python_runtimes()
    if os.path.exists(os.environ.get("SLOOP_NODE_PACKAGE", "")):
        runtimes += node_runtimes()
    else:
        print("skip node: SLOOP_NODE_PACKAGE names no built package")
    results = run_all(runtimes, options.only)
    counts = collections.Counter(verdict for verdict, _ in results.values())
    runtimes = [runtime for runtime in runtimes if any(key.runtime == runtime.name for key in results)]
    for runtime in runtimes:
        print(f"\n{runtime.name}\n{table_of(runtime, results)}")
    if options.write:
        write_page(runtimes, results)
    print(f"{counts['ok'] + counts['refused']} passed, {counts['FAIL']} failed, {counts['n/a']} skipped")
    sys.exit(1 if counts["FAIL"] or not counts["ok"] else 0)


if __name__ == "__main__":
    main()
