"""Mistakes that a user can make: each gives one line on stderr that says what and what to do, nothing on stdout, exit
code 2 (usage) or 1 (failed), and not later than the connect timeout of 4 s. Fault 51 of the catalogue is here too:
wrong port, proxies in the environment, redirects."""

import http.server
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
import threading

import harness
import servers
from harness import Tests, expect

CONNECT_SECONDS = 4  # the default connect timeout
SLACK_SECONDS = 2    # start and end of a process on a busy machine


def one_line(done, codes, pattern, seconds):
    expect(done.code in codes, f"exit code must be {codes}: {done}")
    expect(not done.out, f"something on stdout: {done.out[:200]!r}")
    text = done.err.decode()
    expect(text.endswith("\n") and text.count("\n") == 1, f"not one line: {text!r}")
    expect(text.startswith("stream-tail: "), f"not our prefix: {text!r}")
    expect(re.search(pattern, text, re.I), f"/{pattern}/ is not in {text!r}")
    expect(done.own_seconds <= seconds + SLACK_SECONDS, f"took {done.seconds:.1f} s: {text!r}")
    return text[len("stream-tail: "):].strip()[:150]


def usage(arguments, pattern):
    done = harness.tail(arguments, harness.tail_environment("http://127.0.0.1:1"), 30)
    return one_line(done, (2,), pattern, 0)


def failure(arguments, env, pattern, codes=(1,), seconds=CONNECT_SECONDS):
    return one_line(harness.tail(arguments, env, 60), codes, pattern, seconds)


USAGE = [  # what, arguments, must be named
    ("no stream", [], "stream"),
    ("a stream named twice", ["a", "a"], "twice"),
    ("two streams to measure", ["--bench", "a", "b"], "b"),
    ("an unknown long option", ["--nonsense", "s"], "--nonsense"),
    ("an unknown short option", ["-y", "s"], "-y"),
    ("an unknown decoder", ["-s", "rot13", "s"], "rot13"),
    ("a time that is none", ["--until", "soon", "s"], "soon"),
    ("no regular expression", ["--grep", "(", "s"], "--grep"),
    ("a place that is not there", ["-o", "@/nonexistent/place", "s"], "/nonexistent/place"),
    ("a configuration that is not there", ["-F", "/nonexistent/conf", "s"], "/nonexistent/conf"),
    ("an option without its value", ["s", "-o"], "-o"),
    ("a start that is none", ["-o", "yesterday-ish", "s"], "yesterday-ish"),
    ("a time that is none", ["-o", "s@2026-13-45T00:00:00Z", "s"], "2026-13-45"),
    ("a time that is empty", ["-o", "s@", "s"], "time"),
    ("a sequence number that is none", ["-o", "shardId-000000000000:12x", "s"], "sequence number"),
    ("an unknown format token", ["-f", "%s %y\\n", "s"], "%y"),
    ("a format that ends in %", ["-f", "%s %", "s"], "%"),
    ("a hex escape that is none", ["-f", "\\xZZ", "s"], "\\x"),
    ("a count that is none", ["-c", "many", "s"], "many"),
    ("a negative count", ["-c", "-1", "s"], "-1"),
    ("a count out of range", ["-c", "99999999999999999999", "s"], "99999999999999999999"),
    ("a timeout that is none", ["--timeout", "soon", "s"], "soon"),
    ("an unknown order", ["--order", "size", "s"], "size"),
    ("an unknown wire form", ["--wire", "xml", "s"], "xml"),
    ("an unknown property", ["-X", "nonsense=1", "s"], "nonsense"),
    ("a property without a value", ["-X", "poll_ms", "s"], "poll_ms"),
    ("a property that is no number", ["-X", "poll_ms=soon", "s"], "poll_ms"),
    ("a property out of range", ["-X", "fetch_records_max=0", "s"], "fetch_records_max"),
    ("an endpoint that is no URL", ["-b", "ftp://x", "s"], "ftp://x"),
    ("a line break in an option", ["-o", "a\nb", "s"], "a"),
]


class TcpServer:
    """Accepts and hands each connection to a function in a thread."""

    def __init__(self, talk):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=16)
        self.port = self.listener.getsockname()[1]
        self.talk = talk
        self.accepted = 0
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self.safely, args=(connection,), daemon=True).start()

    def safely(self, connection):
        try:
            with connection:
                self.talk(connection)
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.listener.close()


