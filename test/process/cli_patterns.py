"""What --grep finds, against grep -P, ripgrep and Python's re: a table of expressions by a table of records. And what
is refused, what is undecided, and -i. SLOOP_BIN names the program."""

import base64
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import tempfile

from box import NO_LIMITS as NO_WRITE_LIMITS, Box
from command import check, environment, equal, main, run, test

BIN = os.environ["SLOOP_BIN"]
NO_LIMITS = (*NO_WRITE_LIMITS, *(w for k in ("reads_per_second", "read_bytes_per_second", "describes_per_second", "lists_per_second")
                                   for w in ("-X", f"sandbox.{k}=0")))
HAS_PCRE2 = b"libpcre2" in subprocess.run(["ldd", BIN], capture_output=True, check=True).stdout

RECORDS = [text.encode() for text in (
    "order 42", "order placed", "ERROR at 10:11", "Error: disk full", "a\tb", "an error, fatal", "", " ", "error", "xerrorx",
    '{"id":7,"user":"u1","tags":["a","b"]}', "2026-01-31T12:00:00Z GET /index.html 200", "foo=bar", "foo", "bar", "foobar",
    "größe", "GRÖSSE", "straße 7", "€", "日本語 text", "a.b", "a+b", "a|b", "a\\b", "<b>", "aaa", "abab", "abcabc", "loong",
    "user@example.com", "kK", "sS", "K", "ſ", "tab\\t", "d+", "w d s b t", "(?i)error", "x{2}", "xx", "[a-z]", "]", "^$",
    "00:1A:ff", "A", "x41", "under_score", "a-b", "10.0.0.1", "end.")] + [b"\xff\xfe", b"a\xffb", b"error \xc3", b"n\0l", b"\x80"]
VALID = [n for n, r in enumerate(RECORDS) if n < len(RECORDS) - 5 or b"\0" in r]
ASCII = [n for n in VALID if max(RECORDS[n], default=0) < 128]

# g: grep -P, r: ripgrep, p: Python's re (ASCII's classes). Capitals: of records in ASCII only, since ripgrep's classes are
# Unicode's, and the \D \W \S of grep 3.8 match nothing beyond ASCII. v: grep -P, of records in UTF-8: elsewhere ^ means
# nothing to it before bytes that are none.
TABLE = [(expression, judges) for judges, expressions in {
    "grp": [r"error", r"error|fatal", r"(?i)error", r"er+or", r"^error$", r"^$", r"^.$", r"^..$", r"a.b", r"^a.b$", r"\.", r"a\+b",
            r"a\|b", r"a\\b", r"<b>", r"\t", r"\x41", r"\x09", r"[0-9]+:[0-9]+", r"[]]", r"[^a-z]$", r"gr.{2}e", r"größe",
            r"[äöü]", r"^[ö-ü]*$", r"日.語", r"(ab)+$", r"(?:ab){2}", r"a{3}", r"a{2,}", r"^a{1,2}$", r"x\{2\}", r"(a|b)(c|d|$)",
            r"a*?b", r"\(\?i\)", r"[.]b", r"[a\-z]", r"[\]]", r"\^\$", r"(?i:E)rror", r"(foo|)bar", r"\Afoo",
            r"[\t]", r"a\x2eb", r"\x{e4}|ö", r"(?P<x>o)o", r"(?i)k", r"(?i)S", r"(?i)[k-l]", r"€|ß", r"[^\n]", r"\\t", r'"id":7', r"d\+",
            r"[\d.]+\.1$" , r"(?s)n.l"],
    "GRP": [r"\d", r"\d+", r"\d{2}:\d{2}", r"^\d", r"\D", r"^\D+$", r"\w+@\w+\.com", r"^\w+$", r"\W", r"^\W$", r"\s", r"^\S+$",
            r"\bfoo\b", r"\bb", r"o\B", r"[\w.-]+@", r"[^\w]", r"[\s\d]", r"[\D]5", r"^[\W_]+$", r"\d\d\d|\bbar$", r"(?i)\bERROR\b",
            r"\S+ \S+ \d", r"[^\s]{8}"],
    "gp": [r"(\w)\1", r"(ab)\1", r"foo(?=bar)", r"(?<!foo)bar", r"(?<=a).b", r"(.+)\1$", r"(?<![a-z])error(?![a-z])",
           r"(?P<c>o)(?P=c)", r"[[a]b?", r"a(?#no)\.b"],
    "gr": [r"ro(?i)R"],
    "vp": [r"^(?!.*error)"],
    "g": [r"(?>a+)b", r"a++", r"\Qa.b\E", r"[[:alpha:]]+7", r"[[:upper:]]{3}", r"[[:^alpha:]]$", r"\pL\pN", r"^\p{Han}", r"\h", r"(?|(a)|(b))\1",
          r"\x{65E5}", r"foo\Kbar", r"(?(?=a)ab|o)", r"^(?:\((?R)\)|a)", r"\N{U+20ac}", r"error\z", r"\Z", r"{", r"\{\"id"],
}.items() for expression in expressions]


