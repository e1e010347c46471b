"""bloop's own coordinator as a program: python bloop_walk.py URL STREAM_ARN

Each line of standard input is a walk of its own, with a coordinator of its own: [FIRST, COUNT, TOKEN_FILE]. FIRST is
trim_horizon, latest, or @FILE with a token. Hands out COUNT records (-1: until 30 rounds in a row gave nothing), writes the
token of that moment to TOKEN_FILE, and answers with a line, the list of their sequence numbers. bloop never sleeps by itself;
a round is one advance over all its shards.
"""

import json
import sys

import boto3
from bloop.session import SessionWrapper
from bloop.stream.coordinator import Coordinator

ROUNDS_WITHOUT_NEWS = 30


def walk(session, arn, first, count, token_file):
    coordinator = Coordinator(session=session, stream_arn=arn)
    if first.startswith("@"):
        with open(first[1:], encoding="utf-8") as file:
            coordinator.move_to(json.load(file))
    else:
        coordinator.move_to(first)
    found, silent = [], 0
    while len(found) != count and silent < ROUNDS_WITHOUT_NEWS:
        record = next(coordinator)
        if record is None:
            silent += 1
            continue
        silent = 0
        found.append(record["meta"]["sequence_number"])
    with open(token_file, "w", encoding="utf-8") as file:
        json.dump(coordinator.token, file)
    return found


def main():
    url, arn = sys.argv[1:]
    named = dict(endpoint_url=url, region_name="us-east-1", aws_access_key_id="123456789012",
                 aws_secret_access_key="test-secret")
    session = SessionWrapper(boto3.client("dynamodb", **named), boto3.client("dynamodbstreams", **named))
    for line in sys.stdin:
        print(json.dumps(walk(session, arn, *json.loads(line))), flush=True)


main()
