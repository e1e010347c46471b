"""CPU of a table's change as Python values: Record.change beside json.loads() and boto3's TypeDeserializer, on the same text.

usage: values.py [ROUNDS]; PYTHONPATH has the package. An item of 12 attributes, 1 KB of JSON; medians of the rounds, in
microseconds of CPU, and the ratio of each round's two.
"""

import base64
import json
import statistics
import sys
import time

from boto3.dynamodb.types import Binary, TypeDeserializer
from sloop import _native

IMAGE = {"id": {"S": "user-0000001234"}, "name": {"S": "Somebody Whose Name Is Long"}, "email": {"S": "somebody@example.com"},
         "balance": {"N": "1234.56"}, "visits": {"N": "99"}, "active": {"BOOL": True}, "none": {"NULL": True},
         "tags": {"SS": ["a", "b", "c"]}, "scores": {"L": [{"N": "1"}, {"N": "2.5"}, {"N": "-3e5"}]},
         "address": {"M": {"street": {"S": "Long Street 12"}, "zip": {"S": "12345"}, "floor": {"N": "3"}}},
         "blob": {"B": base64.b64encode(bytes(100)).decode()}, "at": {"N": "1700000000000"}}
TEXT = json.dumps({"ApproximateCreationDateTime": 1.7e9, "Keys": {"id": IMAGE["id"]}, "NewImage": IMAGE, "SequenceNumber": "1",
                   "SizeBytes": 500, "StreamViewType": "NEW_IMAGE"}).encode()
TIMES = 3000


def by_boto3():
    deserialize = TypeDeserializer().deserialize
    change = json.loads(TEXT)
    change["NewImage"]["blob"]["B"] = base64.b64decode(change["NewImage"]["blob"]["B"])
    return {part: {name: deserialize(value) for name, value in change[part].items()} for part in ("Keys", "NewImage")}


def by_sloop():
    return _native.change_values(TEXT)


def cost(function):
    begun = time.process_time()
    for _ in range(TIMES):
        function()
    return (time.process_time() - begun) / TIMES * 1e6


def main():
    theirs, ours = by_boto3()["NewImage"], by_sloop()["new"]
    theirs["blob"] = bytes(theirs["blob"]) if isinstance(theirs["blob"], Binary) else theirs["blob"]
    assert theirs == ours, (theirs, ours)
    rounds = [(cost(by_boto3), cost(by_sloop)) for _ in range(int(sys.argv[1]) if sys.argv[1:] else 7)]
    boto3_us, sloop_us = (statistics.median(column) for column in zip(*rounds))
    ratio = statistics.median(theirs_us / ours_us for theirs_us, ours_us in rounds)
    print(f"boto3 {boto3_us:.1f} us, sloop {sloop_us:.1f} us a change of {len(TEXT)} bytes, ratio {ratio:.1f}")


main()