def by_grep(expression, fold):
    r = subprocess.run(["grep", "-naP", *(["-i"] if fold else []), "-e", expression], input=b"\n".join(RECORDS) + b"\n",
                       capture_output=True, env=environment({"LC_ALL": "C.UTF-8"}), check=False)
    check(r.returncode < 2, expression, r.stderr)
    return {int(line.split(b":")[0]) - 1 for line in r.stdout.splitlines()}


def by_ripgrep(expression, fold):
    r = subprocess.run(["rg", "--no-config", "-na", "--color=never", *(["-i"] if fold else []), "-e", expression, "-"],
                       input=b"\n".join(RECORDS) + b"\n", capture_output=True, env=environment({"LC_ALL": "C.UTF-8"}), check=False)
    check(r.returncode < 2, expression, r.stderr)
    return {int(line.split(b":")[0]) - 1 for line in r.stdout.splitlines()}


def by_python(expression, fold):
    wanted = re.compile(expression.replace(r"\x{e4}", "ä"), re.I if fold else 0)
    return {n for n in VALID if wanted.search(RECORDS[n].decode())}


JUDGES = {"g": by_grep, "v": by_grep, "r": by_ripgrep, "p": by_python}


def filled():
    box = Box(1, *NO_LIMITS)
    box.call("PutRecords", StreamName="demo", Records=[{"PartitionKey": str(n), "Data": base64.b64encode(r).decode()}
                                                       for n, r in enumerate(RECORDS)])
    return box


def found(box, *args):
    r = box.tail("-X", "poll_ms=200", "-o", "oldest", "-e", "-f", r"%k\n", *args, "demo", limit=60)
    return r.code, {int(n) for n in r.out.split()}, r.err


@test
def the_table_is_found_as_others_find_it():
    check(shutil.which("rg"), "ripgrep")
    cells = 0
    rows = [(*row, fold) for number, row in enumerate(TABLE) for fold in ((False, True) if number % 4 == 0 else (False,))]
    with filled() as box, concurrent.futures.ThreadPoolExecutor(16) as threads:
        runs = [threads.submit(found, box, *(["-i"] if fold else []), "--grep", expression) for expression, _, fold in rows]
        for (expression, judges, fold), ran in zip(rows, runs):
            code, ours, err = ran.result()
            if code == 2 and not HAS_PCRE2:
                check("built with PCRE2" in err, expression, err)
                continue
            equal((code, err), (0, ""), expression)
            for judge in judges:
                counted = set(ASCII) if judge.isupper() else set(VALID) if judge in "pv" else set(range(len(RECORDS)))
                equal(sorted(ours & counted), sorted(JUDGES[judge.lower()](expression, fold) & counted), expression, fold, judge)
                cells += len(counted)
        for n in (0, 1, 60):  # what --grepv leaves is the rest
            expression = TABLE[n][0]
            equal(found(box, "--grep", expression)[1] ^ found(box, "--grepv", expression)[1], set(range(len(RECORDS))), expression)
    print(f"     {len(TABLE)} expressions, {cells} verdicts compared", flush=True)


