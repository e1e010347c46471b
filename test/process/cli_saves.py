"""--save where its file can't be replaced, or not be written at all: on a file that is mounted by itself (a real bind
mount), in a sticky folder and in a closed one of another user, on a full and on a read-only disk. What can't be kept is
found out before a record is printed; what is kept in place is never a place that was not reached, however it was cut off.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zlib

from box import BIN, NO_LIMITS, Box
from command import check, end, environment, equal, main, run, test

NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


def may_mount():
    if os.geteuid() != 0:
        return "not root"
    got = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"], capture_output=True, text=True, check=False)
    return got.stderr.strip() if got.returncode else ""


WHY_NOT = may_mount()


def needs_mounts(function):
    def skipped():
        print(f"skip {function.__name__}: {WHY_NOT}", flush=True)
    skipped.__name__ = function.__name__
    return test(skipped if WHY_NOT else function)


class Place:
    """A folder with a place, and a sandbox with records."""

    def __init__(self, shards=2):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = self.folder.name
        os.chmod(self.dir, 0o755)
        self.box = Box(shards, *NO_LIMITS)

    def __enter__(self):
        self.box.__enter__()
        return self

    def __exit__(self, *what):
        self.folder.cleanup()
        return self.box.__exit__(*what)

    def path(self, name):
        return os.path.join(self.dir, name)

    def argv(self, mounts, *args, user=()):
        """stream-tail in a world of its own, where these commands were run in the folder first."""
        return ["unshare", "-m", "sh", "-c", f'{mounts} && exec "$0" "$@"', *user, BIN, "-o", "oldest", "--color=never",
                *args, "demo"]

    def read(self, mounts, *args, user=()):
        return run(*self.argv(mounts, "-e", "--save", "place", *args, user=user), cwd=self.dir,
                   env={**self.box.env, "STREAM_TAIL_CONFIG": "/dev/null"})


BIND = "mount --bind place place"


def lines(ran):
    return [line for line in ran.out.decode().split("\n") if line]


@needs_mounts
def a_file_that_is_mounted_by_itself_keeps_the_place():
    with Place() as p:
        open(p.path("place"), "w", encoding="ascii").close()  # it must be there, or it can't be mounted
        seen = []
        for i in range(4):
            put = [text for _, _, text in p.box.put(20 * i, start=100 * i)]  # nothing, the first time
            r = p.read(BIND)
            equal(r.code, 0, r.err)
            equal(sorted(lines(r)), sorted(put), i)
            equal(r.err.count("written in place"), 1, r.err)
            check("mounted by itself" in r.err, r.err)
            seen += lines(r)
        equal(len(seen), len(set(seen)))
        with open(p.path("place"), encoding="ascii") as f:
            check("shards" in json.load(f), "a token as ever")
        equal(sorted(os.listdir(p.dir)), ["place"])
        r = p.read("true")  # and without the mount it goes on as ever
        equal((r.code, r.out, r.err), (0, b"", ""))


@needs_mounts
def killed_while_it_writes_in_place():
    """SIGKILL at any moment: nothing is lost, and the next start goes on."""
    dice = random.Random(4)
    with Place() as p:
        open(p.path("place"), "w", encoding="ascii").close()
        want, seen, saved = set(), set(), 0
        for i in range(12):
            want |= {text for _, _, text in p.box.put(50, start=100 * i)}
            reader = subprocess.Popen(p.argv(BIND, "-q", "--save", "place"), env=environment(p.box.env), cwd=p.dir,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(dice.random() * 1.6)
            reader.send_signal(signal.SIGKILL)
            out, err = reader.communicate(timeout=20)
            equal(err, b"")
            saved += os.path.getsize(p.path("place")) > 0
            whole = out.decode().split("\n")[:-1]
            seen |= set(whole)
        r = p.read(BIND)
        equal(r.code, 0, r.err)
        check(saved, "none was killed with a place")
        equal(want - seen - set(lines(r)), set())


@needs_mounts
def a_write_that_was_cut_off_is_not_a_place():
    with Place(1) as p:
        put = [text for _, _, text in p.box.put(10)]
        r = p.read("true", "-c", "4")
        equal((r.code, lines(r)), (0, put[:4]), r.err)
        with open(p.path("place"), "rb") as f:
            old = f.read()
        run(BIN, "-o", "oldest", "-e", "--save", "after", "demo", env=p.box.env, cwd=p.dir)
        with open(p.path("after"), "rb") as f:
            new = f.read()
        journal = b"\0#sloop-new %d %d\n" % (len(new), zlib.crc32(new)) + new  # by another's CRC-32
        for kept, expected in ((journal[:-1], put[4:]), (journal[:9], put[4:]), (b"\0" * len(journal), put[4:]), (journal, [])):
            for mounts in (BIND, "true"):
                with open(p.path("place"), "wb") as f:
                    f.write(old + kept)
                r = p.read(mounts)
                equal((r.code, lines(r)), (0, expected), kept[:40], r.err)
                with open(p.path("place"), "rb") as f:
                    check(json.loads(f.read()), "a plain token again")


@needs_mounts
def two_that_see_the_file_by_different_mounts():
    with Place() as p:
        p.box.put(5)
        open(p.path("place"), "w", encoding="ascii").close()
        os.mkdir(p.path("elsewhere"))
        open(p.path("elsewhere/place"), "w", encoding="ascii").close()
        first = subprocess.Popen(p.argv(BIND, "-v", "--save", "place"), env=environment(p.box.env), cwd=p.dir,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            first.stdout.readline()
            for mounts in ("mount --bind place elsewhere/place && cd elsewhere", "true"):  # from within, and from outside
                r = p.read(mounts)
                equal((r.code, r.out), (4, b""), r.err)
                check("another process keeps its position" in r.err, r.err)
        finally:
            end(first)


@test
def a_place_that_is_refused_or_not_left_stays_byte_for_byte():
    """A token that the library refuses, a server that is away: nothing new is known, so nothing is written."""
    with Place() as p:
        p.box.put(5)
        ends = BIN, "-o", "oldest", "-e", "--save", "place", "demo"
        equal(run(*ends, env=p.box.env, cwd=p.dir).code, 0)
        with open(p.path("place"), "rb") as f:
            good = f.read()
        token = json.loads(good)
        bad = json.dumps({**token, "shards": {}}).encode()
        silent = socket.create_server(("127.0.0.1", 0))
        away = dict(p.box.env, AWS_ENDPOINT_URL=f"http://127.0.0.1:{silent.getsockname()[1]}")
        for kept in (bad, bad + b"\n", bad + b"\r\n", b"\n" + bad + b"\n\n\n", json.dumps(json.loads(bad), indent=1).encode() + b"\n"):
            with open(p.path("place"), "wb") as f:
                f.write(kept)
            for _ in range(2):
                r = run(BIN, "-e", "--save", "place", "demo", env=p.box.env, cwd=p.dir)
                equal(r.code, 2, r.err)
                with open(p.path("place"), "rb") as f:
                    equal(f.read(), kept, r.err)
        for kept in (good, good.rstrip(), good.rstrip() + b"\r\n\r\n", json.dumps(token, indent=1).encode() + b"\n"):
            with open(p.path("place"), "wb") as f:
                f.write(kept)
            tail = subprocess.Popen([BIN, "--save", "place", "demo"], env=environment(away), cwd=p.dir, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                silent.accept()[0].close()
                time.sleep(1.2)  # longer than the time between two writings
                tail.send_signal(signal.SIGINT)
                said = tail.communicate(timeout=20)[1]
                check("continues from the position in place" in said, said)
            finally:
                end(tail)
            with open(p.path("place"), "rb") as f:
                equal(f.read(), kept, said)
        with open(p.path("place"), "wb") as f:
            f.write(good.rstrip() + b"\n\n")
        silent.close()
        r = run(*ends, env=p.box.env, cwd=p.dir)
        equal((r.code, r.out), (0, b""), r.err)


@needs_mounts
def a_place_that_cannot_be_kept_is_found_out_before_a_record():
    with Place() as p:
        p.box.put(5)
        os.mkdir(p.path("d"))
        r = p.read("true", "-c", "1")
        equal(r.code, 0, r.err)
        fill = "(head -c 99999999 /dev/zero >d/filler; true) 2>/dev/null"
        padded = "(cat place; head -c 3700 /dev/zero | tr '\\0' '\\n') >d/place"  # a page in which nothing else has room
        for name, mounts, word in (
                ("mounted, read-only", BIND + " && mount -o remount,bind,ro place", "Read-only"),
                ("a read-only disk", "cp place d && mount --bind d d && mount -o remount,bind,ro d && cd d", "Read-only"),
                ("a full disk", f"mount -t tmpfs -o size=64k tmpfs d && {fill} && cd d", "No space"),
                ("a full disk with the file", f"mount -t tmpfs -o size=64k tmpfs d && cp place d && {fill} && cd d", "No space"),
                ("a full disk, mounted", f"mount -t tmpfs -o size=64k tmpfs d && {padded} && {fill} && "
                                         "mount --bind d/place place", "No space")):
            for _ in range(2):
                r = p.read(mounts)
                equal((r.code, r.out), (1, b""), name, r.err)
                check(word in r.err and "--save: can't write place" in r.err, name, r.err)


@needs_mounts
def a_disk_with_room_for_less_than_the_first_token():
    """4 KiB are free, and the token of 60 shards is larger."""
    with Place(60) as p:
        p.box.put(60)
        os.mkdir(p.path("d"))
        r = p.read("mount -t tmpfs -o size=8k tmpfs d && cd d && head -c 4096 /dev/zero >filler", "--order", "shard")
        equal((r.code, r.out), (1, b""), r.err)
        check("No space" in r.err, r.err)


@needs_mounts
def a_file_of_another_user():
    with Place() as p:
        put = [text for _, _, text in p.box.put(5)]
        for name, mode, has_file in (("sticky", 0o1777, 1), ("closed", 0o755, 1), ("closed", 0o755, 0)):
            folder = p.path(name)
            os.makedirs(folder, exist_ok=True)
            os.chmod(folder, mode)
            place = os.path.join(folder, "place")
            if os.path.exists(place):
                os.unlink(place)
            if has_file:
                open(place, "w", encoding="ascii").close()
                os.chown(place, 12345, NOBODY)
                os.chmod(place, 0o664)
            for i in range(2):
                r = p.read(f"cd {name}", user=AS_NOBODY)
                if not has_file:
                    equal((r.code, r.out), (1, b""), r.err)
                    continue
                equal((r.code, len(lines(r))), (0, 0 if i else len(put)), name, r.err)
                check("written in place" in r.err, r.err)
                st = os.stat(place)
                equal((st.st_uid, st.st_mode & 0o777), (12345, 0o664))


@needs_mounts
def a_mount_whose_file_was_replaced_outside():
    with Place() as p:
        p.box.put(5)
        r = p.read("true", "-c", "1")
        equal(r.code, 0, r.err)
        with open(p.path("there"), "w", encoding="ascii"):
            pass
        r = run(*p.argv("cp place other && mount --bind other place && rm other", "-e", "--save", "place"), env=p.box.env,
                cwd=p.dir)
        check("is lost with this mount" in r.err, r.err)


@test
def an_empty_file_that_is_not_mounted_is_refused_as_ever():
    with Place() as p:
        open(p.path("place"), "w", encoding="ascii").close()
        r = run(BIN, "-e", "--save", "place", "demo", env=p.box.env, cwd=p.dir)
        equal((r.code, r.out), (2, b""), r.err)
        check("it is empty" in r.err, r.err)


if __name__ == "__main__":
    main(at_once=3)
