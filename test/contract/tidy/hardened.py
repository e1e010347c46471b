"""What the linker and the compiler made of the command and the library is hardened as Debian hardens its packages: read
out of the ELF files by readelf, whatever the build files say.

usage: hardened.py FILE...    --plain: it was built without optimisation or with a sanitizer, which exclude _FORTIFY_SOURCE
"""

import re
import shutil
import subprocess
import sys


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], stdout=subprocess.PIPE, text=True, check=True).stdout


def faults_of(path, fortified):
    """What it lacks."""
    dynamic, segments, symbols = readelf("-d", path), readelf("-l", path), readelf("--dyn-syms", path)
    lacks = []
    if not re.search(r"Type:\s+DYN", readelf("-h", path)):
        lacks.append("it is not position-independent (PIE)")
    if "GNU_RELRO" not in segments:
        lacks.append("no segment is made read-only after relocation (-z relro)")
    if not re.search(r"\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b|\(BIND_NOW\)", dynamic):
        lacks.append("symbols are bound lazily (-z now)")
    stack = re.search(r"GNU_STACK(?:\s+\S+){5}\s+(\S+)", segments)
    if not stack or "E" in stack.group(1):
        lacks.append("its stack may be executed")
    if re.search(r"^\s+LOAD(?:\s+\S+){5}\s+RWE", segments, re.MULTILINE):
        lacks.append("a segment may be written and executed")
    if "(TEXTREL)" in dynamic:
        lacks.append("its code is relocated")
    if "__stack_chk_fail" not in symbols:
        lacks.append("no function guards its stack (-fstack-protector-strong)")
    if fortified and not re.search(r"__\w+_chk@", symbols.replace("__stack_chk_fail", "")):
        lacks.append("no call of libc is checked (_FORTIFY_SOURCE)")
    return lacks


def main():
    if not shutil.which("readelf"):
        print("skip: readelf is not installed")
        sys.exit(77)
    bad = 0
    for path in [word for word in sys.argv[1:] if not word.startswith("--")]:
        lacks = faults_of(path, "--plain" not in sys.argv)
        bad += bool(lacks)
        print(f"{'FAIL' if lacks else 'ok  '} {path}" + "".join(f"\n     {what}" for what in lacks))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