def make_certificate(folder, name):
    key, cert = os.path.join(folder, "key.pem"), os.path.join(folder, "cert.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    return key, cert


def unknown_ca():
    with tempfile.TemporaryDirectory() as folder:
        key, cert = make_certificate(folder, "localhost")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        sent = []

        def talk(connection):
            with context.wrap_socket(connection, server_side=True) as secure:
                sent.append(secure.recv(65536))

        with TcpServer(talk) as server:
            note = failure(["s"], harness.tail_environment(f"https://127.0.0.1:{server.port}"),
                           "certificate|ca[ -]bundle|issuer|self.signed")
        expect(not any(sent), "a request was sent although the certificate is not known")
        return note


def http_to_https_port():
    with tempfile.TemporaryDirectory() as folder:
        key, cert = make_certificate(folder, "localhost")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)

        def talk(connection):
            context.wrap_socket(connection, server_side=True).recv(1)

        with TcpServer(talk) as server:
            return failure(["s"], harness.tail_environment(f"http://127.0.0.1:{server.port}"), f"{server.port}")


def https_to_http_port(url):
    return failure(["s"], harness.tail_environment(url.replace("http:", "https:")), "tls|ssl|certificate|https")


def refused_connection():
    port = servers.free_port()
    return failure(["s"], harness.tail_environment(f"http://127.0.0.1:{port}"), rf"127\.0\.0\.1.*{port}.*refused")


