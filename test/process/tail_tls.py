"""TLS between stream-tail and a server (fault 47): a good certificate works by option and by environment; every other ends
with exit code 1 and one line that says what, within the connect timeout, and nothing is ever sent to such a server.

Certificates are made by openssl at each run; the server is proxy.py as a TLS front of the sandbox.
"""

import os
import subprocess
import tempfile

import harness
import servers
from harness import Tests, expect
from proxy import Proxy

RECORDS = 300
CONNECT_SECONDS = 4
LIMIT = CONNECT_SECONDS + 4

CONFIG = """
[ca]
default_ca = here
[here]
database = {folder}/index
serial = {folder}/serial
new_certs_dir = {folder}
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
"""


class Certificates:
    """An authority, and certificates it signed: good, expired, for another host; and an unknown authority."""

    def __init__(self, folder):
        self.folder = folder
        self.config = os.path.join(folder, "config")
        with open(self.config, "w", encoding="ascii") as config:
            config.write(CONFIG.format(folder=folder))
        with open(os.path.join(folder, "index"), "w", encoding="ascii"):
            pass
        with open(os.path.join(folder, "serial"), "w", encoding="ascii") as serial:
            serial.write("01\n")
        self.authority("ca")
        self.authority("stranger")
        self.certificate("good", "IP:127.0.0.1", "20250101000000Z", "20400101000000Z")
        self.certificate("expired", "IP:127.0.0.1", "20200101000000Z", "20210101000000Z")
        self.certificate("early", "IP:127.0.0.1", "20390101000000Z", "20400101000000Z")
        self.certificate("elsewhere", "DNS:kinesis.example.com", "20250101000000Z", "20400101000000Z")

    def openssl(self, *arguments):
        done = subprocess.run(["openssl", *arguments], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"openssl {' '.join(arguments)}: {done.stderr}")

    def authority(self, name):
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem",
                     "-days", "3650", "-subj", f"/CN={name}", "-config", self.config, "-extensions", "authority")

    def certificate(self, name, host, begins, ends):
        self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
                     f"/CN={name}", "-addext", f"subjectAltName={host}", "-config", self.config)
        self.openssl("ca", "-batch", "-config", self.config, "-cert", "ca.pem", "-keyfile", "ca.key", "-in", f"{name}.csr",
                     "-out", f"{name}.pem", "-startdate", begins, "-enddate", ends, "-notext")

    def path(self, name):
        return os.path.join(self.folder, name)

    def front(self, server, name, rules=()):
        return Proxy(server.url, rules, ["--cert", self.path(name + ".pem"), "--key", self.path(name + ".key")], "https")


def environment(url, bundle):
    return harness.tail_environment(url, AWS_CA_BUNDLE=bundle, SSL_CERT_FILE=None, SSL_CERT_DIR=None)


def works(server, stream, put, certificates, by_option, wire="auto"):
    bundle = certificates.path("ca.pem")
    with certificates.front(server, "good") as proxy:
        arguments = ["-o", "oldest", "-e", "-J", "--wire", wire, stream]
        if by_option:
            # The option must win over an environment that would fail.
            arguments = ["-X", "ca_bundle=" + bundle] + arguments
            bundle = certificates.path("stranger.pem")
        done = harness.tail(arguments, environment(proxy.url, bundle), 30)
    expect(done.code == 0, str(done))
    records = harness.records_of(done.out)
    harness.judge_once(records, put)
    harness.judge_shard_order(records)
    expect(proxy.counts["requests"] > 4, str(proxy.counts))
    return f"{proxy.counts['connections']} connections, {proxy.counts['requests']} requests"


def by_profile(server, stream, put, certificates):
    """ca_bundle of a profile; AWS_CA_BUNDLE wins over it."""
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "config")
        with open(path, "w", encoding="ascii") as config:
            config.write(f"[profile tls]\nca_bundle = {certificates.path('ca.pem')}\n")
        more = {"AWS_CONFIG_FILE": path, "AWS_PROFILE": "tls"}
        with certificates.front(server, "good") as proxy:
            done = harness.tail(["-o", "oldest", "-e", "-J", stream], {**environment(proxy.url, None), **more}, 30)
        expect(done.code == 0, str(done))
        harness.judge_once(harness.records_of(done.out), put)
        with certificates.front(server, "good") as proxy:
            done = harness.tail(["-o", "oldest", "-e", stream],
                                {**environment(proxy.url, certificates.path("stranger.pem")), **more}, LIMIT + 10)
        expect(proxy.counts["requests"] == 0, f"requests were sent to it: {proxy.counts}")
        return one_line(done, ("certificate",))


def by_ssl_cert_file(server, stream, put, certificates):
    """SSL_CERT_FILE stands for the system's file; AWS_CA_BUNDLE wins over it."""
    with certificates.front(server, "good") as proxy:
        done = harness.tail(["-o", "oldest", "-e", "-J", stream],
                            {**environment(proxy.url, None), "SSL_CERT_FILE": certificates.path("ca.pem")}, 30)
        expect(done.code == 0, str(done))
        harness.judge_once(harness.records_of(done.out), put)
        more = {"SSL_CERT_FILE": certificates.path("stranger.pem")}
        done = harness.tail(["-o", "oldest", "-e", "-J", stream],
                            {**environment(proxy.url, certificates.path("ca.pem")), **more}, 30)
        expect(done.code == 0, str(done))
    with certificates.front(server, "good") as proxy:
        done = harness.tail(["-o", "oldest", "-e", stream], {**environment(proxy.url, None), **more}, LIMIT + 10)
    expect(proxy.counts["requests"] == 0, f"requests were sent to it: {proxy.counts}")
    one_line(done, ("certificate",))
    with certificates.front(server, "good") as proxy:
        more = {"SSL_CERT_FILE": certificates.path("nowhere.pem")}
        done = harness.tail(["-o", "oldest", "-e", stream], {**environment(proxy.url, None), **more}, LIMIT + 10)
    return one_line(done, ("nowhere.pem",))


