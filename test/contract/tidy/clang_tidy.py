"""clang_tidy.py - clang-tidy over the product's files: clang_tidy.py COMMANDS-FOLDER MAX-NODES [FILE...], by default all of src/ but src/bind/.

COMMANDS-FOLDER has the compile_commands.json of commands.py. As many run at once as there are cores, the longest files first. Where
SLOOP_TEST_CACHE names a folder, the hash of what was found right is kept there: of the file with all its includes and comments, of
its command, of .clang-tidy and of the program's version. A file is looked at again when one of these is another.
"""

import concurrent.futures
import glob
import hashlib
import json
import os
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def words_of(command):
    """The compiler's arguments, without those about its output."""
    words, kept = iter(shlex.split(command["command"])), []
    for word in words:
        if word in ("-o", "-MF", "-MQ"):
            next(words)
        elif word not in ("-c", "-MD"):
            kept.append(word)
    return kept


def identity(command, fixed):
    """What the verdict about a file depends on; None when it can't be preprocessed, which clang-tidy will say."""
    done = subprocess.run([*words_of(command), "-E", "-C"], cwd=command["directory"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    parts = (fixed, command["command"].encode(), done.stdout)
    return hashlib.sha256(b"\0".join(parts)).hexdigest() if done.returncode == 0 else None


def look(source, command, folder, arguments, fixed, kept):
    """What is wrong with a file, as clang-tidy says it; "" when nothing is. Without a command, of a file that this configuration does
    not build, clang-tidy takes that of a file beside it, and nothing is kept."""
    key = identity(command, fixed) if kept and command else None
    if key and os.path.exists(os.path.join(kept, key)):
        return ""
    done = subprocess.run(["clang-tidy", "--quiet", *arguments, "-p", folder, source], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode:
        return done.stdout
    if key:
        with open(os.path.join(kept, key), "w", encoding="utf-8"):
            pass
    return ""


def main():
    folder, nodes, *files = sys.argv[1:]
    with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as text:
        commands = {os.path.normpath(os.path.join(c["directory"], c["file"])): c for c in json.load(text)}
    # Without the bindings: that build leaves them out, and has not the headers of their languages.
    bindings = os.path.join(ROOT, "src", "bind", "")
    files = [os.path.abspath(f) for f in files] or [
        f for f in glob.glob(os.path.join(ROOT, "src", "**", "*.c"), recursive=True) if not f.startswith(bindings)]
    files.sort(key=lambda f: -os.path.getsize(f))
    # Paths through a function are followed only so far: the analyzer's own limit takes three times as long.
    arguments = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={nodes}")]
    version = subprocess.run(["clang-tidy", "--version"], stdout=subprocess.PIPE, check=True).stdout
    with open(os.path.join(ROOT, ".clang-tidy"), "rb") as checks:
        fixed = b"\0".join([version, checks.read(), " ".join(arguments).encode()])
    kept = os.environ.get("SLOOP_TEST_CACHE") and os.path.join(os.environ["SLOOP_TEST_CACHE"], "tidy")
    if kept:
        os.makedirs(kept, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(look, f, commands.get(f), folder, arguments, fixed, kept) for f in files]
        wrong = [job.result() for job in jobs]
    for said in filter(None, wrong):
        print(said)
    bad = sum(map(bool, wrong))
    print(f"{len(files) - bad} files are right, {bad} are not")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
