#!/bin/sh
# Whether account_id_endpoint_mode = disabled keeps botocore from the hosts of accounts.
#
# AWS SDKs and Tools Reference Guide, "Account-based endpoints": with "disabled" a request does not use the account's
# endpoint. One would expect calls of Kinesis and of DynamoDB that name an ARN to go to the host of the region then.
# Nothing leaves this machine: what would be sent is looked at and not sent. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check botocore==1.44.8
cat >"$dir/ask.py" <<'END'
import sys, urllib.parse, botocore, botocore.config, botocore.session

session = botocore.session.Session()
session.set_credentials("AKID", "SECRET")

def host(service, call, **arguments):
    client = session.create_client(service, "us-east-1", config=botocore.config.Config(account_id_endpoint_mode="disabled"))
    seen = []

    def look(request, **_):
        seen.append(urllib.parse.urlsplit(request.url).hostname)
        raise InterruptedError

    client.meta.events.register("before-send", look)
    try:
        getattr(client, call)(**arguments)
    except InterruptedError:
        pass
    return seen[0]

print("botocore", botocore.__version__)
rows = [("kinesis", "get_records", dict(ShardIterator="i", StreamARN="arn:aws:kinesis:us-east-1:123456789012:stream/s"),
         "kinesis.us-east-1.amazonaws.com", "123456789012.data-kinesis.us-east-1.amazonaws.com"),
        ("dynamodb", "describe_table", dict(TableName="arn:aws:dynamodb:us-east-1:123456789012:table/t"),
         "dynamodb.us-east-1.amazonaws.com", "dynamodb.us-east-1.amazonaws.com")]
changed = 0
for service, call, arguments, expected, before in rows:
    found = host(service, call, **arguments)
    changed |= found != before
    print("  %s %s: expected %s, found %s" % (service, call, expected, found))
sys.exit(changed)
END
"$dir/venv/bin/python" "$dir/ask.py" || { echo "this has changed"; exit 1; }
