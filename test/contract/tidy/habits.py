"""Holds what surrounds the source to the source: habits.py.

The workflow has every lane of .ci/run once or more, and each of them beside what it builds on; actionlint finds nothing in
it, where it is installed (in PATH or, by test/install.sh ci, in .cache/bin). Files that .gitattributes calls generated are
there. release.sh --check refuses a tree that can't be released.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
WORKFLOW = ".github/workflows/ci.yml"
# Lanes that take a build as another lane left it.
NEEDS = {"same": {"gcc"}, "libs": {"gcc"}, "bench": {"gcc"}}


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def check_lanes(ci, workflow):
    lanes = set(re.findall(r"^(?:lane|beside) (\w+) \w+$", ci, re.M))
    jobs = [line.split() for line in re.findall(r"^          - ([\w ]+)$", workflow, re.M)]
    named = {lane for job in jobs for lane in job}
    findings = [f"{WORKFLOW} has no lane {lane}" for lane in sorted(lanes - named)]
    findings += [f"{WORKFLOW} has a lane {lane}, and .ci/run has none" for lane in sorted(named - lanes)]
    findings += [f"{WORKFLOW}: {lane} runs without {' '.join(sorted(NEEDS[lane] - set(job)))}"
                 for job in jobs for lane in job if NEEDS.get(lane, set()) - set(job)]
    return findings if len(lanes) > 10 else [f".ci/run: only {sorted(lanes)} were found in it: it was not understood"]


def check_attributes(text):
    named = re.findall(r"^(\S+) linguist-\w+$", text, re.M)
    return [f".gitattributes names {name}, which is not there" for name in named
            if "*" not in name and not os.path.exists(os.path.join(ROOT, name))]


CHANGED = "- it does more\n"
RELEASES = [  # CHANGELOG.md, what release.sh --check must say; "": it can be released
    (f"# C\n\n## 1.2.3 (2026-11-28)\n\n### Reading\n{CHANGED}\n## 1.2.2\n", ""),
    (f"# C\n\n## Unreleased\n\n## 1.2.3 (2026-11-28)\n{CHANGED}", "still has a section Unreleased"),
    (f"# C\n\n## 1.2.3\n{CHANGED}", "not with '## 1.2.3 (YEAR-MONTH-DAY)'"),
    (f"# C\n\n## 1.2.2 (2026-11-28)\n{CHANGED}", "not with '## 1.2.3 (YEAR-MONTH-DAY)'"),
    (f"# C\n\n## 1x2.3 (2026-11-28)\n{CHANGED}", "not with '## 1.2.3 (YEAR-MONTH-DAY)'"),
    (f"# C\n\n## 1.2.3 (2026-11-28)\n\n### Reading\n\n## 1.2.2 (2026-01-01)\n{CHANGED}", "says nothing about 1.2.3"),
]


def check_release():
    def git(*words):
        subprocess.run(["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false",
                        "-c", "tag.gpgsign=false", *words], check=True,
                       stdout=subprocess.DEVNULL)

    def says():
        done = subprocess.run(["sh", os.path.join(folder, "test", "contract", "tidy", "release.sh"), "--check"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    findings = []
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "test", "contract", "tidy"))
        shutil.copy(os.path.join(ROOT, "test", "contract", "tidy", "release.sh"), os.path.join(folder, "test", "contract", "tidy"))
        with open(os.path.join(folder, "meson.build"), "w", encoding="utf-8") as file:
            file.write("project('sloop', 'c',\n  version: '1.2.3',\n")
        git("init", "-q")
        for changelog, want in RELEASES:
            with open(os.path.join(folder, "CHANGELOG.md"), "w", encoding="utf-8") as file:
                file.write(changelog)
            git("add", ".")
            git("commit", "-q", "-m", "x")
            status, said = says()
            if (status != 0) != bool(want) or (want or "1.2.3 can be released") not in said:
                findings.append(f"release.sh --check says {said!r} of {changelog!r}")
        with open(os.path.join(folder, "new"), "w", encoding="utf-8"):
            pass
        if "not clean" not in says()[1]:
            findings.append("release.sh --check takes a tree with a file that is not committed")
        os.remove(os.path.join(folder, "new"))
        git("tag", "v1.2.3", "HEAD~1")
        if "tag of another commit" not in says()[1]:
            findings.append("release.sh --check takes a version that another commit has")
    return findings


def check_workflow():
    places = os.pathsep.join([os.path.join(ROOT, ".cache", "bin"), os.environ.get("PATH", "")])
    program = shutil.which("actionlint", path=places)
    if not program:
        print("skip actionlint reads the workflow: it is not installed; sh test/install.sh ci does that where there is a go")
        return False
    done = subprocess.run([program, "-no-color", os.path.join(ROOT, WORKFLOW)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return report("actionlint reads the workflow", done.stdout.splitlines() if done.returncode else [])


def self_test():
    ci = "".join(f"lane {lane} run_it\n" for lane in [*NEEDS, "gcc", "clang", *"abcdefgh"])
    jobs = ["gcc same", "gcc libs", "clang gcc bench", "a b c d e f g h"]

    def found(jobs):
        return len(check_lanes(ci, "".join(f"          - {job}\n" for job in jobs)))

    right = [found(jobs) == 0, found(jobs[:3]) == 8, found(jobs + ["i"]) == 1, found(jobs + ["libs"]) == 1,
             found(["same", *jobs[1:]]) == 1, len(check_attributes("no/file linguist-generated\n")) == 1]
    return [f"self-test {i}" for i, good in enumerate(right) if not good]


def report(name, findings):
    for finding in findings:
        print(f"  {finding}")
    print(f"{'FAIL' if findings else 'ok  '} {name}")
    return bool(findings)


def main():
    bad = report("the checker finds what it must and nothing else", self_test())
    bad |= report("the workflow has every lane of .ci/run", check_lanes(read(".ci", "run"), read(WORKFLOW)))
    bad |= report("generated files are there", check_attributes(read(".gitattributes")))
    bad |= check_workflow()
    if shutil.which("git"):
        bad |= report("release.sh refuses what can't be released", check_release())
    else:
        print("skip release.sh refuses what can't be released: git is not installed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
