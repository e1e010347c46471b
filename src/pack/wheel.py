"""Makes the wheels of a release: `pip install` puts what is in them beside python.

    wheel.py program ...    the static stream-tail. It has no code of Python and needs no libc, so it fits each Linux of that CPU.
    wheel.py package ...    the package sloop, with its native module as `-Dpython=enabled` builds it, all libraries inside.

A wheel is a zip with a few texts. Its bytes depend on the arguments and SOURCE_DATE_EPOCH alone.
"""

import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import time
import zipfile

# Both kinds of Linux that pip knows: glibc from 2.17 on, musl from 1.1 on.
PLATFORMS = ("manylinux2014_{cpu}", "manylinux_2_17_{cpu}", "musllinux_1_1_{cpu}")
# The files of the system that PEP 600 lets a module of a wheel need, as far as this one does.
SYSTEM = re.compile(r"(lib(c|m|dl|pthread|rt)|ld-linux[\w-]*)\.so\.\d+")
PUBLIC = """License: Apache-2.0
License-File: LICENSE
Project-URL: Source, https://github.com/sloop/sloop
"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write_wheel(folder, name, tags, files, metadata, license_file):
    """Writes a wheel of (path, bytes, mode). `name` is NAME-VERSION; all tags have the same first two parts."""
    info = name + ".dist-info"
    python, abi = tags[0].split("-")[:2]
    wheel = "Wheel-Version: 1.0\nGenerator: sloop\nRoot-Is-Purelib: false\n" + "".join(f"Tag: {tag}\n" for tag in tags)
    files = [*files, (f"{info}/LICENSE", read(license_file), 0o644), (f"{info}/METADATA", metadata, 0o644),
             (f"{info}/WHEEL", wheel.encode(), 0o644)]
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for path, data, _ in files) + f"{info}/RECORD,,\n"
    files.append((f"{info}/RECORD", record.encode(), 0o644))
    date = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]  # a zip begins with 1980
    out = os.path.join(folder, f"{name}-{python}-{abi}-{'.'.join(tag.split('-')[2] for tag in tags)}.whl")
    with zipfile.ZipFile(out, "w") as zipped:
        for path, data, mode in files:
            entry = zipfile.ZipInfo(path, date)
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3  # Unix, wherever this runs
            zipped.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    print(f"release: {os.path.basename(out)}: {os.path.getsize(out)} bytes")


def make_program(a):
    metadata = f"""Metadata-Version: 2.1
Name: stream-tail
Version: {a.version}
Summary: Follows Amazon Kinesis and DynamoDB streams from the command line: kcat for Kinesis
{PUBLIC}Keywords: kinesis,dynamodb,streams,aws,tail,kcat
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Description-Content-Type: text/markdown

""".encode() + read(a.readme)
    name = f"stream_tail-{a.version}"
    tags = [f"py3-none-{platform.format(cpu=a.cpu)}" for platform in PLATFORMS]
    write_wheel(a.folder, name, tags, [(f"{name}.data/scripts/stream-tail", read(a.program), 0o755)], metadata, a.license)


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], check=True, capture_output=True, text=True).stdout


def check_module(module, is_entry, entry):
    """Ends the process if a module needs a file that a package may not bring along, or shows a symbol that is not `entry`.
    Returns the names of its symbols, versions included, of those that it asks for."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", module))
    if not all(SYSTEM.fullmatch(one) for one in needed):
        sys.exit(f"wheel: {module} needs more than the system's libraries: {', '.join(needed)}")
    symbols = [line.split() for line in readelf("--dyn-syms", module).splitlines() if re.match(r" +\d+:", line)]
    # Local ones are sections, which the linker for aarch64 lists.
    shown = {symbol[7] for symbol in symbols if len(symbol) > 7 and symbol[6] != "UND" and symbol[4] != "LOCAL"}
    if not shown or not all(is_entry(one) for one in shown):
        sys.exit(f"wheel: {module} shows {', '.join(sorted(shown)[:9])} ({len(shown)}), where it should show {entry} alone")
    return {symbol[7] for symbol in symbols if len(symbol) > 7 and symbol[6] == "UND"}


def glibc_of(asked):
    """Returns the newest version of glibc among symbols that a module asks for, as (2, 34); None: it asks for none."""
    versions = {tuple(map(int, one.split("."))) for symbol in asked for one in re.findall(r"@GLIBC_([\d.]+)", symbol)}
    return max(versions)[:2] if versions else None


def make_package(a):
    import tomllib
    project = tomllib.loads(read(a.project).decode())["project"]
    metadata = f"""Metadata-Version: 2.1
Name: {project['name']}
Version: {a.version}
Summary: {project['description']}
Requires-Python: {project['requires-python']}
{PUBLIC}{''.join(f'Classifier: {one}' + chr(10) for one in project['classifiers'])}Description-Content-Type: text/markdown

""".encode() + read(os.path.join(os.path.dirname(a.project), project["readme"]))
    modules = [name for name in os.listdir(a.package) if name.startswith("_native.") and name.endswith(".so")]
    if len(modules) != 1:
        sys.exit(f"wheel: one native module is needed: {modules}")
    module = os.path.join(a.package, modules[0])
    major, minor = glibc_of(check_module(module, lambda name: name.startswith("PyInit_"), "its PyInit"))
    interpreter = re.fullmatch(r"_native\.cpython-(\d+)-.*", modules[0])
    python = f"cp{interpreter[1]}-cp{interpreter[1]}" if interpreter else "cp311-abi3"
    names = sorted(name for name in os.listdir(a.package) if name.endswith((".py", ".pyi")) or name == "py.typed")
    files = [(f"sloop/{name}", read(os.path.join(a.package, name)), 0o644) for name in names]
    files.append((f"sloop/{modules[0]}", read(module), 0o755))
    tag = f"{python}-manylinux_{major}_{minor}_{a.cpu}"
    write_wheel(a.folder, f"{project['name']}-{a.version}", [tag], files, metadata, a.license)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(required=True)
    for kind, make, more in (("program", make_program, ("program", "readme")), ("package", make_package, ("package", "project"))):
        one = kinds.add_parser(kind)
        one.set_defaults(make=make)
        for name in ("version", "cpu", "license", "folder", *more):
            one.add_argument("--" + name, required=True)
    a = parser.parse_args()
    a.make(a)


if __name__ == "__main__":
    main()
