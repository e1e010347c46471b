"""The first ten minutes of somebody who knows kcat and has read nothing but -h: a sandbox, put, tail, a group, its lag, a kill,
rewind, find. Each line is typed as it comes to mind, wrong ones too. None may be a dead end: a wrong line says what to type
instead, and that is typed next. With SLOOP_TEST_SHOW set, prints what was typed and what came."""

import os
import re
import signal
import subprocess
import time

from box import BIN, Box
from command import check, end, environment, equal, main, obeys, test, wait_until

SHOW = bool(os.environ.get("SLOOP_TEST_SHOW"))


class Person:
    def __init__(self, box):
        self.box = box

    def types(self, *words, stdin=None, limit=30):
        """Runs to the end. Returns the status, standard output and standard error as text."""
        p = subprocess.Popen([BIN, *words], stdin=subprocess.PIPE if stdin else subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=environment(self.box.env))
        try:
            out, err = p.communicate(stdin.encode() if stdin else None, timeout=limit)
        finally:
            end(p)
        self.show(words, p.returncode, out.decode(), err.decode())
        return p.returncode, out.decode(), err.decode()

    @staticmethod
    def show(words, code, out, err):
        if SHOW:
            lines = out.splitlines()
            print("$ stream-tail", " ".join(words), *lines[:4], *[f"... {len(lines)} lines"] * (len(lines) > 4),
                  *("2> " + line[:200] for line in err.splitlines()), f"=> {code}\n", sep="\n")

    def is_told(self, what, *words, stdin=None):
        """A line that is wrong here: it fails, and standard error has what to type instead."""
        code, out, err = self.types(*words, stdin=stdin)
        check(code in (1, 2) and not out and what in err, words, code, out[:300], err)

    def works(self, *words, stdin=None):
        code, out, err = self.types(*words, stdin=stdin)
        equal(code, 0, words, err)
        return out


def worker(box):
    p = box.start("-G", "bill", "-X", "lease_ms=2000", "-q", "demo", stdout=subprocess.DEVNULL)
    wait_until(lambda: obeys(p), what="the worker runs")
    return p


def rows(person, kind):
    """The rows of the table of shards, or of that of workers; none before there are any."""
    code, out, err = person.types("-G", "bill", "--leases", "--no-read", "demo")
    check(code == 0 or "there is no application bill" in err, code, err)
    return [line.split() for line in out.split("\n\n")[kind].splitlines()[1:]] if out else []


@test
def put_tail_and_find():
    with Box(4, "--feed", "100") as box:
        me = Person(box)
        me.is_told("-h for help", )
        check(re.search(r"^demo +ACTIVE", me.works("-L"), re.M), "the stream of the sandbox is listed")
        equal(len(me.works("-L", "demo").splitlines()), 5)
        me.is_told("STREAM, as many as you like", "-C", "-t", "demo")
        equal(len(me.works("-C", "demo", "-o", "beginning", "-c", "3").splitlines()), 3)
        equal(len(me.works("-o", "earliest", "-c", "3", "demo").splitlines()), 3)
        me.is_told("-o oldest", "--from-beginning", "demo")
        me.is_told("s@10m", "-o", "10m", "demo")
        equal(len(me.works("-o", "s@10m", "-c", "2", "demo").splitlines()), 2)
        me.is_told("-c N", "--max-messages", "5", "demo")
        me.is_told("STREAM, as many as you like", "-P", "-t", "demo", stdin="hello\n")
        me.works("-P", "-K:", "demo", stdin="k1:hello one\nk2:hello two\n")
        me.is_told("aws kinesis create-stream --stream-name news", "-P", "news", stdin="hello\n")
        me.is_told("http://", "-P", "-b", "localhost:9092", "demo", stdin="hello\n")
        equal(sorted(me.works("-o", "oldest", "--until", "0s", "--grep", "hello", "-K:", "demo").splitlines()),
              ["k1:hello one", "k2:hello two"])
        me.is_told("--grep REGEX", "--filter", "hello", "demo")
        equal(me.works("-o", "oldest", "-c", "1", "--grep", "hello one", "-f", "%t %k %s\n", "demo"), "demo k1 hello one\n")
        me.is_told("did you mean demo?", "-e", "dmeo")
        me.is_told("did you mean demo?", "-e", "dmeo*")
        equal(len(me.works("-c", "3", "dem*").splitlines()), 3)
        p = box.start("demo", stdout=subprocess.PIPE)
        check(p.stdout.readline().startswith(b'{"order"'), "records come")
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=20)
        me.show(["demo", "^C"], p.returncode, "", err.decode())
        equal(p.returncode, 0)
        check(b"stopped" in err, err)


@test
def a_group_its_lag_a_kill_and_rewinding():
    with Box(4, "--feed", "100") as box:
        me = Person(box)
        me.is_told("-G APP", "--group", "bill", "demo")
        one = worker(box)
        two = worker(box)
        try:
            me.is_told("-G APP --leases STREAM", "--lag", "demo")
            me.is_told("needs its name too; stream-tail -L", "-G", "bill", "--leases")
            wait_until(lambda: sorted(row[2] for row in rows(me, 1)) == ["2", "2"], 30, "two shards each")
            check(all(row[-1] != "-" for row in rows(me, 0)), "the lag of each shard is known")
            one.kill()
            one.wait()
            wait_until(lambda: sorted(row[2] for row in rows(me, 1) if row[1] != "dead") == ["4"] or
                       len({row[2] for row in rows(me, 0)}) == 1, 30, "the other one has all four")
            check("is being read by" in me.works("-G", "bill", "--explain", "0", "demo"), "who reads shard 0")
            me.is_told("--reset all --to POSITION", "-G", "bill", "--rewind", "demo")
            code, out, err = me.types("-G", "bill", "-X", "lease_ms=2000", "--reset", "all", "--to", "oldest", "demo")
            equal((code, out), (4, ""), err)
            check("stop it, or use force" in err, err)
            me.is_told("did you mean bill?", "-G", "bil", "--leases", "demo")
            check("bill" in me.works("--apps"), "the application is found")
            check("1 worker waits for --undrain" in me.works("-G", "bill", "--drain", "demo"), "it is drained")
            late = box.start("-G", "bill", "demo", stdout=subprocess.DEVNULL)  # it does not wait in silence
            try:
                told = late.stderr.readline().decode()
                check("drained, until --undrain" in told, told)
            finally:
                late.send_signal(signal.SIGINT)
                late.wait(20)
                end(late)
            me.works("-G", "bill", "--undrain", "demo")
            two.send_signal(signal.SIGINT)
            equal(two.wait(20), 0)
            me.is_told("s@10m", "-G", "bill", "--reset", "all", "--to", "10m", "demo")
            equal(len(me.works("-G", "bill", "--reset", "all", "--to", "oldest", "demo").splitlines()), 4)
            time.sleep(0.1)
            first = me.works("-G", "bill", "-c", "1", "demo")
            # of whichever shard: on a busy machine one may be late, and then the others are read before it
            firsts = [me.works("-o", "oldest", "-c", "1", "-p", str(i), "demo") for i in range(4)]
            check(first in firsts, "from the first record on", first, firsts)
        finally:
            end(one)
            end(two)


if __name__ == "__main__":
    main(at_once=2)
