"""The stores without a server: the suite in memory and in a SQLite file; four processes that write one file while one of them
is killed; Python's own SQLite and the sqlite3 program read the file; what a user is told of a file that can't be used."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile

import harness
import servers
from harness import expect
from store_dynamodb import SUITE, new_prefix, suite

ENV = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}


def every_case(kind, folder=None):
    where = [os.path.join(folder, "leases.db")] if folder else []
    code, lines, err = suite([kind, *where, new_prefix()], ENV)
    passed = [line for line in lines if line.startswith("ok")]
    expect(code == 0 and len(passed) >= 18, f"{lines}\n{err[-1500:]}")
    return f"{len(passed)} cases"


def others_read_it(folder):
    path = os.path.join(folder, "leases.db")
    code, lines, err = suite(["sqlite", path, new_prefix(), "rows_for_other_readers"], ENV)
    expect(code == 0, err)
    table = next(line.split()[1] for line in lines if line.startswith("table "))
    with sqlite3.connect(path) as db:
        rows = dict(db.execute("SELECT range, attrs FROM rows WHERE tbl=? AND hash='an app'", (table,)))
        keys = db.execute("SELECT hash_name, range_name FROM tables WHERE name=?", (table,)).fetchall()
    expect(keys == [("app", "row")], str(keys))
    for row in ("updated", "put"):
        item = json.loads(rows[row])
        expect(item["s"] == {"S": 'ä "q"'} and item["n"] == {"N": "18446744073709551617"} and item["b"] == {"B": "Af8="} and
               item["ss"] == {"SS": ["one", "two"]} and item["row"] == {"S": row}, str(item))


def count(db):
    return {name: int(value["N"]) for name, value in json.loads(db.execute(
        "SELECT attrs FROM rows WHERE tbl='shared' AND range='counter'").fetchone()[0]).items() if "N" in value}


def four_processes(folder):
    """Each counts to 300 in one row; one is killed on its way, at a random moment. What it said was done is done, at most
    one more; the others lose nothing; the file is intact."""
    path = os.path.join(folder, "shared.db")
    running = [subprocess.Popen([SUITE, "sqlite", path, "p", "count_with_others"], env=ENV, stdout=subprocess.PIPE, text=True,
                                preexec_fn=servers.die_with_parent, start_new_session=True) for _ in range(4)]
    victim, at = running[0], random.randrange(1, 200)
    said = 0
    for line in victim.stdout:
        said += line.startswith("did")
        if said == at:
            os.killpg(victim.pid, signal.SIGKILL)  # the case runs in a child of its own
            break
    said += sum(line.startswith("did") for line in victim.stdout)
    victim.wait()
    for process in running[1:]:
        out = process.communicate(timeout=100)[0]
        expect(process.returncode == 0 and out.count("did ") == 300, out[-300:])
    with sqlite3.connect(path) as db:
        expect(db.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the file is damaged")
        counts = count(db)
    mine = counts.pop(f"by {victim.pid}", 0)
    total = counts.pop("n")
    expect(said <= mine <= said + 1, f"killed after it said {said}: the file has {mine}")
    expect(sorted(counts.values()) == [300] * 3 and total == 900 + mine, f"{counts} {total} {mine}")
    return f"killed at {said}, {mine} in the file, {total} in all"


def made_at_once(folder):
    """Six processes find no file and make it, 40 times: nobody takes one that is half made for another program's."""
    for turn in range(40):
        path = os.path.join(folder, f"fresh{turn}.db")
        running = [subprocess.Popen([SUITE, "sqlite", path, "p", "every_request_tells_what_failed"],
                                    env={**ENV, "SLOOP_TEST_STORE_TABLE": "leases"}, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, text=True, preexec_fn=servers.die_with_parent)
                   for _ in range(6)]
        for process in running:
            out = process.communicate(timeout=60)[0]
            expect(out.startswith("prepare fine:"), f"turn {turn}: {out[:300]}")


# ---- files that can't be used ------------------------------------------------------------------------------------


def told(path, user=None, of="prepare"):
    command = [SUITE, "sqlite", path, "p", "every_request_tells_what_failed"]
    if user is not None:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    done = subprocess.run(command, env={**ENV, "SLOOP_TEST_STORE_TABLE": "leases"}, capture_output=True, text=True,
                          timeout=60, preexec_fn=servers.die_with_parent)
    return next(line for line in done.stdout.splitlines() if line.startswith(of))


def says(line, kind, *words, of="prepare"):
    expect(line.startswith(f"{of} {kind}: ") and all(word in line for word in words), line)
    return line


