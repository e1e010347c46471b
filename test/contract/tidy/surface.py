"""Checks what users link and include: surface.py BUILD-FOLDER.

The shared library exports exactly the functions of include/sloop.h and include/sloop_admin.h, all listed in symbols.txt;
the public headers compile alone as C99, C11 and C++11 without a warning; every test program in the tree is registered with Meson; what the
README names exists. Every function that takes a consumer, or its operator's handle, stands in the table of test/unit/api/handle.c.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import layout

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
DIALECTS = [("cc", "c99", "c"), ("cc", "c11", "c"), ("c++", "c++11", "cpp")]
ONLY_WITH_CLANG = {"test/fuzz/engine.c"}
README_LINES_MAX = 200
AWS_NAMES = {"mfa_serial"}  # in the README, of the AWS tools' profiles
# Programs that tests and people use, no tests themselves.
TOOLS = {"model.py", "campaign.py", "clang_tidy.py", "commands.py", "count.py", "coverage.py", "dashboard.py", "grown.py", "mutants_hunt.py", "fail_libs.py", "picture.py", "proxy.py", "valve.py",
         "peer.py", "peer_bloop.py", "peer_commands.py", "peer_costs.py", "peer_multilang.py", "peer_multilang_costs.py", "peer_push.py",
         "peer_creds.py", "peer_sdk_h2.py", "peer_story.py", "peer_upgrade.py",  # these of test/guest/run.sh
         "measure.py", "report.py",  # of bench/peers/run.sh
         "first.py", "command.py",  # of bench/README.md
         "without_sqlite.py",  # of builds without SQLite
         "soak.py",  # a lane of .ci/run
         "mixed_fleet.py",  # of lane bind
         "matrix.py",  # of test/bind/README.md
         "peer_migrate.py", "peer_migrate_kcl.py", "peer_migrate_go.py", "peer_replay.py"}  # of guest/run.sh
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def library_headers():
    return read("include", "sloop.h") + read("include", "sloop_admin.h")


def listed_symbols():
    return {line for line in read("test", "contract", "tidy", "symbols.txt").split("\n") if line and line[0] != "#"}


def check_exports(build):
    listed = listed_symbols()
    out = subprocess.run(["nm", "-D", "--defined-only", os.path.join(build, "src", "libsloop.so")],
                         capture_output=True, text=True, check=True).stdout
    versioned = {line.split()[-1] for line in out.splitlines()}
    unversioned = [name for name in listed if name in versioned]
    exported = {name.split("@")[0] for name in versioned if not name.startswith("SLOOP_")}  # SLOOP_0 is a version
    exported -= {"_init", "_fini", "__bss_start", "_edata", "_end"}
    # Sanitizer builds define hooks of their own.
    exported = {name for name in exported if not name.startswith(("__asan", "__ubsan", "__odr"))}
    declared = set(re.findall(r"SLOOP_EXTERN[^;()]*?\b(sloop_\w+)\s*\(", library_headers()))
    findings = [f"exported without a version, by src/api/sloop.map: {name}" for name in sorted(unversioned)]
    findings += [f"exported, not in symbols.txt: {name}" for name in sorted(exported - listed)]
    findings += [f"in symbols.txt, not exported: {name}" for name in sorted(listed - exported)]
    findings += [f"in a header, not in symbols.txt: {name}" for name in sorted(declared - listed)]
    findings += [f"in symbols.txt, not in a header: {name}" for name in sorted(listed - declared)]
    return findings


def check_closed():
    """test/unit/api/handle.c calls every function that takes a consumer or its operator's handle, once that is closed."""
    declared = re.findall(r"SLOOP_EXTERN[^;()]*?\b(sloop_\w+)\s*\(([^;]*)\)\s*;", library_headers())
    takes = {name for name, arguments in declared if re.search(r"\bsloop_(?:admin_)?t \*\w", arguments)}
    table = set(re.findall(r"\bX\((sloop_\w+),", read("test", "unit", "api", "handle.c")))
    findings = [f"in a header, not in the table of test/unit/api/handle.c: {name}" for name in sorted(takes - table)]
    findings += [f"in the table of test/unit/api/handle.c, takes no consumer in a header: {name}" for name in sorted(table - takes)]
    return findings if takes else ["no function takes a consumer?"]


