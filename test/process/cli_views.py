"""What a person chooses to see of records: by key, with times, the last ones, in colour. boto3 puts the records and says
which they are. SLOOP_BIN names the program."""

import datetime
import json

from box import BIN, Box
from command import check, equal, main, run, test


def put(box, pairs, stream="demo"):
    """Puts (key, payload) one after the other by boto3."""
    client = box.boto3("kinesis")
    for key, text in pairs:
        client.put_record(StreamName=stream, PartitionKey=key, Data=text.encode())


def read_all(box, stream="demo"):
    """All records of the stream as boto3 finds them, in the order of their arrival; of one moment by shard."""
    client, found = box.boto3("kinesis"), []
    for shard in client.list_shards(StreamName=stream)["Shards"]:
        iterator = client.get_shard_iterator(StreamName=stream, ShardId=shard["ShardId"],
                                             ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        while iterator:
            page = client.get_records(ShardIterator=iterator)
            found += [{**r, "ShardId": shard["ShardId"]} for r in page["Records"]]
            iterator = page.get("NextShardIterator") if page["Records"] or page["MillisBehindLatest"] else None
    return sorted(found, key=lambda r: r["ApproximateArrivalTimestamp"])


# ---- keys -----------------------------------------------------------------------------------------------


@test
def keys_are_matched_in_every_shard():
    with Box(4) as box:
        put(box, [(f"user-{i}", f"payload {i}") for i in range(40)] + [("a.b", "dots"), ("axb", "no dot")])
        for args, wanted in (
                (("--key", "^user-1"), {1, *range(10, 20)}), (("--key", "1$"), {1, 11, 21, 31}), (("-k", "USER-7$", "-i"), {7}),
                (("--key-is", "user-3"), {3}), (("--key-is", "user-3", "--key-is", "user-30", "--key", "9$"), {3, 30, 9, 19, 29, 39}),
                (("--key-is", "user-"), set()), (("--key", "^user-1", "--grep", "1[0-4]$"), set(range(10, 15))),
                (("--key", "^user-1", "--grepv", "1[0-4]$"), {1, *range(15, 20)})):
            r = box.tail("-o", "oldest", "-e", "-J", *args, "demo")
            equal((r.code, r.err), (0, ""), args)
            equal({json.loads(line)["payload"] for line in r.out.splitlines()}, {f"payload {i}" for i in wanted}, args)
        equal(box.tail("-o", "oldest", "-e", "--key-is", "a.b", "demo").out, b"dots\n")  # no expression: not axb
        r = box.tail("-o", "oldest", "-e", "--key", "a(", "demo")
        equal((r.code, r.out), (2, b""))
        check(r.err.startswith('stream-tail: --key: "a(": '), r.err)


# ---- times ----------------------------------------------------------------------------------------------


def shown(at, zone):
    """A time of boto3's as --timestamps shows it."""
    text = at.astimezone(zone).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z") if zone is datetime.timezone.utc else text


@test
def each_line_begins_with_the_time_that_boto3_tells():
    zone = datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))
    with Box(2) as box:
        put(box, [(f"k{i}", f"payload {i}") for i in range(10)])
        times = {r["Data"].decode(): r["ApproximateArrivalTimestamp"] for r in read_all(box)}
        for args, tz in (((), zone), (("--utc",), datetime.timezone.utc)):
            env = {**box.env, "TZ": "<-0330>3:30"}
            r = run(BIN, "-o", "oldest", "-e", "--timestamps", *args, "demo", env=env)
            equal((r.code, r.err), (0, ""))
            lines = r.out.decode().splitlines()
            equal(sorted(lines), sorted(f"{shown(at, tz)} {text}" for text, at in times.items()))
            r = run(BIN, "-o", "oldest", "-e", "-f", "%{time} %s %{time:%d.%m.%y %H:%M:%S %z}\\n", *args, "demo", env=env)
            equal(sorted(r.out.decode().splitlines()),
                  sorted(f"{shown(at, tz)} {text} {at.astimezone(tz).strftime('%d.%m.%y %H:%M:%S %z')}" for text, at in times.items()))
        r = box.tail("-o", "oldest", "-e", "-f", "%{time:%Q}", "demo")
        equal((r.code, r.out), (2, b""))
        check("unknown conversion in %{time:FORM} at character 8 of the format" in r.err, r.err)


if __name__ == "__main__":
    main()
