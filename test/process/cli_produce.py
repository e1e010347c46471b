"""-P against the sandbox, judged by boto3: which records are in the stream, with which keys, in which order of a key; what
is refused, kept and counted; what faults, a split, a deleted stream, old keys and a Ctrl-C do. SLOOP_BIN names the program."""

import fcntl
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from box import BIN, SANITIZED, Box
from command import check, end, environment, equal, main, test, wait_until
from producing import by_key, count, feed, free_box, keyed, produce, records

MIB = 1 << 20


@test
def lines_become_records():
    with free_box() as box:
        kinesis = box.boto3("kinesis")
        code, err = produce(box, given=b"one\n\n two \r\nlast")
        equal((code, len(err), count(err, "records put")), (0, 1, 3), err)
        got = records(kinesis)
        equal(sorted(data for _, data, _ in got), [b" two \r", b"last", b"one"])
        equal(len({key for key, *_ in got}), 3, "keys are random")
        equal(produce(box, "-q", stream="empty-input")[0], 0)  # nothing was to be put, and no service was asked


@test
def random_keys_spread_over_the_shards():
    with free_box(8) as box:
        equal(produce(box, given=b"".join(b"%d\n" % i for i in range(4000)))[0], 0)
        got = records(box.boto3("kinesis"))
        equal(sorted(int(data) for _, data, _ in got), list(range(4000)))
        for shard in {shard for *_, shard in got}:
            check(300 < sum(shard == s for *_, s in got) < 700, shard)


@test
def keys_of_every_kind():
    with free_box() as box:
        kinesis = box.boto3("kinesis")
        equal(produce(box, "-K", "::", "-k", "rest", given="ü::1\na::b::c\nnone\nk::\n".encode())[0], 0)
        equal(produce(box, "-D", "\\0", "-k", "zero", given=b"x\ny\0z")[0], 0)
        equal(produce(box, "--key-from", ".user.id", given=b'{"user": {"id": 7}}\n{"user":{"id":"\\u00fc"}}\n')[0], 0)
        equal(by_key(records(kinesis)),
              {"ü": [b"1", b'{"user":{"id":"\\u00fc"}}'], "a": [b"b::c"], "rest": [b"none"], "k": [b""], "zero": [b"x\ny", b"z"],
               "7": [b'{"user": {"id": 7}}']})
        code, err = produce(box, "-c", "2", "-k", "counted", given=b"1\n2\n3\n")
        equal((code, count(err, "records put")), (0, 2), err)
        equal(by_key(records(kinesis))["counted"], [b"1", b"2"])


@test
def files_are_records_or_lines():
    with free_box() as box, tempfile.TemporaryDirectory() as folder:
        kinesis = box.boto3("kinesis")
        for name, text in (("a", b"1\n2\n"), ("b", b"3"), ("empty", b"")):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(text)
        a, b, empty = (os.path.join(folder, name) for name in ("a", "b", "empty"))
        code, err = produce(box, a, empty, b, "-k", "whole")
        equal((code, count(err, "records put")), (0, 2), err)
        code, err = produce(box, "-l", a, b, "-", "-k", "lines", given=b"4\n")
        equal((code, count(err, "records put")), (0, 4), err)
        equal(by_key(records(kinesis)), {"whole": [b"1\n2\n", b"3"], "lines": [b"1", b"2", b"3", b"4"]})
        code, err = produce(box, os.path.join(folder, "none"), folder, b, "-k", "rest")
        equal((code, count(err, "record put"), count(err, "inputs not read")), (1, 1, 2), err)
        check("none" in err[0] and folder in err[1], err)
        with open(b, "rb") as file:
            equal(subprocess.run([BIN, "-P", "demo", "--rejects", b], stdin=file, env=environment(box.env), check=False,
                                 capture_output=True).returncode, 2)
        with open(b, "rb") as file:
            equal(file.read(), b"3", "the input was not emptied")


