"""The texts made from the table of options: the manual page as man reads it and what it says to users of kcat, completions
as bash and zsh run them, and the words of -d against what the library logs. SLOOP_BIN names the program."""

import glob
import os
import re
import shutil
import subprocess
import tempfile

from command import check, environment, equal, main, run, test

BIN = os.environ["SLOOP_BIN"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def output(*args):
    r = run(BIN, *args)
    equal((r.code, r.err), (0, ""), args)
    return r.out.decode()


def options():
    """[(letter or None, name)] as -h all has them."""
    found = re.findall(r"^  (?:-(\w), |    )--([\w-]+)", output("-h", "all"), re.M)
    check(len(found) > 40, len(found))
    return [(letter or None, name) for letter, name in found]


def skip(why):
    print("skip", why, flush=True)


@test
def everything_fits_80_columns():
    for args in (("-h",), ("-h", "all"), ("--kcat",), ("-X", "list")):
        for line in output(*args).splitlines():
            check(len(line) <= 80, len(line), line)


@test
def the_first_help_is_a_screen_and_its_topics_have_every_option_once():
    screen = output("-h")
    check(screen.count("\n") <= 40, screen.count("\n"))
    topics = [word for line in screen.split("-h TOPIC")[1].splitlines()[1:] for word in (line[2:12].strip(), line[42:52].strip())
              if word]
    check(len(topics) > 10 and "groups" in topics and "exit" in topics, topics)
    found = [name for topic in topics for name in re.findall(r"^  (?:-\w, |    )--([\w-]+)", output("-h", topic), re.M)]
    equal(sorted(found), sorted(name for _, name in options()))
    equal(output("--help=groups"), output("-h", "groups"))
    r = run(BIN, "-h", "grous")
    equal((r.code, r.out), (2, b""))
    check('no topic "grous"; did you mean groups?' in r.err, r.err)


@test
def the_manual_page_renders_without_a_warning():
    text = output("--man")
    equal(text.count(".nf\n"), text.count(".fi\n"))
    equal(text.count(".RS"), text.count(".RE"))
    known = {"TH", "SH", "SS", "TP", "PP", "B", "I", "BR", "RB", "nf", "fi", "RS", "RE", "nh", "ad"}
    for line in text.splitlines():
        if line.startswith((".", "'")):
            check(line[1:].split(" ")[0] in known, line)
    rendered = None
    with tempfile.NamedTemporaryFile("w", suffix=".1") as f:
        f.write(text)
        f.flush()
        for tool, args in (("man", ["--warnings", "-E", "UTF-8", "-l", f.name]), ("mandoc", ["-T", "lint", "-W", "warning", f.name])):
            if not shutil.which(tool):
                skip(f"{tool}: not installed")
                continue
            env = environment({"MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""})
            got = subprocess.run([tool, *args], capture_output=True, text=True, env=env, check=False)
            if tool == "man" and got.returncode != 0 and not got.stdout:
                skip("man: has no groff here: " + got.stderr.strip()[:100])
                continue
            equal((got.returncode, got.stderr), (0, ""), tool)
            if tool == "man":
                rendered = got.stdout
            else:
                equal(got.stdout, "")
    if rendered:
        for letter, name in options():
            check(re.search(rf"--{name}\b", rendered), name)
            check(not letter or re.search(rf"-{letter}, --{name}\b", rendered), letter)
        check(max(map(len, rendered.splitlines())) <= 80)
        for head in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "OUTPUT", "SETTINGS OF -X", "PLACES AND TIMES",
                     "SHARING A STREAM", "METRICS", "EXIT STATUS", "SIGNALS", "ENVIRONMENT", "FILES", "EXAMPLES",
                     "FOR USERS OF KCAT", "SEE ALSO"):
            check(f"\n{head}\n" in rendered, head)


def bash_completes(script, *words):
    """What bash's function makes of words as bash splits them; cli_completions.py has bash itself call it."""
    line = "stream-tail " + " ".join(words).replace(" = ", "=").replace(" =", "=")
    program = (f"source {script}; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; "
               "_stream_tail; "
               "printf '%s\\n' \"${COMPREPLY[@]}\"")
    got = subprocess.run(["bash", "-c", program, "bash", "stream-tail", *words], capture_output=True, text=True, check=False,
                         env=environment())
    equal((got.returncode, got.stderr), (0, ""), words)
    return [line for line in got.stdout.split("\n") if line]


@test
def bash_completes_every_option():
    with tempfile.NamedTemporaryFile("w") as f:
        f.write(output("--completion", "bash"))
        f.flush()
        every = bash_completes(f.name, "-")
        equal(sorted(every), sorted([f"--{n}" for _, n in options()] + [f"-{x}" for x, _ in options() if x]))
        equal(bash_completes(f.name, "--unt"), ["--until"])
        equal(bash_completes(f.name, "--order", ""), ["time", "shard"])
        equal(bash_completes(f.name, "--order", "=", "s"), ["shard"])
        equal(bash_completes(f.name, "--wire", "="), ["auto", "cbor", "json"])
        equal(bash_completes(f.name, "-X", "poll"), ["poll_ms="])
        equal(bash_completes(f.name, "-s", "g"), ["gzip", "glue"])
        equal(bash_completes(f.name, "-F", f.name[:-3]), [f.name])
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "my place"), "w", encoding="ascii"):
                pass
            equal(bash_completes(f.name, "--save", os.path.join(folder, "my")), [os.path.join(folder, "my place")])
        equal(bash_completes(f.name, "-c", "-"), [])
        equal(bash_completes(f.name, "orders", "--fail"), ["--fail-on-loss"])
        asked = subprocess.run(["bash", "-c", f"source {f.name}; complete -p stream-tail"], capture_output=True, text=True,
                               check=True, env=environment())
        equal(asked.stdout, "complete -F _stream_tail stream-tail\n")


