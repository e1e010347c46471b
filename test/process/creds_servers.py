"""Strict servers for the tests of credential sources: they give short-lived keys, and check what a lenient one lets
pass: methods, headers, tokens, the order of questions, signatures (with botocore's own signer).

Keys gives out keys and knows which are good; Front stands before a Kinesis server and lets only requests with a good
signature of a living key through; Sources is STS, the SSO portal and OIDC, the service that renews sessions of `aws
login`, a container's endpoint and EC2 metadata.
"""

import base64
import datetime
import http.client
import http.server
import itertools
import json
import threading
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


def stamp(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Key:
    def __init__(self, owner, number, ends, temporary):
        self.owner, self.ends = owner, ends
        self.id = f"{'ASIA' if temporary else 'AKIA'}{owner.upper().replace('-', '')[:8]:0<8}{number:08d}"
        self.secret = f"SECRET/{owner}+{number}/abcdefghijklmnop"
        self.token = f"TOKEN//{owner}+{number}==" if temporary else None


class Keys:
    """Every key that was given to anybody."""

    def __init__(self):
        self.numbers = itertools.count(1)
        self.by_id = {}
        self.secrets = set()  # everything that must never be printed
        self.lock = threading.Lock()

    def give(self, owner, lifetime=3600, temporary=True):
        with self.lock:
            # Whole seconds, as the services write them: the key is good until exactly then.
            key = Key(owner, next(self.numbers), int(time.time() + lifetime + 0.999), temporary)
            self.by_id[key.id] = key
            self.secrets.update(s for s in (key.secret, key.token) if s)
        return key

    def secret(self, text):
        self.secrets.add(text)
        return text

    def judge(self, method, path, headers, body):
        """(key, None) or (None, the service's name for what is wrong)."""
        authorization = headers.get("Authorization", "")
        if not authorization.startswith("AWS4-HMAC-SHA256 "):
            return None, "MissingAuthenticationToken"
        parts = dict(part.strip().split("=", 1) for part in authorization.split(" ", 1)[1].split(","))
        key_id, _, region, service, _ = parts["Credential"].split("/")
        key = self.by_id.get(key_id)
        if key is None:
            return None, "UnrecognizedClientException"
        if headers.get("X-Amz-Security-Token") != key.token:
            return None, "InvalidSignatureException"
        signed = {name: headers[name] for name in parts["SignedHeaders"].split(";")}
        for needed in ("host", "x-amz-date") + (("x-amz-security-token",) if key.token else ()):
            if needed not in signed:
                return None, "IncompleteSignature"
        request = AWSRequest(method, f"http://{headers['Host']}{path}", headers=signed, data=body)
        request.context["timestamp"] = headers["X-Amz-Date"]
        signer = SigV4Auth(Credentials(key.id, key.secret, key.token), service, region)
        wanted = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
        if wanted != parts["Signature"]:
            return None, "InvalidSignatureException"
        if time.time() >= key.ends:
            return None, "ExpiredTokenException"
        return key, None


class Server:
    """A server on a free loopback port. Subclasses answer(handler) -> (status, headers, body) or None: hang."""

    def __init__(self):
        server = self
        self.ended = threading.Event()
        self.violations = []  # what a strict server would not have accepted, whatever it answered

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                try:
                    answer = server.answer(self)
                except Exception as error:  # a handler's thread would only print it
                    server.violations.append(f"{self.command} {self.path}: {error!r}")
                    answer = 500, {}, b""
                if answer is None:
                    server.ended.wait(180)
                    self.close_connection = True
                    return
                status, headers, body = answer
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_PUT = do_POST = handle_any

            def log_message(self, *arguments):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, request, client_address):
                pass  # a client that left

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler):
        raise NotImplementedError


