"""stream-tail with retrieval auto behind proxies that pass calls and no events: one answers SubscribeToShard itself (504, 403),
one passes the head of a subscription and nothing behind it, one holds what comes until 64 KiB are there. boto3 puts; all must be
read, each record once, by polls, and be told; where records are to be pushed, that is told which would read them.

The front stands before the sandbox, whose other answers pass as they are."""

import contextlib
import time

import harness
from front import Front
from harness import FULL, expect
from sandbox_box import Box
from tail_push import judge, put_many

SECONDS = 30
AUTO = ["-X", "retrieval=auto"]


@contextlib.contextmanager
def behind(way, *settings, shards=2, prefix=""):
    with Box(f"stream=s:{shards}", "change_ms=0", *settings) as box:
        with Front(box.url, push=way, prefix=prefix) as front:
            yield box, front, harness.tail_environment(front.url)


def stop(running):
    running.interrupt()
    return running.stderr()


def all_is_read(way):
    """What was put before, what is put while nothing comes, and what is put when it is polled; the shards are split and
    merged meanwhile."""
    put = {}
    with behind(way) as (box, front, environment):
        client = box.client()
        put_many(client, "s", 200, put)
        began = time.monotonic()
        running = harness.Running([*AUTO, "-o", "oldest", "-J", "s"], environment)
        try:
            harness.wait_until(lambda: front.calls.get("SubscribeToShard", 0) >= 2, SECONDS, "subscriptions")
            put_many(client, "s", 200, put, 200)
            box.order("POST", f"split?stream=s&shard={harness.list_shards(client, 's')[0]['ShardId']}")
            put_many(client, "s", 200, put, 400)
            harness.wait_until(lambda: len(running.lines) >= 600, SECONDS, "records, by polls")
            seconds = time.monotonic() - began
            shards = [shard["ShardId"] for shard in harness.list_shards(client, "s")]
            box.order("POST", f"merge?stream=s&shard={shards[2]}&adjacent={shards[3]}")
            put_many(client, "s", 200, put, 600)
            harness.wait_until(lambda: len(running.lines) >= 800, SECONDS, "records of the children")
        finally:
            said = stop(running)
        judge(harness.records_of(running.lines), put, harness.list_shards(client, "s"))
        expect("retrieval: poll, because of shard" in said, f"it was not told: {said}")
        expect(front.calls["SubscribeToShard"] < 20, f"{front.calls['SubscribeToShard']} subscriptions")
        return f"600 of 600 after {seconds:.1f} s, {front.calls['SubscribeToShard']} subscriptions"


def from_now_on(way):
    """A reader from now on: what is put behind its first call comes."""
    put = {}
    with behind(way) as (box, front, environment):
        client = box.client()
        put_many(client, "s", 50, {})
        running = harness.Running([*AUTO, "-J", "s"], environment)
        try:
            harness.wait_until(lambda: front.calls.get("SubscribeToShard", 0) >= 2, SECONDS, "subscriptions")
            time.sleep(0.2)  # the calls are there, and begin now
            for at in range(50, 250, 20):
                put_many(client, "s", 20, put, at)
                time.sleep(0.3)
            harness.wait_until(lambda: len(running.lines) >= 200, SECONDS, "records since then")
        finally:
            stop(running)
        judge(harness.records_of(running.lines), put)


def the_tip_ends_it(way):
    put = {}
    with behind(way) as (box, _, environment):
        put_many(box.client(), "s", 300, put)
        done = harness.tail([*AUTO, "-o", "oldest", "-e", "-J", "s"], environment, SECONDS)
        expect(done.code == 0, str(done))
        judge(harness.records_of(done.out), put)
        return f"{done.seconds:.1f} s"


def idle(way):
    """A quiet stream: the proxy is no reason to end, and records that come after a while are read."""
    put = {}
    with behind(way, "idle_event_ms=5000") as (box, _, environment):
        running = harness.Running([*AUTO, "-o", "oldest", "-J", "s"], environment)
        try:
            time.sleep(14)
            put_many(box.client(), "s", 40, put)
            harness.wait_until(lambda: len(running.lines) >= 40, SECONDS, "records of a stream that was quiet")
        finally:
            stop(running)
        judge(harness.records_of(running.lines), put)


def an_idle_stream_stays_pushed():
    """Without a proxy's fault an idle stream shows by its empty events that it is subscribed."""
    put = {}
    with behind("pass", "idle_event_ms=5000") as (box, front, environment):
        running = harness.Running([*AUTO, "-o", "oldest", "-J", "s"], environment)
        try:
            time.sleep(14)
            put_many(box.client(), "s", 40, put)
            harness.wait_until(lambda: len(running.lines) >= 40, SECONDS, "records")
        finally:
            said = stop(running)
        judge(harness.records_of(running.lines), put)
        expect("GetRecords" not in front.calls and "retrieval: poll" not in said, f"it polled: {front.calls} {said}")


def subscriptions_of_the_service_end():
    """Ends after some seconds, as the service's after five minutes, are no reason to poll."""
    put = {}
    with behind("pass", "subscription_ms=3000", "resubscribe_ms=0", "consumer_limits=0") as (box, front, environment):
        running = harness.Running([*AUTO, "-o", "oldest", "-J", "s"], environment)
        try:
            for at in range(0, 400, 40):
                put_many(box.client(), "s", 40, put, at)
                time.sleep(1)
            harness.wait_until(lambda: len(running.lines) >= 400, SECONDS, "records")
        finally:
            stop(running)
        judge(harness.records_of(running.lines), put)
        expect("GetRecords" not in front.calls, f"it polled: {front.calls}")


