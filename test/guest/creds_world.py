"""The world of one cell of peer_creds.py: a home folder, an environment, and servers on loopback that give keys. Each key is
named after the place it was got from, so that the request that it signs tells which source the client chose.

Everything is good wherever a client looks: a source that a client should have refused to fall through to gives keys too.
"""

import hashlib
import json
import os
import stat
import sys
import tempfile
import threading
import time
import urllib.parse

import harness
from creds_servers import Keys, Server, Sources, json_answer, stamp

SESSION = "arn:aws:iam::123456789012:user/me"
PROCESS = """#!{python}
import json, sys
answer = json.load(open({path!r}))
sys.stderr.write(answer.pop("says", ""))
status = answer.pop("status", 0)
if not status:
    json.dump(answer, sys.stdout)
sys.exit(status)
"""


class NamedKeys(Keys):
    """The owner may be any text: it is no part of what is sent."""

    def give(self, owner, lifetime=3600, temporary=True):
        key = super().give("key", lifetime, temporary)
        key.owner = owner
        return key


class Front(Server):
    """Kinesis at one address: records who signed, and says that there is no such stream."""

    def __init__(self, world, name):
        self.world, self.name = world, name
        super().__init__()

    def answer(self, handler):
        key, wrong = self.world.keys.judge(handler.command, handler.path, handler.headers, handler.body)
        scope = handler.headers.get("Authorization", "Credential=//").split("Credential=", 1)[1].split(",", 1)[0].split("/")
        owner = key.owner if key else wrong
        if wrong and scope[0] in self.world.keys.by_id and "X-Amz-Security-Token" not in handler.headers:
            owner = f"{self.world.keys.by_id[scope[0]].owner}, without its session token"
        self.world.seen.append((owner, scope[2], self.name))
        status, headers, body = json_answer(400, {"__type": "ResourceNotFoundException", "message": "no such stream"})
        return status, dict(headers, **{"x-amzn-ErrorType": "ResourceNotFoundException"}), body


class Givers(Sources):
    """STS, SSO, signing in, containers and metadata; the owner of what they give is where it was asked for."""

    def __init__(self, world, name):
        self.world, self.name, self.local = world, name, threading.local()
        self.v2 = True  # the session token of metadata is answered
        super().__init__(world.keys, name)

    def give(self):
        return self.keys.give(self.local.owner, self.lifetime)

    def answer(self, handler):
        path = urllib.parse.urlsplit(handler.path).path
        self.local.owner = {"latest": "metadata", "container": "container", "sso": "sso", "signin": "login"}.get(
            path.split("/")[1], "sts")
        if path.startswith("/container"):
            self.local.owner = "container" + path[len("/container"):]
            wanted = self.world.container_token
            if wanted is not None and handler.headers.get("Authorization") != wanted:
                return json_answer(403, {"code": "AccessDenied", "message": "who are you?"})
            return self.document()
        return super().answer(handler)

    def sts(self, handler):
        form = {name: values[0] for name, values in urllib.parse.parse_qs(handler.body.decode()).items()}
        owner = form.get("RoleArn", "?").rsplit("/", 1)[-1]
        said = [f"{word}={form[name]}" for name, word in (("ExternalId", "external"), ("DurationSeconds", "seconds"))
                if name in form and form[name] not in ("3600", "900")]
        if form.get("RoleSessionName", "").startswith("named"):
            said.insert(0, f"session={form['RoleSessionName']}")
        if said:
            owner += " (" + " ".join(said) + ")"
        if form.get("Action") == "AssumeRoleWithWebIdentity":
            owner += " by web identity"
            self.web_token = form.get("WebIdentityToken")  # any token is good
        else:
            key, wrong = self.keys.judge(handler.command, handler.path, handler.headers, handler.body)
            owner += f" by {key.owner if key else wrong}"
        self.local.owner = owner
        return super().sts(handler)

    def metadata(self, handler, path):
        if not self.v2:
            if path == "/latest/api/token":
                return 404, {}, b""
            self.metadata_tokens.add(None)
        return super().metadata(handler, path)


