#!/bin/sh
# Whether a block that fastavro writes with the codec deflate ends where its deflate stream ends.
#
# Avro specification 1.12, "deflate": a block is written "using the deflate algorithm as specified in RFC 1951", and "unlike
# the zlib format in RFC 1950", it has no header or checksum. One would expect the stream to take up the whole block. Needs
# python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check fastavro==1.12.2
cat >"$dir/blocks.py" <<'END'
import io, sys, zlib, fastavro

def long(text, at):
    value = shift = 0
    while True:
        byte = text[at]
        value |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if not byte & 128:
            return value >> 1 ^ -(value & 1), at

print("fastavro", fastavro.__version__)
files = with_rest = pieces = 0
for n in range(200):
    out = io.BytesIO()
    fastavro.writer(out, "string", [f"{n} " * n], codec="deflate", sync_marker=b"0123456789abcdef")
    text = out.getvalue()
    at = text.index(b"0123456789abcdef") + 16
    count, at = long(text, at)
    size, at = long(text, at)
    stream = zlib.decompressobj(-15)
    block = stream.decompress(text[at:at + size])
    rest = stream.unused_data
    files += 1
    with_rest += bool(rest)
    pieces += rest == zlib.adler32(block).to_bytes(4, "big")[:3] and len(rest) == 3
print(f"expected: 0 of {files} files have bytes behind the deflate stream of their block")
print(f"found: {with_rest} have; of {pieces} they are the first 3 bytes of the block's Adler-32")
sys.exit(0 if with_rest == pieces == files else "this has changed")
END
"$dir/venv/bin/python" "$dir/blocks.py"