def it_is_pushed_again():
    """The proxy is mended: after a minute records are pushed again, and none is missing or comes twice."""
    put = {}
    with behind("504") as (box, front, environment):
        running = harness.Running([*AUTO, "-o", "oldest", "-J", "-v", "s"], environment)
        try:
            put_many(box.client(), "s", 100, put)
            harness.wait_until(lambda: len(running.lines) >= 100, SECONDS, "records, by polls")
            front.push = "pass"
            at, polls = 100, 0
            for _ in range(90):
                put_many(box.client(), "s", 10, put, at)
                at += 10
                time.sleep(1)
                polls, before = front.calls["GetRecords"], polls
                if polls == before:
                    break
            else:
                expect(False, "it polls still")
            harness.wait_until(lambda: len(running.lines) >= len(put), SECONDS, "records")
        finally:
            stop(running)
        judge(harness.records_of(running.lines), put)
        return f"{len(put)} records"


def pushed_as_asked(way):
    """Where records are to be pushed they are not polled, and the reader is told what would help."""
    with behind(way) as (box, front, environment):
        put_many(box.client(), "s", 20, {})
        running = harness.Running(["--push", "-o", "oldest", "-J", "s"], environment)
        try:
            harness.wait_until(lambda: "retrieval auto would poll" in running.stderr(), SECONDS, "a remedy")
        finally:
            stop(running)
        expect("GetRecords" not in front.calls, "it polled")


def held_back(way, first):
    """Records are to be pushed, and a reverse proxy beneath whose path the service is holds them back. That is told when no
    event came for 30 s, where an idle shard has one every five seconds, with what to do."""
    with behind(way, "idle_event_ms=5000", prefix="/kinesis") as (box, front, environment):
        put_many(box.client(), "s", 20, {})
        began = time.monotonic()
        running = harness.Running(["--push", "-o", "oldest", "-J", "s"], environment)
        try:
            harness.wait_until(lambda: "proxy_buffering off" in running.stderr(), 60, "what to do")
            seconds = time.monotonic() - began
        finally:
            said = stop(running)
        expect(first + "; the service sends an event every few seconds, so a proxy in between may buffer answers" in said, said)
        expect("GetRecords" not in front.calls, "it polled")
        return f"{seconds:.1f} s"


def nobody_holds_it_back():
    """The same path, an idle stream, and then a slow one: nothing is told in more than twice that time."""
    with behind("pass", "idle_event_ms=5000", prefix="/kinesis") as (box, _, environment):
        put = {}
        running = harness.Running(["--push", "-o", "oldest", "-J", "s"], environment)
        try:
            time.sleep(65)
            put_many(box.client(), "s", 20, put)
            harness.wait_until(lambda: len(running.lines) >= 20, SECONDS, "records")
        finally:
            said = stop(running)
        judge(harness.records_of(running.lines), put)
        expect("(ETIMEDOUT)" not in said and "hold" not in said, said)


def no_such_operation():
    """Known by its name alone: it is polled at once, and the name is told."""
    with Box("stream=s:2", "change_ms=0") as box:
        client, put = box.client(), {}
        put_many(client, "s", 100, put)
        box.faults("* SubscribeToShard * error UnknownOperationException:400:")
        running = harness.Running([*AUTO, "-o", "oldest", "-J", "s"], harness.tail_environment(box.url))
        try:
            harness.wait_until(lambda: len(running.lines) >= 100, SECONDS, "records, by polls")
        finally:
            said = stop(running)
        judge(harness.records_of(running.lines), put, harness.list_shards(client, "s"))
        expect("retrieval: poll" in said and "UnknownOperationException" in said, f"it was not told: {said}")
        return "100 of 100"


def main():
    tests = harness.Tests()
    harness.boto3_or_skip()
    jobs = [(f"{way}: all is read", all_is_read, way) for way in ("504", "403", "301", "hold", "buffer")]
    jobs += [("an endpoint without SubscribeToShard", no_such_operation)]
    jobs += [("504: from now on", from_now_on, "504"), ("hold: from now on", from_now_on, "hold")]
    jobs += [("504: the tip ends it", the_tip_ends_it, "504"), ("buffer: the tip ends it", the_tip_ends_it, "buffer")]
    jobs += [("buffer: a quiet stream", idle, "buffer"), ("504: pushed as asked", pushed_as_asked, "504")]
    accepted = "the subscription was accepted, and no event came in 30 s"
    jobs += [("hold: to be pushed, told", held_back, "hold", accepted),
             ("buffer: to be pushed, told", held_back, "buffer", accepted),
             ("whole: to be pushed, told", held_back, "whole", "no answer to the subscription came in 30 s"),
             ("no fault: a quiet stream is pushed, nothing told", nobody_holds_it_back)]
    jobs += [("no fault: a quiet stream stays pushed", an_idle_stream_stays_pushed),
             ("no fault: subscriptions that end stay pushed", subscriptions_of_the_service_end)]
    if FULL:
        jobs.append(("504 for a while: pushed again", it_is_pushed_again))
    tests.side_by_side([lambda job=job: tests.run(*job) for job in jobs])
    tests.end()


if __name__ == "__main__":
    main()
