"""The compile commands of a build folder, each source file once, as the product compiles it: commands.py BUILD-FOLDER.

Tests compile the product's files again, with sanitizers or beside other files; clang-tidy would look at each of these.
"""

import json
import os
import sys


def main():
    with open(os.path.join(sys.argv[1], "compile_commands.json"), encoding="utf-8") as text:
        commands = json.load(text)
    once = {}
    for command in commands:
        source = os.path.normpath(os.path.join(command["directory"], command["file"]))
        if source not in once or once[source]["output"].startswith("test"):
            once[source] = command
    json.dump(list(once.values()), sys.stdout, indent=1)


if __name__ == "__main__":
    main()
