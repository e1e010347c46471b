"""grown.py - the library of a later minor version: the tree's sources with one more member at the end of every struct
but those that never grow, and one more option that is checked. usage: grown.py BUILD_DIRECTORY OUTPUT_DIRECTORY
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
VERSION = "0.9.0"
ROOMS = ("base", "codec", "host", "aws", "core", "lease", "admin", "source", "store", "guest", "api")  # of the library
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


def objects_of_library(build_folder):
    """{source: (its object in the build folder, whether what has grown concerns it)}, by what the compiler wrote of its includes:
    an object that includes neither header, nor says the version, is the same in both libraries."""
    told = subprocess.run(["ninja", "-C", build_folder, "-t", "deps"], text=True, capture_output=True, check=True).stdout
    found = {}
    for entry in told.split("\n\n"):
        head, *includes = entry.splitlines() or [""]
        built = head.partition(":")[0]
        names = [os.path.relpath(os.path.join(build_folder, line.strip()), ROOT) for line in includes]
        source = names[0] if names else ""
        if not re.match(r"src/libslp_(%s)\.a\.p/" % "|".join(ROOMS), built) or not source.startswith("src/"):
            continue
        with open(os.path.join(ROOT, source), encoding="utf-8") as file:
            concerned = "SLP_VERSION" in file.read()
        concerned = concerned or any(name in ("include/sloop.h", "include/sloop_admin.h") for name in names)
        found[source] = (built, concerned)
    return found


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
    objects = objects_of_library(build_folder)
    sources = sorted(source for source, (_, concerned) in objects.items() if concerned)
    kept = sorted(os.path.join(build_folder, built) for built, concerned in objects.values() if not concerned)
    if len(sources) < 20 or len(kept) < 20:
        raise RuntimeError(f"{len(sources)} sources include the header, {len(kept)} do not: that is not understood")
    libraries = subprocess.run(["pkg-config", "--libs", "libuv", "libcurl", "libcrypto", "zlib", "sqlite3"], text=True,
                               capture_output=True, check=True).stdout.split()
    flags = ["-std=gnu11", "-O0", "-w", "-fPIC", "-fvisibility=hidden", "-D_GNU_SOURCE", f'-DSLP_VERSION="{VERSION}"',
             "-I", os.path.join(to, "include"), "-I", os.path.join(to, "src")]
    def compile_one(source):
        built = os.path.join(to, source.replace("/", "_") + ".o")
        subprocess.run(["cc", *flags, "-c", "-o", built, os.path.join(to, source)], check=True)
        return built

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(compile_one, sources))
    subprocess.run(["cc", "-shared", "-Wl,-soname,libsloop.so.0",
                    "-Wl,--version-script=" + os.path.join(to, "src", "api", "sloop.map"), "-o", os.path.join(to, "libsloop.so.0"),
                    *made, *kept, *libraries], check=True)
    return grown[0]


if __name__ == "__main__":
    print(build(sys.argv[1], sys.argv[2]))