class Front(Server):
    """Before a Kinesis server; the Host header stays as the client signed it."""

    def __init__(self, target, keys):
        self.target = urllib.parse.urlsplit(target).netloc
        self.keys = keys
        self.used = []  # keys of the requests that were let through, each once, in order
        self.refused = []
        super().__init__()

    def answer(self, handler):
        key, wrong = self.keys.judge(handler.command, handler.path, handler.headers, handler.body)
        if wrong:
            self.refused.append(wrong)
            return 400, {"Content-Type": "application/x-amz-json-1.1"}, json.dumps({"__type": wrong}).encode()
        if not self.used or self.used[-1] is not key:
            self.used.append(key)
        onward = http.client.HTTPConnection(self.target, timeout=30)
        headers = {k: v for k, v in handler.headers.items() if k.lower() not in ("connection", "content-length")}
        onward.request(handler.command, handler.path, handler.body, headers)
        answer = onward.getresponse()
        body = answer.read()
        onward.close()
        kept = {k: v for k, v in answer.getheaders()
                if k.lower() not in ("connection", "transfer-encoding", "content-length", "date", "server")}
        return answer.status, kept, body


def sts_answer(action, key):
    return 200, {"Content-Type": "text/xml"}, f"""<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <{action}Result><AssumedRoleUser><Arn>arn:aws:sts::1:assumed-role/r/s</Arn></AssumedRoleUser>
    <Credentials><AccessKeyId>{key.id}</AccessKeyId><SecretAccessKey>{key.secret}</SecretAccessKey>
      <SessionToken>{key.token}</SessionToken><Expiration>{stamp(key.ends)}</Expiration></Credentials>
  </{action}Result><ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></{action}Response>""".encode()


def sts_error(status, code, text):
    return status, {"Content-Type": "text/xml"}, (f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>"
                                                  f"{text}</Message></Error></ErrorResponse>").encode()


def json_answer(status, value):
    return status, {"Content-Type": "application/json"}, json.dumps(value).encode()