def cut_inside_tls(server, stream, put, certificates):
    """Ends without close_notify, and resets, in the middle of answers."""
    rules = ["2:cut:900:GetRecords", "2:rst:700:GetRecords"]
    with certificates.front(server, "good", rules) as proxy:
        done = harness.tail(["-o", "oldest", "-e", "-J", "-X", "fetch_records_max=50", stream],
                            environment(proxy.url, certificates.path("ca.pem")), 40)
    expect(done.code == 0, str(done))
    records = harness.records_of(done.out)
    harness.judge_once(records, put)
    harness.judge_shard_order(records)
    expect(sum(proxy.counts["faults"].values()) == 4, str(proxy.counts))


def one_line(done, words):
    lines = done.err.decode("utf-8", "replace").strip().split("\n")
    expect(done.code == 1, str(done))
    expect(not done.out, str(done))
    expect(len(lines) == 1, str(done))
    expect(any(word in lines[0].lower() for word in words), f"none of {words} in: {lines[0]}")
    expect(done.own_seconds < LIMIT, str(done))
    return lines[0][:160]


def refused(server, stream, certificates, name, bundle, words):
    with certificates.front(server, name) as proxy:
        done = harness.tail(["-o", "oldest", "-e", stream], environment(proxy.url, bundle), LIMIT + 10)
    note = one_line(done, words)
    expect(proxy.counts["requests"] == 0, f"requests were sent to it: {proxy.counts}")
    return note


def handshake_stalls(server, stream, certificates):
    with Proxy(server.url, [], ["--stall-handshake"], "https") as proxy:
        done = harness.tail(["-o", "oldest", "-e", stream], environment(proxy.url, certificates.path("ca.pem")), LIMIT + 10)
    note = one_line(done, ("no answer", "timed out", "timeout", "within", "handshake"))
    expect(proxy.counts["connections"] > 0, str(proxy.counts))
    return note


def bad_bundle(server, stream, certificates, path, words):
    with certificates.front(server, "good") as proxy:
        done = harness.tail(["-o", "oldest", "-e", stream], environment(proxy.url, path), LIMIT + 10)
    expect(proxy.counts["requests"] == 0, str(proxy.counts))
    return one_line(done, words)


def wrong_scheme(server, stream, certificates):
    """https asked of a plain port, and http of a TLS port."""
    url = server.url.replace("http://", "https://")
    first = one_line(harness.tail(["-o", "oldest", "-e", stream], environment(url, certificates.path("ca.pem")), LIMIT + 10),
                     ("tls", "https"))
    with certificates.front(server, "good") as proxy:
        done = harness.tail(["-o", "oldest", "-e", stream], environment(proxy.url.replace("https", "http"), None), LIMIT + 10)
    second = one_line(done, ("tls", "http", "connection", "answer"))
    return f"{first} | {second}"


def on_sandbox(tests, server):
    kinesis = harness.client(server.url)
    stream = harness.new_stream(kinesis, 2)
    put = harness.Producer(kinesis, stream).put_all(RECORDS)
    with tempfile.TemporaryDirectory(prefix="sloop-tls-") as folder:
        made = Certificates(folder)
        good, stranger = made.path("ca.pem"), made.path("stranger.pem")
        certificate = ("certificate",)
        tests.run("AWS_CA_BUNDLE", works, server, stream, put, made, False)
        tests.run("-X ca_bundle", works, server, stream, put, made, True)
        tests.run("ca_bundle of a profile", by_profile, server, stream, put, made)
        tests.run("SSL_CERT_FILE", by_ssl_cert_file, server, stream, put, made)
        tests.run("JSON over TLS", works, server, stream, put, made, False, "json")
        tests.run("cut and reset inside TLS", cut_inside_tls, server, stream, put, made)
        tests.run("unknown authority", refused, server, stream, made, "good", stranger, certificate)
        tests.run("the system's authorities only", refused, server, stream, made, "good", None, certificate)
        tests.run("expired", refused, server, stream, made, "expired", good, certificate)
        tests.run("not valid yet", refused, server, stream, made, "early", good, certificate)
        tests.run("another host's", refused, server, stream, made, "elsewhere", good, certificate)
        tests.run("the handshake stalls", handshake_stalls, server, stream, made)
        tests.run("the bundle is missing", bad_bundle, server, stream, made, made.path("nowhere.pem"),
                  ("nowhere.pem", "certificate", "bundle"))
        tests.run("the bundle is no certificate", bad_bundle, server, stream, made, made.path("config"),
                  ("config", "certificate", "bundle"))
        tests.run("http and https mixed up", wrong_scheme, server, stream, made)


def main():
    harness.boto3_or_skip()
    tests = Tests()
    tests.with_server(servers.Sandbox, on_sandbox)
    tests.end()


if __name__ == "__main__":
    main()
