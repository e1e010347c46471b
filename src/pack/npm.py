"""Makes the npm package of a release, as `npm pack` lays it out, with a binary for each platform that is named:

    npm.py --version 0.1.0 --package src/bind/node --license LICENSE --folder OUT linux-x64=FILE linux-arm64=FILE ...

`node install.js --sources` has put the sources into the package's folder before. A binary is refused if it needs a library
beside libc, shows more than node looks for, or is of another CPU. The bytes depend on the arguments and
SOURCE_DATE_EPOCH alone.
"""

import argparse
import glob
import gzip
import io
import json
import os
import re
import sys
import tarfile

from wheel import check_module, glibc_of, read, readelf

MACHINES = {"x64": "Advanced Micro Devices X86-64", "arm64": "AArch64"}
ENTRIES = {"napi_register_module_v1", "node_api_module_get_api_version_v1"}
# What node shows of its own copies of these libraries, or could get from elsewhere. The module has its own.
LIBRARIES = re.compile(r"(SSL|EVP|X509|OPENSSL|CRYPTO|BIO|curl|nghttp2|sqlite3|ZSTD|Brotli|ares)_|(in|de)flate|crc32")


def check_binary(platform, file):
    """Ends the process if a file is no binary of the package for that platform. Returns what it needs, in words."""
    if platform.removeprefix("linux-") not in MACHINES:
        sys.exit(f"npm: {platform} is none of linux-{', linux-'.join(MACHINES)}")
    machine = re.search(r"Machine: +(.*)", readelf("-h", file))[1].strip()
    if machine != MACHINES[platform.removeprefix("linux-")]:
        sys.exit(f"npm: {file} is for {machine}, not for {platform}")
    asked = check_module(file, ENTRIES.__contains__, "what node looks for")
    foreign = sorted(name for name in asked if LIBRARIES.match(name))
    if foreign:
        sys.exit(f"npm: {file} would take {', '.join(foreign[:9])} from elsewhere")
    for library in ("uv_", "napi_"):
        if not any(name.startswith(library) for name in asked):
            sys.exit(f"npm: {file} does not ask node for {library}*")
    glibc = glibc_of(asked)
    if glibc is None:
        sys.exit(f"npm: {file} is not linked to glibc")
    return f"glibc {glibc[0]}.{glibc[1]}"


def files_of(package):
    """Returns the paths that package.json lists, as npm understands them, and those that npm always takes."""
    found = {"package.json"}
    for pattern in json.loads(read(os.path.join(package, "package.json")))["files"]:
        for path in glob.glob(os.path.join(package, pattern)):
            inside = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
            found.update(os.path.relpath(one, package) for one in ([path] if os.path.isfile(path) else inside))
    return sorted(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("version", "package", "license", "folder"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("binaries", nargs="+", metavar="PLATFORM=FILE")
    a = parser.parse_args()
    said = json.loads(read(os.path.join(a.package, "package.json")))["version"]
    if said != a.version:
        sys.exit(f"npm: package.json has the version {said}, not {a.version}")
    if not os.path.exists(os.path.join(a.package, "sources", "meson.build")):
        sys.exit(f"npm: {a.package} has no sources: node install.js --sources")
    files = {name: (read(os.path.join(a.package, name)), 0o644) for name in files_of(a.package)
             if not name.startswith("prebuilds/")}
    files["LICENSE"] = (read(a.license), 0o644)
    told = []
    for binary in a.binaries:
        platform, file = binary.split("=", 1)
        told.append(f"{platform} ({check_binary(platform, file)})")
        files[f"prebuilds/{platform}/sloop.node"] = (read(file), 0o755)
    out = os.path.join(a.folder, f"sloop-{a.version}.tgz")
    with open(out, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, (data, mode) in sorted(files.items()):
            entry = tarfile.TarInfo("package/" + name)
            entry.size, entry.mode, entry.mtime = len(data), mode, int(os.environ["SOURCE_DATE_EPOCH"])
            tar.addfile(entry, io.BytesIO(data))
    print(f"release: {os.path.basename(out)}: {os.path.getsize(out)} bytes, for {', '.join(told)}")


if __name__ == "__main__":
    main()