@test
def what_is_refused_is_named_counted_and_kept():
    with free_box() as box, tempfile.TemporaryDirectory() as folder:
        kinesis, rejects = box.boto3("kinesis"), os.path.join(folder, "rejects")
        bad = [b":empty", b"k" * 257 + b":long", b"\xff:not utf-8", b"big:" + b"x" * (10 * MIB), b"mid:" + b"y" * (2 * MIB)]
        good = [b"a:1", ("ü" * 256 + ":2").encode(), b"b:3", b"c:" + b"z" * (MIB - 1), b"d:5", b"e:last"]
        lines = [good[0], bad[0], good[1], bad[1], bad[2], good[2], bad[3], good[3], bad[4], b"", good[4], good[5]]
        code, err = produce(box, "-K", ":", "--rejects", rejects, given=b"\n".join(lines))
        equal((code, count(err, "records put"), count(err, "refused")), (9, 6, 5), err)
        told = [(int(number), why) for number, why in
                (re.search(r"standard input, line (\d+): (.*)", line).groups() for line in err[:-1])]
        equal([number for number, _ in sorted(told)], [2, 4, 5, 7, 9])
        for (_, why), part in zip(sorted(told), ("is empty", "256 characters", "not UTF-8", "larger than 10 MiB", "the service refuses")):
            check(part in why, why, part)
        with open(rejects, "rb") as file:
            equal(sorted(file.read().split(b"\n")), sorted(bad + [b""]))
        equal(sorted(key.encode() + b":" + data for key, data, _ in records(kinesis)), sorted(good))
        code, err = produce(box, "-J", "-q", given=b"{}\n[]\n" * 20)
        equal((code, len(err), count(err, "refused")), (9, 1, 40), err)


@test
def json_lines_are_put_back():
    seed = random.Random(5)
    with free_box(4) as box, tempfile.TemporaryDirectory() as folder:
        kinesis, dump = box.boto3("kinesis"), os.path.join(folder, "dump")
        texts = [b"", b"plain", "ü\u202e\n\t\x01 \"".encode(), b"\xff\xfe", b'{"a":1}', seed.randbytes(5000)]
        for first in range(0, 300, 100):
            kinesis.put_records(StreamName="demo", Records=[
                {"PartitionKey": f"key {seed.randrange(20)} ü\n", "Data": b"%d " % i + seed.choice(texts)}
                for i in range(first, first + 100)])
        with open(dump, "wb") as out:
            equal(subprocess.run([BIN, "-o", "oldest", "-e", "-J", "demo"], stdout=out, env=environment(box.env), check=False).returncode, 0)
        box.make_stream("copy", 3)
        with open(dump, "rb") as file:
            code, err = produce(box, "-J", given=file.read(), stream="copy")
        equal((code, count(err, "records put")), (0, 300), err)
        equal(by_key(records(kinesis, "copy")), by_key(records(kinesis)))
        # The hash key decides on the shard.
        box.make_stream("placed", 4)
        line = json.dumps({"key": "k", "payload": "x", "explicit_hash_key": str(2**128 - 1)}) + "\n"
        equal(produce(box, "-J", given=line.encode(), stream="placed")[0], 0)
        equal([shard for *_, shard in records(kinesis, "placed")], ["shardId-000000000003"])


@test
def records_are_paced():
    with free_box() as box:
        begun = time.monotonic()
        equal(produce(box, "--rate", "10", given=b"1\n2\n3\n4\n5\n6\n7\n")[0], 0)
        check(time.monotonic() - begun >= 0.55, "7 records at 10 a second")
        lines = b"".join(json.dumps({"key": "k", "payload": str(i), "ts": 1700000000000 + i * 500}).encode() + b"\n" for i in range(5))
        begun = time.monotonic()
        equal(produce(box, "-J", "--speed", "4x", given=lines)[0], 0)
        check(time.monotonic() - begun >= 0.5, "2 s, four times as fast")
        equal(by_key(records(box.boto3("kinesis")))["k"], [b"%d" % i for i in range(5)])


@test
def throttling_keeps_order_and_loses_nothing():
    """A shard takes 100 records a second: most of a call are refused one by one. Others fail as a whole, or are refused as
    a whole and then go in smaller calls."""
    lines, lists = keyed(1200, 90)
    with Box(4, "-X", "sandbox.write_records_per_second=100", "-X", "sandbox.reads_per_second=0") as box:
        box.admin("/_sandbox/faults", "1 PutRecords * throttle\n2 PutRecords * status 503\n1 PutRecords * error InternalFailure\n"
                                      "2 PutRecords * error InvalidArgumentException:400:no\n")
        code, err = produce(box, "-K", ":", given=lines)
        equal((code, count(err, "records put")), (0, 1200), err)
        check(count(err, "put again") > 100, "nothing was throttled", err)
        equal(by_key(records(box.boto3("kinesis"))), lists)


