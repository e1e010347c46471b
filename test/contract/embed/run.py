#!/usr/bin/env python3
"""run.py - installs the library into a temporary root and builds the examples that were installed with it, as a user would, as
C99, C11 and C++11; runs each against the sandbox, one of each under valgrind. A program without a check here is a failure.
The README's program is print.c; the commands that compile it in the README and in sloop(7) are run as they stand there.

usage: run.py BUILD_DIRECTORY
"""
import concurrent.futures
import glob
import http.server
import itertools
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ET

import grown

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
WARN = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
# libuv 1.44's own header needs _GNU_SOURCE under a strict -std (pthread_rwlock_t); ours does not.
LANGUAGES = [
    ("C99", ["cc", "-std=c99", "-D_GNU_SOURCE"]),
    ("C11", ["cc", "-std=c11", "-D_GNU_SOURCE"]),
    ("C++11", ["c++", "-x", "c++", "-std=c++11", "-D_GNU_SOURCE"]),
]
AT_ONCE = 4  # of the examples: they mostly wait, and valgrind starts slowly
passed, failed, skipped = [], [], []


def ok(what, good, detail=""):
    """In one piece: examples run beside each other."""
    (passed if good else failed).append(what)
    print(("ok   " if good else "FAIL ") + what + ("" if good or not detail else "\n     " + str(detail)) + "\n", end="", flush=True)
    return good


def skip(what, why):
    skipped.append(what)
    print("skip %s: %s\n" % (what, why), end="", flush=True)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def run(argv, **kw):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kw)


class Installed:
    """The files that a user of the package has: a root with headers, libraries and sloop.pc."""

    def __init__(self, build, root):
        got = run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", root])
        self.log = got.stdout
        self.pc = None
        for at, _, names in os.walk(root):
            if "sloop.pc" in names:
                self.pc = os.path.join(at, "sloop.pc")
        self.ok = got.returncode == 0 and self.pc is not None
        if self.ok:
            self.libdir = os.path.dirname(os.path.dirname(self.pc))
            self.prefix = next(os.path.dirname(at) for at, _, names in os.walk(root) if "sloop.h" in names)
            self.examples = os.path.join(self.prefix, "share", "doc", "sloop", "examples")
            self.env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(self.pc))

    def flags(self, *what):
        got = run(["pkg-config", "--define-variable=prefix=" + self.prefix, *what], env=self.env)
        if got.returncode:
            raise RuntimeError(got.stdout)
        return got.stdout.split()


class Server:
    def __init__(self, program):
        self.program = program
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        url, records, keys = self.process.stdout.readline().split()
        self.url, self.records, self.keys = url, int(records), int(keys)

    def stop(self):
        self.process.stdin.close()
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "did not stop"


def check_clients_leave(program):
    """Clients that ask much at once and leave: what is written to one that is gone must not end the program. It has been
    seen to end within 50 of them when SIGPIPE was not ignored."""
    server = Server(program)
    port = int(server.url.rpartition(":")[2])
    asked = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}" * 20
    try:
        for i in range(500):
            with socket.create_connection(("127.0.0.1", port), 10) as client:
                client.sendall(asked)
                if i % 2:  # a reset
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    stopped = server.stop()
    ok("the sandbox of a program outlives clients that leave", stopped == 0, stopped)


# Preloaded: says when a thread other than main's calls exit(). What exit() tears down, libcurl and OpenSSL say, is in use then.
WATCHES_EXIT = """
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>
__attribute__((destructor)) static void at_exit(void) {
  if (gettid() != getpid()) fprintf(stderr, "exit() in another thread\\n");
}
"""


def check_reader_leaves(name, program, env):
    """An example ends when nobody reads its output, although SIGPIPE is ignored; and that in the thread of its loop."""
    watch = program + ".watch.so"
    built = run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", watch], input=WATCHES_EXIT)
    if not ok("%s: what watches its end compiles" % name, built.returncode == 0, built.stdout):
        return
    reads, writes = os.pipe()
    os.close(reads)
    with open(writes, "wb") as out:
        got = subprocess.run([program, "orders"], stdout=out, stderr=subprocess.PIPE, env=dict(env, LD_PRELOAD=watch), timeout=60,
                             check=False)
    ok("%s ends by itself when nobody reads what it prints" % name, got.returncode == 1 and not told(got.stderr.decode()),
       (got.returncode, got.stderr))


