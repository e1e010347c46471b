"""CPU of a table's change as Python values: Record.change beside json.loads() and boto3's TypeDeserializer, on the same text.

usage: values.py [ROUNDS]; PYTHONPATH has the package. 3,000 items of 12 attributes, 0.8 KB of JSON each, with values of their
own; medians of the rounds, in microseconds of CPU, and the ratios within a round. boto3's client parses by botocore, which goes
over the JSON once more than json.loads(); sloop's parsing of the page is not in its figure (the library does it in C).
"""

import base64
import json
import random
import statistics
import string
import sys
import time

import botocore.parsers
import botocore.session
from boto3.dynamodb.types import Binary, TypeDeserializer
from sloop import _native

TIMES = 3000
DESERIALIZE = TypeDeserializer().deserialize


def change_text(number):
    """The JSON of one change. Names and types are those of each; the values are other ones, as in a table."""
    rnd = random.Random(number)
    word = "".join(rnd.choices(string.ascii_lowercase, k=8))
    keys = {"id": {"S": f"user-{rnd.randrange(10 ** 10):010}"}}
    image = {**keys, "name": {"S": f"Somebody Whose Name Is {word}"}, "email": {"S": f"{word}@example.com"},
             "balance": {"N": f"{rnd.randrange(10 ** 6) / 100:.2f}"}, "visits": {"N": str(rnd.randrange(1000))},
             "active": {"BOOL": rnd.random() < 0.5}, "none": {"NULL": True}, "tags": {"SS": rnd.sample("abcdefgh", 3)},
             "scores": {"L": [{"N": str(rnd.randrange(10))}, {"N": f"{rnd.random() * 10:.3f}"},
                              {"N": f"-{rnd.randrange(1, 9)}e5"}]},
             "address": {"M": {"street": {"S": f"Long Street {rnd.randrange(200)}"}, "zip": {"S": f"{rnd.randrange(10 ** 5):05}"},
                               "floor": {"N": str(rnd.randrange(20))}}},
             "blob": {"B": base64.b64encode(rnd.randbytes(100)).decode()},
             "at": {"N": str(1700000000000 + rnd.randrange(10 ** 9))}}
    return json.dumps({"ApproximateCreationDateTime": 1.7e9, "Keys": keys, "NewImage": image, "SequenceNumber": str(number),
                       "SizeBytes": 500, "StreamViewType": "NEW_IMAGE"}, separators=(",", ":")).encode()


TEXTS = [change_text(number) for number in range(TIMES)]


def by_boto3(text):
    deserialize = DESERIALIZE
    change = json.loads(text)
    change["NewImage"]["blob"]["B"] = base64.b64decode(change["NewImage"]["blob"]["B"])
    return {part: {name: deserialize(value) for name, value in change[part].items()} for part in ("Keys", "NewImage")}


class Client:
    """What boto3's client for DynamoDB Streams makes of pages of 100 changes, by botocore's parser, and then TypeDeserializer."""

    def __init__(self):
        model = botocore.session.Session().get_service_model("dynamodbstreams")
        self.shape = model.operation_model("GetRecords").output_shape
        self.parser = botocore.parsers.create_parser("json")
        records = [b'{"dynamodb":%s,"eventName":"MODIFY"}' % text for text in TEXTS]
        self.pages = [b'{"Records":[' + b",".join(records[i:i + 100]) + b"]}" for i in range(0, TIMES, 100)]

    def read(self):
        for page in self.pages:
            parsed = self.parser.parse({"body": page, "headers": {}, "status_code": 200}, self.shape)
            for record in parsed["Records"]:
                for part in ("Keys", "NewImage"):
                    for value in record["dynamodb"][part].values():
                        DESERIALIZE(value)

    def cost(self):
        begun = time.process_time()
        self.read()
        return (time.process_time() - begun) / TIMES * 1e6


def by_sloop(text):
    return _native.change_values(text)


def cost(function):
    begun = time.process_time()
    for text in TEXTS:
        function(text)
    return (time.process_time() - begun) / TIMES * 1e6


def main():
    for text in TEXTS[:100]:
        theirs, ours = by_boto3(text)["NewImage"], by_sloop(text)["new"]
        theirs["blob"] = bytes(theirs["blob"]) if isinstance(theirs["blob"], Binary) else theirs["blob"]
        assert theirs == ours, (theirs, ours)
    client = Client()
    rounds = [(cost(by_boto3), client.cost(), cost(by_sloop)) for _ in range(int(sys.argv[1]) if sys.argv[1:] else 7)]
    deserializer, whole, sloop = (statistics.median(column) for column in zip(*rounds))
    ratios = [statistics.median(one[i] / one[2] for one in rounds) for i in (0, 1)]
    print(f"a change of {sum(map(len, TEXTS)) // TIMES} bytes: sloop {sloop:.2f} us; json.loads() and TypeDeserializer "
          f"{deserializer:.1f} us, {ratios[0]:.1f} times; botocore's parser and TypeDeserializer {whole:.1f} us, {ratios[1]:.1f} times")


main()