@test
def zsh_has_every_option():
    text = output("--completion", "zsh")
    check(text.startswith("#compdef stream-tail\n"))
    lines = text.split("_arguments -s -S \\\n")[1].splitlines()
    specs = [line.strip()[:-2] if line.endswith("\\") else line.strip() for line in lines]
    for spec in specs:
        check(re.fullmatch(r"'\*(-\w\+?|--[\w-]+=?-?)\[[^][':]+\](:[^:']*:([^:']|\\:)*)?(::[A-Z]+:[^:']*)?'"
                           r"|'\*:stream: _stream_tail_names streams'", spec), spec)
    for letter, name in options():
        check(any(s.startswith(f"'*--{name}") for s in specs), name)
        check(not letter or any(s.startswith(f"'*-{letter}") for s in specs), letter)
    if not shutil.which("zsh"):
        skip("zsh: not installed")
        return
    with tempfile.NamedTemporaryFile("w") as f:
        f.write(text)
        f.flush()
        got = subprocess.run(["zsh", "-n", f.name], capture_output=True, text=True, check=False)
        equal((got.returncode, got.stderr), (0, ""))


@test
def every_flag_of_kcat_has_its_row():
    # kcat 1.7's getopt string, without what it takes as values; :C and :P are modes.
    flags = set("PCGLQMtpbzoeEDKkHOdqvFXcTufZlVhsrJmU")
    rows = re.findall(r"^(-\w.{13}) (.{28}) (\S.*)", output("--kcat"), re.M)
    named = set("".join(re.findall(r"-(\w)", " ".join(r[0] for r in rows))))
    equal(named, flags)


@test
def the_manual_page_has_the_same_table():
    part = output("--man").split(".SH FOR USERS OF KCAT\n")[1].split("\n.SH ")[0] + "\n"
    part = part.replace("\\-", "-").replace("\\(ti", "~")
    rows = re.findall(r"^\.TP\n\\fB(.*?)\\fR \((.*?)\)\n(.*)\n", part, re.M)
    text = output("--kcat")
    want, row = [], None
    for line in text.splitlines()[1:]:
        if line.startswith(" "):
            row[2] += " " + line.strip()
        else:
            row = [line[:15].strip(), line[16:44].strip(), line[45:].strip()]
            want.append(row)
    want = [(f, k, h[2:] if h.startswith("- ") else h) for f, k, h in want]
    equal(rows, want)


@test
def contexts_are_what_the_library_logs():
    logged = set()
    for path in glob.glob(os.path.join(ROOT, "src", "**", "*.c"), recursive=True):
        with open(path, encoding="utf-8") as f:
            logged |= set(re.findall(r'slp_report_log\([^;"]*"([a-z]+):', f.read()))
    words = re.search(r"all, or of ([\w, ]+)", re.sub(r"\s+", " ", output("-h", "all"))).group(1)
    check(logged)
    for word in logged:
        check(word in words, word, "is logged and -d does not know it")
        equal(run(BIN, "-d", word, "-X", "dump").code, 0)
    said = run(BIN, "-d", "nothing", "s").err
    equal(set(re.search(r"known are all, (.*)", said).group(1).split(", ")), logged)


main()