@test
def an_answer_that_is_lost_repeats_only_its_call():
    lines, lists = keyed(300, 300)
    with free_box() as box:
        box.admin("/_sandbox/faults", "1 PutRecords * drop\n1 PutRecords * cut 150\n")
        code, err = produce(box, "-K", ":", given=lines)
        equal((code, count(err, "records put")), (0, 300), err)
        for key, data in by_key(records(box.boto3("kinesis"))).items():
            equal(sorted(set(data), key=int), lists[key])  # twice at most, and none is lost
            check(len(data) <= 3 * len(lists[key]), key, data)


@test
def unordered_puts_all_of_one_key():
    lines = b"".join(b"%d\n" % i for i in range(3000))
    with free_box() as box:
        code, err = produce(box, "-k", "same", "--unordered", given=lines)
        equal((code, count(err, "records put")), (0, 3000), err)
        check(count(err, "calls?") < 100, err)
        equal(sorted(by_key(records(box.boto3("kinesis")))["same"], key=int), lines.split())


@test
def a_split_and_a_merge_meanwhile():
    lines, lists = keyed(3000, 60)
    with free_box(2) as box:
        kinesis = box.boto3("kinesis")
        p = subprocess.Popen([BIN, "-P", "demo", "-K", ":", "--rate", "2000"], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment(box.env))
        try:
            feeder = threading.Thread(target=lambda: (p.stdin.write(lines), p.stdin.close()))
            feeder.start()
            wait_until(lambda: box.calls("PutRecords") > 10, what="some calls")
            box.admin("/_sandbox/split?stream=demo&shard=shardId-000000000000")
            box.admin("/_sandbox/merge?stream=demo&shard=shardId-000000000003&adjacent=shardId-000000000001")
            feeder.join()
            err = p.stderr.read().decode().splitlines()
            equal((p.wait(30), count(err, "records put")), (0, 3000), err)
        finally:
            end(p)
        equal(by_key(records(kinesis)), lists)
        check(len({shard for *_, shard in records(kinesis)}) > 2, "no record came after the split")


def ends_and_keeps_all(box, kinesis, lines, what, *args, env=None):
    """Starts it, lets `what` happen, and checks that each line is in the stream or among the rejects."""
    with tempfile.TemporaryDirectory() as folder:
        rejects = os.path.join(folder, "rejects")
        p = subprocess.Popen([BIN, "-P", "demo", "-K", ":", "--rejects", rejects, *args], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment({**box.env, **(env or {})}))
        feeder = threading.Thread(target=lambda: feed(p, lines))
        try:
            feeder.start()
            wait_until(lambda: box.calls("PutRecords") > 3, what="some calls")
            before = what(p)
            err = p.stderr.read().decode().splitlines()
            code = p.wait(20)
        finally:
            end_but_stdin(p)
            feeder.join()
            p.stdin.close()
        with open(rejects, "rb") as file:
            kept = file.read().splitlines()
        got = before if before is not None else [key.encode() + b":" + data for key, data, _ in records(kinesis)]
        return code, err, got, kept


def end_but_stdin(p):
    if p.poll() is None:
        p.kill()
    p.wait()
    p.stderr.close()


@test
def a_stream_that_is_deleted_ends_it():
    lines, _ = keyed(40000, 400)
    with free_box(2) as box:
        kinesis = box.boto3("kinesis")
        code, err, _, kept = ends_and_keeps_all(box, kinesis, lines, lambda p: (kinesis.delete_stream(StreamName="demo"), [])[1],
                                                "--rate", "20000")
        equal(code, 1, err)
        check("ENOSTREAM" in err[-2], err)
        put = count(err, "records put")
        check(put > 0 and count(err, "read and not put") == len(kept) > 0, err, len(kept))
        # Of each key the first ones are in the stream, and what was kept goes on behind them.
        read = lines.splitlines()[:put + len(kept)]
        if kept[-1] != read[-1]:
            check(read.pop().startswith(kept.pop()), "only the last one may be cut", kept)
        rest = by_key(tuple(line.split(b":")) for line in kept)
        for key, data in by_key(tuple(line.split(b":")) for line in read).items():
            equal(data[len(data) - len(rest.get(key, [])):], rest.get(key, []), key)