@test
def a_record_is_what_a_line_is_to_grep():
    """But a record may hold newlines: Python's re judges, whose ^ $ and . are Perl's."""
    texts = ["error\n", "error\n\n", "one\nerror\ntwo", "\nerror", "error", "a\nb", "\n", "", "x\n"]
    with Box(1, *NO_LIMITS) as box:
        box.call("PutRecords", StreamName="demo", Records=[{"PartitionKey": str(n), "Data": base64.b64encode(t.encode()).decode()}
                                                           for n, t in enumerate(texts)])
        for expression in (r"error$", r"^error", r"^error$", r"a.b", r"(?s)a.b", r"a\nb", r"^$", r"a\sb", r"[^x]b", r"\A\Z", r"x$|b$", r"^.$",
                           r".*r$", *((r"(?m)^error$", r"(?m)^b") if HAS_PCRE2 else ())):
            code, ours, err = found(box, "--grep", expression)
            equal((code, err), (0, ""), expression)
            python = expression.replace(r"\Z", r"(?=\n?\Z)")  # Python's \Z is Perl's \z
            equal(ours, {n for n, t in enumerate(texts) if re.search(python, t)}, expression)


@test
def what_is_no_expression_or_has_two_meanings_is_refused():
    for expression, part in ((r"(", "parenthesis" if HAS_PCRE2 else "( without its )"), (r"a[b", "at byte"), (r"*a", "at byte 1" if not HAS_PCRE2 else "at byte"),
                             (r"\<error\>", r"write \b"), (r"a{,3}", "{0,N}"), (r"[a-z&&[^b]]", "sets of sets"), (r"\Ga", r"write \A"),
                             (r"x\'", r"write \A, \z"), (r"\y", "at byte"), (r"[[:foo:]]", "class"), (r"\u0041", "at byte")):
        for option in ("--grep", "--grepv"):
            r = run(BIN, option, expression, "s")
            equal((r.code, r.out), (2, b""), expression, r.err)
            check(f'{option}: "{expression}": ' in r.err and part in r.err, expression, r.err)
    equal(run(BIN, "-i", "-L", "s").code, 2)


@test
def what_the_bounds_leave_undecided_is_told():
    """A run of as, and nested repetitions that only PCRE2 knows, since a group is referred to."""
    if not HAS_PCRE2:
        return
    expression = r"^((a+)+)+\2\1x?\1$(?<=b)"
    with Box(1, *NO_LIMITS) as box, tempfile.TemporaryDirectory():
        for n, text in enumerate(["no", "a" * 5000, "nor this"]):
            box.call("PutRecord", StreamName="demo", PartitionKey=str(n), Data=base64.b64encode(text.encode()).decode())
        code, keys, err = found(box, "--grep", expression)
        equal((code, keys), (1, set()))
        check("--grep " in err and "undecided: " in err and "use -E to continue after such records" in err, err)
        code, keys, err = found(box, "-E", "--grep", expression)
        equal((code, keys), (0, {1}))
        check("1 printed undecided" in err, err)
        code, keys, err = found(box, "-E", "--grepv", expression)
        equal((code, keys), (0, {0, 1, 2}))
        r = box.tail("-o", "oldest", "-e", "-E", "-q", "-J", "--grep", expression, "demo", limit=60)
        equal((r.code, r.err), (0, ""))
        check("undecided" in json.loads(r.out)["decode_error"], r.out[-300:])
        # Another expression decides.
        equal(found(box, "--grep", expression, "--grep", "aaa"), (0, {1}, ""))
        equal(found(box, "--grep", "o", "--grepv", "^no$", "--grepv", expression), (0, {2}, ""))


main()
