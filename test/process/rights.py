"""stream-tail --iam --try beside boto3 on moto, which enforces policies: users who have all rights but one. What
stream-tail says of a right must be what boto3, as the same user, is answered.

moto 5.2 does not know DryRun, so GetRecords with it reads; a subscription is then not tried."""

import json

import harness
import servers
from harness import Tests, expect

KINESIS = ["DescribeStreamSummary", "ListShards", "GetShardIterator", "GetRecords"]
TABLES = ["DescribeTable", "DescribeStream", "GetShardIterator", "GetRecords"]
ALL = [f"kinesis:{a}" for a in KINESIS] + [f"dynamodb:{a}" for a in TABLES]
STREAM, TABLE = "orders", "customers"
SETUP_CALLS = 2 + 3 * (len(ALL) + 1)  # a stream and a table; a user, a key and a policy each


class Enforcing(servers.Moto):
    def __init__(self):
        super().__init__(unchecked=SETUP_CALLS)


def make_user(iam, denied):
    name = "all" if denied is None else "without-" + denied.replace(":", "-")
    iam.create_user(UserName=name)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    iam.put_user_policy(UserName=name, PolicyName="reads", PolicyDocument=json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": [a for a in ALL if a != denied],
                                                 "Resource": "*"}]}))
    return key["AccessKeyId"], key["SecretAccessKey"]


def boto_says(url, user, action, facts):
    """"allowed" or "denied", by the same call of another client. facts: what calls with all rights gave."""
    service, operation = action.split(":")
    kinesis = harness.client(url, "kinesis", *user)
    streams, dynamodb = harness.client(url, "dynamodbstreams", *user), harness.client(url, "dynamodb", *user)
    calls = {
        "kinesis:DescribeStreamSummary": lambda: kinesis.describe_stream_summary(StreamName=STREAM),
        "kinesis:ListShards": lambda: kinesis.list_shards(StreamName=STREAM),
        "kinesis:GetShardIterator": lambda: kinesis.get_shard_iterator(
            StreamName=STREAM, ShardId=facts["shard"], ShardIteratorType="LATEST"),
        "kinesis:GetRecords": lambda: kinesis.get_records(ShardIterator=facts["iterator"]),
        "dynamodb:DescribeTable": lambda: dynamodb.describe_table(TableName=TABLE),
        "dynamodb:DescribeStream": lambda: streams.describe_stream(StreamArn=facts["arn"]),
        "dynamodb:GetShardIterator": lambda: streams.get_shard_iterator(
            StreamArn=facts["arn"], ShardId=facts["changes_shard"], ShardIteratorType="LATEST"),
        "dynamodb:GetRecords": lambda: streams.get_records(ShardIterator=facts["changes_iterator"]),
    }
    try:
        calls[action]()
        return "allowed"
    except Exception as error:  # botocore makes its classes at run time
        expect("AccessDenied" in str(error), f"{service} {operation}: {error}")
        return "denied"


def facts_of(url, user):
    kinesis, streams = harness.client(url, "kinesis", *user), harness.client(url, "dynamodbstreams", *user)
    facts = {"arn": harness.client(url, "dynamodb", *user).describe_table(TableName=TABLE)["Table"]["LatestStreamArn"],
             "shard": kinesis.list_shards(StreamName=STREAM)["Shards"][0]["ShardId"]}
    facts["iterator"] = kinesis.get_shard_iterator(StreamName=STREAM, ShardId=facts["shard"],
                                                   ShardIteratorType="LATEST")["ShardIterator"]
    facts["changes_shard"] = streams.describe_stream(
        StreamArn=facts["arn"])["StreamDescription"]["Shards"][0]["ShardId"]
    facts["changes_iterator"] = streams.get_shard_iterator(
        StreamArn=facts["arn"], ShardId=facts["changes_shard"], ShardIteratorType="LATEST")["ShardIterator"]
    return facts


# What a call needs that is denied.
NEEDS = {"kinesis:GetRecords": {"kinesis:GetShardIterator"},
         "dynamodb:DescribeStream": {"dynamodb:DescribeTable"},
         "dynamodb:GetShardIterator": {"dynamodb:DescribeTable", "dynamodb:DescribeStream"},
         "dynamodb:GetRecords": {"dynamodb:DescribeTable", "dynamodb:DescribeStream", "dynamodb:GetShardIterator"}}


def told(url, user, denied, facts):
    done = harness.tail(["--iam", "--try", "-J", STREAM, "dynamodb:" + TABLE],
                        harness.tail_environment(url, *user), 60)
    rows = [json.loads(line) for line in done.out.decode().splitlines()]
    expect([row["action"] for row in rows] == ALL, str(done))
    for row in rows:
        action, verdict = row["action"], row["verdict"]
        said = boto_says(url, user, action, facts)
        # moto asks for the rights of DynamoDB Streams by the names of DynamoDB's, as the service does
        if denied in NEEDS.get(action, ()):
            expect(verdict == "untried" and row["why"], f"{action}: {row}")
            continue
        expect(verdict == said, f"{action}: told {row}, boto3 is {said}")
        expect((verdict == "denied") == (action == denied), f"{action}: {row}")
        expect(verdict != "denied" or "not authorized to perform: " + action in row["why"], str(row))
    expect(done.code == (8 if denied else 0), str(done))
    expect((denied or "") in done.err.decode(), str(done))


def suite(tests, moto):
    iam = harness.client(moto.url, "iam")
    harness.client(moto.url).create_stream(StreamName=STREAM, ShardCount=1)
    harness.client(moto.url, "dynamodb").create_table(
        TableName=TABLE, BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    users = {denied: make_user(iam, denied) for denied in [None] + ALL}
    facts = facts_of(moto.url, users[None])
    for denied, user in users.items():
        tests.run(f"moto: {'no right' if denied is None else denied} is missing", told, moto.url, user, denied, facts)


def main():
    tests = Tests()
    harness.boto3_or_skip()
    tests.with_server(Enforcing, suite)
    tests.end()


if __name__ == "__main__":
    main()
