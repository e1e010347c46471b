"""errors_botocore.py PROGRAM - the table of aws/classify.c against botocore's models of the services: every error of an
operation that this library calls has a row, and every error that a model, or the retry rules of botocore, say can be
repeated is one that is repeated. Another botocore than the pinned one: SLOOP_TEST_PYTHON=FOLDER/bin/python.

The operations are read from the sources, so that a new call is compared as well."""
import json
import os
import re
import sys

import oracle

oracle.botocore_or_skip()
import botocore.retries.standard
import botocore.session

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ("src/aws", "src/store", "src/source", "src/api")
# What X-Amz-Target begins with, for each service's model.
TARGETS = {"Kinesis_20131202": "kinesis", "DynamoDB_20120810": "dynamodb", "DynamoDBStreams_20120810": "dynamodbstreams",
           "GraniteServiceVersion20100801": "cloudwatch"}
# Those that have no such header: the source file, and what in it shows that the operation is called.
OTHERS = {("sts", "AssumeRole"): ("src/aws/sts.c", '"AssumeRole"'),
          ("sts", "AssumeRoleWithWebIdentity"): ("src/aws/sts.c", '"AssumeRoleWithWebIdentity"'),
          ("sso", "GetRoleCredentials"): ("src/aws/provider_sso.c", "/federation/credentials"),
          ("sso-oidc", "CreateToken"): ("src/aws/provider_sso.c", '"/token"')}
REPEATED = ("throttle", "transient")


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


def in_stream(model):
    """The errors that the events of an answer may be (SubscribeToShard)."""
    shape = model.output_shape
    for member in shape.members.values() if shape is not None else ():
        if getattr(member, "is_eventstream", False) or member.serialization.get("eventstream"):
            yield from (m for m in member.members.values() if m.metadata.get("exception"))


def names_of(shape):
    """What an answer may call it: the shape's name, and the code where the model has another one."""
    return {shape.name, shape.metadata.get("error", {}).get("code", shape.name)}


def errors(session):
    """name -> (status, where, is it marked as one to repeat)."""
    found = {}
    for service, operation in operations():
        model = session.get_service_model(service).operation_model(operation)
        for shape in [*model.error_shapes, *in_stream(model)]:
            status = shape.metadata.get("error", {}).get("httpStatusCode", 400)
            for name in names_of(shape):
                before = found.get(name, (status, set(), False))
                found[name] = (status, before[1] | {service + ":" + operation},
                               before[2] or shape.metadata.get("retryable") is not None)
    return found


def codes_in(rules):
    """Every service_error_code anywhere in _retry.json's rules."""
    if isinstance(rules, dict):
        for key, value in rules.items():
            if key == "service_error_code":
                yield value
            yield from codes_in(value)


def to_repeat(session, found):
    names = {name: "a model" for name, (_, _, marked) in found.items() if marked}
    standard = botocore.retries.standard
    for checker, attribute in ((standard.TransientRetryableChecker, "_TRANSIENT_ERROR_CODES"),
                               (standard.ThrottledRetryableChecker, "_THROTTLED_ERROR_CODES")):
        for name in getattr(checker, attribute):
            names[name] = "botocore's standard mode"
    rules = session.get_component("data_loader").load_data("_retry")
    ours = {"__default__", "kinesis", "dynamodb", "dynamodbstreams", "cloudwatch", "sts", "sso", "sso-oidc"}
    mine = {"definitions": rules["definitions"], "retry": {k: v for k, v in rules["retry"].items() if k in ours}}
    for name in codes_in(mine):
        names[name] = "botocore's _retry.json"
    return names


def main():
    session = botocore.session.Session()
    found = errors(session)
    repeat = to_repeat(session, found)
    if len(found) < 40 or len(repeat) < 15 or "ReplicatedWriteConflictException" not in repeat:
        sys.exit("the models were not read: %d errors, %d to repeat" % (len(found), len(repeat)))
    names = sorted(set(found) | set(repeat))
    answers = oracle.run(sys.argv[1], ((n, str(found.get(n, (400,))[0])) for n in names))
    wrong = []
    for name, answer in zip(names, answers):
        kind, known = answer.split()
        where = ", ".join(sorted(found[name][1])) if name in found else repeat[name]
        if known != "row":
            wrong.append("%s (%s) has no row in src/aws/classify.c" % (name, where))
        elif name in repeat and kind not in REPEATED:
            wrong.append("%s is to be repeated by %s, and its class is %s" % (name, repeat[name], kind))
    if wrong:
        sys.exit("\n".join(wrong))
    print("%d errors of %d operations have a row; %d of them are repeated by botocore's rules, and by ours: %s" %
          (len(found), len(operations()), len(repeat), json.dumps(sorted(repeat))))


main()
