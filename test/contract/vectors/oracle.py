"""oracle.py - what the comparisons with botocore share: finding it, and talking to our programs.

SLOOP_TEST_BOTOCORE=FOLDER compares with another botocore than the pinned one: a virtual environment or its site-packages,
as `python3 -m venv FOLDER && FOLDER/bin/pip install botocore` makes it."""
import glob
import os
import subprocess
import sys

SKIPPED = 77  # Meson's exit code for a test that could not run


def botocore_or_skip():
    """Starts over under SLOOP_TEST_PYTHON when that is named; skips, and says why, without botocore."""
    wanted = os.environ.get("SLOOP_TEST_PYTHON")
    if wanted and not os.environ.get("SLOOP_TEST_PYTHON_TRIED"):
        os.environ["SLOOP_TEST_PYTHON_TRIED"] = "1"
        os.execv(wanted, [wanted] + sys.argv)
    other = os.environ.get("SLOOP_TEST_BOTOCORE")
    if other:
        if not os.path.isdir(other):
            sys.exit("SLOOP_TEST_BOTOCORE=%s is no folder" % other)
        sys.path[:0] = glob.glob(os.path.join(other, "lib", "python3*", "site-packages")) or [other]
    try:
        import botocore
    except ImportError:
        print("skipped: %s has no botocore; name one that has in SLOOP_TEST_PYTHON" % sys.executable)
        sys.exit(SKIPPED)
    print("oracle: botocore %s" % botocore.__version__)
    return botocore


def to_hex(field):
    if isinstance(field, str):
        field = field.encode()
    return field.hex() or "-"


def from_hex(word):
    return "" if word == "-" else bytes.fromhex(word).decode()


def run(program, cases):
    """A line of hex fields for each case in; the lines that came out."""
    text = "".join(" ".join(to_hex(f) for f in case) + "\n" for case in cases)
    done = subprocess.run([program], input=text.encode(), stdout=subprocess.PIPE, timeout=300)
    if done.returncode != 0:
        sys.exit("%s ended with %d" % (program, done.returncode))
    return done.stdout.decode().splitlines()
