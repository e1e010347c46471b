"""sigv4_botocore.py PROGRAM [COUNT] [SEED] - our signatures are botocore's, on random requests."""
import datetime
import random
import sys

import oracle

oracle.botocore_or_skip()
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SAFE = LETTERS + LETTERS.upper() + "0123456789"
# Everything that differs between the two lists of headers that are not signed stays out of the random names.
NAMED = ["Content-Type", "X-Amz-Target", "User-Agent", "Expect", "x-amzn-trace-id", "Accept", "X-Amz-Meta"]


def text(rng, alphabet, low, high):
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(low, high)))


def request(rng):
    host = rng.choice(["kinesis.us-east-1.amazonaws.com", "127.0.0.1", "localhost", "EXAMPLE.com", "[::1]",
                       text(rng, SAFE, 1, 20)])
    scheme = rng.choice(["http", "https"])
    port = rng.choice(["", ":80", ":443", ":4567"])
    path = rng.choice(["/", "", "/" + text(rng, SAFE + "-_.~", 1, 12).strip(".") + "x",
                       "/a/" + text(rng, SAFE, 1, 5) + "/"])
    query = sorted((text(rng, SAFE, 1, 6), text(rng, SAFE + "-_.~", 0, 6)) for _ in range(rng.choice([0, 0, 0, 1, 3])))
    headers = []
    for _ in range(rng.randint(0, 8)):
        name = rng.choice(NAMED + ["X-" + text(rng, SAFE, 1, 8)])
        if rng.random() < 0.3:
            name = name.lower()
        value = text(rng, SAFE + "  \t;,=/\"'", 0, 30)
        headers.append((name, value))
        if rng.random() < 0.2:
            headers.append((name.upper(), text(rng, SAFE + " ", 0, 9)))
    return {
        "method": rng.choice(["POST", "POST", "GET", "PUT"]), "url": "%s://%s%s%s" % (scheme, host, port, path),
        "query": "&".join("%s=%s" % pair for pair in query),
        "region": rng.choice(["us-east-1", "eu-central-1", "local"]),
        "service": rng.choice(["kinesis", "dynamodb", "sts"]),
        "key": "AKID" + text(rng, SAFE, 1, 16), "secret": rng.choice([text(rng, SAFE + "/+", 1, 200), "same-secret"]),
        "token": text(rng, SAFE + "/+=", 1, 2000) if rng.random() < 0.5 else "",
        # few different days, so that the kept key is used, and dropped
        "ms": rng.choice([0, 1767225599000, 1767225600000, 1600000000000 + rng.randint(0, 10**11)]),
        "body": bytes(rng.randint(0, 255) for _ in range(rng.choice([0, 5, 60, 300]))),
        "headers": headers,
    }


def theirs(r):
    url = r["url"] + ("?" + r["query"] if r["query"] else "")
    rq = AWSRequest(method=r["method"], url=url, data=r["body"])
    for name, value in r["headers"]:
        rq.headers[name] = value
    auth = SigV4Auth(Credentials(r["key"], r["secret"], r["token"] or None), r["service"], r["region"])
    at = datetime.datetime.fromtimestamp(r["ms"] // 1000, datetime.timezone.utc)
    rq.context["timestamp"] = at.strftime("%Y%m%dT%H%M%SZ")
    auth._modify_request_before_signing(rq)
    to_sign = auth.string_to_sign(rq, auth.canonical_request(rq))
    auth._inject_signature_to_request(rq, auth.signature(to_sign, rq))
    return "%s %s" % (rq.context["timestamp"], rq.headers["Authorization"])


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randint(0, 10**9)
    rng = random.Random(seed)
    requests = [request(rng) for _ in range(count)]
    ours = oracle.run(sys.argv[1], ([r["method"], r["url"], r["query"], r["region"], r["service"], r["key"], r["secret"],
                                     r["token"], str(r["ms"]), r["body"]] + [w for h in r["headers"] for w in h]
                                    for r in requests))
    if len(ours) != count:
        sys.exit("%d answers to %d requests" % (len(ours), count))
    for r, got in zip(requests, ours):
        want = theirs(r)
        if got != want:
            sys.exit("seed %d: %r\n  ours:   %s\n  theirs: %s" % (seed, r, got, want))
    print("%d random requests signed alike (seed %d)" % (count, seed))


main()
