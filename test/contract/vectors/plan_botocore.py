"""plan_botocore.py PROGRAM [COUNT] [SEED] - whose keys a profile leads to, and over which roles, is what botocore makes of
the same random files: chains, circles, self-references, credential_source, web identity, SSO, processes; with CRLF,
continuation lines, tokens of 2,000 characters, missing parts. What botocore would ask over the network is replaced by
the name of what it would have asked."""
import collections
import os
import random
import sys
import tempfile

import oracle

botocore = oracle.botocore_or_skip()
import botocore.credentials
import botocore.exceptions
import botocore.session

NAMES = ["default", "a", "b", "c", "my profile"]
Frozen = collections.namedtuple("Frozen", "access_key secret_key token")


# ---- botocore without a network --------------------------------------------------------------------------------


def fake(key_id):
    return {"access_key": key_id, "secret_key": "s", "token": "t", "expiry_time": "2099-01-01T00:00:00Z", "account_id": None}


def assume_role(self):
    args = self._assume_kwargs
    session = args.get("RoleSessionName", "-")
    source = self._source_credentials.get_frozen_credentials().access_key
    return fake("ROLE(%s,%s,%s,%s)<%s" % (args["RoleArn"], args.get("ExternalId", "-"),
                                          "-" if session.startswith("botocore-session-") else session,
                                          args.get("DurationSeconds", "-"), source))


def load_web(self):
    token, role = self._get_config("web_identity_token_file"), self._get_config("role_arn")
    if not token:
        return None
    if not role:
        raise botocore.exceptions.InvalidConfigError(error_msg="no role")
    return botocore.credentials.Credentials("W %s %s %s" % (role, token, self._get_config("role_session_name") or "-"), "s")


def load_sso(self):
    config = self._load_sso_config()
    if not config:
        return None
    return botocore.credentials.Credentials("S %s %s %s" % (config["sso_account_id"], config["sso_role_name"],
                                                            config["sso_region"]), "s")


def load_login(self):
    config = self._load_config().get("profiles", {}).get(self._profile_name, {})
    return botocore.credentials.Credentials("L " + config["login_session"], "s") if "login_session" in config else None


def load_process(self):
    command = self._credential_process
    return botocore.credentials.Credentials("P " + command, "s") if command else None


def replace_the_network():
    module = botocore.credentials
    module.AssumeRoleCredentialFetcher.fetch_credentials = assume_role
    module.AssumeRoleWithWebIdentityProvider.load = load_web
    module.SSOProvider.load = load_sso
    module.ProcessProvider.load = load_process
    module.LoginProvider.load = load_login
    module.EnvProvider.load = lambda self: module.Credentials("E", "s")
    module.ContainerProvider.load = lambda self: module.Credentials("C", "s")
    module.InstanceMetadataProvider.load = lambda self: module.Credentials("I", "s")


def their_answer(case, home):
    for which in ("credentials", "config"):
        with open(os.path.join(home, which), "wb") as file:
            file.write(case[which].encode())
    os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.path.join(home, "credentials")
    os.environ["AWS_CONFIG_FILE"] = os.path.join(home, "config")
    try:
        found = botocore.session.Session(profile=case["profile"]).get_credentials()
        key_id = found.get_frozen_credentials().access_key if found else None
    except (botocore.exceptions.BotoCoreError, KeyError) as error:
        return "error", repr(error)
    # The chain went on, to the container: the profile has nothing.
    return ("none", "") if key_id in (None, "C", "I") else (key_id, "")


# ---- random files ----------------------------------------------------------------------------------------------