def lines_in(path):
    with open(path, "rb") as f:
        return f.read().count(b"\n")


class Receiver:
    """The HTTP server that forward posts to. Refuses a post now and then, with 503 or by hanging up; keeps what it took."""

    def __init__(self):
        self.lines, self.posts, self.refused = [], 0, 0
        lock, receiver = threading.Lock(), self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with lock:
                    receiver.posts += 1
                    refuse = receiver.posts % 5 == 2
                    receiver.refused += refuse
                    if not refuse:
                        receiver.lines += body.decode().splitlines()
                if refuse and receiver.posts % 2:
                    return  # hangs up without an answer
                self.send_response(503 if refuse else 204)
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


# Inside loops that are not libuv's: {program: (a header it needs, what it is linked with)}.
LOOPS = {"poll": (None, []), "epoll": (None, []), "libevent": ("event2/event.h", ["-levent_core"]),
         "asio": ("asio.hpp", ["-pthread"])}


def check_loop(name, root, got, compiler_flags, server, env):
    """Compiles the program and has it read."""
    header, libraries = LOOPS[name]
    in_cpp = programs()[name].endswith(".cpp")
    compiler = ["c++", "-std=c++14"] if in_cpp else ["cc", "-std=c99", "-D_GNU_SOURCE"]
    if header and run([*compiler, "-include", header, "-x", "c++" if in_cpp else "c", "-fsyntax-only", "/dev/null"]).returncode:
        skip(name, "%s is not installed" % header)
        return
    program = os.path.join(root, name)
    warn = [flag for flag in WARN if not in_cpp or flag != "-Wshadow"]
    built = run([*compiler, *warn, got.examples + "/" + programs()[name], "-o", program, *compiler_flags, *libraries])
    if ok("%s: compiles without a warning" % name, built.returncode == 0, built.stdout):
        check_until_input_ends(name, [program], server, env)


def check_until_input_ends(name, argv, server, env):
    """The program reads all records, and ends with its input instead of a signal."""
    out = argv[0] + ".out"
    with open(out, "wb") as to:
        p = subprocess.Popen([*argv, "orders"], stdin=subprocess.PIPE, stdout=to, stderr=subprocess.PIPE, env=env, text=True)
        until(lambda: lines_in(out) >= server.records, p, 60)
        try:
            _, err = p.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            p.kill()
            _, err = p.communicate()
    ok("%s: ends with its input, exit code 0" % name, p.returncode == 0 and not told(err), (p.returncode, err))
    with open(out) as f:
        check_lines(name, server, f.read().splitlines())


