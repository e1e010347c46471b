"""Holds the binary interface still: layout.py [--write].

Sizes and offsets of every struct of the public headers, the number of every enum constant and macro, and every
function's declaration are compared with layout.txt. What changed by accident fails; what was meant is written by --write
and is a difference that a reviewer sees. The numbers are those of machines with 64-bit pointers; elsewhere nothing is
compared.
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
KEPT = os.path.join(ROOT, "test", "contract", "tidy", "layout.txt")
HEADERS = ("sloop.h", "sloop_admin.h", "sloop_sandbox.h")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def bare(header):
    """The header's text without comments, with its lists of rows left as they are."""
    with open(os.path.join(ROOT, "include", header), encoding="utf-8") as file:
        return COMMENT.sub(" ", file.read())


def rows(text, macro):
    """The names in the first column of an X-macro's list."""
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*)", text)
    return re.findall(r"X\((\w+),", body[1])


def names_of(declaration):
    """The members that `const char *a, *b[2]` or `void (*f)(int, int)` declares."""
    called = re.search(r"\(\*(\w+)\)", declaration)
    if called:
        return [called[1]]
    return [re.search(r"(\w+)\s*(?:\[\w+\])?\s*$", part)[1] for part in declaration.split(",")]


def structs(text):
    """[(type, [member])]"""
    found = []
    for body, name in re.findall(r"typedef struct (?:\w+ )?\{([^{}]*)\}\s*(\w+);", text):
        if "#define X" in body:
            found.append((name, rows(text, re.search(r"(SLOOP_\w+)\(X\)", body)[1])))
        else:
            found.append((name, [n for part in body.split(";") if part.strip() for n in names_of(part.strip())]))
    return found


def constants(text):
    """Enum constants and macros with a number."""
    found = []
    for body in re.findall(r"\benum\s*\{([^{}]*)\}", text):
        if "#define X" in body:
            found += ["SLOOP_" + name for name in rows(text, "SLOOP_ERRORS")]
            body = re.sub(r"^\s*#.*$|SLOOP_ERRORS\(X\)", "", body, flags=re.M)
        found += re.findall(r"\b(SLOOP_\w+)", body)
    return found + re.findall(r"^#define (SLOOP_\w+) +\w+ *$", text, re.M)


def functions(text):
    """Every declaration of a function or of a type of callbacks, on a line of its own."""
    text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r"\{[^{}]*\}", "", text.replace('extern "C" {', ""))
    found = [" ".join(part.split()) for part in text.split(";")]
    return sorted(part.replace("SLOOP_EXTERN ", "") for part in found if part.endswith(")"))


def program(texts):
    lines = ["#include <stddef.h>", "#include <stdio.h>"] + [f"#include <{header}>" for header in HEADERS]
    lines += ["int main(void) {"]
    for header, text in texts.items():
        lines.append(f'  puts("== {header}");')
        for name, members in structs(text):
            lines.append(f'  printf("{name}: %zu bytes\\n", sizeof({name}));')
            lines += [f'  printf("  %zu %s: %zu\\n", offsetof({name}, {m}), "{m}", sizeof((({name} *)0)->{m}));'
                      for m in members]
        lines += [f'  printf("{name} = %lld\\n", (long long){name});' for name in constants(text)]
    return "\n".join(lines + ["  return 0;", "}"]) + "\n"


def measured(texts):
    with tempfile.TemporaryDirectory() as folder:
        source, tool = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        with open(source, "w", encoding="ascii") as file:
            file.write(program(texts))
        subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", "-I", os.path.join(ROOT, "include"), source, "-o", tool],
                       check=True)
        return subprocess.run([tool], capture_output=True, text=True, check=True).stdout


def check_parsing():
    """The reader of headers sees what is there, and a changed member changes the text."""
    text = ("typedef struct one_s { int a, *b[2]; void *(*f)(int x, char y); } one_t;\n#define SLOOP_R 1u\n"
            "typedef enum { SLOOP_A = 1, SLOOP_B } two_t;\nSLOOP_EXTERN int\n  g(one_t *, int);\n")
    assert structs(text) == [("one_t", ["a", "b", "f"])], structs(text)
    assert constants(text) == ["SLOOP_A", "SLOOP_B", "SLOOP_R"], constants(text)
    assert functions(text) == ["int g(one_t *, int)"], functions(text)


def main():
    check_parsing()
    texts = {header: bare(header) for header in HEADERS}
    if sys.maxsize < 2**32:
        print("skip the layout of public structs: pointers have not 64 bits here")
        return 0
    found = "# Written by layout.py --write. Offset, member and size in bytes; numbers; declarations.\n" + measured(texts)
    found += "== functions\n" + "".join(line + "\n" for text in texts.values() for line in functions(text))
    if "--write" in sys.argv:
        with open(KEPT, "w", encoding="ascii") as file:
            file.write(found)
        return 0
    with open(KEPT, encoding="ascii") as file:
        kept = file.read()
    lines = list(difflib.unified_diff(kept.splitlines(), found.splitlines(), "layout.txt", "the headers", lineterm="", n=1))
    print("\n".join(lines))
    print("FAIL" if lines else "ok  ", "the public structs, numbers and functions are those of layout.txt")
    if lines:
        print("  meant? python3 test/contract/tidy/layout.py --write, and say in the commit what programs must do")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
