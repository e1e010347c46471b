"""What a person chooses to see of records: by key, with times, the last ones, in colour. boto3 puts the records and says
which they are. SLOOP_BIN names the program."""

import json

from box import Box
from command import check, equal, main, test


def put(box, pairs, stream="demo"):
    """Puts (key, payload) one after the other by boto3."""
    client = box.boto3("kinesis")
    for key, text in pairs:
        client.put_record(StreamName=stream, PartitionKey=key, Data=text.encode())


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


if __name__ == "__main__":
    main()
