"""Every source of credentials x (works, refreshes in mid-run, refuses, times out), as a table that must not change, and
the bad input of each.

stream-tail reads from a sandbox behind a front that checks signatures and lets only living keys through, and gets its
keys from strict servers (creds_servers.py). "refreshes": keys live for seconds; records are read on while several of
them come and go. "refuses" and "times out": one line that names what was asked, exit code 1, in time, and never the
other identity: a metadata service that would give keys to anybody stands by in each of these runs, and nobody uses its
keys. A source that fails for the time is asked on until --timeout. Every run's output is searched for every secret that
was ever given out.
"""

import hashlib
import json
import os
import pty
import re
import select
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

import harness
import servers
from creds_servers import Front, Keys, Sources, stamp
from harness import Tests, expect

RECORDS = 200
LIFE = 4  # seconds that keys live in the runs that refresh
REFRESH_RECORDS = 60
WAYS = ("works", "refreshes", "refuses", "times out")

PROCESS = """#!{python}
import json, sys, time, urllib.request
mode = open({mode!r}).read()
if mode == "hangs":
    time.sleep(1000)
if mode == "refuses":
    print("the vault is sealed", file=sys.stderr)
    sys.exit(1)
if mode == "junk":
    print("SECRET-JUNK not json")
    sys.exit(0)
straight = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))
key = json.load(straight.open(urllib.request.Request({url!r} + "/container", headers={{"Authorization": sys.argv[1]}})))
print(json.dumps({{"Version": 1, "AccessKeyId": key["AccessKeyId"], "SecretAccessKey": key["SecretAccessKey"],
                   "SessionToken": key["Token"], "Expiration": key["Expiration"]}}))
"""


