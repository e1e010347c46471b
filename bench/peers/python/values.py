"""CPU of a table's changes as Python values: Record.change beside json.loads() and boto3's TypeDeserializer, on the same text.

usage: values.py [ROUNDS]; PYTHONPATH has the package, SLOOP_BUILD/bench the server. 2,000 items of 12 attributes with values of
their own are put into a table of the sandbox, and its stream is read by sloop.Reader. Medians of the rounds in microseconds of
CPU, the ratios within a round, and the least of each. boto3's client parses by botocore, which goes over the JSON once more than
json.loads(); sloop's parsing of the page is not in its figure (the library does it in C).
"""

import base64
import json
import operator
import os
import random
import statistics
import string
import sys
import time

import botocore.parsers
import botocore.session
from boto3.dynamodb.types import Binary, TypeDeserializer
import sloop

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
from server import Server, environment  # noqa: E402

TIMES = 2000
DESERIALIZE = TypeDeserializer().deserialize


def item_of(number):
    """One item. Names and types are those of each; the values are other ones, as in a table."""
    rnd = random.Random(number)
    word = "".join(rnd.choices(string.ascii_lowercase, k=8))
    return {"id": {"S": f"user-{number:05}{rnd.randrange(10 ** 5):05}"}, "name": {"S": f"Somebody Whose Name Is {word}"},
            "email": {"S": f"{word}@example.com"}, "balance": {"N": f"{rnd.randrange(10 ** 6) / 100:.2f}"},
            "visits": {"N": str(rnd.randrange(1000))}, "active": {"BOOL": rnd.random() < 0.5}, "none": {"NULL": True},
            "tags": {"SS": rnd.sample("abcdefgh", 3)},
            "scores": {"L": [{"N": str(rnd.randrange(10))}, {"N": f"{rnd.random() * 10:.3f}"}, {"N": f"-{rnd.randrange(1, 9)}e5"}]},
            "address": {"M": {"street": {"S": f"Long Street {rnd.randrange(200)}"}, "zip": {"S": f"{rnd.randrange(10 ** 5):05}"},
                              "floor": {"N": str(rnd.randrange(20))}}},
            "blob": {"B": base64.b64encode(rnd.randbytes(100)).decode()}, "at": {"N": str(1700000000000 + rnd.randrange(10 ** 9))}}


def read_records():
    """The records of the table's stream, each with memory of its own."""
    build = os.environ.get("SLOOP_BUILD", os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(HERE))), "build"))
    server = Server(os.path.join(build, "bench", "peers_server"))
    try:
        service = "DynamoDB_20120810"
        server.call("CreateTable", service, TableName="values", BillingMode="PAY_PER_REQUEST",
                    AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                    KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                    StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        limit = time.monotonic() + 60
        while server.call("DescribeTable", service, TableName="values")["Table"]["TableStatus"] != "ACTIVE":
            assert time.monotonic() < limit, "the table is not made"
            time.sleep(0.05)
        for number in range(TIMES):
            server.call("PutItem", service, TableName="values", Item=item_of(number))
        os.environ.update(environment(server))
        return list(sloop.read("dynamodb:values", endpoint=server.url, until_tip=True))
    finally:
        server.close()


def by_boto3(text):
    """As botocore gives a change, and TypeDeserializer."""
    change = json.loads(text)
    change["NewImage"]["blob"]["B"] = base64.b64decode(change["NewImage"]["blob"]["B"])
    return {part: {name: DESERIALIZE(value) for name, value in change[part].items()} for part in ("Keys", "NewImage")}


class Client:
    """What boto3's client for DynamoDB Streams makes of pages of 100 changes, by botocore's parser, and then TypeDeserializer."""

    def __init__(self, texts):
        model = botocore.session.Session().get_service_model("dynamodbstreams")
        self.shape = model.operation_model("GetRecords").output_shape
        self.parser = botocore.parsers.create_parser("json")
        records = [b'{"dynamodb":%s,"eventName":"MODIFY"}' % text for text in texts]
        self.pages = [b'{"Records":[' + b",".join(records[i:i + 100]) + b"]}" for i in range(0, TIMES, 100)]

    def read(self, page):
        parsed = self.parser.parse({"body": page, "headers": {}, "status_code": 200}, self.shape)
        for record in parsed["Records"]:
            for part in ("Keys", "NewImage"):
                for value in record["dynamodb"][part].values():
                    DESERIALIZE(value)


def cost(function, over):
    begun = time.process_time()
    for one in over:
        function(one)
    return (time.process_time() - begun) / TIMES * 1e6


def main():
    records = read_records()
    assert len(records) == TIMES, len(records)
    texts = [bytes(record) for record in records]
    for record, text in zip(records, texts):
        theirs, ours = by_boto3(text)["NewImage"], record.change.new
        theirs["blob"] = bytes(theirs["blob"]) if isinstance(theirs["blob"], Binary) else theirs["blob"]
        assert theirs == ours, (theirs, ours)
    client = Client(texts)
    rounds = [(cost(by_boto3, texts), cost(client.read, client.pages), cost(operator.attrgetter("change"), records))
              for _ in range(int(sys.argv[1]) if sys.argv[1:] else 7)]
    deserializer, whole, ours = (statistics.median(column) for column in zip(*rounds))
    ratios = [statistics.median(one[i] / one[2] for one in rounds) for i in (0, 1)]
    print(f"a change of {sum(map(len, texts)) // TIMES} bytes: sloop {ours:.2f} us; json.loads() and TypeDeserializer "
          f"{deserializer:.1f} us, {ratios[0]:.1f} times; botocore's parser and TypeDeserializer {whole:.1f} us, {ratios[1]:.1f} "
          f"times; the least {min(one[2] for one in rounds):.2f}, {min(one[0] for one in rounds):.1f}, "
          f"{min(one[1] for one in rounds):.1f} us")


main()
