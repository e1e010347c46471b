"""cloudwatch_botocore.py PROGRAM [COUNT] [SEED] - our PutMetricData says what botocore's serialiser of the same protocol
says: namespace, names, dimensions, units, values, times; and botocore's validator takes what we send."""
import datetime
import decimal
import json
import random
import sys

import oracle

oracle.botocore_or_skip()
import botocore.model
import botocore.serialize
import botocore.session
import botocore.validate

LETTERS = "abcXYZ019-_./#: \"\\\té\u2028🚢"


def text(rng, low, high):
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(low, high)))


def datum(rng, units):
    return {"name": text(rng, 1, 40), "unit": rng.choice(units),
            "value": rng.choice([0, 1, 7, 10, 1500, 2**31, 2**53, rng.randint(0, 10**12)]),
            "decimals": rng.choice([0, 0, 3, 6]),
            "dimensions": [(text(rng, 1, 20), text(rng, 1, 60)) for _ in range(rng.randint(0, 4))]}


def fields(case):
    out = [case["namespace"], str(case["ms"])]
    for d in case["data"]:
        out += [d["name"], d["unit"], str(d["value"]), str(d["decimals"]), str(len(d["dimensions"]))]
        out += [word for pair in d["dimensions"] for word in pair]
    return out


def parameters(case):
    at = datetime.datetime.fromtimestamp(case["ms"] / 1000, datetime.timezone.utc)
    return {"Namespace": case["namespace"], "MetricData": [
        {"MetricName": d["name"], "Dimensions": [{"Name": n, "Value": v} for n, v in d["dimensions"]], "Timestamp": at,
         "Value": float(decimal.Decimal(d["value"]).scaleb(-d["decimals"])), "Unit": d["unit"]} for d in case["data"]]}


def without_times(body):
    """botocore sends whole seconds; ours are compared with the time that was meant."""
    times = [d.pop("Timestamp") for d in body["MetricData"]]
    return body, times


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randint(0, 10**9)
    rng = random.Random(seed)
    model = botocore.session.Session().get_service_model("cloudwatch")
    operation = model.operation_model("PutMetricData")
    units = model.shape_for("StandardUnit").enum
    serializer = botocore.serialize.create_serializer("json")
    cases = [{"namespace": "N" + text(rng, 0, 30), "ms": rng.randint(0, 4 * 10**12),
              "data": [datum(rng, units) for _ in range(rng.randint(1, 12))]} for _ in range(count)]
    ours = oracle.run(sys.argv[1], (fields(case) for case in cases))
    if len(ours) != count:
        sys.exit("%d answers to %d cases" % (len(ours), count))
    for case, line in zip(cases, ours):
        if line.startswith("error"):
            sys.exit("seed %d: %r\n  ours: %s" % (seed, case, line))
        meant = parameters(case)
        wrong = botocore.validate.ParamValidator().validate(meant, operation.input_shape)
        if wrong.has_errors():
            sys.exit("seed %d: a case that is none: %s" % (seed, wrong.generate_report()))
        request = serializer.serialize_to_request(meant, operation)
        headers = {name.lower(): value for name, value in request["headers"].items()}
        if (headers["x-amz-target"], headers["content-type"]) != ("GraniteServiceVersion20100801.PutMetricData",
                                                                  "application/x-amz-json-1.0"):
            sys.exit("botocore sends other headers: %r" % headers)
        want, _ = without_times(json.loads(request["body"]))
        got, times = without_times(json.loads(oracle.from_hex(line), parse_float=float))
        if got != want or any(round(at * 1000) != case["ms"] for at in times):
            sys.exit("seed %d:\n  ours:   %r %r\n  theirs: %r %d" % (seed, got, times, want, case["ms"]))
    print("%d random calls said alike (seed %d)" % (count, seed))


main()