@test
def a_first_interrupt_puts_what_was_read():
    lines, lists = keyed(100000, 500)
    with free_box(2) as box:
        kinesis = box.boto3("kinesis")
        code, err, got, kept = ends_and_keeps_all(box, kinesis, lines, lambda p: p.send_signal(signal.SIGINT))
        put = count(err, "records put")
        equal(len(got), put, err)
        check(0 < put < 100000 or len(kept) == 0, err)
        equal(code, 1 if kept else 0, err)
        whole = [line for line in kept if line in set(lines.splitlines())]
        equal(count(err, "read and not put") + count(err, "put or not"), len(kept), err)
        check(len(kept) - len(whole) <= 1, "at most the line that was being read is cut", kept)
        for key, data in by_key(tuple(line.split(b":")) for line in got).items():
            equal(data, lists[key.decode()][:len(data)], key)


@test
def an_interrupt_while_nothing_is_taken():
    """Nothing can be put: it ends in time, and all that was read is kept."""
    with free_box(2) as box, tempfile.TemporaryDirectory() as folder:
        rejects = os.path.join(folder, "rejects")
        box.admin("/_sandbox/faults", "* PutRecords * throttle\n")
        p = subprocess.Popen([BIN, "-P", "demo", "--rejects", rejects], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment(box.env))
        try:
            p.stdin.write(b"one\ntwo\n")
            p.stdin.flush()
            wait_until(lambda: box.calls("PutRecords") > 1, what="calls")
            p.send_signal(signal.SIGINT)
            err = p.stderr.read().decode().splitlines()
            equal((p.wait(10), count(err, "records put"), count(err, "read and not put") + count(err, "put or not")), (1, 0, 2), err)
        finally:
            end(p)
        with open(rejects, "rb") as file:
            equal(sorted(file.read().splitlines()), [b"one", b"two"])


@test
def each_line_is_told_its_own_refusal():
    """Of one call, as kinesis-mock refuses: one record for its size, the other for something else."""
    answer = {"Records": [{"ErrorCode": "InvalidArgumentException", "ErrorMessage": "too large"},
                          {"ErrorCode": "ValidationException", "ErrorMessage": "of another kind"}]}
    with free_box(1) as box:
        box.admin("/_sandbox/faults", "1 PutRecords * body " + json.dumps(answer) + "\n")
        code, err = produce(box, given=b"one\ntwo\n")
        equal((code, sorted(line.split("the service refuses it: ")[1] for line in err[:2])),
              (9, ["InvalidArgumentException: too large", "ValidationException: of another kind"]), err)


@test
def a_secret_in_the_words_about_a_line_is_hidden():
    """Of one call, in the words about each line: they are told when the call is over."""
    token = "SESSION-TOKEN-" + "x" * 40
    answer = {"Records": [{"ErrorCode": "InvalidArgumentException", "ErrorMessage": f"{name} with {token}"}
                          for name in ("first", "second", "third")]}
    with free_box(1) as box:
        box.admin("/_sandbox/faults", "1 PutRecords * body " + json.dumps(answer) + "\n")
        code, err = produce(box, given=b"one\ntwo\nthree\n", env={**box.env, "AWS_SESSION_TOKEN": token})
        equal((code, len(err)), (9, 4), err)
        check(not any(token[8:] in line for line in err), err)
        for name in ("first", "second", "third"):
            check(any(f"{name} with" in line for line in err), err)


@test
def the_beginning_of_a_line_is_no_line():
    """Standard input is a connection that is reset in the middle of a line."""
    with free_box(1) as box, socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as folder:
        rejects = os.path.join(folder, "rejects")
        writer = socket.create_connection(server.getsockname())
        reader, _ = server.accept()
        with reader:
            p = subprocess.Popen([BIN, "-P", "demo", "--rejects", rejects], stdin=reader, stderr=subprocess.PIPE,
                                 env=environment(box.env))
        try:
            writer.sendall(b"first line\nsecond li")
            wait_until(lambda: box.calls("PutRecords"), what="the first line's call")
            writer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.close()
            err = p.stderr.read().decode().splitlines()
            equal((p.wait(10), count(err, "record put"), count(err, "read and not put"), count(err, "inputs not read")),
                  (1, 1, 1, 1), err)
        finally:
            end(p)
        equal([data for _, data, _ in records(box.boto3("kinesis"))], [b"first line"])
        with open(rejects, "rb") as file:
            equal(file.read(), b"second li")