class Place:
    """A home folder, the servers of one run, and the environment that leads stream-tail there."""

    def __init__(self, keys, sandbox, mode, lifetime=3600):
        self.keys, self.mode = keys, mode
        self.folder = tempfile.TemporaryDirectory(prefix="sloop-creds-")
        self.home = self.folder.name
        self.front = Front(sandbox.url, keys)
        self.sources = Sources(keys, "asked", mode, lifetime)
        self.other = Sources(keys, "other")  # gives keys to anybody who falls through to it
        self.turning = threading.Event()
        self.env = harness.tail_environment(
            None, None, None, HOME=self.home, AWS_ENDPOINT_URL_KINESIS=self.front.url, AWS_MAX_ATTEMPTS="1",
            AWS_ENDPOINT_URL_STS=self.sources.url, AWS_ENDPOINT_URL_SSO=self.sources.url + "/sso",
            AWS_ENDPOINT_URL_SSO_OIDC=self.sources.url + "/oidc", AWS_ENDPOINT_URL_SIGNIN=self.sources.url + "/signin",
            AWS_EC2_METADATA_DISABLED=None,
            AWS_EC2_METADATA_SERVICE_ENDPOINT=self.other.url,
            # Nothing listens there: whoever uses a proxy for metadata, containers or this machine fails.
            HTTPS_PROXY="http://127.0.0.1:9", HTTP_PROXY="http://127.0.0.1:9", http_proxy="http://127.0.0.1:9")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.turning.set()
        for server in (self.front, self.sources, self.other):
            server.__exit__()
        self.folder.cleanup()

    def write(self, name, text, mode=0o600):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        new = path + ".new"
        with open(new, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(new, mode)
        os.rename(new, path)  # a reader sees the old file or the new one
        return path

    def config(self, text):
        return self.write(".aws/config", text)

    def credentials(self, text):
        return self.write(".aws/credentials", text)

    def source_keys(self):
        key = self.keys.give("source", temporary=False)
        return f"aws_access_key_id = {key.id}\naws_secret_access_key = {key.secret}\n"

    def turn(self, what):
        """what() again and again until the run is over: rotating files."""
        def work():
            while not self.turning.wait(1.5):
                what()

        threading.Thread(target=work, daemon=True).start()


# ---- the sources -----------------------------------------------------------------------------------------------


def environment(place):
    key = place.keys.give("asked")
    place.env.update(AWS_ACCESS_KEY_ID=key.id, AWS_SECRET_ACCESS_KEY=key.secret, AWS_SESSION_TOKEN=key.token)
    if place.mode == "refuses":
        del place.env["AWS_SECRET_ACCESS_KEY"]


def written_keys(place):
    def write():
        key = place.sources.give()
        secret = "" if place.mode == "refuses" else f"aws_secret_access_key = {key.secret}\n"
        place.credentials(f"[default]\naws_access_key_id = {key.id}\n{secret}aws_session_token = {key.token}\n")

    write()
    place.turn(write)


def token_file(place, token, take):
    """A file that a sidecar rotates. take(new): what the server wants from now on."""
    path = place.write("token", token)

    def rotate():
        new = place.keys.secret(f"{token}.{time.monotonic()}")
        place.write("token", new)
        take(new)

    if place.mode == "works" and place.sources.lifetime < 60:
        place.turn(rotate)
    return path


def web_environment(place):
    place.env.update(AWS_ROLE_ARN="arn:aws:iam::1:role/r",
                     AWS_WEB_IDENTITY_TOKEN_FILE=token_file(place, place.sources.web_token, place.set_web))


def web_profile(place):
    path = token_file(place, place.sources.web_token, place.set_web)
    place.config(f"[default]\nrole_arn = arn:aws:iam::1:role/r\nweb_identity_token_file = {path}\n")


def role(place):
    place.config("[profile work]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\nexternal_id = a/b\n")
    place.credentials("[base]\n" + place.source_keys())
    place.env["AWS_PROFILE"] = "work"


def role_chain(place):
    place.config("[profile work]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = middle\n"
                 "[profile middle]\nrole_arn = arn:aws:iam::1:role/m\nsource_profile = base\n"
                 "[profile base]\n" + place.source_keys())
    place.env["AWS_PROFILE"] = "work"


def role_of_container(place):
    place.config("[default]\nrole_arn = arn:aws:iam::1:role/r\ncredential_source = EcsContainer\n")
    container(place)


def role_of_machine(place):
    place.config("[default]\nrole_arn = arn:aws:iam::1:role/r\ncredential_source = Ec2InstanceMetadata\n")
    machine(place)


def process(place):
    mode = place.write("mode", place.mode)
    program = place.write("bin/my tool", PROCESS.format(python=sys.executable, mode=mode, url=place.sources.url),
                          stat.S_IRWXU)
    place.config(f"[profile work]\ncredential_process = \"{program}\" {place.sources.container_token}\n")
    place.env["AWS_PROFILE"] = "work"


def sso_cache(place, key, expires, renewable):
    cache = {"startUrl": "https://x.awsapps.com/start", "region": "us-east-1", "accessToken": place.sources.bearer,
             "expiresAt": stamp(time.time() + expires)}
    if renewable:
        cache.update(refreshToken=place.sources.refresh_token, clientId="client",
                     clientSecret=place.sources.client_secret, registrationExpiresAt=stamp(time.time() + 86400))
    place.write(f".aws/sso/cache/{hashlib.sha1(key.encode()).hexdigest()}.json", json.dumps(cache))


def sso_session(place, expires=60, renewable=True):
    place.config("[profile work]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = Read Only\n"
                 "[sso-session corp]\nsso_region = us-east-1\nsso_start_url = https://x.awsapps.com/start\n")
    sso_cache(place, "corp", expires, renewable)
    place.env["AWS_PROFILE"] = "work"


def sso_legacy(place, expires=7200):
    place.config("[profile work]\nsso_start_url = https://x.awsapps.com/start\nsso_region = us-east-1\n"
                 "sso_account_id = 123456789012\nsso_role_name = Read Only\n")
    sso_cache(place, "https://x.awsapps.com/start", expires, False)
    place.env["AWS_PROFILE"] = "work"


SESSION = "arn:aws:iam::123456789012:user/me"
LOGIN_CACHE = f".aws/login/cache/{hashlib.sha256(SESSION.encode()).hexdigest()}.json"


def login(place, expires=-60):
    place.config(f"[profile work]\nlogin_session = {SESSION}\n")
    key = place.sources.give()
    place.write(LOGIN_CACHE, json.dumps({
        "accessToken": {"accessKeyId": key.id, "secretAccessKey": key.secret, "sessionToken": key.token,
                        "accountId": "123456789012", "expiresAt": stamp(time.time() + expires)},
        "tokenType": "aws_sigv4", "clientId": "arn:aws:signin:::devtools/same-device", "idToken": "a.b.c",
        "refreshToken": place.sources.session_token, "dpopKey": place.sources.session_pem(), "signInRegion": "us-west-2"}))
    place.env["AWS_PROFILE"] = "work"


def container(place):
    place.env.update(AWS_CONTAINER_CREDENTIALS_FULL_URI=place.sources.url + "/container",
                     AWS_CONTAINER_AUTHORIZATION_TOKEN=place.sources.container_token)


def pod_identity(place):
    path = token_file(place, place.sources.container_token, place.set_container)
    place.env.update(AWS_CONTAINER_CREDENTIALS_FULL_URI=place.sources.url + "/container",
                     AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=path)


def machine(place):
    place.env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = place.sources.url


def rotating(name):
    """The server takes the token before as well: a file and a server can't change in the same moment."""
    def take(place, new):
        setattr(place.sources, name, new)

    return take


Place.set_web = rotating("web_token")
Place.set_container = rotating("container_token")

# name: (set up, expected words of "refuses", of "times out" and within how many seconds); None: there is no such thing.
SOURCES = {
    "environment": (environment, "AWS_SECRET_ACCESS_KEY is not", None, 0),
    "keys in a file": (written_keys, "profile default in HOME/.aws/credentials has aws_access_key_id but no", None, 0),
    "web identity, environment": (web_environment, "AssumeRoleWithWebIdentity of arn:aws:iam::1:role/r: AccessDenied",
                                  "no answer from 127.0.0.1", 15),
    "web identity, profile": (web_profile, "profile default (HOME/.aws/config): AssumeRoleWithWebIdentity",
                              "no answer from 127.0.0.1", 15),
    "role, source_profile": (role, "profile work (HOME/.aws/config): AssumeRole of arn:aws:iam::1:role/r: AccessDenied",
                             "profile work (HOME/.aws/config): AssumeRole of arn:aws:iam::1:role/r: no answer", 15),
    "role, chain of two": (role_chain, "profile middle (HOME/.aws/config): AssumeRole of arn:aws:iam::1:role/m",
                           "profile middle (HOME/.aws/config): AssumeRole of arn:aws:iam::1:role/m: no answer", 15),
    "role, EcsContainer": (role_of_container, "no credentials of the container from", "no answer from 127.0.0.1", 15),
    "role, Ec2InstanceMetadata": (role_of_machine, "instance metadata at", "instance metadata: no answer", 8),
    "credential_process": (process, "profile work (HOME/.aws/config): credential_process exited with status 1: the vault",
                           "credential_process did not end within 60 seconds and was killed", 66),
    "SSO, session": (sso_session, "not accepted any more: run aws sso login --profile work", "no answer from", 25),
    "SSO, legacy": (sso_legacy, "not accepted any more: run aws sso login --profile work", "no answer from", 15),
    "aws login": (login, "profile work (HOME/.aws/config): the session has expired: run aws login --profile work",
                  "the session has expired and can't be renewed just now: no answer from", 15),
    "container": (container, "no credentials of the container from", "no answer from 127.0.0.1", 15),
    "pod identity": (pod_identity, "no credentials of the container from", "no answer from 127.0.0.1", 15),
    "EC2 metadata": (machine, "instance metadata at", "instance metadata: no answer", 8),
}
EXPECTED = {name: ("yes", "no" if name == "environment" else "yes", "yes", "yes" if row[2] else "no")
            for name, row in SOURCES.items()}


# ---- runs ------------------------------------------------------------------------------------------------------


def judge_secrets(keys, *texts):
    for text in texts:
        for secret in list(keys.secrets) + ["SECRET-JUNK"]:
            expect(secret.encode() not in text, f"a secret is printed: {secret}")


def judge_servers(place, machine_asked=True):
    expect(not place.sources.violations, "; ".join(place.sources.violations[:3]))
    expect(not place.front.violations, "; ".join(place.front.violations[:3]))
    owners = {key.owner for key in place.front.used}
    expect(owners <= {"asked"}, f"keys of {owners} were used")
    if machine_asked:
        expect(not place.other.asked, f"the other identity was asked for: {place.other.asked}")


def works(sandbox, stream, put, source):
    keys = Keys()
    with Place(keys, sandbox, "works") as place:
        source(place)
        done = harness.tail(["-o", "oldest", "-e", "-J", "-vvv", stream], place.env, 40)
        expect(done.code == 0, str(done))
        harness.judge_once(harness.records_of(done.out), put)
        judge_secrets(keys, done.out, done.err)
        judge_servers(place)
        expect(place.front.used and not place.front.refused, f"{place.front.refused}")


def refreshes(sandbox, source):
    """Reads on while at least three keys come and go."""
    keys = Keys()
    kinesis = harness.client(sandbox.url)
    stream = harness.new_stream(kinesis, 1)
    producer = harness.Producer(kinesis, stream)
    with Place(keys, sandbox, "works", LIFE) as place:
        source(place)
        running = harness.Running(["-o", "oldest", "-J", "-vvv", stream], place.env)
        try:
            def three_keys():
                expect(running.process.poll() is None, f"it left: {running.stderr()[-600:]}")
                producer.put_batch(5)
                return len(place.front.used) >= 3 or None

            harness.wait_until(three_keys, 60, "a third key in use", pause=0.2)  # each look puts records
            producer.put_all(REFRESH_RECORDS)
            running.wait_lines(len(producer.put), 30)
            expect(running.interrupt() == 0, running.stderr()[-600:])
        finally:
            running.kill()
        harness.judge_once(harness.records_of(running.lines), producer.put)
        judge_secrets(keys, b"".join(running.lines), running.stderr().encode())
        judge_servers(place)
        wrong = set(place.front.refused) - {"ExpiredTokenException"}
        expect(not wrong, f"{wrong}")
        return f"{len({key.id for key in place.front.used})} keys, {len(place.front.refused)} refused as expired"


def fails(sandbox, stream, source, mode, words, seconds):
    keys = Keys()
    with Place(keys, sandbox, mode) as place:
        source(place)
        done = harness.tail(["-o", "oldest", "-e", "-J", stream], place.env, seconds + 20)
        *told, line = done.err.decode("utf-8", "replace").splitlines()
        expect(done.code == 1 and not done.out, str(done))
        expect(len(told) == ("credential_process did not end" in words), f"not one line: {done}")
        expect(all(" is waited for, " in x for x in told), f"not told while it lasts: {done}")
        expect(words.replace("HOME", place.home) in line, f"no \"{words}\" in: {line}")
        expect(done.own_seconds < seconds, f"only after {done.seconds:.1f} s")
        judge_secrets(keys, done.out, done.err)
        judge_servers(place)
        expect(not place.front.used, "it was let in")
        return f"{done.seconds:.1f} s: {re.sub(re.escape(place.home), '~', line.strip())[:150]}"


def fails_for_the_time(sandbox, stream, source, mode, words, first):
    with Place(Keys(), sandbox, mode) as place:
        source(place)
        done = harness.tail(["-o", "oldest", "-e", "-J", "--timeout", str(TIMEOUT), stream], place.env, TIMEOUT + 20)
        *told, last = done.err.decode("utf-8", "replace").splitlines()
        expect(done.code == 1 and not done.out, str(done))
        expect(told and all(words in line for line in told), f"not told while it lasted: {done}")
        expect(f"nothing was answered in {TIMEOUT} s; the last error: " in last and words in last, f"{done}")
        expect(TIMEOUT <= done.seconds and done.own_seconds < TIMEOUT + 8, f"after {done.seconds:.1f} s")
        expect(len(place.sources.asked) > first, f"asked only {place.sources.asked}")
        judge_secrets(place.keys, done.out, done.err)
        judge_servers(place)
        expect(not place.front.used, "it was let in")
        return f"asked {len(place.sources.asked)} times"


# ---- bad input -------------------------------------------------------------------------------------------------


def sso_expired(place):
    sso_session(place, -60, False)


def sso_refused(place):
    sso_session(place, -60)


def sso_nobody(place):
    sso_session(place)
    os.remove(os.path.join(place.home, ".aws/sso/cache", hashlib.sha1(b"corp").hexdigest() + ".json"))


def login_nobody(place):
    login(place)
    os.remove(os.path.join(place.home, LOGIN_CACHE))


def login_junk(place):
    login(place)
    place.write(LOGIN_CACHE, "{\"accessToken\": \"SECRET-JUNK")


def circle(place):
    place.config("[profile work]\nrole_arn = r\nsource_profile = b\n[profile b]\nrole_arn = s\nsource_profile = c\n"
                 "[profile c]\nrole_arn = t\nsource_profile = work\n")
    place.env["AWS_PROFILE"] = "work"


def no_source(place):
    place.config("[profile work]\nrole_arn = r\nsource_profile = gone\n")
    place.env["AWS_PROFILE"] = "work"


def mfa(place):
    role(place)
    place.config("[profile work]\nrole_arn = r\nsource_profile = base\nmfa_serial = arn:aws:iam::1:mfa/me\n")


def on_terminal(place, arguments, typed, seconds=30):
    """stream-tail with a terminal of its own, where `typed` is entered at the question; (status, stdout, terminal)."""
    out = tempfile.TemporaryFile()
    pid, terminal = pty.fork()
    if pid == 0:
        os.dup2(out.fileno(), 1)
        os.execvpe(servers.binary(), [servers.binary(), *arguments], place.env)
    shown, asked = b"", False
    limit = time.monotonic() + seconds
    try:
        while time.monotonic() < limit:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    piece = os.read(terminal, 4096)
                except OSError:  # EIO: everybody has left it
                    break
                shown += piece
            if not asked and b"Enter MFA code for " in shown and shown.rstrip().endswith(b":"):
                os.write(terminal, typed)
                asked = True
        else:
            os.kill(pid, signal.SIGKILL)
    finally:
        status = os.waitpid(pid, 0)[1]
        os.close(terminal)
    out.seek(0)
    return os.waitstatus_to_exitcode(status), out.read(), shown


def mfa_asked(sandbox, stream, put):
    with Place(Keys(), sandbox, "works") as place:
        mfa(place)
        place.sources.device = ("arn:aws:iam::1:mfa/me", "846021")
        code, out, shown = on_terminal(place, ["-o", "oldest", "-e", "-J", stream], b"846021\n")
        expect(code == 0, f"{code}: {shown}")
        harness.judge_once(harness.records_of(out), put)
        expect(shown.count(b"Enter MFA code for arn:aws:iam::1:mfa/me: ") == 1, str(shown))
        expect(b"846021" not in shown, f"the code is shown: {shown}")
        judge_secrets(place.keys, out, shown)
        judge_servers(place)


def mfa_wrong(sandbox, stream):
    for typed, words in ((b"000000\n", b"AccessDenied: MultiFactorAuthentication failed"),
                         (b"\n", b"no code of mfa_serial was entered (the line is empty)")):
        with Place(Keys(), sandbox, "works") as place:
            mfa(place)
            place.sources.device = ("arn:aws:iam::1:mfa/me", "846021")
            code, out, shown = on_terminal(place, ["-o", "oldest", "-e", "-J", stream], typed)
            expect(code == 1 and not out and words in shown, f"{code}: {shown}")
            judge_servers(place)


def mfa_interrupted(sandbox, stream):
    """Ctrl-C at the question ends it at once, and the terminal shows again what is typed."""
    with Place(Keys(), sandbox, "works") as place:
        mfa(place)
        before = time.monotonic()
        code, out, shown = on_terminal(place, ["-o", "oldest", "-J", stream], b"\x03")
        expect(code == 0 and not out and time.monotonic() - before < 10, f"{code}: {shown}")
        expect(not place.front.used and not place.sources.asked, str(place.sources.asked))


def mfa_without_terminal(sandbox, stream):
    with Place(Keys(), sandbox, "works") as place:
        mfa(place)
        done = subprocess.run([servers.binary(), "-o", "oldest", "-e", "-J", stream], env=place.env, timeout=30,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True)
        line = done.stderr.decode()
        expect(done.returncode == 1 and not done.stdout and line.count("\n") == 1, str(done))
        words = f"profile work ({place.home}/.aws/config): there is no terminal to ask for the code of its mfa_serial"
        expect(words in line, line)
        expect('eval "$(aws configure export-credentials --profile work --format env)"' in line, line)
        expect(not place.sources.asked, str(place.sources.asked))


def missing_program(place):
    place.config("[profile work]\ncredential_process = /nowhere/tool --x\n")
    place.env["AWS_PROFILE"] = "work"


def both_endpoints(place):
    environment(place)
    place.env["AWS_USE_FIPS_ENDPOINT"] = "true"


def retry_mode(place):
    environment(place)
    place.env["AWS_RETRY_MODE"] = "fast"


def broken_line(place):
    place.config("[profile work]\nregion = us-east-1\nwhat is this\n")
    place.env["AWS_PROFILE"] = "work"


def far_container(place):
    place.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://keys.example.com/x"


BAD = [
    ("credential_process writes junk", process, "junk", "profile work (HOME/.aws/config): credential_process wrote", 8),
    ("credential_process is not there", missing_program, "works", "credential_process can't be started (No such file", 8),
    ("STS talks HTML", role, "garbage", "AssumeRole of arn:aws:iam::1:role/r: the answer holds no credentials", 8),
    ("STS talks HTML and does not stop", role, "endless", "AssumeRole of arn:aws:iam::1:role/r: answer is larger", 8),
    ("SSO expired", sso_expired, "works", "profile work (HOME/.aws/config): the sign-in has expired: run aws sso login", 8),
    ("SSO expired, and the renewal refused", sso_refused, "refuses", "could not be renewed: run aws sso login", 8),
    ("SSO without a sign-in", sso_nobody, "works", "nobody is signed in: run aws sso login --profile work", 8),
    ("aws login without a sign-in", login_nobody, "works", "nobody is signed in: run aws login --profile work", 8),
    ("aws login with a cache that is none", login_junk, "works", "run aws login --profile work", 8),
    ("metadata 401", machine, 401, "status 401", 8),
    ("metadata 404", machine, 404, "status 404", 8),
    ("metadata with an error in 200", machine, "code", "AssumeRoleUnauthorizedAccess EC2 cannot assume the role", 8),
    ("metadata with a token that forges a header", machine, "garbage", "no session token", 8),
    ("metadata talks HTML and does not stop", machine, "endless", "answer is larger than", 8),
    ("container talks HTML", container, "garbage", "is not what it should be", 8),
    ("container talks HTML and does not stop", container, "endless", "answer is larger than", 8),
    ("container far away", far_container, "works", "plain http is only taken from this machine, ECS and EKS", 8),
    ("a circle of source_profile", circle, "works", "profile c (HOME/.aws/config): source_profile work leads back", 8),
    ("source_profile that is not there", no_source, "works", "its source_profile gone does not exist", 8),
    ("FIPS and a custom endpoint", both_endpoints, "works", "exclude each other", 8),
    ("a retry mode that is none", retry_mode, "works", "AWS_RETRY_MODE", 8),
    ("a line that is none", broken_line, "works", "HOME/.aws/config: line 3", 8),
]
# What passes by itself: asked again until --timeout. With the requests of the first attempt.
FOR_THE_TIME = [
    ("STS throttles", role, "throttles", "AssumeRole of arn:aws:iam::1:role/r: Throttling: Rate exceeded", 1),
    ("STS 503", role, 503, "AssumeRole of arn:aws:iam::1:role/r: ", 1),
    ("aws login 503", login, 503, "the session has expired and can't be renewed just now: ", 1),
    ("metadata 500", machine, 500, "status 500", 2),
    ("metadata 429", machine, 429, "status 429", 2),
    ("container 503", container, 503, "status 503", 3),
]
TIMEOUT = 6  # seconds; an attempt takes 3 at most, and the pause behind the first is shorter than 1


def login_is_written(sandbox, stream, put):
    """What is renewed stands in the cache, for the AWS tools and for the next run, and four runs at once renew it once."""
    keys = Keys()
    with Place(keys, sandbox, "works") as place:
        login(place)
        path = os.path.join(place.home, LOGIN_CACHE)
        with open(path, encoding="utf-8") as file:
            before = json.load(file)
        runs = [harness.Running(["-o", "oldest", "-e", "-J", stream], place.env) for _ in range(4)]
        for run in runs:
            run.wait_lines(len(put), 40)
            run.kill()
        with open(path, encoding="utf-8") as file:
            after = json.load(file)
        expect(place.sources.asked.count("POST /signin/v1/token") == 1, str(place.sources.asked))
        expect(after["refreshToken"] == place.sources.session_token, "the next refresh token is not in the cache")
        expect(after["accessToken"]["accessKeyId"] == place.front.used[0].id, "the keys are not those that were used")
        same = set(before) - {"accessToken", "refreshToken"}
        expect(all(after[name] == before[name] for name in same) and set(after) == set(before), str(set(after)))
        expect(os.stat(path).st_mode & 0o777 == 0o600, oct(os.stat(path).st_mode))
        expect(os.listdir(os.path.dirname(path)) == [os.path.basename(path)], str(os.listdir(os.path.dirname(path))))
        judge_servers(place)


def region_of_machine(sandbox, stream, put):
    """Nothing else names a region."""
    keys = Keys()
    with Place(keys, sandbox, "works") as place:
        machine(place)
        del place.env["AWS_REGION"]
        done = harness.tail(["-o", "oldest", "-e", "-J", stream], place.env, 40)
        expect(done.code == 0, str(done))
        harness.judge_once(harness.records_of(done.out), put)
        expect("GET /latest/meta-data/placement/region" in place.sources.asked, str(place.sources.asked))
        judge_servers(place)


def process_is_killed(sandbox, stream):
    """Ctrl-C while the program hangs: it goes too."""
    with Place(Keys(), sandbox, "hangs") as place:
        process(place)
        running = harness.Running(["-o", "oldest", stream], place.env)
        try:
            tool = os.path.join(place.home, "bin/my tool").encode()

            def runs():
                for pid in filter(str.isdigit, os.listdir("/proc")):
                    try:
                        with open(f"/proc/{pid}/cmdline", "rb") as line:
                            if tool in line.read():
                                return int(pid)
                    except OSError:
                        pass
                return None

            harness.wait_until(runs, 20, "the program runs")
            code = running.interrupt(10)
            expect(code == 0, f"{code}: {running.stderr()}")
            harness.wait_until(lambda: not runs() or None, 20, "the program is gone")
        finally:
            running.kill()


# ---- moto, the second opinion ----------------------------------------------------------------------------------


def moto_role(place, moto):
    place.config("[profile work]\nrole_arn = arn:aws:iam::123456789012:role/r\nsource_profile = base\n")
    place.credentials("[base]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = example\n")
    place.env["AWS_PROFILE"] = "work"


def moto_web(place, moto):
    path = place.write("token", "anything")
    place.env.update(AWS_ROLE_ARN="arn:aws:iam::123456789012:role/r", AWS_WEB_IDENTITY_TOKEN_FILE=path)


def moto_machine(place, moto):
    place.env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = moto.url


def on_moto(tests, moto):
    kinesis = harness.client(moto.url)
    stream = harness.new_stream(kinesis, 1)
    put = harness.Producer(kinesis, stream).put_all(50)

    def run(source):
        with Place(Keys(), moto, "works") as place:
            source(place, moto)
            for name in ("AWS_ENDPOINT_URL_KINESIS", "AWS_ENDPOINT_URL_STS"):
                place.env[name] = moto.url
            done = harness.tail(["-o", "oldest", "-e", "-J", "--wire", "json", stream], place.env, 40)
            expect(done.code == 0, str(done))
            harness.judge_once(harness.records_of(done.out), put)

    for name, source in (("role", moto_role), ("web identity", moto_web), ("EC2 metadata", moto_machine)):
        tests.run(f"moto: {name}", run, source)


# ---- the table -------------------------------------------------------------------------------------------------


def on_sandbox(tests, server):
    kinesis = harness.client(server.url)
    stream = harness.new_stream(kinesis, 2)
    put = harness.Producer(kinesis, stream).put_all(RECORDS)
    seen = {}

    def cell(name, way, test, *arguments):
        def run():
            seen[name, way] = "FAILED"
            note = test(*arguments)
            seen[name, way] = "yes"
            return note

        tests.run(f"{name}: {way}", run)

    jobs = []  # (seconds that it waits, what to do)
    for name, (source, refusal, hang, seconds) in SOURCES.items():
        ways = [("works", works, server, stream, put, source), ("refuses", fails, server, stream, source, "refuses",
                                                                 refusal, 12)]
        if name != "environment":
            ways.append(("refreshes", refreshes, server, source))
        if hang:
            ways.append(("times out", fails, server, stream, source, "hangs", hang, seconds))
        jobs += [(way[-1] if way[0] == "times out" else 0, lambda name=name, way=way: cell(name, *way)) for way in ways]
    for what, source, mode, words, seconds in BAD:
        jobs.append((0, lambda w=what, s=source, m=mode, t=words, n=seconds:
                     tests.run(w, fails, server, stream, s, m, t, n)))
    for row in FOR_THE_TIME:
        jobs.append((TIMEOUT, lambda row=row: tests.run(row[0], fails_for_the_time, server, stream, *row[1:])))
    jobs.append((0, lambda: tests.run("aws login: the cache is written", login_is_written, server, stream, put)))
    jobs.append((0, lambda: tests.run("mfa_serial: asked for on the terminal", mfa_asked, server, stream, put)))
    jobs.append((0, lambda: tests.run("mfa_serial: a wrong code", mfa_wrong, server, stream)))
    jobs.append((0, lambda: tests.run("mfa_serial: Ctrl-C at the question", mfa_interrupted, server, stream)))
    jobs.append((0, lambda: tests.run("mfa_serial: without a terminal", mfa_without_terminal, server, stream)))
    jobs.append((0, lambda: tests.run("the region of the machine", region_of_machine, server, stream, put)))
    jobs.append((0, lambda: tests.run("Ctrl-C takes a hanging program along", process_is_killed, server, stream)))
    jobs.sort(key=lambda job: job[0], reverse=True)
    tests.side_by_side([work for _, work in jobs], 10)
    if tests.only:
        return
    print("\n" + f"{'':28}" + "".join(f"{way:>12}" for way in WAYS))
    for name in SOURCES:
        print(f"{name:28}" + "".join(f"{seen.get((name, way), 'no'):>12}" for way in WAYS))
    table = {name: tuple(seen.get((name, way), "no") for way in WAYS) for name in SOURCES}
    tests.run("the table is as it was", lambda: expect(table == EXPECTED, f"expected {EXPECTED}"))


def main():
    harness.boto3_or_skip()
    tests = Tests()
    tests.with_server(servers.Sandbox, on_sandbox)
    tests.with_server(servers.Moto, on_moto)
    tests.end()


if __name__ == "__main__":
    main()