def lines_of(rng, name, tag):
    lines = []
    if rng.random() < 0.5:
        lines += ["role_arn = arn:%s" % name.replace(" ", "-")]
        if rng.random() < 0.9:
            lines += ["source_profile = " + rng.choice(NAMES + [name, "gone"])]
        if rng.random() < 0.2:
            lines += ["credential_source = " + rng.choice(["Environment", "Ec2InstanceMetadata", "EcsContainer", "Nowhere"])]
        if rng.random() < 0.2:
            lines += ["external_id = x/" + name]
        if rng.random() < 0.2:
            lines += ["role_session_name = me"]
        if rng.random() < 0.2:
            lines += ["duration_seconds = 1200"]
    if rng.random() < 0.1:
        lines += ["web_identity_token_file = /token"]
    if rng.random() < 0.45:
        lines += ["aws_access_key_id = K" + tag + name.replace(" ", "-"), "aws_secret_access_key = S"]
        if rng.random() < 0.3:
            lines += ["aws_session_token = " + "T" * rng.choice([10, 2000])]
    if rng.random() < 0.15:
        lines += ["login_session = arn:aws:iam::1:user/" + name.replace(" ", "-")]
    if rng.random() < 0.15:
        lines += ["credential_process = tool --for \"%s\"" % name]
    if rng.random() < 0.15:
        sso = ["sso_account_id = 1", "sso_role_name = r", "sso_start_url = u", "sso_region = eu-west-1"]
        lines += [line for line in sso if rng.random() < 0.9]
    elif rng.random() < 0.15:
        lines += ["sso_account_id = 2", "sso_role_name = r", "sso_session = " + rng.choice(["corp", "gone"])]
    if rng.random() < 0.2:
        lines += ["s3 =\n  addressing_style = path"]
    if rng.random() < 0.2:
        lines += ["comment = first\n  second line\n  third"]
    rng.shuffle(lines)
    return lines


def file_of(rng, config):
    text = ""
    for name in rng.sample(NAMES, rng.randint(1, 5) if config else rng.randint(0, 3)):
        title = name if not config or name == "default" else 'profile "%s"' % name
        text += "[%s]\n%s\n" % (title, "\n".join(lines_of(rng, name, "F" if config else "C")))
    if config:
        text += "[sso-session corp]\nsso_region = us-west-2\n" + ("sso_start_url = v\n" if rng.random() < 0.8 else "")
    if rng.random() < 0.2:
        text = text.replace("\n", "\r\n")
    return text


KEYS = "aws_access_key_id = K%s\naws_secret_access_key = S\n"
ROLE = "[profile %s]\nrole_arn = arn:%s\nsource_profile = %s\n"
ALWAYS = [  # too rare by chance
    ROLE % ("a", "a", "b") + ROLE % ("b", "b", "c") + "[profile c]\n" + KEYS % "c",
    ROLE % ("a", "a", "b") + ROLE % ("b", "b", "c") + ROLE % ("c", "c", "default") + "[default]\n" + KEYS % "d",
    ROLE % ("a", "a", "b") + ROLE % ("b", "b", "c") + ROLE % ("c", "c", "a"),
    ROLE % ("a", "a", "b") + ROLE % ("b", "b", "b"),
    ROLE % ("a", "a", "b") + ROLE % ("b", "b", "b") + KEYS % "b",
    ROLE % ("a", "a", "b") + ROLE % ("b", "b", "a") + KEYS % "b",
    ROLE % ("a", "a", "a") + KEYS % "a",
    ROLE % ("a", "a", "b") + "[profile b]\nrole_arn = arn:b\ncredential_source = EcsContainer\n",
]


def stricter(ours, case):
    """Errors of ours where botocore goes on."""
    return any(part in ours for part in (
        "sso_account_id is missing", "sso_role_name is missing", "is missing", "needs a role_arn beside it",
        "there is no section [sso-session"))


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randint(0, 10**9)
    rng = random.Random(seed)
    cases = [{"profile": rng.choice(NAMES), "credentials": file_of(rng, False), "config": file_of(rng, True)}
             for _ in range(count)]
    cases += [{"profile": "a", "credentials": "", "config": config}
              for config in ALWAYS]
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    replace_the_network()
    ours = oracle.run(sys.argv[1], ([c["profile"], c["credentials"], c["config"]] for c in cases))
    seen = collections.Counter()
    with tempfile.TemporaryDirectory() as home:
        for case, line in zip(cases, ours):
            got = line if line == "none" or line.startswith("error") else oracle.from_hex(line)
            theirs, why = their_answer(case, home)
            same = got == theirs or (got.startswith("error") and theirs == "error")
            if not same and not (got.startswith("error") and stricter(got, case)):
                sys.exit("seed %d: profile %s\n%s\n---- config\n%s\n  ours:   %s\n  theirs: %s %s" %
                         (seed, case["profile"], case["credentials"], case["config"], got, theirs, why))
            seen["error" if got.startswith("error") else "none" if got == "none" else
                 "%d roles" % got.count("ROLE(")] += 1
            seen["stricter"] += not same
    if not seen["1 roles"] or not seen["2 roles"] or not seen["3 roles"] or not seen["error"] or seen["stricter"] > count / 6:
        sys.exit("seed %d: too few of a kind: %r" % (seed, dict(seen)))
    print("%d profiles led to the same keys (seed %d): %r" % (count, seed, dict(seen)))


main()
