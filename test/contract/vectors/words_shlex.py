"""words_shlex.py PROGRAM [COUNT] [SEED] - command lines are split as Python's shlex does it, which is what botocore splits
credential_process with."""
import random
import shlex
import sys

import oracle

ALPHABET = "aaabc  \t\n\r''\"\"\\\\$#;|é"


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randint(0, 10**9)
    rng = random.Random(seed)
    lines = ["".join(rng.choice(ALPHABET) for _ in range(rng.randint(0, 24))) for _ in range(count)]
    refused = 0
    for line, answer in zip(lines, oracle.run(sys.argv[1], ([line] for line in lines))):
        try:
            theirs = shlex.split(line)
        except ValueError:
            theirs = None
            refused += 1
        ours = None if answer == "error" else [oracle.from_hex(word) for word in answer.split(" ") if word]
        if ours != theirs:
            sys.exit("seed %d: %r\n  ours:   %r\n  theirs: %r" % (seed, line, ours, theirs))
    print("%d lines split alike (seed %d), %d of them refused by both" % (count, seed, refused))


main()
