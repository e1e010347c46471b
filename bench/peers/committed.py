"""The picture and the table in the tree are those of figures.json: nobody writes them by hand."""

import contextlib
import io
import os
import sys

import picture
import report

HERE = os.path.dirname(os.path.abspath(__file__))
FIGURES = os.path.join(HERE, "figures.json")


def printed(program):
    """The text that the program prints about the committed figures."""
    out, sys.argv = io.StringIO(), [program.__name__, FIGURES]
    with contextlib.redirect_stdout(out):
        program.main()
    return out.getvalue()


def read(*path):
    with open(os.path.join(HERE, *path), encoding="utf-8") as file:
        return file.read()


def main():
    findings = []
    if printed(picture) != read("peers.svg"):
        findings.append("peers.svg is not what picture.py draws of figures.json")
    table = [line for line in printed(report).splitlines() if line.startswith("|")]
    text = read("..", "README.md").splitlines()
    findings += [f"not in bench/README.md: {line}" for line in table if line not in text]
    print("\n".join(findings) or f"ok   the picture, and {len(table)} lines of the table")
    sys.exit(1 if findings else 0)


main()
