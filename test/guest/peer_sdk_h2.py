"""The SDKs that speak HTTP/2 in the clear to Kinesis by default, on the sandbox, with nothing between: KinesisAsyncClient of
Java v2 (the one that KCL 3 and 2 bring) and @aws-sdk/client-kinesis. Each puts 10,000 records, splits a shard when half are put,
and reads them all; JavaScript also by subscriptions. boto3, by HTTP/1.1, says what is there.

    python3 test/process/venv.py test/guest/peer_sdk_h2.py [NAME]"""

import os
import subprocess

import peers
from peers import harness, servers  # puts ../process on the path

from harness import Tests, expect
from sandbox_box import Box

N = 10000


def command_of(program):
    if program == "jssdk":
        folder = os.path.join(peers.CACHE, "jssdk")
        if not os.path.exists(os.path.join(folder, ".made-from")):
            raise servers.Missing("jssdk is not installed (sh test/guest/install.sh jssdk)")
        return ["node", os.path.join(folder, "sdk.js")]
    return [*peers.command_of(program)[:-1], "Sdk"]


def puts_and_reads(program):
    argv = command_of(program)
    with Box("stream=s:4", "change_ms=50") as box:
        env = harness.tail_environment(box.url, PEER_ENDPOINT=box.url, PEER_STREAM="s", PEER_RECORDS=str(N))
        done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=300, check=False, text=True)
        expect(done.returncode == 0, f"{program} ended with {done.returncode}: {done.stderr[-1500:]}")
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        seen = {(shard, int(seq)): data.encode() for shard, seq, data in rows}
        expect(len(rows) == N and {data for _, _, data in rows} == {f"r{i}" for i in range(N)}, f"{len(rows)} records were read")
        there = {place: data for place, (_, data) in harness.read_all(box.client(), "s").items()}
        expect(seen == there, "boto3 reads others")
        shards = {shard for shard, _ in seen}
        expect(len(shards) == 6, f"records of {sorted(shards)}: no split between")
        return f"{len(rows)} records of {len(shards)} shards; it says: {done.stderr.strip().splitlines()[-1]}"


def main():
    tests = Tests()
    for program in ("jssdk", "kcl3", "kcl2"):
        tests.run(f"the SDK of {program}", puts_and_reads, program)
    tests.end()


if __name__ == "__main__":
    main()