def check_static(build):
    """Everything the static archive defines for the linker starts with our prefixes."""
    out = subprocess.run(["nm", "-g", "--defined-only", os.path.join(build, "src", "libsloop.a")],
                         capture_output=True, text=True, check=True).stdout
    names = {parts[2] for parts in (line.split() for line in out.splitlines()) if len(parts) == 3}
    planted = ["libsloop.a carries planted mistakes"] if "slp_mutant" in names else []
    return planted + [f"libsloop.a defines {name}" for name in sorted(names)
                      if not name.startswith(("slp_", "sloop_", "__odr_asan", "__asan", "__x86.get_pc"))]


def check_reached(build):
    """Each file of the static archive is needed by some public function: the linker takes it for one of them."""
    archive = os.path.join(build, "src", "libsloop.a")
    members = set(subprocess.run(["ar", "t", archive], capture_output=True, text=True, check=True).stdout.split())
    with tempfile.TemporaryDirectory() as folder:
        taken = os.path.join(folder, "map")
        # What libsloop itself needs of others stays undefined: the map tells before that.
        subprocess.run(["cc", "-r", "-nostdlib", "-o", os.path.join(folder, "all.o"), *(f"-Wl,-u,{name}" for name in listed_symbols()),
                        archive, f"-Wl,-Map={taken}"], check=True)
        with open(taken, encoding="utf-8") as file:
            reached = set(re.findall(r"libsloop\.a\(([^)]+)\)", file.read()))
    return [f"libsloop.a has {name}, which no public function needs" for name in sorted(members - reached)]


def check_twice(build):
    """No name is defined in two of the archives: which of them the linker takes is anybody's guess."""
    seen, findings = {}, []
    for archive in ("libsloop.a", "libsloop-sandbox.a"):
        out = subprocess.run(["nm", "-g", "--defined-only", os.path.join(build, "src", archive)], capture_output=True,
                             text=True, check=True).stdout
        where = archive
        for parts in (line.split() for line in out.splitlines()):
            if len(parts) == 1:
                where = f"{archive} {parts[0]}"
            elif len(parts) == 3 and parts[1] in "TDBRG" and not parts[2].startswith("__"):
                if parts[2] in seen:
                    findings.append(f"{parts[2]} is defined in {seen[parts[2]]} and in {where}")
                seen.setdefault(parts[2], where)
    return findings


def check_headers():
    findings = []
    for header in layout.HEADERS:
        for compiler, dialect, suffix in DIALECTS:
            if shutil.which(compiler) is None:
                findings.append(f"no {compiler} here")
                continue
            with tempfile.TemporaryDirectory() as folder:
                source = os.path.join(folder, f"only.{suffix}")
                with open(source, "w", encoding="ascii") as file:
                    file.write(f"#include <{header}>\n#include <{header}>\nint only_header;\n")
                done = subprocess.run([compiler, f"-std={dialect}", *WARNINGS, "-I", os.path.join(ROOT, "include"),
                                       source], capture_output=True, text=True, check=False)
            if done.returncode:
                findings.append(f"{header} as {dialect}: {done.stderr.strip()}")
    return findings


def check_version():
    """The version is written in meson.build; the header's number must say the same."""
    version = re.search(r"^\s*version: '(\d+)\.(\d+)\.(\d+)'", read("meson.build"), re.M)
    number = re.search(r"#define SLOOP_VERSION_NUM 0x(\w{2})(\w{2})(\w{2})", read("include", "sloop.h"))
    if [int(part) for part in version.groups()] != [int(part, 16) for part in number.groups()]:
        return [f"meson.build says {version.groups()}, sloop.h {number.groups()}"]
    return []


