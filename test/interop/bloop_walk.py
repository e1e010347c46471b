"""bloop's own coordinator as a program: python bloop_walk.py URL STREAM_ARN FIRST COUNT TOKEN_FILE

FIRST is trim_horizon, latest, or @FILE with a token. Hands out COUNT records (-1: until 30 rounds in a row gave nothing),
one JSON object a line: {"seq", "key"}, then writes the token of that moment to TOKEN_FILE. bloop never sleeps by itself;
a round is one advance over all its shards.
"""

import json
import sys

import boto3
from bloop.session import SessionWrapper
from bloop.stream.coordinator import Coordinator

ROUNDS_WITHOUT_NEWS = 30


def main():
    url, arn, first, count, token_file = sys.argv[1:]
    named = dict(endpoint_url=url, region_name="us-east-1", aws_access_key_id="123456789012",
                 aws_secret_access_key="test-secret")
    session = SessionWrapper(boto3.client("dynamodb", **named), boto3.client("dynamodbstreams", **named))
    walk = Coordinator(session=session, stream_arn=arn)
    if first.startswith("@"):
        with open(first[1:], encoding="utf-8") as file:
            walk.move_to(json.load(file))
    else:
        walk.move_to(first)
    left, silent = int(count), 0
    while left and silent < ROUNDS_WITHOUT_NEWS:
        record = next(walk)
        if record is None:
            silent += 1
            continue
        silent = 0
        left -= 1
        print(json.dumps({"seq": record["meta"]["sequence_number"], "key": record["key"]}))
    with open(token_file, "w", encoding="utf-8") as file:
        json.dump(walk.token, file)


main()
