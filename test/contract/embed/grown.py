"""grown.py - the library of a later minor version: the tree's sources with one more member at the end of every struct
but those that never grow, and one more option that is checked. usage: grown.py BUILD_DIRECTORY OUTPUT_DIRECTORY
"""
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VERSION = "0.9.0"
NEVER = ("sloop_position_t", "sloop_str_t", "sloop_shard_lease_t")


def grown_header(text):
    """(the header, how many structs have grown)"""
    count = 0

    def grow(match):
        nonlocal count
        whole, name = match[0], match[1]
        if name in NEVER:
            return whole
        count += 1
        if "#define X" in whole:
            return whole.replace("#undef X", "#undef X\n  uint64_t grown[4];")
        member = "uint32_t grown;" if name == "sloop_opts_t" else "uint64_t grown[4];"
        return whole[:whole.rindex("}")] + "  " + member + "\n} " + name + ";"

    return re.sub(r"typedef struct \w+ \{[^{}]*\}\s*(\w+);", grow, text), count


def edit(path, change):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    changed = change(text)
    if changed == text:
        raise RuntimeError("nothing to change in " + path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(changed)


def build(build_folder, to):
    """Writes to/libsloop.so.0; returns how many structs have grown."""
    for part in ("include", "src"):
        shutil.copytree(os.path.join(ROOT, part), os.path.join(to, part))
    grown = [0]

    def grow(text):
        text, n = grown_header(text)
        grown[0] += n
        return text

    for header in ("sloop.h", "sloop_admin.h"):
        edit(os.path.join(to, "include", header), grow)
    # A new option is a row with bounds. One that reads what an old program has behind its struct is refused.
    edit(os.path.join(to, "src", "api", "settings.c"), lambda text: text.replace(
        "    NUMBER(weight, ", '    NUMBER(grown, U32, 0, 5, "", ""),\n    NUMBER(weight, '))
    with open(os.path.join(build_folder, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    sources = sorted({os.path.relpath(os.path.join(c["directory"], c["file"]), ROOT) for c in commands})
    sources = [s for s in sources if s.startswith("src/") and not s.startswith(("src/cli/", "src/sandbox/"))]
    libraries = subprocess.run(["pkg-config", "--libs", "libuv", "libcurl", "libcrypto", "zlib", "sqlite3"], text=True,
                               capture_output=True, check=True).stdout.split()
    flags = ["-std=gnu11", "-O0", "-w", "-fPIC", "-fvisibility=hidden", "-D_GNU_SOURCE", f'-DSLP_VERSION="{VERSION}"',
             "-I", os.path.join(to, "include"), "-I", os.path.join(to, "src")]
    subprocess.run(["cc", *flags, "-shared", "-Wl,-soname,libsloop.so.0", "-o", os.path.join(to, "libsloop.so.0"),
                    *[os.path.join(to, s) for s in sources], *libraries], check=True)
    return grown[0]


if __name__ == "__main__":
    print(build(sys.argv[1], sys.argv[2]))