def check_lambda(root, got, compiler_flags, server, env):
    program = os.path.join(root, "lambda")
    warn = [flag for flag in WARN if flag != "-Wshadow"]
    if not shutil.which("c++"):
        return skip("lambda", "c++ is not installed")
    built = run(["c++", "-std=c++11", *warn, got.examples + "/lambda.cpp", "-o", program, *compiler_flags])
    if ok("lambda as C++11: compiles without a warning", built.returncode == 0, built.stdout):
        done = subprocess.run([program, "orders", str(server.records)], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        ok("lambda: exit code 0", done.returncode == 0 and not done.stderr, (done.returncode, done.stderr))
        check_lines("lambda", server, done.stdout.splitlines())
    return None


def check_grown(root, build, got, server, env):
    """A program of the first header runs with the library it was linked with, and with one whose structs have grown."""
    program, folder = os.path.join(root, "old"), os.path.join(root, "grown")
    built = run(["cc", "-std=c99", "-D_GNU_SOURCE", *WARN, HERE + "/abi/old.c", "-o", program,
                 *got.flags("--libs", "sloop"), *got.flags("--cflags", "--libs", "libuv")])
    if not ok("abi/old.c: compiles without a warning", built.returncode == 0, built.stdout):
        return
    check_unversioned(root, got, server, env)
    structs = grown.build(build, folder)
    ok("%d structs of the header have grown" % structs, structs >= 10, structs)
    for libraries, version in ((got.libdir, None), (folder, grown.VERSION)):
        what = "a program of the first header, with %s" % ("grown structs" if version else "today's library")
        done = subprocess.run([program, "orders", str(server.records)], env=dict(env, LD_LIBRARY_PATH=libraries), timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ok("%s: all is as it was" % what, done.returncode == 0 and done.stderr.startswith("as it was with ") and
           (not version or done.stderr == "as it was with %s\n" % version), (done.returncode, done.stderr[-600:]))
        check_lines(what, server, done.stdout.splitlines())


def check_unversioned(root, got, server, env):
    """A program that was linked with a libsloop.so.0 without versions of its symbols, as the first one was."""
    folder = os.path.join(root, "unversioned")
    os.makedirs(folder)
    names = [line for line in read(os.path.join(ROOT, "test", "contract", "tidy", "symbols.txt")).split() if line.startswith("sloop_")]
    stub = "".join("void %s(void) {}\n" % name for name in names)
    built = run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-Wl,-soname,libsloop.so.0", "-o", folder + "/libsloop.so"], input=stub)
    if built.returncode == 0:
        built = run(["cc", "-std=gnu11", HERE + "/abi/old.c", "-o", folder + "/old", "-L" + folder, "-lsloop",
                     *got.flags("--cflags", "--libs", "libuv")])
    if not ok("a program is linked with a libsloop.so.0 without versions", built.returncode == 0, built.stdout):
        return
    versions = run(["readelf", "-V", folder + "/old"]).stdout, run(["readelf", "-V", got.libdir + "/libsloop.so.0"]).stdout
    ok("today's library has versions, and that program asks for none",
       "SLOOP_0" not in versions[0] and "SLOOP_0" in versions[1], versions)
    done = subprocess.run([folder + "/old", "orders", str(server.records)], env=env, timeout=120, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    ok("it runs with today's library", done.returncode == 0 and done.stderr.startswith("as it was with "),
       (done.returncode, done.stderr[-600:]))
    check_lines("a program without versions", server, done.stdout.splitlines())


def commands_that_compile():
    """The lines of the README and of sloop(7) that begin with cc, in shell."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        readme = re.findall(r"^    (cc .*)$", f.read(), re.M)
    with open(os.path.join(ROOT, "src", "api", "sloop.7"), encoding="utf-8") as f:
        page = f.read().replace("\\-", "-").replace(" \\e\n", " ")
    return readme, re.findall(r"^(cc .*)$", page, re.M)


def check_commands(root, got, server, env):
    """As a user types them, in a folder with print.c; what is installed in /usr/local is in the temporary root here."""
    readme, page = commands_that_compile()
    if not ok("sloop(7) has the README's command, one with libsloop.a and one with the sandbox",
              len(readme) == 1 and len(page) == 3 and page[0] == readme[0] and "sloop-static" in page[1] and
              "sloop-sandbox" in page[2], (readme, page)):
        return
    folder = os.path.join(root, "typed")
    os.makedirs(folder + "/bin")
    shutil.copy(got.examples + "/print.c", folder)
    shutil.copy(HERE + "/serve.c", folder)
    with open(folder + "/bin/pkg-config", "w", encoding="utf-8") as f:
        f.write('#!/bin/sh\nexec %s --define-variable=prefix=%s "$@"\n' % (shutil.which("pkg-config"), got.prefix))
    os.chmod(folder + "/bin/pkg-config", 0o755)
    bare = {name: value for name, value in env.items() if name != "LD_LIBRARY_PATH"}
    for command in page:
        sandbox, archive = "sandbox" in command, "-static" in command
        name = "serve with both archives" if sandbox else "print with libsloop.a" if archive else \
            "print, compiled as the README says"
        built = run(["sh", "-c", command], cwd=folder, env=dict(got.env, PATH=folder + "/bin:" + os.environ["PATH"]))
        if ok("%s: links" % name, built.returncode == 0 and not built.stdout, built.stdout):
            if sandbox:
                ok("%s: it serves, and stops when its input closes" % name, Server(folder + "/a.out").stop() == 0)
            else:
                check_print(name, [folder + "/a.out"], server, bare if archive else env, folder + "/out", 60)
            os.remove(folder + "/a.out")


def until(condition, process, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end and process.poll() is None:
        time.sleep(0.1)  # each look counts all lines


def has_connected(process):
    """Whether it has made a TCP connection. An example sets its handler of SIGINT before it starts its consumer. Under
    valgrind, where it may take seconds to come that far, the mask of handled signals shows valgrind's own from the beginning."""
    with open("/proc/net/tcp", encoding="ascii") as f:
        tcp = {line.split()[9] for line in f.readlines()[1:]}
    folder = "/proc/%d/fd" % process.pid
    try:
        links = [os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)]
    except OSError:  # closed meanwhile, or the process has ended
        return False
    return any(link[len("socket:["):-1] in tcp for link in links if link.startswith("socket:["))


def told(err):
    """What an example said. All of them read from one server at the same time, and it counts the reads of all, as the
    service does: that one of them is told to slow down belongs to it, and costs no record."""
    return [line for line in err.splitlines() if not re.match("ETHROTTLE: shardId-[0-9]+: Rate exceeded", line)]


def consume(argv, done, env, out, seconds):
    """Runs an example until done() holds, then Ctrl-C. Returns (exit code, lines, lines of stderr)."""
    with open(out, "wb") as to, open(out + ".err", "wb") as err:
        p = subprocess.Popen(argv, stdout=to, stderr=err, env=env)
        until(lambda: has_connected(p), p, 60)
        until(done, p, seconds)
        if p.poll() is None:
            p.send_signal(signal.SIGINT)
        try:
            code = p.wait(max(seconds, 60))
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
            code = "did not stop on Ctrl-C"
    with open(out) as f:
        lines = f.read().splitlines()
    with open(out + ".err", errors="replace") as f:
        return code, lines, told(f.read())


def check_lines(name, server, lines):
    """Every record once, and each key's in the order they were put."""
    seen = {}
    for line in lines:
        key, number, _ = line.split(" ")
        seen.setdefault(key, []).append(int(number))
    each = server.records // server.keys
    good = len(seen) == server.keys and all(v == list(range(each)) for v in seen.values())
    ok("%s: %d records, each once, each key in order" % (name, server.records), good,
       "%d lines, %d keys" % (len(lines), len(seen)))


def check_print(name, argv, server, env, out, seconds):
    code, lines, err = consume([*argv, "orders"], lambda: lines_in(out) >= server.records, env, out, seconds)
    ok("%s: Ctrl-C ends it with exit code 0 and nothing on stderr" % name, code == 0 and not err, (code, err))
    check_lines(name, server, lines)


def check_merge(name, argv, server, env, out, seconds):
    """Both streams whole, and together by time: the group a record was put in never goes back, but of records that are told
    to be late. It has a server of its own: one that other programs read too refuses calls, and a shard that is refused for a
    second is late. It may also be late where the machine stood; then it is done again."""
    for _ in range(3):
        own = Server(server.program)
        try:
            code, lines, err = consume([*argv, "orders", "refunds"], lambda: lines_in(out) >= 2 * own.records,
                                       dict(env, AWS_ENDPOINT_URL=own.url), out, seconds)
        finally:
            stopped = own.stop()
        ok("%s: Ctrl-C ends it with exit code 0 and nothing on stderr" % name, code == 0 and not err, (code, err))
        ok("%s: its sandbox stops when its input closes" % name, stopped == 0, stopped)
        words = [[word for word in line.split(" ") if word != "late"] for line in lines]
        for stream in ("orders", "refunds"):
            check_lines("%s, %s" % (name, stream), own, [" ".join(w[1:]) for w in words if w[0] == stream])
        groups = [int(w[3]) for w in words]
        before = [0, *itertools.accumulate(groups, max)]
        back = [line for line, group, most in zip(lines, groups, before) if group < most and " late " not in line]
        ok("%s: one order by time over both streams, but for what is told to be late" % name, not back, back[:3])
        late = sum(" late " in line for line in lines)
        if not late:
            break
        print("again: %s: %d records were late" % (name, late), flush=True)
    ok("%s: nothing is late" % name, not late, late)


def check_forward(name, argv, server, env, out, seconds):
    """The receiver took every record once: what it refused came again. A record may be taken twice only when its
    answer was lost, and this receiver takes nothing of what it does not answer."""
    receiver = Receiver()
    try:
        code, lines, err = consume([*argv, "127.0.0.1", str(receiver.http.server_port), "/in", "orders"],
                                   lambda: len(receiver.lines) >= server.records, env, out, seconds)
    finally:
        receiver.stop()
    ok("%s: Ctrl-C ends it with exit code 0 and nothing printed" % name, code == 0 and not err and not lines,
       (code, lines[:3], err))
    ok("%s: some posts were refused" % name, receiver.refused > 0, receiver.posts)
    check_lines(name, server, receiver.lines)


def check_share(name, argv, server, env, out, seconds):
    """Two workers of one application: together every record once, and nothing comes again after a clean stop."""
    other = out + ".other"
    for attempt in range(3):
        share = [*argv, f"app-{attempt}-{os.path.basename(out)}", "orders"]
        with open(other, "wb") as to:
            p = subprocess.Popen(share, stdout=to, stderr=subprocess.PIPE, env=env)
            code, lines, err = consume(share, lambda: lines_in(out) + lines_in(other) >= server.records, env, out, seconds)
            p.send_signal(signal.SIGINT)
            _, other_err = p.communicate(timeout=seconds)
        said = [*err, *told(other_err.decode(errors="replace"))]
        stood = [line for line in said if ": suspended: " in line]
        if not stood or stood != said:
            break
        print("again: %s: %s" % (name, stood), flush=True)  # the machine stood for most of a lease, and it is said
    ok("%s: Ctrl-C ends both with exit code 0 and nothing on stderr" % name, code == 0 and p.returncode == 0 and not said,
       (code, p.returncode, said))
    code, again, err = consume(share, lambda: lines_in(out + ".again") > 0, env, out + ".again", 4)
    ok("%s: a third goes on behind them and ends" % name, code == 0 and not again, (code, again[:3], err))
    with open(other) as f:
        check_lines(name, server, sorted(lines + f.read().splitlines(), key=lambda line: int(line.split(" ")[1])))


EXAMPLES = {"print": check_print, "thread": check_print, "share": check_share, "forward": check_forward, "merge": check_merge}
ALONE = {*LOOPS, "lambda", "serve"}  # programs with a function of their own here


def programs():
    """The files in this folder: {name: file}."""
    return {os.path.splitext(name)[0]: name for name in os.listdir(HERE) if name.endswith((".c", ".cpp"))}


def ours_in_leaks(xml_path):
    """Valgrind's findings: (errors, leaks of any kind that have a frame of libsloop or print in them)."""
    errors, leaks = [], []
    for e in ET.parse(xml_path).getroot().findall("error"):
        kind = e.findtext("kind")
        frames = [(f.findtext("obj") or "", f.findtext("fn") or "?") for f in e.iter("frame")]
        text = kind + ": " + (e.findtext("what") or e.findtext("xwhat/text") or "") + " <- " + " < ".join(
            fn for _, fn in frames[:8])
        if kind.startswith("Leak_"):
            # The allocator of curl, OpenSSL and libuv runs below our frames too: what matters is who asked.
            asker = next((obj for obj, _ in frames if "vgpreload" not in obj), "")
            if "libsloop" in asker or kind in ("Leak_DefinitelyLost", "Leak_IndirectlyLost"):
                leaks.append(text)
        else:
            errors.append(text)
    return errors, leaks


def main():
    build = sys.argv[1] if len(sys.argv) == 2 else None
    if not build:
        print(__doc__)
        return 2
    found = set(programs())
    ok("every program of the folder has a check", found == set(EXAMPLES) | ALONE, sorted(found ^ (set(EXAMPLES) | ALONE)))
    dies = [name for name in found if "signal(SIGPIPE, SIG_IGN)" not in read(os.path.join(HERE, programs()[name]))]
    ok("every program of the folder ignores SIGPIPE", not dies, dies)
    with tempfile.TemporaryDirectory(prefix="sloop-embed-") as root:
        got = Installed(build, os.path.join(root, "root"))
        if not ok("meson install gives headers, libraries and sloop.pc", got.ok, got.log):
            return 1
        share = [folder for folder, _, files in os.walk(root) if folder.endswith("/share/sloop/prometheus")
                 and {"alerts.yml", "dashboard.json"} <= set(files)]
        ok("meson install gives alerts and a dashboard", len(share) == 1, share)
        check_examples(got)
        shared = got.flags("--cflags", "--libs", "sloop", "libuv")
        # The archive of the sandbox leans on the insides of the static library: both by name, in that order.
        server_program = os.path.join(root, "serve")
        static = [got.libdir + "/libsloop-sandbox.a", got.libdir + "/libsloop.a"]
        # libnghttp2: for the sandbox, which is built with it where it is there.
        h2 = ["libnghttp2"] if run(["pkg-config", "--exists", "libnghttp2"]).returncode == 0 else []
        others = run(["pkg-config", "--libs", "libuv", "libcurl", "libcrypto", "zlib", "sqlite3", *h2]).stdout.split()
        built = run(["cc", "-std=gnu11", *WARN, *got.flags("--cflags", "sloop"), HERE + "/serve.c", "-o",
                     server_program, *static, *others])
        if not ok("the sandbox links from the installed archives", built.returncode == 0, built.stdout):
            return 1
        check_clients_leave(server_program)
        server = Server(server_program)
        env = dict(os.environ, LD_LIBRARY_PATH=got.libdir, AWS_ENDPOINT_URL=server.url, AWS_REGION="us-east-1",
                   AWS_ACCESS_KEY_ID="EXAMPLE", AWS_SECRET_ACCESS_KEY="example", HOME=root)
        env.pop("AWS_PROFILE", None)
        jobs = [(check_example, root, got, example, shared, server, env) for example in EXAMPLES]
        jobs += [(check_grown, root, build, got, server, env), (check_commands, root, got, server, env),
                 (check_lambda, root, got, shared, server, env)]
        jobs += [(check_loop, name, root, got, shared, server, env) for name in LOOPS]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for job in [pool.submit(*job) for job in jobs]:
                job.result()
        ok("the sandbox stops when its input closes", server.stop() == 0)
    print("%d passed, %d failed%s" % (len(passed), len(failed), ", %d skipped" % len(skipped) if skipped else ""))
    return 1 if failed else 0


def check_examples(got):
    """Those that are installed: all but the test server, a README with a line for each and the README's own command."""
    there = sorted(os.listdir(got.examples)) if os.path.isdir(got.examples) else []
    want = sorted([file for name, file in programs().items() if name != "serve"] + ["README.md"])
    builds = ["CMakeLists.txt", "Makefile", "meson.build", "subprojects"]
    if not ok("meson install gives the examples, and builds for them", there == sorted(want + builds), there):
        return
    page = read(got.examples + "/README.md")
    lines = sorted(re.findall(r"^- `(\S+)` .{10}", page, re.M))
    ok("their README has a line for each, and compiles as the README does",
       lines == [name for name in want if name != "README.md"] and re.findall("^    (cc .*)$", page, re.M) == commands_that_compile()[0],
       (lines, page))


def check_example(root, got, example, flags, server, env):
    """As each language, and under valgrind as C11."""
    for language, compiler in LANGUAGES:
        name = "%s as %s" % (example, language)
        if not shutil.which(compiler[0]):
            skip(name, compiler[0] + " is not installed")
            continue
        program = os.path.join(root, "%s-%s" % (example, language))
        built = run([*compiler, *WARN, "-g", "%s/%s.c" % (got.examples, example), "-o", program, *flags])
        if ok("%s: compiles without a warning" % name, built.returncode == 0, built.stdout):
            EXAMPLES[example](name, [program], server, env, program + ".out", 60)
    if EXAMPLES[example] is check_print and os.path.exists(os.path.join(root, example + "-C11")):
        check_reader_leaves(example, os.path.join(root, example + "-C11"), env)
    under_valgrind(root, example, EXAMPLES[example], server, env)


def under_valgrind(root, example, check, server, env):
    program = os.path.join(root, example + "-C11")
    if not shutil.which("valgrind"):
        return skip(example + " under valgrind", "it is not installed")
    if not os.path.exists(program):
        return None
    name, xml = example + " under valgrind", program + ".xml"
    check(name, ["valgrind", "--quiet", "--leak-check=full", "--show-leak-kinds=all", "--num-callers=40", "--xml=yes",
                 "--xml-file=" + xml + ".%p", program],  # no suppression is needed with Debian 12's curl, OpenSSL and libuv
          server, env, program + ".valgrind", 300)
    files, errors, leaks = glob.glob(xml + ".*"), [], []  # one a process, and it may have been done again
    ok("%s: valgrind has told" % name, files)
    for file in files:
        more_errors, more_leaks = ours_in_leaks(file)
        errors += more_errors
        leaks += more_leaks
    ok("%s: no invalid or uninitialised use" % name, not errors, "\n     ".join(errors))
    return ok("%s: nothing lost, and nothing of ours left" % name, not leaks, "\n     ".join(leaks))


if __name__ == "__main__":
    sys.exit(main())
