"""Makes the wheel that brings the static stream-tail to pip: `pip install stream_tail-*.whl` puts it beside python.

A wheel is a zip with a few texts. This one has no code of Python, so it fits each version of it, and the program needs no
libc, so it fits each Linux of that CPU. Its bytes depend on the arguments and SOURCE_DATE_EPOCH alone.
"""

import argparse
import base64
import hashlib
import os
import time
import zipfile

# Both kinds of Linux that pip knows: glibc from 2.17 on, musl from 1.1 on.
PLATFORMS = ("manylinux2014_{cpu}", "manylinux_2_17_{cpu}", "musllinux_1_1_{cpu}")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("version", "cpu", "program", "readme", "license", "folder"):
        parser.add_argument("--" + name, required=True)
    a = parser.parse_args()
    tags = [f"py3-none-{platform.format(cpu=a.cpu)}" for platform in PLATFORMS]
    name = f"stream_tail-{a.version}"
    info = name + ".dist-info"
    metadata = f"""Metadata-Version: 2.1
Name: stream-tail
Version: {a.version}
Summary: Follows Amazon Kinesis and DynamoDB streams from the command line: kcat for Kinesis
License: Apache-2.0
License-File: LICENSE
Project-URL: Source, https://github.com/sloop/sloop
Keywords: kinesis,dynamodb,streams,aws,tail,kcat
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Description-Content-Type: text/markdown

""".encode() + read(a.readme)
    wheel = "Wheel-Version: 1.0\nGenerator: sloop\nRoot-Is-Purelib: false\n" + "".join(f"Tag: {tag}\n" for tag in tags)
    files = [(f"{name}.data/scripts/stream-tail", read(a.program), 0o755), (f"{info}/LICENSE", read(a.license), 0o644),
             (f"{info}/METADATA", metadata, 0o644), (f"{info}/WHEEL", wheel.encode(), 0o644)]
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for path, data, _ in files) + f"{info}/RECORD,,\n"
    files.append((f"{info}/RECORD", record.encode(), 0o644))
    date = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]  # a zip begins with 1980
    out = os.path.join(a.folder, f"{name}-py3-none-{'.'.join(p.format(cpu=a.cpu) for p in PLATFORMS)}.whl")
    with zipfile.ZipFile(out, "w") as zipped:
        for path, data, mode in files:
            entry = zipfile.ZipInfo(path, date)
            entry.external_attr = (0o100000 | mode) << 16
            entry.create_system = 3  # Unix, wherever this runs
            zipped.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    print(f"release: {os.path.basename(out)}: {os.path.getsize(out)} bytes")


if __name__ == "__main__":
    main()
