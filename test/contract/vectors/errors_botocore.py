"""errors_botocore.py PROGRAM - the table of aws/classify.c against botocore's models of the services: every error of an
operation that this library calls has a row, and every error that a model, or the retry rules of botocore, say can be
repeated is one that is repeated. Another botocore than the pinned one: SLOOP_TEST_BOTOCORE=FOLDER."""
import json
import sys

import oracle
from used_calls import operations

oracle.botocore_or_skip()
import botocore.retries.standard
import botocore.session

REPEATED = ("throttle", "transient")


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
    ours = {"__default__", "kinesis", "dynamodb", "dynamodbstreams", "cloudwatch", "sts", "sso", "sso-oidc", "signin", "glue"}
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