class Sources(Server):
    """STS at /, the portal and OIDC under /sso and /oidc, signing in under /signin, a container at /container, EC2
    metadata under /latest.

    mode: works, refuses (in the service's own way), throttles, garbage, endless (more than anybody takes),
    hangs, or a number: the status of every answer that would hold keys."""

    def __init__(self, keys, owner, mode="works", lifetime=3600):
        self.keys, self.owner, self.mode, self.lifetime = keys, owner, mode, lifetime
        self.web_token = keys.secret(f"web.{owner}.token")
        self.container_token = keys.secret(f"container.{owner}.token")
        self.bearer = keys.secret(f"bearer-of-{owner}-1")
        self.refresh_token = keys.secret(f"refresh-of-{owner}-1")
        self.client_secret = keys.secret(f"client-secret-of-{owner}")
        self.session_token = keys.secret(f"session-of-{owner}-1")
        self.session_key = ec.generate_private_key(ec.SECP256R1())
        self.proofs = set()
        self.device = None  # (its serial number, the code that it shows), which a role then needs
        self.metadata_tokens = set()
        self.roles_asked = 0
        self.asked = []
        super().__init__()

    def give(self):
        return self.keys.give(self.owner, self.lifetime)

    def strict(self, condition, text):
        if not condition:
            self.violations.append(text)

    def answer(self, handler):
        path = urllib.parse.urlsplit(handler.path)
        self.asked.append(f"{handler.command} {path.path}")
        self.strict("Via" not in handler.headers, "came through a proxy")
        if self.mode == "hangs":
            return None
        if self.mode == "endless":
            return 200, {"Content-Type": "text/html"}, b"<html>" + b"what? " * 100000
        if path.path.startswith("/latest/"):
            return self.metadata(handler, path.path)
        if path.path == "/container":
            return self.container(handler)
        if path.path == "/sso/federation/credentials":
            return self.portal(handler, urllib.parse.parse_qs(path.query))
        if path.path == "/oidc/token":
            return self.oidc(handler)
        if path.path == "/signin/v1/token":
            return self.signin(handler)
        self.strict(path.path == "/", f"asked for {handler.path}")
        return self.sts(handler)

    # ---- STS

    def sts(self, handler):
        form = urllib.parse.parse_qs(handler.body.decode(), strict_parsing=True)
        form = {name: values[0] for name, values in form.items()}
        self.strict(handler.command == "POST" and form.get("Version") == "2011-06-15", f"STS: {handler.command} {form}")
        self.strict(handler.headers.get("Content-Type", "").startswith("application/x-www-form-urlencoded"),
                    "STS: content type")
        self.strict(2 <= len(form.get("RoleSessionName", "")) <= 64, f"STS: session name {form}")
        if isinstance(self.mode, int):
            return self.mode, {}, b""
        if self.mode == "refuses":
            return sts_error(403, "AccessDenied", "User: nobody is not authorized to perform it")
        if self.mode == "throttles":
            return sts_error(400, "Throttling", "Rate exceeded")
        if self.mode == "garbage":
            return 200, {"Content-Type": "text/xml"}, b"<html>what?"
        if form["Action"] == "AssumeRoleWithWebIdentity":
            self.strict("Authorization" not in handler.headers, "web identity: it is signed")
            if form["WebIdentityToken"] != self.web_token:
                return sts_error(400, "InvalidIdentityToken", "not that token")
            return sts_answer(form["Action"], self.give())
        self.strict(form["Action"] == "AssumeRole", f"STS: {form['Action']}")
        if self.device:
            if (form.get("SerialNumber"), form.get("TokenCode")) != self.device:
                return sts_error(403, "AccessDenied", "MultiFactorAuthentication failed with invalid MFA one time pass code")
        else:
            self.strict("SerialNumber" not in form and "TokenCode" not in form, f"STS: {form}")
        key, wrong = self.keys.judge(handler.command, handler.path, handler.headers, handler.body)
        if wrong:
            return sts_error(403, wrong, "not with these keys")
        self.strict("/sts/aws4_request" in handler.headers["Authorization"], "STS: signed for another service")
        self.strict(key.owner in ("source", self.owner), f"STS: signed by {key.owner}")
        return sts_answer(form["Action"], self.give())

    # ---- signing in

    def portal(self, handler, query):
        self.strict(handler.command == "GET", "portal: method")
        self.strict("Authorization" not in handler.headers, "portal: it is signed")
        self.strict(query == {"role_name": ["Read Only"], "account_id": ["123456789012"]}, f"portal: {query}")
        if self.mode == "refuses" or handler.headers.get("x-amz-sso_bearer_token") != self.bearer:
            return json_answer(401, {"message": "Session token not found or invalid"})
        key = self.give()
        return json_answer(200, {"roleCredentials": {"accessKeyId": key.id, "secretAccessKey": key.secret,
                                                     "sessionToken": key.token, "expiration": key.ends * 1000}})

    def oidc(self, handler):
        asked = json.loads(handler.body)
        self.strict(handler.headers.get("Content-Type") == "application/json", "OIDC: content type")
        if asked != {"grantType": "refresh_token", "clientId": "client", "clientSecret": self.client_secret,
                     "refreshToken": self.refresh_token} or self.mode == "refuses":
            return json_answer(400, {"error": "invalid_grant"})
        self.bearer = self.keys.secret(self.bearer + "+")
        self.refresh_token = self.keys.secret(self.refresh_token + "+")
        return json_answer(200, {"accessToken": self.bearer, "expiresIn": 28800, "refreshToken": self.refresh_token,
                                 "tokenType": "Bearer"})

    def session_pem(self):
        pem = self.session_key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL,
                                             serialization.NoEncryption())
        return self.keys.secret(pem.decode())

    def proof(self, handler):
        """RFC 9449: who sends the refresh token has the key."""
        def part(text):
            return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

        head, claims, signature = handler.headers["DPoP"].split(".")
        signed = part(signature)
        self.session_key.public_key().verify(
            utils.encode_dss_signature(int.from_bytes(signed[:32], "big"), int.from_bytes(signed[32:], "big")),
            (head + "." + claims).encode(), ec.ECDSA(hashes.SHA256()))
        head, claims = json.loads(part(head)), json.loads(part(claims))
        self.strict(head["typ"] == "dpop+jwt" and head["alg"] == "ES256" and set(head["jwk"]) == {"kty", "crv", "x", "y"},
                    f"signin: {head}")
        self.strict(claims["htm"] == "POST" and claims["htu"] == f"http://{handler.headers['Host']}{handler.path}",
                    f"signin: {claims}")
        self.strict(abs(claims["iat"] - time.time()) < 30 and claims["jti"] not in self.proofs, f"signin: {claims}")
        self.proofs.add(claims["jti"])

    def signin(self, handler):
        asked = json.loads(handler.body)
        self.proof(handler)
        self.strict(handler.headers.get("Content-Type") == "application/json", "signin: content type")
        self.strict("Authorization" not in handler.headers, "signin: it is signed")
        self.strict(set(asked) == {"clientId", "grantType", "refreshToken"} and asked["grantType"] == "refresh_token",
                    f"signin: {asked}")
        if isinstance(self.mode, int):
            return self.mode, {}, b""
        if asked["refreshToken"] != self.session_token or self.mode == "refuses":
            status, headers, body = json_answer(400, {"error": "TOKEN_EXPIRED", "message": "it is spent"})
            return status, dict(headers, **{"x-amzn-ErrorType": "AccessDeniedException"}), body
        self.session_token = self.keys.secret(self.session_token + "+")  # the one before serves no more
        key = self.give()
        return json_answer(200, {"accessToken": {"accessKeyId": key.id, "secretAccessKey": key.secret,
                                                 "sessionToken": key.token}, "tokenType": "aws_sigv4",
                                 "expiresIn": int(key.ends - time.time()), "refreshToken": self.session_token})

    # ---- containers

    def document(self):
        key = self.give()
        return json_answer(200, {"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": stamp(time.time()),
                                 "AccessKeyId": key.id, "SecretAccessKey": key.secret, "Token": key.token,
                                 "Expiration": stamp(key.ends)})

    def container(self, handler):
        self.strict(handler.command == "GET", "container: method")
        if isinstance(self.mode, int):
            return self.mode, {}, b""
        if self.mode == "refuses" or handler.headers.get("Authorization") != self.container_token:
            return json_answer(403, {"code": "AccessDenied", "message": "who are you?"})
        if self.mode == "garbage":
            return 200, {}, b"<html>what?"
        return self.document()

    # ---- EC2 metadata, version 2

    def metadata(self, handler, path):
        if path == "/latest/api/token":
            self.strict(handler.command == "PUT", "metadata: token without PUT")
            self.strict(handler.headers.get("X-aws-ec2-metadata-token-ttl-seconds") == "21600", "metadata: no TTL")
            self.strict("X-Forwarded-For" not in handler.headers, "metadata: forwarded")
            if self.mode == "garbage":
                return 200, {}, b"\x01\x02"
            token = self.keys.secret(f"metadata-token-{len(self.metadata_tokens)}-of-{self.owner}")
            self.metadata_tokens.add(token)
            return 200, {"Content-Type": "text/plain", "X-Aws-Ec2-Metadata-Token-Ttl-Seconds": "21600"}, token.encode()
        self.strict(handler.command == "GET", "metadata: method")
        if isinstance(self.mode, int):
            return self.mode, {}, b""
        if handler.headers.get("X-aws-ec2-metadata-token") not in self.metadata_tokens or self.mode == "refuses":
            return 401, {}, b""
        if path == "/latest/meta-data/placement/region":
            return 200, {}, b"us-east-1"
        if path == "/latest/meta-data/iam/security-credentials/":
            self.roles_asked += 1
            return 200, {}, b"the-role"
        self.strict(path == "/latest/meta-data/iam/security-credentials/the-role", f"metadata: {path}")
        self.strict(self.roles_asked > 0, "metadata: the role was not asked for")
        if self.mode == "code":
            return json_answer(200, {"Code": "AssumeRoleUnauthorizedAccess", "Message": "EC2 cannot assume the role"})
        return self.document()