def left_and_unsure(lines):
    return count(lines, "read and not put"), count(lines, "put or not: no answer says")


@test
def what_a_call_without_an_answer_has_put_is_not_told_as_not_put():
    """The sandbox carries the calls out, and takes the answers away. boto3 sees what is in the stream."""
    for fault in ("drop", "cut 20", "delay 60000"):
        with free_box(1) as box:
            box.admin("/_sandbox/faults", f"* PutRecords * {fault}\n")
            code, err = produce(box, "--timeout", "3", given=b"one\ntwo\n")
            equal((code, count(err, "records put"), left_and_unsure(err)), (1, 0, (0, 2)), fault, err)
            check({b"one", b"two"} <= {data for _, data, _ in records(box.boto3("kinesis"))}, fault)
    with free_box(1) as box:  # the first call is carried out, the later ones are not; no call is sent at all
        box.admin("/_sandbox/faults", "1 PutRecords * drop\n* PutRecords * throttle\n")
        code, err = produce(box, "--timeout", "2", given=b"one\n")
        equal((code, left_and_unsure(err)), (1, (0, 1)), err)
        equal([data for _, data, _ in records(box.boto3("kinesis"))], [b"one"])
        box.admin("/_sandbox/faults", "", "DELETE")
        box.admin("/_sandbox/faults", "* PutRecords * throttle\n")
        code, err = produce(box, "--timeout", "2", given=b"two\n")
        equal((code, left_and_unsure(err)), (1, (1, 0)), err)
        env = environment(box.env)
    code, err = produce(box, given=b"three\n", env=env)  # nobody listens any more
    equal((code, left_and_unsure(err)), (1, (1, 0)), err)