class World:
    def __init__(self):
        self.keys, self.seen = NamedKeys(), []
        self.folder = tempfile.TemporaryDirectory(prefix="sloop-creds-")
        self.home = self.folder.name
        self.servers = []
        self.container_token = None
        self.givers = self.started(Givers(self, "givers"))
        url = self.givers.url
        self.env = harness.tail_environment(
            None, None, None, HOME=self.home, AWS_DEFAULT_REGION=harness.REGION, AWS_MAX_ATTEMPTS="2",
            AWS_ENDPOINT_URL_KINESIS=self.front("kinesis"), AWS_ENDPOINT_URL_STS=url, AWS_ENDPOINT_URL_SSO=url + "/sso",
            AWS_ENDPOINT_URL_SSO_OIDC=url + "/oidc", AWS_ENDPOINT_URL_SIGNIN=url + "/signin", AWS_EC2_METADATA_DISABLED=None,
            AWS_EC2_METADATA_SERVICE_ENDPOINT=url,
            # Nothing listens there, so no client reaches a host that is not loopback.
            HTTPS_PROXY="http://127.0.0.1:9", NO_PROXY="127.0.0.1,localhost")

    def started(self, server):
        self.servers.append(server)
        return server

    def front(self, name):
        return self.started(Front(self, name)).url

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for server in self.servers:
            server.__exit__()
        self.folder.cleanup()

    def write(self, name, text, mode=0o600):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def config(self, text):
        return self.write(".aws/config", text)

    def credentials(self, text):
        return self.write(".aws/credentials", text)

    def set(self, **names):
        """Variables; None takes one away."""
        for name, value in names.items():
            self.env.pop(name, None)
            if value is not None:
                self.env[name] = value

    def env_keys(self, owner="environment", temporary=True):
        key = self.keys.give(owner, temporary=temporary)
        self.set(AWS_ACCESS_KEY_ID=key.id, AWS_SECRET_ACCESS_KEY=key.secret, AWS_SESSION_TOKEN=key.token)
        return key

    def lines(self, owner, temporary=False):
        """Keys as a profile has them."""
        key = self.keys.give(owner, temporary=temporary)
        return (f"aws_access_key_id = {key.id}\naws_secret_access_key = {key.secret}\n"
                + (f"aws_session_token = {key.token}\n" if temporary else ""))

    def container(self, name="", token="the-token"):
        self.container_token = token
        self.set(AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{self.givers.url}/container{name}", AWS_CONTAINER_AUTHORIZATION_TOKEN=token)

    def web(self):
        self.set(AWS_ROLE_ARN="arn:aws:iam::123456789012:role/web",
                 AWS_WEB_IDENTITY_TOKEN_FILE=self.write("token", "a.web.token"))

    def process(self, owner="process", name="tool", **more):
        """The command of a credential_process; more: members of its answer, `says` and `status`."""
        key = self.keys.give(owner)
        answer = {"Version": 1, "AccessKeyId": key.id, "SecretAccessKey": key.secret, "SessionToken": key.token,
                  "Expiration": stamp(time.time() + 3600), **more}
        path = self.write(f"{name}.json", json.dumps({name: value for name, value in answer.items() if value is not None}))
        return self.write(f"bin/{name}", PROCESS.format(python=sys.executable, path=path), stat.S_IRWXU)

    def sso_cache(self, key, expires=7200, renewable=False):
        cache = {"startUrl": "https://x.awsapps.com/start", "region": "us-east-1", "accessToken": self.givers.bearer,
                 "expiresAt": stamp(time.time() + expires)}
        if renewable:
            cache.update(refreshToken=self.givers.refresh_token, clientId="client", clientSecret=self.givers.client_secret,
                         registrationExpiresAt=stamp(time.time() + 86400))
        self.write(f".aws/sso/cache/{hashlib.sha1(key.encode()).hexdigest()}.json", json.dumps(cache))

    def login_cache(self, expires):
        key = self.keys.give("login, cached")
        self.write(f".aws/login/cache/{hashlib.sha256(SESSION.encode()).hexdigest()}.json", json.dumps({
            "accessToken": {"accessKeyId": key.id, "secretAccessKey": key.secret, "sessionToken": key.token,
                            "accountId": "123456789012", "expiresAt": stamp(time.time() + expires)},
            "tokenType": "aws_sigv4", "clientId": "arn:aws:signin:::devtools/same-device", "idToken": "a.b.c",
            "refreshToken": self.givers.session_token, "dpopKey": self.givers.session_pem(), "signInRegion": "us-west-2"}))
