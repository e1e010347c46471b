"""Clients of others by enhanced fan-out on the sandbox: the AWS SDK for Go v2, vmware-go-kcl-v2, and KCL 2 and 3 in their
default mode and by polling, both by HTTP/2. Half of 10,000 records are there before, half come while it reads, for KCL after
a split; boto3's polling says what is there. (boto3's own subscribe_to_shard: process/sandbox_push.py.)

A record comes again only from a shard that was subscribed to once more. vmware-go-kcl-v2 does that from its last checkpoint
when a single call of its lease's renewal fails: one GetItem that the sandbox refused gave 121 repeats. The SDK that it pins
tries no call again whose connection its own side has closed (mended by github.com/aws/aws-sdk-go-v2/pull/2949).

    python3 test/process/venv.py test/guest/peer_push.py [NAME]"""

import collections

import peers
from peers import harness  # puts ../process on the path

from harness import Tests, expect
from sandbox_box import Box
from tail_push import put_many

N = 10000
SHARDS = 4


class Client(peers.Theirs):
    def __init__(self, program, url, pushed):  # pylint: disable=super-init-not-called
        peers.Life.__init__(self, "a", peers.command_of(program), {
            **harness.tail_environment(url), "AWS_DEFAULT_REGION": harness.REGION, "PEER_ENDPOINT": url, "PEER_STREAM": "s",
            "PEER_APP": "theirs", "PEER_WORKER": "a", "PEER_PUSH": str(int(pushed)), "PEER_SYNC_MS": "3000"})


def reads(program, pushed=True):
    peers.command_of(program)  # is it there?
    with Box(f"stream=s:{SHARDS}", "change_ms=50") as box:
        client, put = box.client(), {}
        put_many(client, "s", N // 2, put)
        life = Client(program, box.url, pushed)
        try:
            def came(n):
                expect(life.running(), f"{program} ended: {life.stderr()[-1500:]}")
                return len({(line.shard, line.place[0]) for line in list(life.lines)}) >= n

            harness.wait_until(lambda: came(N // 2), 120, f"the first half; {len(life.lines)} came")
            if program.startswith("kcl"):
                client.split_shard(StreamName="s", ShardToSplit="shardId-000000000000", NewStartingHashKey=str(1 << 125))
                harness.wait_active(client, "s")
            put_many(client, "s", N - N // 2, put, N // 2)
            harness.wait_until(lambda: came(N), 60, f"{N} records")
        except harness.Failed as failed:
            raise harness.Failed(f"{failed}; {len(life.lines)} lines; {life.stderr()[-1500:]}") from None
        finally:
            life.kill()
        seen = collections.Counter((line.shard, line.place[0]) for line in life.lines)
        expect(set(seen) == set(put), "other records than were put")
        for shard in {shard for shard, _ in seen}:
            first = list(dict.fromkeys(line.place[0] for line in life.lines if line.shard == shard))
            expect(first == sorted(first), f"{shard} came out of order")
        calls = {name: row["calls"] for name, row in box.stats()["operations"].items()}
        expect(bool(calls["GetRecords"]) != pushed and bool(calls["SubscribeToShard"]) == pushed, f"not as told: {calls}")
        expect(harness.read_all(client, "s") == put, "boto3 reads others than were put")
        again, shards = {shard for (shard, _), n in seen.items() if n > 1}, {shard for shard, _ in seen}
        expect(len(shards) == (SHARDS + 2 if program.startswith("kcl") else SHARDS), f"records of {sorted(shards)}")
        expect(len(again) <= max(0, calls["SubscribeToShard"] - len(shards)), f"{again} came again, without a subscription")
        return f"{len(seen)} records of {len(shards)} shards, {len(life.lines) - len(seen)} repeats, {calls['SubscribeToShard']} subscriptions"


def main():
    tests = Tests()
    for program in ("gosdk", "vmware", "kcl2", "kcl3"):
        tests.run(f"{program} by enhanced fan-out", reads, program)
    for program in ("kcl2", "kcl3"):
        tests.run(f"{program} by polling", reads, program, False)
    tests.end()


if __name__ == "__main__":
    main()