def not_a_database(folder):
    path = os.path.join(folder, "text")
    with open(path, "w", encoding="ascii") as file:
        file.write("these are no leases\n" * 100)
    return says(told(path), "refused", path, "not a SQLite database")


def somebody_elses(folder):
    path = os.path.join(folder, "other.db")
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipes(name)")
    line = says(told(path), "refused", path, "belongs to another program")
    with sqlite3.connect(path) as db:
        expect(db.execute("SELECT name FROM sqlite_schema").fetchall() == [("recipes",)], "it was changed")
    return line


def newer_format(folder):
    path = os.path.join(folder, "newer.db")
    says(told(path), "fine")
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=2")
    return says(told(path), "refused", path, "format is 2")


def no_folder(folder):
    return says(told(os.path.join(folder, "no", "such.db")), "refused", "can't be opened: its folder is not there")


def no_permission(folder):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise servers.Missing("needs root and setpriv to become another user")
    path = os.path.join(folder, "mine.db")
    says(told(path), "fine")
    os.chmod(folder, 0o755)
    os.chmod(path, 0o644)
    says(told(path, user=65534), "fine")  # it may look
    says(told(path, user=65534, of="write"), "access", path, of="write")
    os.chmod(path, 0o600)
    return says(told(path, user=65534), "access", path)


def full_disk(folder):
    if os.geteuid() != 0:
        raise servers.Missing("needs root to mount a small file system")
    small = os.path.join(folder, "small")
    os.mkdir(small)
    script = (f'mount -t tmpfs -o size=256k none {small} && dd if=/dev/zero of={small}/ballast bs=1k count=230 status=none; '
              f'exec "$@"')
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", SUITE, "sqlite", f"{small}/l.db", "p",
                           "every_request_tells_what_failed"], env={**ENV, "SLOOP_TEST_STORE_TABLE": "leases"},
                          capture_output=True, text=True, timeout=60)
    if "mount" in done.stderr or "unshare" in done.stderr:
        raise servers.Missing("no small file system can be mounted here")
    return says(next(line for line in done.stdout.splitlines() if line.startswith("prepare")), "transient",
                "the disk is full")


def damaged(folder):
    path = os.path.join(folder, "damaged.db")
    code, _, err = suite(["sqlite", path, new_prefix(), "rows_for_other_readers"], ENV)
    expect(code == 0, err)
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(random.Random(1).randbytes(os.path.getsize(path) - 4096))
    return says(told(path), "refused", path, "damaged")


def locked_by_another(folder):
    """A writer that keeps the file: the loop goes on, and the request ends in its time."""
    path = os.path.join(folder, "locked.db")
    says(told(path), "fine")
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    done = subprocess.run([SUITE, "sqlite", path, "p", "a_locked_file_is_waited_for_so_long"], env=ENV, capture_output=True,
                          text=True, timeout=60, preexec_fn=servers.die_with_parent)
    db.execute("ROLLBACK")
    expect(done.returncode == 0 and "keeps it locked" in done.stdout, done.stdout + done.stderr)
    return done.stdout.splitlines()[0]


def removed(folder):
    """Removed under its worker: the worker says so instead of writing where nobody looks."""
    path = os.path.join(folder, "removed.db")
    done = subprocess.run([SUITE, "sqlite", path, "p", "a_removed_file_is_noticed"], env=ENV, capture_output=True, text=True,
                          timeout=60, preexec_fn=servers.die_with_parent)
    expect(done.returncode == 0, done.stdout + done.stderr)


def main():
    tests = harness.Tests()
    if not os.access(SUITE, os.X_OK):
        tests.skip("all", "store_suite is not built")
        tests.end()

    def cases(folder):
        tests.run("memory: every case of the suite", every_case, "memory")
        tests.run("sqlite: every case of the suite", every_case, "sqlite", folder)
        tests.run("sqlite: other programs read the file", others_read_it, folder)
        for name, test in (("not a database", not_a_database), ("another program's database", somebody_elses),
                           ("a newer format", newer_format), ("no such folder", no_folder),
                           ("a damaged file", damaged), ("locked by another process", locked_by_another),
                           ("removed while in use", removed), ("a full disk", full_disk),
                           ("no permission", no_permission)):
            tests.run(f"sqlite: {name}", test, folder)

    def killed():
        for number in range(10 if harness.FULL else 3):
            with tempfile.TemporaryDirectory() as own:
                tests.run(f"sqlite: four processes, one is killed ({number + 1})", four_processes, own)

    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as fresh:
        tests.side_by_side([lambda: cases(folder), killed,
                            lambda: tests.run("sqlite: made by six processes at once", made_at_once, fresh)])
    tests.end()


if __name__ == "__main__":
    main()
