"""config_botocore.py PROGRAM [COUNT] [SEED] - region, endpoint and keys out of random profile files and variables are
what botocore makes of them, and so is the account of the keys. Where we are stricter on purpose, an error of ours is
expected; see `stricter`."""
import os
import random
import sys
import tempfile

import oracle

botocore = oracle.botocore_or_skip()
import botocore.exceptions
import botocore.session

SERVICES = ["kinesis", "dynamodb", "dynamodbstreams", "sts", "cloudwatch"]  # in the order of slp_svc
IN_CONFIG = ["kinesis", "dynamodb", "dynamodb_streams", "sts", "cloudwatch"]
REGIONS = ["us-east-1", "eu-west-3", "cn-north-1", "us-gov-east-1", "us-iso-east-1", "us-isob-east-1", "eu-isoe-west-1",
           "us-isof-south-1", "eusc-de-east-1", "mx-central-1", "ap-southeast-5", "zz-new-1"]
PROFILES = ["default", "work", "my profile", "x"]


def chance(rng, p):
    return rng.random() < p


def setting(rng, name, value):
    """Writes a line in one of the ways that configparser takes."""
    if chance(rng, 0.1):
        name = name.upper()
    return name + rng.choice([" = ", "=", ": ", "  =  ", " :"]) + value + rng.choice(["", "", "  ", "\r"]) + "\n"


def keys(rng, tag):
    lines = [setting(rng, "aws_access_key_id", "AKID" + tag), setting(rng, "aws_secret_access_key", "S/+=#;" + tag)]
    if chance(rng, 0.4):
        lines.append(setting(rng, "aws_session_token", "T==" + tag))
    if chance(rng, 0.1):
        lines.append(setting(rng, "aws_security_token", "old" + tag))
    if chance(rng, 0.3):
        lines.append(setting(rng, "aws_account_id", str(rng.randint(10**11, 10**12 - 1))))
    if chance(rng, 0.1):
        del lines[0]
    elif chance(rng, 0.1):
        del lines[1]
    rng.shuffle(lines)
    return lines


def noise(rng):
    return rng.choice(["", "\n", "# a comment = x\n", "; [default]\n", "output = json\n", "\n\n", "  # indented\n"])


def section(rng, title, lines):
    text = "[%s]\n" % title
    for line in lines:
        text += noise(rng) + line
    return text if text.count("output") < 2 else text.replace("output = json\n", "", text.count("output") - 1)


def credentials_file(rng):
    names = rng.sample(PROFILES, rng.randint(0, 3))
    return "".join(section(rng, n, keys(rng, "C" + n[0]) if chance(rng, 0.8) else []) for n in names)


def config_title(rng, name):
    if name == "default" and chance(rng, 0.7):
        return "default"
    quote = rng.choice(['"', "'"]) if " " in name or chance(rng, 0.3) else ""
    return "profile" + rng.choice([" ", "  ", "\t"]) + quote + name + quote


def config_file(rng):
    text = ""
    for name in rng.sample(PROFILES, rng.randint(0, 3)):
        lines = keys(rng, "F" + name[0]) if chance(rng, 0.4) else []
        if chance(rng, 0.7):
            lines.append(setting(rng, "region", rng.choice(REGIONS)))
        if chance(rng, 0.4):
            lines.append(setting(rng, "endpoint_url", "http://localhost:%d" % rng.randint(1000, 9999)))
        if chance(rng, 0.3):
            lines.append(setting(rng, "services", "svc"))
        if chance(rng, 0.1):
            lines.append(setting(rng, "ignore_configured_endpoint_urls", rng.choice(["true", "false"])))
        if chance(rng, 0.15):
            lines.append(setting(rng, "use_fips_endpoint", rng.choice(["true", "True", "false"])))
        if chance(rng, 0.15):
            lines.append(setting(rng, "use_dualstack_endpoint", rng.choice(["true", "false"])))
        if chance(rng, 0.2):
            lines.append("s3 =\n  region = nested\n  max_concurrent_requests = 20\n")
        text += section(rng, config_title(rng, name), lines)
    if chance(rng, 0.5):
        text += "[services svc]\n"
        for name in rng.sample(IN_CONFIG, rng.randint(1, 3)):
            text += "%s =\n  endpoint_url = http://%s.test:%d\n" % (name, name.replace("_", "-"), rng.randint(1, 9999))
    return text


def variables(rng):
    env = {}
    for name, p, value in [
            ("AWS_DEFAULT_REGION", 0.5, rng.choice(REGIONS)), ("AWS_PROFILE", 0.3, rng.choice(PROFILES)),
            ("AWS_ACCESS_KEY_ID", 0.3, "AKIDENV"), ("AWS_SESSION_TOKEN", 0.2, "TOKENV"),
            ("AWS_ACCOUNT_ID", 0.2, "123456789012"), ("AWS_ENDPOINT_URL", 0.15, "https://all.test"),
            ("AWS_ENDPOINT_URL_KINESIS", 0.15, "http://kin.test:80"),
            ("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", 0.1, "http://str.test:81"),
            ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", 0.1, "true"),
            ("AWS_USE_FIPS_ENDPOINT", 0.15, rng.choice(["true", "false"])),
            ("AWS_USE_DUALSTACK_ENDPOINT", 0.15, rng.choice(["true", "false"]))]:
        if chance(rng, p):
            env[name] = value
    if "AWS_ACCESS_KEY_ID" in env and chance(rng, 0.9):
        env["AWS_SECRET_ACCESS_KEY"] = "SECRETENV"
    return env