def check_registered(build):
    """Every C file with a main of its own and every python test is part of some Meson test or benchmark."""
    tests = json.loads(subprocess.run(["meson", "introspect", "--tests", "--benchmarks", build],
                                      capture_output=True, text=True, check=True).stdout)
    if isinstance(tests, dict):
        tests = tests.get("tests", []) + tests.get("benchmarks", [])
    words = {os.path.basename(word) for test in tests for word in test["cmd"]}
    targets = json.loads(subprocess.run(["meson", "introspect", "--targets", build], capture_output=True,
                                        text=True, check=True).stdout)
    compiled = set()
    for target in targets:
        for group in target.get("target_sources", []):
            compiled |= {os.path.relpath(path, ROOT) for path in group.get("sources", [])}
    findings = []
    for top in ("test", "bench"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                text = read(path) if name.endswith((".c", ".py")) else ""
                # The programs of test/contract/embed are compiled against the installed library by their own script.
                if name.endswith(".c") and path not in compiled | ONLY_WITH_CLANG and not path.startswith("test/contract/embed/"):
                    findings.append(f"{path} is compiled by nothing")
                # Those of test/bind/python are tests of builds with the Python package (lane bind).
                elsewhere = path.startswith("test/bind/python/") and f"'{name[:-3]}'" in read("test", "bind", "python", "meson.build")
                if name.endswith(".py") and '__name__ == "__main__"' in text and name not in words | TOOLS and not elsewhere:
                    findings.append(f"{path} is no Meson test")
                # Those of test/bind/node are the same, with the package for Node.
                if path.startswith("test/bind/node/") and name.endswith(".js") and name not in ("harness.js", "world.js") \
                        and f"'{name[:-3]}'" not in read("test", "bind", "node", "meson.build"):
                    findings.append(f"{path} is no Meson test")
    return findings


def check_readme():
    """The README's program is one that is tested, what it names exists, and it stays short."""
    text = read("README.md")
    findings = []
    if re.findall(r"```c\n(.*?)```", text, re.S) != [read("test", "contract", "embed", "print.c")]:
        findings.append("README.md: its C blocks are not test/contract/embed/print.c")
    if text.count("\n") > README_LINES_MAX:
        findings.append(f"README.md has {text.count(chr(10))} lines, not {README_LINES_MAX} at most")
    quoted = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
    linked = re.findall(r"\]\(([^)]+)\)", text)
    paths = [name for name in quoted + linked if re.fullmatch(r"(?:src|include|test|bench)/\S*", name)]
    findings += [f"README.md names {path}, which is not there" for path in paths
                 if not os.path.exists(os.path.join(ROOT, path))]
    header = library_headers() + read("include", "sloop_sandbox.h")
    names = [name for name in quoted if re.fullmatch(r"SLOOP_\w+|sloop_\w+\(\)|[a-z]+(?:_[a-z]+)+", name)]
    findings += [f"README.md names {name}, which the header does not have" for name in names
                 if not re.search(rf"\b{name.removesuffix('()')}\b", header) and name not in AWS_NAMES]
    if len(paths) < 8 or len(names) < 6:
        findings.append(f"README.md: only {paths} and {names} were found in it: it was not understood")
    programs = {name for name in os.listdir(os.path.join(ROOT, "test", "contract", "embed")) if name.endswith((".c", ".cpp"))}
    findings += [f"README.md does not name test/contract/embed/{name}" for name in sorted(programs - {"serve.c"})
                 if not re.search(rf"\b{re.escape(name)}`", text)]
    return findings


def check_settings():
    """Members of sloop_opts_t that are texts, numbers or enums can be set by name: they have a row in api/settings.c."""
    others = {"size", "join", "start", "shards", "shards_n", "alloc", "alloc_ctx", "arg"}
    members = dict(layout.structs(layout.bare("sloop.h")))["sloop_opts_t"]
    rows = set(re.findall(r"^ {4}(?:TEXT|NUMBER|CHOICE|FOR_PROGRAMS)\(\s*(\w+),", read("src", "api", "settings.c"), re.M))
    called = {name for name in members if re.search(rf"\(\*{name}\)", read("include", "sloop.h"))}
    return [f"sloop_opts_set() does not know {name}" for name in members if name not in rows | others | called]


def report(name, findings):
    for finding in findings:
        print(f"  {finding}")
    print(f"{'FAIL' if findings else 'ok  '} {name}")
    return bool(findings)


def main():
    build = sys.argv[1]
    bad = report("public headers compile alone as C99, C11 and C++11", check_headers())
    bad |= report("one version", check_version())
    bad |= report("libsloop.so exports exactly the public functions", check_exports(build))
    bad |= report("what takes a consumer is tried on a closed one", check_closed())
    bad |= report("options can be set by name", check_settings())
    bad |= report("libsloop.a defines only our names", check_static(build))
    bad |= report("each file of libsloop.a is needed by a public function", check_reached(build))
    bad |= report("no name is defined twice", check_twice(build))
    bad |= report("every test is registered", check_registered(build))
    bad |= report("the README is short, its program is the tested one, and what it names exists", check_readme())
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
