"""Clients of others by enhanced fan-out on the sandbox: the AWS SDK for Go v2, vmware-go-kcl-v2, and KCL 2 and 3 in their
default mode, which is HTTP/2 and goes through nghttpx as the sandbox speaks HTTP/1.1. Half of 1,000 records are there before,
half come while it reads; boto3's polling says what is there. (boto3's own subscribe_to_shard: integration/sandbox_push.py.)

A record comes again only from a shard that was subscribed to once more. vmware-go-kcl-v2 does that from its last checkpoint
when a single call of its lease's renewal fails: one GetItem that the sandbox refused gave 121 repeats. The SDK that it pins
tries no call again whose connection its own side has closed (mended by github.com/aws/aws-sdk-go-v2/pull/2949).

    python3 test/integration/venv.py test/interop/peer_push.py [gosdk | vmware | kcl2 | kcl3]"""

import collections
import tempfile

import peers
from peers import harness, servers  # puts ../integration on the path

import h2_front
from harness import Tests, expect
from sandbox_box import Box
from tail_push import put_many

N = 1000
SHARDS = 4


class Client(peers.Theirs):
    def __init__(self, program, url, env):  # pylint: disable=super-init-not-called
        peers.Life.__init__(self, "a", peers.command_of(program), {
            **harness.tail_environment(url), "AWS_DEFAULT_REGION": harness.REGION, "PEER_ENDPOINT": url, "PEER_STREAM": "s",
            "PEER_APP": "theirs", "PEER_WORKER": "a", "PEER_PUSH": "1", "PEER_SYNC_MS": "3000", **env})


def reads(program):
    front, by_http2 = None, 0
    peers.command_of(program)  # is it there?
    if program.startswith("kcl") and h2_front.missing():
        raise servers.Missing(h2_front.missing())
    with Box(f"stream=s:{SHARDS}", "change_ms=50") as box, tempfile.TemporaryDirectory() as folder:
        client, put, env = box.client(), {}, {}
        put_many(client, "s", N // 2, put)
        if program.startswith("kcl"):
            front = h2_front.Front(box, folder)
            front.start()
            env["PEER_KINESIS_ENDPOINT"] = front.url
        life = Client(program, box.url, env)
        try:
            def came(n):
                expect(life.running(), f"{program} ended: {life.stderr()[-1500:]}")
                return len({(line.shard, line.place[0]) for line in list(life.lines)}) >= n

            harness.wait_until(lambda: came(N // 2), 120, f"the first half; {len(life.lines)} came")
            put_many(client, "s", N - N // 2, put, N // 2)
            harness.wait_until(lambda: came(N), 60, f"{N} records")
        except harness.Failed as failed:
            raise harness.Failed(f"{failed}; {len(life.lines)} lines; {life.stderr()[-1500:]}") from None
        finally:
            life.kill()
            if front:
                by_http2 = front.protocols()[1]
                front.__exit__()
        seen = collections.Counter((line.shard, line.place[0]) for line in life.lines)
        expect(set(seen) == set(put), "other records than were put")
        for shard in {shard for shard, _ in seen}:
            first = list(dict.fromkeys(line.place[0] for line in life.lines if line.shard == shard))
            expect(first == sorted(first), f"{shard} came out of order")
        calls = {name: row["calls"] for name, row in box.stats()["operations"].items()}
        expect(calls["SubscribeToShard"] >= SHARDS and not calls["GetRecords"], f"it polled: {calls}")
        expect(harness.read_all(client, "s") == put, "boto3 reads others than were put")
        again = {shard for (shard, _), n in seen.items() if n > 1}
        expect(len(again) <= calls["SubscribeToShard"] - SHARDS, f"{again} came again, without a subscription")
        through = f", {by_http2} requests by HTTP/2 that ended" if front else ""
        return f"{len(seen)} records, {len(life.lines) - len(seen)} repeats, {calls['SubscribeToShard']} subscriptions{through}"


def main():
    tests = Tests()
    for program in ("gosdk", "vmware", "kcl2", "kcl3"):
        tests.run(f"{program} by enhanced fan-out", reads, program)
    tests.end()


if __name__ == "__main__":
    main()
