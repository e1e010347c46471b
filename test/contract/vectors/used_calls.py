"""used_calls.py - which operations of which service model the sources call, read from the sources, so that a new call is
compared as well."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SOURCES = ("src/aws", "src/store", "src/source", "src/api")
# What X-Amz-Target begins with, for each service's model.
TARGETS = {"Kinesis_20131202": "kinesis", "DynamoDB_20120810": "dynamodb", "DynamoDBStreams_20120810": "dynamodbstreams",
           "GraniteServiceVersion20100801": "cloudwatch"}
# Those that have no such header: the source file, and what in it shows that the operation is called.
OTHERS = {("sts", "AssumeRole"): ("src/aws/sts.c", '"AssumeRole"'),
          ("sts", "AssumeRoleWithWebIdentity"): ("src/aws/sts.c", '"AssumeRoleWithWebIdentity"'),
          ("sso", "GetRoleCredentials"): ("src/aws/provider_sso.c", "/federation/credentials"),
          ("sso-oidc", "CreateToken"): ("src/aws/provider_sso.c", '"/token"'),
          ("glue", "GetSchemaVersion"): ("src/cli/schema_registry.c", '"AWSGlue.GetSchemaVersion"'),
          ("signin", "CreateOAuth2Token"): ("src/aws/provider_login.c", '"/v1/token"')}


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def operations():
    """The calls that the sources make."""
    found = set(OTHERS)
    for (service, operation), (path, mark) in OTHERS.items():
        if mark not in text_of(path):
            sys.exit("%s does not show any more that it calls %s of %s" % (path, operation, service))
    for folder in SOURCES:
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith((".c", ".h")):
                for target, operation in re.findall(r'"(\w+_?20\d{6})\.([A-Z]\w+)"', text_of(os.path.join(folder, name))):
                    found.add((TARGETS[target], operation))
    return sorted(found)