def session_of(case, home):
    for name in [n for n in os.environ if n.startswith("AWS_")]:
        del os.environ[name]
    for which in ("credentials", "config"):
        path = os.path.join(home, which)
        if os.path.exists(path):
            os.remove(path)
        if case[which]:
            with open(path, "w", newline="") as f:
                f.write(case[which])
    os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.path.join(home, "credentials")
    os.environ["AWS_CONFIG_FILE"] = os.path.join(home, "config")
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    os.environ.update(case["env"])
    return botocore.session.Session(profile=case["profile"] or None)


def their_url(case, home, loader):
    try:
        session = session_of(case, home)
        session.register_component("data_loader", loader)
        client = session.create_client(SERVICES[case["svc"]], aws_access_key_id="x", aws_secret_access_key="y")
        # A client's endpoint is only a first guess: the rule set decides for each call.
        operation = {"kinesis": "ListStreams", "dynamodb": "ListTables", "dynamodbstreams": "ListStreams",
                     "sts": "GetCallerIdentity", "cloudwatch": "ListMetrics"}[SERVICES[case["svc"]]]
        model = client.meta.service_model.operation_model(operation)
        url, _, _ = client._resolve_endpoint_ruleset(model, {}, {"client_region": client.meta.region_name,
                                                                 "client_config": client.meta.config,
                                                                 "has_streaming_input": False, "auth_type": None})
        return url.rstrip("/") + "/", client.meta.region_name
    except (botocore.exceptions.BotoCoreError, ValueError) as e:
        return "error", str(e)


def their_keys(case, home):
    try:
        found = session_of(case, home).get_credentials()
        if found is None:
            return "error", "none"
        return found.access_key, found.secret_key, found.token or "", found.account_id or ""
    except botocore.exceptions.BotoCoreError as e:
        return "error", str(e)


def stricter(ours):
    """Errors of ours where botocore goes on: half a configuration is never passed over, and a custom endpoint with FIPS
    or dual stack is what the services' own rule sets and the other SDKs refuse."""
    return ours[0] == "error" and ("has aws_secret_access_key but no" in ours[1] or "exclude each other" in ours[1])


def normal(url):
    """Ports that a URL's scheme implies do not matter."""
    for scheme, port in (("http://", ":80/"), ("https://", ":443/")):
        if url.startswith(scheme) and url.endswith(port):
            return url[: -len(port)] + "/"
    return url


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randint(0, 10**9)
    rng = random.Random(seed)
    cases = [{"svc": rng.randrange(len(SERVICES)), "profile": rng.choice(PROFILES) if chance(rng, 0.15) else "",
              "credentials": credentials_file(rng), "config": config_file(rng), "env": variables(rng)}
             for _ in range(count)]
    for case in cases:
        if SERVICES[case["svc"]] == "sts":  # has a global host when there is no region; we never use that
            case["env"].setdefault("AWS_DEFAULT_REGION", "us-east-1")
    ours = oracle.run(sys.argv[1], ([str(c["svc"]), c["profile"], c["credentials"], c["config"]] +
                                    [w for pair in c["env"].items() for w in pair] for c in cases))
    if len(ours) != 2 * count:
        sys.exit("%d answers to %d cases" % (len(ours), count))
    loader = botocore.session.Session().get_component("data_loader")
    agreed = {"url": 0, "no url": 0, "keys": 0, "no keys": 0}
    with tempfile.TemporaryDirectory() as home:
        for i, case in enumerate(cases):
            url_words, key_words = ours[2 * i].split(" "), ours[2 * i + 1].split(" ")
            url, keys_found = their_url(case, home, loader), their_keys(case, home)
            got_url = tuple(w if w == "error" else oracle.from_hex(w) for w in url_words)
            got_keys = tuple(w if w == "error" else oracle.from_hex(w) for w in key_words)
            same_url = got_url[0] == url[0] == "error" or (normal(url[0]), url[1]) == got_url
            same_keys = got_keys[0] == keys_found[0] == "error" or got_keys == keys_found
            if "Unable to construct a modeled endpoint" in url[1]:
                same_url = True  # an older table of botocore's lacks it, its partitions.json has it
            if "could not be found" in url[1] and got_url[0] == "error":
                same_keys = True  # a call of ours ends there, whatever keys the environment has
            if not (same_url or stricter(got_url)) or not (same_keys or stricter(got_keys)):
                sys.exit("seed %d case %d: %r\n  ours:   %r %r\n  theirs: %r %r" %
                         (seed, i, case, got_url, got_keys, url, keys_found))
            agreed["no url" if got_url[0] == "error" else "url"] += 1
            agreed["no keys" if got_keys[0] == "error" else "keys"] += 1
    print("%d random configurations understood alike (seed %d): %s" % (count, seed, agreed))


main()
