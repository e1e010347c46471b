"""login_botocore.py PROGRAM [COUNT] [SEED] - the cache of `aws login` is found, renewed and written anew as botocore does it
with the same file and the same answer, and the proof that is sent (DPoP) has its head and its claims. The signature is
verified by the package cryptography, which also stands in for awscrt within botocore."""
import base64
import datetime
import json
import os
import random
import sys

import oracle

botocore = oracle.botocore_or_skip()
import botocore.credentials
import botocore.utils

try:
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, utils
except ImportError:
    print("skipped: %s has no cryptography" % sys.executable)
    sys.exit(oracle.SKIPPED)
if not hasattr(botocore.credentials, "LoginCredentialFetcher"):
    print("skipped: botocore %s knows no login_session" % botocore.__version__)
    sys.exit(oracle.SKIPPED)


class Key:
    """What botocore wants of awscrt's EC."""

    def __init__(self, der):
        self.key = serialization.load_der_private_key(der, None)

    def get_public_coords(self):
        numbers = self.key.public_key().public_numbers()
        return numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")

    def sign(self, digest):
        return self.key.sign(digest, ec.ECDSA(utils.Prehashed(hashes.SHA256())))


class EC:
    new_key_from_der_data = staticmethod(Key)

    @staticmethod
    def decode_der_signature_to_padded_pair(der, pad_to):
        return b"".join(number.to_bytes(pad_to, "big") for number in utils.decode_dss_signature(der))


def renewed_by_botocore(case):
    """The cache that botocore's own fetcher saves."""
    saved = {}

    class Loader:
        load_token = staticmethod(lambda session: json.loads(case["cache"]))
        save_token = staticmethod(lambda session, token: saved.update(token))

    class Client:
        class meta:
            class events:
                register = staticmethod(lambda name, handler: None)

        class exceptions:
            AccessDeniedException = OSError

        @staticmethod
        def create_o_auth2_token(tokenInput):
            old = json.loads(case["cache"])
            assert tokenInput == {"clientId": old["clientId"], "refreshToken": old["refreshToken"],
                                  "grantType": "refresh_token"}, tokenInput
            return {"tokenOutput": json.loads(case["answer"])}

    now = datetime.datetime.fromtimestamp(case["now"] / 1000, datetime.timezone.utc)
    fetcher = botocore.credentials.LoginCredentialFetcher("s", Loader, lambda *a, **k: Client, lambda: now)
    fetcher.refresh_credentials()
    return saved


def text(rng, most=20):
    return "".join(rng.choice("abcXYZ019-_/+= \"\\\n\u00e9\u20ac\U0001f600") for _ in range(rng.randint(1, most)))


def value(rng, depth=0):
    kind = rng.randrange(6 if depth < 3 else 4)
    if kind == 4:
        return [value(rng, depth + 1) for _ in range(rng.randrange(3))]
    if kind == 5:
        return {text(rng): value(rng, depth + 1) for _ in range(rng.randrange(3))}
    return [text(rng), rng.randrange(10**6), rng.choice([True, False, None]), rng.random()][kind]


def make_case(rng):
    key = ec.generate_private_key(ec.SECP256R1())
    form = rng.choice([serialization.PrivateFormat.TraditionalOpenSSL, serialization.PrivateFormat.PKCS8])
    pem = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()
    members = {
        "accessToken": {"accessKeyId": text(rng), "secretAccessKey": text(rng), "sessionToken": text(rng, 2000),
                        "accountId": str(rng.randint(10**11, 10**12 - 1)), "expiresAt": "2026-01-02T03:04:05Z"},
        "clientId": "arn:aws:signin:::devtools/" + rng.choice(["same-device", "cross-device"]),
        "refreshToken": text(rng, 2000), "dpopKey": pem}
    for _ in range(rng.randrange(4)):
        members.setdefault(text(rng), value(rng))
    names = list(members)
    rng.shuffle(names)
    cache = json.dumps({name: members[name] for name in names}, ensure_ascii=rng.random() < 0.5,
                       indent=rng.choice([None, None, 2]))
    answer = json.dumps({"accessToken": {"accessKeyId": text(rng), "secretAccessKey": text(rng), "sessionToken": text(rng)},
                         "refreshToken": text(rng, 2000), "expiresIn": rng.randint(1, 900), "tokenType": "aws_sigv4"})
    return {"session": "arn:aws:iam::1:user/" + text(rng), "cache": cache, "answer": answer, "key": key,
            "url": "https://us-east-1.signin.aws.amazon.com/v1/token", "now": rng.randrange(1767323100000, 1893456000000)}


def part(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def judge_proof(case, proof):
    head, claims, signature = proof.split(".")
    mine = json.loads(part(claims))
    der = case["key"].private_bytes(serialization.Encoding.DER, serialization.PrivateFormat.PKCS8,
                                    serialization.NoEncryption())
    theirs = botocore.credentials._build_dpop_header(Key(der), case["url"], mine["jti"], case["now"] // 1000)
    assert theirs.split(".")[0] == head, (theirs, proof)
    assert theirs.split(".")[1] == claims, (part(theirs.split(".")[1]), part(claims))
    assert len(mine["jti"]) == 36 and mine["jti"][14] == "4", mine
    both = part(signature)
    assert len(both) == 64 and "=" not in proof
    der = utils.encode_dss_signature(int.from_bytes(both[:32], "big"), int.from_bytes(both[32:], "big"))
    case["key"].public_key().verify(der, (head + "." + claims).encode(), ec.ECDSA(hashes.SHA256()))
    return mine["jti"]


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randint(0, 10**9)
    rng = random.Random(seed)
    botocore.credentials.EC = EC
    cases = [make_case(rng) for _ in range(count)]
    ours = oracle.run(sys.argv[1], ([c["session"], c["cache"], c["answer"], c["url"], str(c["now"])] for c in cases))
    assert len(ours) == count, len(ours)
    ids = set()
    for case, line in zip(cases, ours):
        name, cache, proof = (oracle.from_hex(word) for word in line.split(" "))
        wanted = botocore.utils.generate_login_cache_key(case["session"])
        if os.path.basename(name) != wanted + ".json":
            sys.exit("seed %d: %s, theirs %s" % (seed, name, wanted))
        theirs = renewed_by_botocore(case)
        if json.loads(cache) != theirs:
            sys.exit("seed %d: %s\n  ours:   %s\n  theirs: %s" % (seed, case["cache"], cache, json.dumps(theirs)))
        ids.add(judge_proof(case, proof))
    if len(ids) != count:
        sys.exit("only %d of %d proofs have an id of their own" % (len(ids), count))
    print("%d caches renewed alike, and their proofs verified (seed %d)" % (count, seed))


main()
