"""moto in its enforcing mode checks every signature with botocore's own signer: stream-tail's are accepted in both
wire forms and with a session token; a wrong secret, a body altered on the way and a wrong token are refused, and
stream-tail then leaves with exit code 1 within 5 s of the first refusal and names the service's code.

moto's refusals are XML with status 403 (the service: JSON with 400), its CBOR answer is a 500 page of HTML, and a date
an hour old passes, so clock skew is tested on the sandbox only.
"""

import http.client
import http.server
import json
import re
import threading
import time

import harness
import servers
from harness import Tests, expect

RECORDS = 300
UNCHECKED_CALLS = 3  # create user, key and policy; everything after them is checked


class Proxy:
    """An HTTP proxy in the place of the service: passes requests on, counts refusals, and may alter bodies. The Host
    header stays as the client signed it."""

    def __init__(self, target, alter=False):
        proxy = self
        self.refused_at = None
        self.refusal = None
        self.requests = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                proxy.requests += 1
                if alter and body[:1] == b"{":
                    body = body + b" "  # means the same, hashes to something else
                elif alter:
                    body = body[:-1] + bytes([body[-1] ^ 1])
                onward = http.client.HTTPConnection("127.0.0.1", target, timeout=30)
                headers = {k: v for k, v in self.headers.items() if k.lower() not in ("connection", "content-length")}
                onward.request("POST", self.path, body, {**headers, "Content-Length": str(len(body))})
                answer = onward.getresponse()
                data = answer.read()
                if answer.status in (400, 403) and proxy.refused_at is None:
                    proxy.refused_at = time.monotonic()
                    proxy.refusal = re.search(rb"<Code>(\w+)</Code>", data)[1].decode()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("connection", "transfer-encoding", "content-length", "date", "server"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                onward.close()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.server.shutdown()
        self.server.server_close()


def allow_all():
    return json.dumps({"Version": "2012-10-17",
                       "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]})


def make_identities(url):
    """A user with a key, and a session of a role: (key, secret, None), (key, secret, token)."""
    iam = harness.client(url, "iam", "unchecked", "unchecked")
    iam.create_user(UserName="reader")
    key = iam.create_access_key(UserName="reader")["AccessKey"]
    iam.put_user_policy(UserName="reader", PolicyName="all", PolicyDocument=allow_all())
    user = (key["AccessKeyId"], key["SecretAccessKey"], None)
    iam = harness.client(url, "iam", *user)
    role = iam.create_role(RoleName="tail", AssumeRolePolicyDocument=allow_all())["Role"]
    iam.put_role_policy(RoleName="tail", PolicyName="all", PolicyDocument=allow_all())
    session = harness.client(url, "sts", *user).assume_role(RoleArn=role["Arn"], RoleSessionName="tail")["Credentials"]
    return user, (session["AccessKeyId"], session["SecretAccessKey"], session["SessionToken"])


def accepted(url, stream, put, identity, wire):
    done = harness.tail(["-o", "oldest", "-e", "-J", "--wire", wire, stream], harness.tail_environment(url, *identity))
    expect(done.code == 0, str(done))
    records = harness.records_of(done.out)
    harness.judge_once(records, put)
    harness.judge_shard_order(records)
    return f"{len(records)} records"


def refused(target, stream, identity, wire, alter=False):
    with Proxy(target, alter) as proxy:
        done = harness.tail(["-o", "oldest", "-e", "-J", "--wire", wire, stream],
                            harness.tail_environment(proxy.url, *identity), 30)
        ended_at = time.monotonic()
        expect(done.code == 1 and not done.out, str(done))
        expect(proxy.refused_at is not None, "nothing was refused")
        code = proxy.refusal
        expect(ended_at - proxy.refused_at <= 5, f"left {ended_at - proxy.refused_at:.1f} s after the first refusal")
        text = done.err.decode()
        expect(code in text, f"{code} is not named: {done}")
        expect(text.count("\n") == 1, f"not one line: {done}")
        expect(identity[1] not in text and (identity[2] is None or identity[2] not in text), "a secret is printed")
        return code


def suite(tests, server):
    user, session = make_identities(server.url)
    kinesis = harness.client(server.url, "kinesis", *user)
    stream = harness.new_stream(kinesis, 2)
    put = harness.Producer(kinesis, stream).put_all(RECORDS)
    for wire in ("json", "auto"):
        tests.run(f"moto accepts our signature, --wire {wire}", accepted, server.url, stream, put, user, wire)
        tests.run(f"moto accepts a session token, --wire {wire}", accepted, server.url, stream, put, session, wire)
    with Proxy(server.port) as proxy:
        tests.run("the proxy by itself changes nothing", accepted, proxy.url, stream, put, user, "json")
    for wire in ("json", "auto"):
        tests.run(f"a wrong secret is refused, --wire {wire}", refused, server.port, stream,
                  (user[0], user[1][:-1] + ("A" if user[1][-1] != "A" else "B"), None), wire)
        tests.run(f"an unknown key is refused, --wire {wire}", refused, server.port, stream,
                  ("AKIAUNKNOWNUNKNOWN00", user[1], None), wire)
        tests.run(f"an altered body is refused, --wire {wire}", refused, server.port, stream, user, wire, True)
        tests.run(f"a wrong token is refused, --wire {wire}", refused, server.port, stream,
                  (session[0], session[1], session[2][:-4] + "AAAA"), wire)
        tests.run(f"a missing token is refused, --wire {wire}", refused, server.port, stream,
                  (session[0], session[1], None), wire)


def main():
    tests = Tests()
    harness.boto3_or_skip()

    class Enforcing(servers.Moto):
        def __init__(self):
            super().__init__(unchecked=UNCHECKED_CALLS)

    tests.with_server(Enforcing, suite)
    tests.end()


if __name__ == "__main__":
    main()
