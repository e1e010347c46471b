"""xml_etree.py PROGRAM [COUNT] [SEED] - the text found in random documents, whole and damaged, is what ElementTree finds.
A document that ElementTree refuses may be read: prefixes, attributes, the XML declaration, and entities of texts that are
not asked for are not looked at."""
import random
import sys
import xml.etree.ElementTree as ET

import oracle

NAMES = ["A", "B", "CC", "n:A", "n:B"]


def text(rng):
    return "".join(rng.choice(["x", "yz ", "&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#65;", "&#x20ac;", "é", "\n",
                               "<![CDATA[<&]]>", "<!-- <B>c</B> -->", "<?p i?>", ""]) for _ in range(rng.randint(0, 3)))


def element(rng, depth, root=False):
    name = rng.choice(NAMES)
    more = ' xmlns:n="u"' if root else rng.choice(["", "", ' k="v"', " k='>'"])
    if not root and rng.random() < 0.2:
        return "<%s%s%s/>" % (name, more, rng.choice(["", " "]))
    inside = text(rng) if not root else ""
    for _ in range(rng.randint(0, 3) if depth < 4 else 0):
        inside += element(rng, depth + 1) + text(rng)
    return "<%s%s>%s</%s%s>" % (name, more, inside, name, rng.choice(["", " "]))


def damaged(rng, document):
    at = rng.randrange(len(document))
    return rng.choice([document[:at], document[:at] + document[at + 1:],
                       document[:at] + rng.choice("<>&;/!-]?\"' x") + document[at:]])


def local(tag):
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def find(root, path):
    """The first element at the path in the order of the document."""
    if local(root.tag) != path[0]:
        return None
    if len(path) == 1:
        return (root.text or "") + "".join(child.tail or "" for child in root)
    for child in root:
        found = find(child, path[1:])
        if found is not None:
            return found
    return None


def their_answer(document, path):
    try:
        root = ET.fromstring(document.encode())
    except ET.ParseError:
        return "error"
    found = find(root, path)
    return "none" if found is None else oracle.to_hex(found)


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randint(0, 10**9)
    rng = random.Random(seed)
    cases = []
    for _ in range(count):
        document = rng.choice(["", "<?xml version='1.0'?>\n"]) + element(rng, 0, True) + rng.choice(["", "\n<!-- e -->"])
        if rng.random() < 0.3:
            document = damaged(rng, document)
        cases.append((document, [rng.choice(["A", "B", "CC"]) for _ in range(rng.randint(1, 3))]))
    seen = {"found": 0, "none": 0, "error": 0, "more lenient": 0}
    for (document, path), ours in zip(cases, oracle.run(sys.argv[1], ([d, "/".join(p)] for d, p in cases))):
        theirs = their_answer(document, path)
        if theirs == "error" and ours != "error":
            seen["more lenient"] += 1
            continue
        if ours != theirs:
            sys.exit("seed %d: %r %r\n  ours:   %s\n  theirs: %s" % (seed, document, path, ours, theirs))
        seen[ours if ours in seen else "found"] += 1
    if seen["more lenient"] > count / 8:
        sys.exit("seed %d: too lenient: %r" % (seed, seen))
    print("%d documents read alike (seed %d): %r" % (count, seed, seen))


main()