def nobody_answers_the_handshake():
    """A full backlog: the kernel drops further SYNs, as a firewall does."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
            fillers.append(filler)
        try:
            return failure(["s"], harness.tail_environment(f"http://127.0.0.1:{port}"), f"{port}")
        finally:
            for filler in fillers:
                filler.close()


def answer_always(status, body, headers=()):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.server.requests += 1
            self.server.with_credentials += "Authorization" in self.headers
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.requests = server.with_credentials = 0
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def redirect_is_not_followed():
    elsewhere = answer_always(200, b"{}")
    here = answer_always(301, b"", [("Location", elsewhere.url + "/")])
    try:
        note = failure(["--timeout", "2", "s"], harness.tail_environment(here.url), "301|redirect", seconds=6)
        expect(elsewhere.requests == 0, "the redirect was followed")
        return note
    finally:
        here.shutdown()
        elsewhere.shutdown()


def captive_portal():
    page = answer_always(200, b"<html><title>Welcome to the hotel</title></html>", [("Content-Type", "text/html")])
    try:
        done = harness.tail(["--timeout", "2", "s"], harness.tail_environment(page.url), 30)
        # One line when it happens, as for every failure that is tried again, and one at the end.
        expect(done.code == 1 and not done.out and done.err.count(b"\n") <= 2, str(done))
        expect(done.own_seconds <= 6, str(done))
        note = done.err.decode().strip().split("\n")[-1]
        expect("answer" in note, note)
        expect(page.requests <= 20, f"{page.requests} requests in about 2 s")
        return note
    finally:
        page.shutdown()


def proxy_in_the_environment(url, stream, n):
    """A proxy variable left over from somewhere must not catch loopback."""
    env = harness.tail_environment(url, http_proxy="http://127.0.0.1:1", HTTP_PROXY="http://127.0.0.1:1",
                                   ALL_PROXY="http://127.0.0.1:1")
    done = harness.tail(["-o", "oldest", "-e", stream], env, 60)
    expect(done.code == 0 and done.out.count(b"\n") >= n, str(done))


def closed_stdout(url, stream):
    """The reader leaves: quiet, and soon."""
    process = subprocess.Popen([servers.binary(), "-o", "oldest", stream], env=harness.tail_environment(url),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    # It learns of it with its next write: give it something to write.
    harness.client(url).put_record(StreamName=stream, Data=b"x" * 70000, PartitionKey="p")
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        raise harness.Failed("still running 20 s after its reader left") from None
    expect(not process.stderr.read().strip(), "not quiet")
    return f"exit code {process.returncode}"


def identity_and_region(tests, url):
    env = harness.tail_environment
    run = tests.run
    run("no credentials", failure, ["s"], env(url, key=None, secret=None), "AWS_ACCESS_KEY_ID")
    run("a key without its secret", failure, ["s"], env(url, secret=None), "AWS_SECRET_ACCESS_KEY")
    run("no region", failure, ["s"], env(url, AWS_REGION=None), "AWS_REGION", (1, 2))
    run("a profile that is not there", failure, ["s"], env(url, key=None, secret=None, AWS_PROFILE="nobody"), "nobody",
        (1, 2))
    secure = url.replace("http:", "https:")  # somebody must listen: the file is opened after connecting
    run("a CA bundle that is not there", failure, ["s"], env(secure, AWS_CA_BUNDLE="/nonexistent/ca.pem"),
        "/nonexistent/ca.pem", (1, 2))
    run("a CA bundle that is no certificate", failure, ["s"], env(secure, AWS_CA_BUNDLE=os.path.abspath(__file__)),
        "bad_input.py", (1, 2))
    run("an endpoint variable that is no URL", failure, ["s"], env("nonsense"), "nonsense", (1, 2))
    run("an ARN of another service", failure, ["arn:aws:sqs:us-east-1:000000000000:queue"], env(url), "arn", (1, 2))
    run("a control character in a key id", failure, ["s"], env(url, key="a\nb"), "AWS_ACCESS_KEY_ID|key", (1, 2))


def with_kinesalite(tests, server):
    kinesis = harness.client(server.url)
    stream = harness.new_stream(kinesis, 1)
    put = harness.Producer(kinesis, stream).put_all(50)
    env = harness.tail_environment(server.url)
    tests.run("a stream that does not exist", failure, ["no-such-stream"], env,
              "no-such-stream.*ResourceNotFoundException|ResourceNotFoundException.*no-such-stream")
    tests.run("a shard that does not exist", failure, ["-p", "77", "-o", "oldest", "-e", stream], env, "77", (1, 2))
    identity_and_region(tests, server.url)
    tests.run("https to an http port", https_to_http_port, server.url)
    tests.run("a proxy variable does not catch loopback", proxy_in_the_environment, server.url, stream, len(put))
    tests.run("a reader that leaves", closed_stdout, server.url, stream)


DAMAGED = [  # inside a token that is JSON and of that stream: what, what is put in, must be named
    ("a sequence number that is none", {"sequence_number": "12x"}, "sequence_number"),
    ("a sequence number that is missing", {"sequence_number": None}, "sequence_number"),
    ("an iterator type nobody knows", {"iterator_type": "sideways"}, "iterator_type"),
    ("an id that is no text", {"shard_id": 7}, "shard_id"),
    ("a sub-sequence that is none", {"sub_sequence": "-1"}, "sub_sequence"),
]


def damaged_token(change, named):
    """The line names the file and the place in it; the file stays as it was."""
    shard = {"shard_id": "shardId-000000000000", "iterator_type": "after_sequence", "sequence_number": "12", **change}
    token = {"stream_arn": "arn:aws:kinesis:us-east-1:000000000000:stream/orders", "active": ["shardId-000000000000"],
             "shards": [{name: value for name, value in shard.items() if value is not None}]}
    with tempfile.NamedTemporaryFile("w+", suffix=".token") as file:
        json.dump(token, file)
        file.flush()
        for how in (["--save", file.name], ["-o", "@" + file.name]):
            line = usage([*how, "orders"], re.escape(file.name) + ".*" + named)
        file.seek(0)
        expect(json.load(file) == token, "the file was changed")
    return line


def main():
    tests = Tests()
    harness.boto3_or_skip()
    try:
        servers.binary()
    except servers.Missing as missing:
        tests.skip("all", missing)
        tests.end()
    for what, arguments, pattern in USAGE:
        tests.run(f"usage: {what}", usage, arguments, re.escape(pattern) if "|" not in pattern else pattern)
    for what, change, named in DAMAGED:
        tests.run(f"a token with {what}", damaged_token, change, named)
    tests.run("a refused connection", refused_connection)
    tests.run("a connection nobody answers", nobody_answers_the_handshake)
    tests.run("an unknown CA", unknown_ca)
    tests.run("http to an https port", http_to_https_port)
    tests.run("a redirect is not followed", redirect_is_not_followed)
    tests.run("a captive portal", captive_portal)
    tests.with_server(servers.Kinesalite, with_kinesalite)
    tests.end()


if __name__ == "__main__":
    main()
