"""group.py - which files of a room may be compiled together: group.py MOST FILE...

Prints a group a line, as names below src/. A build without tests has a third of the compilations by it. Two files are kept apart
if they define the same name outside of their functions, or if one has a macro whose name stands anywhere in the other.
Meson runs it again when one of the files changes.
"""
import os
import re
import sys

NAMES = (
    r"^(?:typedef )?(?:struct|union)\s+(\w+)\s*\{",
    r"^\}\s*(\w+);",
    r"^typedef\s+[^{};]*?\b(\w+);",
    r"^typedef\s+[^{};]*?\(\*?(\w+)\)\(",
    r"^(?:_Thread_local )?static\s+[^;={(]*?(\w+)\s*[\[(=;]",
)


def bare(text):
    """Without comments, texts and characters."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', '""', text)


class File:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = bare(file.read())
        self.name = "/".join(os.path.normpath(path).split(os.sep)[-2:])
        self.macros = set(re.findall(r"^#\s*define\s+(\w+)", text, re.M))
        code = re.sub(r"^#.*(?:\\\n.*)*", "", text, flags=re.M)
        self.words = set(re.findall(r"[A-Za-z_]\w*", text))
        self.names = {name for pattern in NAMES for name in re.findall(pattern, code, re.M)}
        for body in re.findall(r"enum\s*\w*\s*\{([^}]*)\}", code):
            self.names |= set(re.findall(r"\b([A-Za-z_]\w*)\b", body))

    def fits(self, other):
        return not (self.names & other.names or self.macros & other.words or other.macros & self.words)


def groups(files, most):
    made = []
    for file in files:
        place = next((group for group in made if len(group) < most and all(file.fits(other) for other in group)), None)
        if place is None:
            made.append([file])
        else:
            place.append(file)
    return made


def main():
    files = sorted((File(path) for path in sys.argv[2:]), key=lambda file: file.name)
    for group in groups(files, int(sys.argv[1])):
        print(" ".join(file.name for file in group))


if __name__ == "__main__":
    main()
