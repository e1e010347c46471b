#!/bin/sh
# What moto does with the iterator type AT_TIMESTAMP of DynamoDB Streams, which it does not know.
#
# botocore 1.44.8 has AT_TIMESTAMP and a Timestamp for GetShardIterator. One would expect a server that does not know a
# type to refuse it, as DynamoDB Streams do: ValidationException. moto gives an iterator, and every GetRecords with it
# ends with status 500 and a page of HTML: a client that repeats what is answered with 500, as the SDKs do, never gets on.
# Nothing leaves this machine. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
cat >"$dir/ask.py" <<'END'
import json, socket, subprocess, sys, time, urllib.error, urllib.request
import boto3, botocore, moto

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
server = subprocess.Popen([sys.executable, "-m", "moto.server", "-p", str(port)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
url = "http://127.0.0.1:%d" % port


def ask(operation, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {
        "X-Amz-Target": "DynamoDBStreams_20120810." + operation, "Content-Type": "application/x-amz-json-1.0",
        "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, "
                         "Signature=x"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


try:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            time.sleep(0.1)
    made = {"endpoint_url": url, "region_name": "us-east-1", "aws_access_key_id": "a", "aws_secret_access_key": "b"}
    tables, streams = boto3.client("dynamodb", **made), boto3.client("dynamodbstreams", **made)
    tables.create_table(TableName="tbl", BillingMode="PAY_PER_REQUEST",
                        AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}],
                        KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}],
                        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    tables.put_item(TableName="tbl", Item={"k": {"S": "1"}})
    arn = tables.describe_table(TableName="tbl")["Table"]["LatestStreamArn"]
    shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    status, body = ask("GetShardIterator", {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "AT_TIMESTAMP",
                                            "Timestamp": time.time() - 600})
    found = [status]
    if status == 200:
        got = ask("GetRecords", {"ShardIterator": json.loads(body)["ShardIterator"]})
        found += [got[0], got[1][:15].decode()]
    print("moto %s, botocore %s: expected 400 ValidationException; found %s" % (moto.__version__, botocore.__version__, found))
    sys.exit(found != [200, 500, "<!doctype html>"])
finally:
    server.terminate()
    server.wait()
END
changed=0
for version in 5.2.1 5.2.5; do
  "$dir/venv/bin/pip" install -q --disable-pip-version-check "moto[server,dynamodb]==$version" boto3==1.44.8
  "$dir/venv/bin/python" "$dir/ask.py" || changed=1
done
[ $changed = 0 ] || { echo "this has changed"; exit 1; }