@test
def a_stream_that_takes_nothing_slows_the_writer_down():
    with free_box(2) as box:
        box.admin("/_sandbox/faults", "* PutRecords * throttle\n")
        p = subprocess.Popen([BIN, "-P", "demo"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(box.env))
        try:
            fcntl.fcntl(p.stdin, fcntl.F_SETFL, os.O_NONBLOCK)
            written, whole, line, quiet = 0, 0, b"x" * 999 + b"\n", time.monotonic()
            deadline = time.monotonic() + 60
            while time.monotonic() < min(quiet + 1.5, deadline):
                try:
                    now = os.write(p.stdin.fileno(), line * 60)  # what does not go in is not written again
                    written, whole, quiet = written + now, whole + now // len(line), time.monotonic()
                except BlockingIOError:
                    time.sleep(0.01)
            check(time.monotonic() < deadline and MIB < written < 40 * MIB, written)
            with open(f"/proc/{p.pid}/status", encoding="ascii") as status:
                resident = int(next(x for x in status if x.startswith("VmHWM")).split()[1]) << 10
            check(SANITIZED or resident < 160 * MIB, resident)
            box.admin("/_sandbox/faults", method="DELETE")
            fcntl.fcntl(p.stdin, fcntl.F_SETFL, 0)
            p.stdin.close()
            err = p.stderr.read().decode().splitlines()
            equal((p.wait(30), count(err, "records put")), (0, whole + (now % len(line) > 0)), err)
        finally:
            end(p)


@test
def keys_that_have_expired():
    """New ones are fetched where there is a source of them; those of the environment end it, and nothing is lost."""
    with free_box(2) as box, tempfile.TemporaryDirectory() as folder:
        box.admin("/_sandbox/faults", "1 PutRecords * error ExpiredTokenException:400:old\n")
        config, count_of = os.path.join(folder, "config"), os.path.join(folder, "asked")
        script = os.path.join(folder, "keys")
        with open(script, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\necho x >> {count_of}\ncat <<END\n" + json.dumps({
                "Version": 1, "AccessKeyId": "sandbox", "SecretAccessKey": "sandbox", "SessionToken": f"t$(wc -l < {count_of})",
                "Expiration": "2099-01-01T00:00:00Z"}) + "\nEND\n")
        os.chmod(script, 0o700)
        with open(config, "w", encoding="ascii") as file:
            file.write(f"[default]\ncredential_process = {script}\n")
        env = {k: v for k, v in box.env.items() if k not in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
        got = subprocess.run([BIN, "-P", "demo"], input=b"1\n2\n", capture_output=True, check=False, timeout=60,
                             env=environment({**env, "AWS_CONFIG_FILE": config, "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}))
        err = got.stderr.decode().splitlines()
        equal((got.returncode, count(err, "records put")), (0, 2), err)
        with open(count_of, encoding="ascii") as file:
            equal(len(file.readlines()), 2, "keys were asked for again")
        rejects = os.path.join(folder, "rejects")
        box.admin("/_sandbox/faults", "* PutRecords * error ExpiredTokenException:400:old\n")
        code, err = produce(box, "--rejects", rejects, given=b"3\n4\n5")
        equal((code, count(err, "records put"), count(err, "read and not put")), (1, 0, 3), err)
        check("EAUTH" in err[0], err)
        with open(rejects, "rb") as file:
            equal(sorted(file.read().split()), [b"3", b"4", b"5"])


@test
def what_ends_it_at_once():
    with free_box(2) as box:
        code, err = produce(box, given=b"x\n", stream="nosuch")
        equal(code, 1, err)
        check("ENOSTREAM" in err[0] and "check the name" in err[0], err)
        box.admin("/_sandbox/faults", "* PutRecords * error AccessDeniedException:400:no\n")
        code, err = produce(box, given=b"x\n")
        check(code == 1 and "kinesis:PutRecords" in err[0], err)
        box.admin("/_sandbox/faults", method="DELETE")
        box.admin("/_sandbox/faults", "* PutRecords * throttle\n")
        code, err = produce(box, "--timeout", "1", given=b"x\n")
        check(code == 1 and "nothing was put in 1 s" in err[-2], err)
        code, err = produce(box, given=b"x\n", env={"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
        check(code == 1 and "check the endpoint" in err[0], err)
        equal(produce(box, "-k", "")[0], 2)
        equal(produce(box, "-D", "")[0], 2)
        equal(produce(box, "--key-from", "id")[0], 2)
        # All are refused by the service, whatever they are: it does not go on for ever.
        box.admin("/_sandbox/faults", method="DELETE")
        box.admin("/_sandbox/faults", "* PutRecords * error InvalidArgumentException:400:never\n")
        code, err = produce(box, given=b"".join(b"%d\n" % i for i in range(600)))
        equal(code, 1, err)
        check("never" in err[-2] and count(err, "refused") + count(err, "read and not put") == 600, err)


@test
def files_that_are_none():
    with free_box(2) as box, tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        p = subprocess.Popen([BIN, "-P", "-l", "demo", fifo], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(box.env))
        try:
            with open(fifo, "wb") as file:
                file.write(b"by fifo\n")
            equal(p.wait(20), 0, p.stderr.read())
        finally:
            end(p)
        equal([data for _, data, _ in records(box.boto3("kinesis"))], [b"by fifo"])
        code, err = produce(box, "--rejects", folder, given=b"x\n")
        equal(code, 2, err)
        code, err = produce(box, "--rejects", fifo, given=b"x\n")
        equal(code, 2, "a FIFO without a reader is not waited for", err)
        code, err = produce(box, "-k", "k", "--rejects", "/dev/full", "-K", ":", given=b":x\n")
        check(code == 1 and "/dev/full" in err[-2], err)


@test
def a_sandbox_feeds_its_stream():
    with free_box(3, "--feed", "200") as box:
        kinesis = box.boto3("kinesis")
        wait_until(lambda: len(records(kinesis)) >= 100, what="100 records")
        begun, before = time.monotonic(), len(records(kinesis))
        wait_until(lambda: len(records(kinesis)) >= before + 200, what="200 more")
        check(time.monotonic() - begun > 0.5, "they come at 200 a second")
        got = records(kinesis)
        orders = [json.loads(data) for _, data, _ in got]
        numbers = {order["order"] for order in orders}  # it goes on while one shard is read after the other
        check(len(numbers) == len(got) and numbers >= set(range(1, 301)), sorted(numbers))
        check(all(order["user"] == key for order, (key, *_) in zip(orders, got)), orders[0])
        equal(len({shard for *_, shard in got}), 3)


if __name__ == "__main__":
    main(at_once=3)
