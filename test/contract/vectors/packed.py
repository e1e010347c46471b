"""Writes packed.h: one text packed by each format's own tool, and 20,000 zeros by the same. Run by hand, with the python
that has cramjam (.cache/venv/bin/python test/contract/vectors/packed.py JAR); needs zstd, lz4, brotli and java, and JAR is
org.xerial.snappy:snappy-java of Maven. The tools' versions are in the file that it writes."""

import gzip
import os
import subprocess
import sys
import tempfile
import zlib

import cramjam

TEXT = b"".join(b'{"id":%d,"name":"caf\xc3\xa9 %d","paid":%s}\n' % (i, i * 7919 % 1000, b"true" if i % 3 else b"false")
                for i in range(12))
ZEROS = bytes(20000)
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "packed.h")


def by(*command):
    return lambda data: subprocess.run(command, input=data, capture_output=True, check=True, timeout=60).stdout


def version(*command):
    return next(line for line in subprocess.run(command, capture_output=True, text=True, check=True,
                                                timeout=60).stdout.splitlines() if line.strip()).strip(" *")


def in_a_file(command, data):
    """What the tool makes of a file, whose length it knows."""
    path = OUT + ".part"
    with open(path, "wb") as f:
        f.write(data)
    try:
        return by(*command, path)(b"")
    finally:
        os.unlink(path)


JAVA = """import java.io.*;
class Pack {
  public static void main(String[] a) throws Exception {
    OutputStream out = new org.xerial.snappy.SnappyOutputStream(System.out, 1024); // the smallest block that it makes
    out.write(System.in.readAllBytes());
    out.close();
  }
}
"""
JAR = sys.argv[1]


def by_java(data):
    with tempfile.NamedTemporaryFile("w", suffix=".java") as f:
        f.write(JAVA)
        f.flush()
        return by("java", "-cp", JAR, f.name)(data)


ROWS = [  # decoder, what it is, has checksums, packer
    ("gzip", "gzip", 1, lambda d: gzip.compress(d, mtime=0)),
    ("zlib", "zlib", 1, zlib.compress),
    ("zstd", "zstd, its length not known", 1, by("zstd", "-qc", "--check")),
    ("zstd", "zstd, its length known", 1, lambda d: in_a_file(("zstd", "-qc", "-19", "--check"), d)),
    ("zstd", "zstd without a checksum", 0, by("zstd", "-qc", "--no-check")),
    ("lz4", "lz4", 1, by("lz4", "-qc")),
    ("lz4", "lz4, blocks that are linked and have checksums", 1, by("lz4", "-qc", "-9", "-BD", "-BX", "-B4")),
    ("snappy", "snappy, framed", 1, lambda d: bytes(cramjam.snappy.compress(d))),
    ("snappy", "snappy, of Java's stream", 0, by_java),
    ("snappy", "snappy, a block", 0, lambda d: bytes(cramjam.snappy.compress_raw(d))),
    ("brotli", "brotli", 0, by("brotli", "-c")),
]


def literal(data):
    text = "".join(f"\\{byte:03o}" for byte in data)
    lines = "\n".join(f'        "{text[i:i + 96]}"' for i in range(0, len(text), 96))
    return "{\n" + lines + ",\n        " + str(len(data)) + "}"


with open(OUT, "w") as f:
    f.write(f"""/* packed.h - a text and 20,000 zeros as each format's own tool packs them. Made by packed.py with:
 *   {version("zstd", "--version")}
 *   {version("lz4", "--version")}
 *   {version("brotli", "--version")}
 *   cramjam {cramjam.__version__} (snappy), {os.path.basename(JAR)[:-4]} */
#ifndef SLP_TEST_PACKED_H
#define SLP_TEST_PACKED_H

#include "base/base.h"

typedef struct packed {{
  const char *decoder, *what;
  int checked; /* it has checksums: no damage goes unnoticed */
  slp_str text, zeros;
}} packed;

/* clang-format off */
static const slp_str packed_text = {literal(TEXT)};
static const packed packed_rows[] = {{
""")
    for decoder, what, checked, pack in ROWS:
        f.write(f"    {{\"{decoder}\", \"{what}\", {checked},\n     {literal(pack(TEXT))},\n     {literal(pack(ZEROS))}}},\n")
    f.write("};\n/* clang-format on */\n\n#endif\n")
