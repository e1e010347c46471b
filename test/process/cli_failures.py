"""Every way in which a connection, a file, credentials or a child can fail, each provoked with the real program, and what is
told about it: that is the table cli_failures.txt, which this program holds against what it sees.

usage: cli_failures.py [--write] [WORDS]    --write: writes the table anew; WORDS: only rows whose name has them

A row fails when the message or the exit status is another one than the table's, when the table has no such row or one that
nobody provokes, or when the message lacks what the row says is the cause. For connections a second opinion is asked:
curl, in the same place, has to end with the code that the row says; and tinyproxy, where it is installed, has to get the
same messages as the proxy of this file. Rows that need root (another user, a full disk, a machine without network) are
printed as skipped without it.
"""

import concurrent.futures
import contextlib
import hashlib
import itertools
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

from box import BIN, Box
from command import end, wait_until

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cli_failures.txt")
SHIM = os.environ.get("SLOOP_TEST_DNS_SHIM", "")
ROOT = os.geteuid() == 0
NOBODY = 65534
RESET = struct.pack("ii", 1, 0)
AWS = "kinesis.us-east-1.amazonaws.com"
LIMIT = 90  # seconds of a run: credential_process is given 60

ROWS = []


def row(section, name, *words, status=1, curl=None, root=False):
    """A row of the table. words: what the message has to name. curl: its exit code in the same place."""
    def take(function):
        ROWS.append((section, name, function, words, status, curl, root))
        return function
    return take


class Skip(Exception):
    """The row can't be provoked here."""


class Reset(Exception):
    """A talk that ends so has its connection reset."""


# ---- servers of one row ----------------------------------------------------------------------------------------


def read_head(c):
    got = b""
    while b"\r\n\r\n" not in got:
        piece = c.recv(4096)
        if not piece:
            return got
        got += piece
    return got


def answers(line, body="", headers=""):
    """An HTTP answer to every request of a connection, whatever it asks."""
    def talk(c):
        while head := read_head(c):
            length = re.search(rb"(?i)content-length: (\d+)", head)
            rest = int(length.group(1)) - len(head.split(b"\r\n\r\n", 1)[1]) if length else 0
            while rest > 0:
                rest -= len(c.recv(rest))
            c.sendall(f"HTTP/1.1 {line}\r\n{headers}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    return talk


def says(text, after_head=True, reset=False):
    """Some bytes, and the end."""
    def talk(c):
        if after_head:
            read_head(c)
        c.sendall(text)
        if reset:
            raise Reset
    return talk


def resets(c):
    read_head(c)
    raise Reset


def is_no_tls(c):
    """A web server whose plain port is asked in TLS."""
    c.recv(4096)
    c.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def silent(c):
    while c.recv(65536):
        pass


def pipe(a, b, limit):
    """What a says goes to b, until so many bytes went."""
    try:
        while limit > 0 and (piece := a.recv(65536)):
            b.sendall(piece[:limit])
            limit -= len(piece)
    except OSError:
        pass


def joins(port, limit=1 << 40, connect=False, hangs=False):
    """Joins a connection to that port; of its answers `limit` bytes, and then the end, or silence."""
    def talk(c):
        if connect:
            read_head(c)
            c.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with socket.create_connection(("127.0.0.1", port)) as to:
            threading.Thread(target=pipe, args=(c, to, 1 << 40), daemon=True).start()
            pipe(to, c, limit)
            if hangs:
                silent(c)
    return talk


class Listener:
    def __init__(self, talk, tls=None):
        self.talk, self.tls, self.ended = talk, tls, False
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.socket.listen(64)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                c = self.socket.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def serve(self, c):
        c.settimeout(LIMIT)
        try:
            with self.tls.wrap_socket(c, server_side=True) if self.tls else c as c:
                try:
                    self.talk(c)
                    c.shutdown(socket.SHUT_RDWR)  # close() alone would wait for another thread's recv
                except Reset:
                    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        except (OSError, ValueError):
            pass  # the client left, or did not like the certificate

    def close(self):
        self.socket.close()


# ---- certificates ----------------------------------------------------------------------------------------------


class Certificates:
    """An authority that the rows may trust, one that nobody does, and certificates of both; made by openssl."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("ca", "stranger", "self"):
            self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem",
                         "-days", "3650", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1")
        self.make("good", "ca", f"IP:127.0.0.1,DNS:{AWS}", 3650)
        self.make("elsewhere", "ca", "DNS:other.example", 3650)
        self.make("expired", "ca", "IP:127.0.0.1", -1)
        self.make("strange", "stranger", "IP:127.0.0.1", 3650)

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def make(self, name, authority, names, days):
        self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
                     f"/CN={name}")
        with open(self.path(name + ".ext"), "w", encoding="ascii") as file:
            file.write(f"subjectAltName={names}\n")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key",
                     "-CAcreateserial", "-out", f"{name}.pem", "-days", str(days), "-extfile", f"{name}.ext")

    def path(self, name):
        return os.path.join(self.folder, name)

    def server(self, name):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path(name + ".pem"), self.path(name + ".key"))
        return context


# ---- a row's place ---------------------------------------------------------------------------------------------


class All:
    """What the rows share."""

    def __init__(self, folder):
        self.folder = folder
        os.chmod(folder, 0o755)
        self.binary = shutil.copy(BIN, os.path.join(folder, "stream-tail"))  # nobody may not see ours
        self.certificates = Certificates(folder)
        self.box = None
        self.numbers = itertools.count(1)


class Place:
    def __init__(self, shared):
        self.shared, self.made = shared, []
        self.dir = os.path.join(shared.folder, str(next(shared.numbers)))
        os.mkdir(self.dir)
        os.chmod(self.dir, 0o755)
        self.names = {}  # what is printed of this run alone, and its name in the table
        self.env = {"PATH": os.environ["PATH"], "HOME": self.dir, "AWS_REGION": "us-east-1", "LC_ALL": "C.UTF-8",
                    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "example",
                    "AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1"}
        self.url = f"https://{AWS}/"  # what curl is to fetch
        self.curl_more = []

    def close(self):
        for one in self.made:
            one.close()

    # ---- what there is

    def path(self, name):
        return os.path.join(self.dir, name)

    def file(self, name, text="", mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def folder(self, name, mode=0o755):
        os.mkdir(self.path(name))
        os.chmod(self.path(name), mode)
        return self.path(name)

    def listen(self, talk, name="SERVER", tls=None):
        listener = Listener(talk, self.shared.certificates.server(tls) if tls else None)
        self.made.append(listener)
        self.names[f":{listener.port}"] = f":{name}"
        return listener.port

    def closed_port(self, name="SERVER"):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.names[f":{port}"] = f":{name}"
        return port

    def deaf_port(self, name="SERVER"):
        """Its backlog is full, so that the kernel drops who comes."""
        first = socket.socket()
        first.bind(("127.0.0.1", 0))
        first.listen(0)
        self.made.append(first)
        port = first.getsockname()[1]
        for _ in range(4):
            full = socket.socket()
            full.setblocking(False)
            full.connect_ex(("127.0.0.1", port))
            self.made.append(full)
        self.names[f":{port}"] = f":{name}"
        return port

    def keyless(self, **more):
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            del self.env[name]
        self.env.update(more)

    def proxy(self, talk, user="", tls=None, scheme=None):
        port = self.listen(talk, "PROXY", tls)
        self.env["HTTPS_PROXY"] = f"{scheme or ('https' if tls else 'http')}://{user}127.0.0.1:{port}"
        return port

    def server(self, talk, tls=None, scheme=None):
        port = self.listen(talk, "SERVER", tls)
        self.env["AWS_ENDPOINT_URL"] = f"{scheme or ('https' if tls else 'http')}://127.0.0.1:{port}"
        self.url = self.env["AWS_ENDPOINT_URL"] + "/"
        if tls:
            self.trust("ca.pem")
        return port

    def trust(self, name):
        self.env["AWS_CA_BUNDLE"] = self.shared.certificates.path(name)
        self.curl_more = ["--cacert", self.env["AWS_CA_BUNDLE"]]

    def sandbox(self):
        """The sandbox, and its stream demo."""
        self.env.update(self.shared.box.env)
        self.names[":" + self.shared.box.url.rsplit(":", 1)[1]] = ":SERVER"

    def named(self, steps):
        """Names that end in .sloop.test are looked up as dns_shim.c says."""
        if not SHIM:
            raise Skip("SLOOP_TEST_DNS_SHIM does not name the built dns_shim")
        self.env.update(LD_PRELOAD=SHIM, SLOOP_DNS=steps, ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")

    # ---- running

    def clean(self, text):
        for seen, name in sorted(self.names.items(), key=lambda item: -len(item[0])):
            text = text.replace(seen, name).replace(" port " + seen[1:], " port " + name[1:])
        return text.replace(self.dir, "DIR").replace(self.shared.folder, "SHARED")

    def run(self, *arguments, user=None, before=None, wrap=(), stdout=subprocess.PIPE, stop_at=None):
        """Runs stream-tail. user: as that one; before: in the child; wrap: a command before it; stop_at: words in what
        it says after which it is interrupted."""
        argv = [*wrap, self.shared.binary, *arguments]
        if user is not None and ROOT:
            argv = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *argv]
        process = subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=stdout, cwd=self.dir,
                                   stderr=subprocess.PIPE, preexec_fn=before)
        self.child = process
        try:
            if stop_at:
                text = b""
                deadline = time.monotonic() + LIMIT
                while stop_at.encode() not in text and time.monotonic() < deadline:
                    piece = os.read(process.stderr.fileno(), 4096)
                    if not piece:
                        break
                    text += piece
                process.send_signal(signal.SIGINT)
                rest = process.communicate(timeout=30)[1]
                return process.returncode, (text + rest).decode("utf-8", "replace")
            out, err = process.communicate(timeout=LIMIT)
        finally:
            end(process)
        return process.returncode, err.decode("utf-8", "replace")

    def tail(self, *arguments, **how):
        return self.run("-e", "-m", "6", *(arguments or ("orders",)), **how)

    def curl(self):
        env = {k: v for k, v in self.env.items() if not k.startswith("AWS_")}
        done = subprocess.run(["curl", "-q", "-sS", "--max-time", "8", "--connect-timeout", "4", "-o", os.devnull,
                               *self.curl_more, self.url], env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr.strip().split("\n")[0]


# ---- a proxy ---------------------------------------------------------------------------------------------------

@row("A proxy (HTTPS_PROXY)", "answers 407, and no user is given", "407", "PROXY", "HTTPS_PROXY", curl=56)
def _(p):
    p.proxy(answers("407 Proxy Authentication Required", "<html>no</html>", 'Proxy-Authenticate: Basic realm="x"\r\n'))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "answers 407 to the user and password that are given", "407", "PROXY", "HTTPS_PROXY", curl=56)
def _(p):
    p.proxy(answers("407 Proxy Authentication Required", "", 'Proxy-Authenticate: Basic realm="x"\r\n'), "me:s3cret@")
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "answers 407 and asks for NTLM or Negotiate", "407", "NTLM or Negotiate", "Basic", curl=56)
def _(p):
    p.proxy(answers("407 Proxy Authentication Required", "", "Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n"))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "answers 407 and asks for Digest, and a user is given", "407", "Digest", "Basic", curl=56)
def _(p):
    p.proxy(answers("407 Proxy Authentication Required", "", 'Proxy-Authenticate: Digest realm="x", nonce="y"\r\n'), "me:s3cret@")
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "answers 407 and asks for NTLM or Basic", "407", "USER:PASSWORD", curl=56)
def _(p):
    p.proxy(answers("407 Proxy Authentication Required", "", 'Proxy-Authenticate: NTLM\r\nProxy-Authenticate: Basic realm="x"\r\n'))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "answers 403", "403", "PROXY", AWS, curl=56)
def _(p):
    p.proxy(answers("403 Forbidden", "<html>Access denied by policy 17</html>"))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "answers 502", "502", "PROXY", AWS, curl=56)
def _(p):
    p.proxy(answers("502 Bad Gateway"))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "answers 503", "503", "PROXY", AWS, curl=56)
def _(p):
    p.proxy(answers("503 Service Unavailable"))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "answers 405: it is a web server", "405", "PROXY", AWS, curl=56)
def _(p):
    p.proxy(answers("405 Method Not Allowed"))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "is not running", "PROXY", "refused", curl=7)
def _(p):
    p.env["HTTPS_PROXY"] = f"http://127.0.0.1:{p.closed_port('PROXY')}"
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "takes no connection", "PROXY", "4000 ms", curl=28)
def _(p):
    p.env["HTTPS_PROXY"] = f"http://127.0.0.1:{p.deaf_port('PROXY')}"
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "takes the connection and says nothing", "PROXY", "4000 ms", curl=28)
def _(p):
    p.proxy(silent)
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "closes the connection without an answer", "PROXY", "closed", curl=56)
def _(p):
    p.proxy(says(b""))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "resets the connection", "PROXY", curl=56)
def _(p):
    p.proxy(resets)
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "does not speak HTTP", "PROXY", curl=56)
def _(p):
    p.proxy(says(b"220 mail.example ESMTP\r\n\r\n"))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "is up, and closes what it joined during the TLS handshake", "PROXY", AWS, curl=35)
def _(p):
    p.proxy(says(b"HTTP/1.1 200 Connection established\r\n\r\n"))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "is up, and what it joined says nothing in the TLS handshake", "PROXY", AWS, curl=28)
def _(p):
    port = p.listen(silent)
    p.proxy(joins(port, connect=True))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "cuts the answer in the middle", "PROXY", AWS)
def _(p):
    port = p.listen(says(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"), tls="good")
    p.trust("ca.pem")
    p.proxy(joins(port, connect=True))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "resets what it joined before an answer came", "PROXY", AWS)
def _(p):
    port = p.listen(resets, tls="good")
    p.trust("ca.pem")
    p.proxy(joins(port, connect=True))
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "begins to answer 407 in the middle of the reading", "407", "PROXY", AWS, status=0)
def _(p):
    p.sandbox()
    front = p.listen(joins(int(p.shared.box.url.rsplit(":", 1)[1])), tls="good")
    p.trust("ca.pem")
    del p.env["AWS_ENDPOINT_URL"]
    begins = time.monotonic() + 3

    def cut(c):
        with contextlib.suppress(OSError):
            c.shutdown(socket.SHUT_RDWR)

    def talk(c):
        left = begins - time.monotonic()
        if left > 0:
            threading.Timer(left, cut, [c]).start()
            joins(front, connect=True)(c)
        else:
            answers("407 Proxy Authentication Required")(c)

    p.proxy(talk)
    return first(p.run("-o", "oldest", "demo", stop_at="407", stdout=subprocess.DEVNULL), "407")


@row("A proxy (HTTPS_PROXY)", "has a name that is not found", "proxy.sloop.test", "HTTPS_PROXY")
def _(p):
    p.named("nx")
    p.env["HTTPS_PROXY"] = "http://proxy.sloop.test:3128"
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "has a URL that is none", "HTTPS_PROXY", curl=5)
def _(p):
    p.env["HTTPS_PROXY"] = "http://me:s3cret@[proxy"
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "has a scheme that nobody knows", "HTTPS_PROXY", curl=7)
def _(p):
    p.env["HTTPS_PROXY"] = "ftp://me:s3cret@proxy.example:3128"
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "is for everything (ALL_PROXY), and is not running", "PROXY", "ALL_PROXY", curl=7)
def _(p):
    p.env["ALL_PROXY"] = f"http://127.0.0.1:{p.closed_port('PROXY')}"
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "is a SOCKS proxy that is not running", "PROXY", "ALL_PROXY", curl=7)
def _(p):
    p.env["ALL_PROXY"] = f"socks5h://127.0.0.1:{p.closed_port('PROXY')}"
    return p.tail()


@row("A proxy (HTTPS_PROXY)", "is a SOCKS proxy that refuses", "PROXY", "ALL_PROXY", curl=97)
def _(p):
    port = p.listen(says(b"\x05\xff", after_head=False), "PROXY")
    p.env["ALL_PROXY"] = f"socks5h://127.0.0.1:{port}"
    return p.tail()


@row("A proxy of plain http (http_proxy)", "answers 407", "407", "PROXY", "http_proxy", curl=0)
def _(p):
    port = p.listen(answers("407 Proxy Authentication Required", "<html>no</html>"), "PROXY")
    p.env.update(http_proxy=f"http://127.0.0.1:{port}", AWS_ENDPOINT_URL="http://kinesis.sloop.test")
    p.url = "http://kinesis.sloop.test/"
    return p.tail()


@row("A proxy of plain http (http_proxy)", "answers 403", "403", "PROXY", curl=0)
def _(p):
    port = p.listen(answers("403 Forbidden", "<html>Access denied by policy 17</html>"), "PROXY")
    p.env.update(http_proxy=f"http://127.0.0.1:{port}", AWS_ENDPOINT_URL="http://kinesis.sloop.test")
    p.url = "http://kinesis.sloop.test/"
    return p.tail()


@row("A proxy of plain http (http_proxy)", "answers 502", "502", "PROXY", curl=0)
def _(p):
    port = p.listen(answers("502 Bad Gateway", "<html>the name kinesis.sloop.test is not found</html>"), "PROXY")
    p.env.update(http_proxy=f"http://127.0.0.1:{port}", AWS_ENDPOINT_URL="http://kinesis.sloop.test")
    p.url = "http://kinesis.sloop.test/"
    return p.tail()


@row("A proxy of plain http (http_proxy)", "is not running", "PROXY", "refused", curl=7)
def _(p):
    p.env.update(http_proxy=f"http://127.0.0.1:{p.closed_port('PROXY')}", AWS_ENDPOINT_URL="http://kinesis.sloop.test")
    p.url = "http://kinesis.sloop.test/"
    return p.tail()


# ---- a proxy that is not of this file --------------------------------------------------------------------------

TINYPROXY = """Port {port}
Listen 127.0.0.1
Timeout 20
LogFile "{log}"
LogLevel Info
MaxClients 20
{more}
"""


def tinyproxy(p, more):
    """Debian's tinyproxy, in place of the one of this file."""
    if not shutil.which("tinyproxy"):
        raise Skip("tinyproxy is not installed")
    port = p.closed_port("PROXY")
    conf = p.file("tinyproxy.conf", TINYPROXY.format(port=port, log=p.path("tinyproxy.log"), more=more))
    process = subprocess.Popen(["tinyproxy", "-d", "-c", conf], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    p.made.append(Ending(process))

    def listens():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(listens, what="tinyproxy")
    p.env["HTTPS_PROXY"] = f"http://127.0.0.1:{port}"


class Ending:
    def __init__(self, process):
        self.process = process

    def close(self):
        end(self.process)


@row("A proxy of other people (tinyproxy)", "asks for a user and password", "407", "PROXY", "HTTPS_PROXY", curl=56)
def _(p):
    tinyproxy(p, "BasicAuth someone else")
    return p.tail()


@row("A proxy of other people (tinyproxy)", "filters the host", "403", "PROXY", AWS, curl=56)
def _(p):
    tinyproxy(p, f'Filter "{p.file("filter", "amazonaws" + chr(10))}"')
    return p.tail()


@row("A proxy of other people (tinyproxy)", "allows no CONNECT to that port", "403", "PROXY", AWS, curl=56)
def _(p):
    tinyproxy(p, "ConnectPort 8443")
    return p.tail()


@row("A proxy of other people (tinyproxy)", "does not find the host", "500", "PROXY", "kinesis.localhost", curl=56)
def _(p):
    tinyproxy(p, "")
    p.env["AWS_ENDPOINT_URL"] = f"https://kinesis.localhost.example.invalid:{p.closed_port()}"
    p.url = p.env["AWS_ENDPOINT_URL"] + "/"
    return p.tail()


# ---- a proxy that is asked over TLS ----------------------------------------------------------------------------

@row("A proxy over TLS (HTTPS_PROXY=https://...)", "has a certificate that nobody trusts", "PROXY", "certificate", curl=60)
def _(p):
    p.proxy(silent, tls="strange")
    return p.tail()


SYSTEM_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


def trusted_by_the_system(p):
    """A world of its own, in which the certificates of the system are the authority of this file."""
    if not os.path.exists(SYSTEM_BUNDLE):
        raise Skip(f"there is no {SYSTEM_BUNDLE}")
    ours = p.shared.certificates.path("ca.pem")
    return ("unshare", "-m", "sh", "-c", f'mount --bind {ours} {SYSTEM_BUNDLE} && exec "$0" "$@"')


@row("A proxy over TLS (HTTPS_PROXY=https://...)", "has a certificate of another name", "PROXY", "127.0.0.1", root=True)
def _(p):
    p.proxy(silent, tls="elsewhere")
    return p.tail(wrap=trusted_by_the_system(p))


@row("A proxy over TLS (HTTPS_PROXY=https://...)", "has a certificate that has expired", "PROXY", "expired", root=True)
def _(p):
    p.proxy(silent, tls="expired")
    return p.tail(wrap=trusted_by_the_system(p))


@row("A proxy over TLS (HTTPS_PROXY=https://...)", "is trusted, and answers 407", "PROXY", "407", root=True)
def _(p):
    p.proxy(answers("407 Proxy Authentication Required"), tls="good")
    return p.tail(wrap=trusted_by_the_system(p))


@row("A proxy over TLS (HTTPS_PROXY=https://...)", "is of the authority in AWS_CA_BUNDLE, and answers 403", "PROXY", "403")
def _(p):
    p.trust("ca.pem")
    p.proxy(answers("403 Forbidden"), tls="good")
    return p.tail()


@row("A proxy over TLS (HTTPS_PROXY=https://...)", "is of the authority in PROXY_CA_BUNDLE, and answers 403", "PROXY", "403")
def _(p):
    p.env["PROXY_CA_BUNDLE"] = p.shared.certificates.path("ca.pem")
    p.proxy(answers("403 Forbidden"), tls="good")
    return p.tail()


@row("A proxy over TLS (HTTPS_PROXY=https://...)", "is to be judged by a bundle that is not there", "PROXY_CA_BUNDLE",
     "DIR/nowhere.pem")
def _(p):
    p.env["PROXY_CA_BUNDLE"] = p.path("nowhere.pem")
    p.proxy(silent, tls="good")
    return p.tail()


@row("A proxy over TLS (HTTPS_PROXY=https://...)", "is no TLS server", "PROXY", "TLS", curl=35)
def _(p):
    p.proxy(is_no_tls, scheme="https")
    return p.tail()


@row("A proxy over TLS (HTTPS_PROXY=https://...)", "closes the connection during the handshake", "PROXY", "TLS", curl=35)
def _(p):
    p.proxy(says(b"", after_head=False), scheme="https")
    return p.tail()


@row("A proxy over TLS (HTTPS_PROXY=https://...)", "says nothing during the handshake", "PROXY", "TLS", curl=28)
def _(p):
    p.proxy(silent, scheme="https")
    return p.tail()


@row("A server behind a proxy", "has a certificate that nobody trusts", AWS, "certificate", curl=60)
def _(p):
    p.proxy(joins(p.listen(silent, tls="strange"), connect=True))
    return p.tail()


@row("A server behind a proxy", "has a certificate of another name", AWS, "certificate", curl=60)
def _(p):
    p.trust("ca.pem")
    p.proxy(joins(p.listen(silent, tls="elsewhere"), connect=True))
    return p.tail()


# ---- a server --------------------------------------------------------------------------------------------------

@row("The certificate of a server", "is of an authority that nobody trusts", "SERVER", "certificate", curl=60)
def _(p):
    p.server(silent, tls="strange")
    return p.tail()


@row("The certificate of a server", "is signed by itself", "SERVER", "certificate", curl=60)
def _(p):
    p.server(silent, tls="self")
    return p.tail()


@row("The certificate of a server", "has expired", "SERVER", "expired", curl=60)
def _(p):
    p.server(silent, tls="expired")
    return p.tail()


@row("The certificate of a server", "is of another name", "SERVER", "127.0.0.1", curl=60)
def _(p):
    p.server(silent, tls="elsewhere")
    return p.tail()


@row("The certificate of a server", "is to be judged by a bundle that is not there", "DIR/nowhere.pem", curl=77)
def _(p):
    p.server(silent, tls="good")
    p.env["AWS_CA_BUNDLE"] = p.path("nowhere.pem")
    p.curl_more = ["--cacert", p.env["AWS_CA_BUNDLE"]]
    return p.tail()


@row("The certificate of a server", "is to be judged by a bundle that may not be read", "DIR/ca.pem", root=True)
def _(p):
    p.server(silent, tls="good")
    p.env["AWS_CA_BUNDLE"] = p.file("ca.pem", "x", 0)
    return p.tail(user=NOBODY)


@row("The certificate of a server", "is to be judged by a bundle that holds no certificate", "DIR/ca.pem", curl=77)
def _(p):
    p.server(silent, tls="good")
    p.env["AWS_CA_BUNDLE"] = p.file("ca.pem", "hello\n")
    p.curl_more = ["--cacert", p.env["AWS_CA_BUNDLE"]]
    return p.tail()


@row("TLS with a server", "is asked of a plain http port", "SERVER", "TLS", curl=35)
def _(p):
    p.server(is_no_tls, scheme="https")
    return p.tail()


@row("TLS with a server", "is not asked of an https port", "SERVER")
def _(p):
    p.server(silent, tls="good", scheme="http")
    return p.tail()


@row("TLS with a server", "ends during the handshake", "SERVER", "TLS", curl=35)
def _(p):
    p.server(says(b"", after_head=False), scheme="https")
    return p.tail()


@row("TLS with a server", "gets no answer during the handshake", "SERVER", "TLS", curl=28)
def _(p):
    p.server(silent, scheme="https")
    return p.tail()


@row("A connection to a server", "has a name that is not found", "kinesis.sloop.test")
def _(p):
    p.named("nx")
    p.env["AWS_ENDPOINT_URL"] = "http://kinesis.sloop.test:4567"
    return p.tail()


@row("A connection to a server", "asks a name server that fails", "kinesis.sloop.test")
def _(p):
    p.named("again")
    p.env["AWS_ENDPOINT_URL"] = "http://kinesis.sloop.test:4567"
    return p.tail()


@row("A connection to a server", "asks a name server that says nothing", "kinesis.sloop.test", "4000 ms")
def _(p):
    p.named("stall=30")
    p.env["AWS_ENDPOINT_URL"] = "http://kinesis.sloop.test:4567"
    return p.tail()


@row("A connection to a server", "is refused", "SERVER", "refused", curl=7)
def _(p):
    p.env["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{p.closed_port()}"
    p.url = p.env["AWS_ENDPOINT_URL"]
    return p.tail()


@row("A connection to a server", "has no way to its network", "192.0.2.1:443", root=True)
def _(p):
    p.env["AWS_ENDPOINT_URL"] = "https://192.0.2.1"
    return p.tail(wrap=("unshare", "-n"))


@row("A connection to a server", "is not answered", "SERVER", "4000 ms", curl=28)
def _(p):
    p.env["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{p.deaf_port()}"
    p.url = p.env["AWS_ENDPOINT_URL"]
    return p.tail()


@row("A connection to a server", "ends without an answer", "SERVER", curl=52)
def _(p):
    p.server(says(b""))
    return p.tail()


@row("A connection to a server", "is reset", "SERVER", curl=56)
def _(p):
    p.server(resets)
    return p.tail()


@row("A connection to a server", "is cut in the middle of an answer", "SERVER", curl=18)
def _(p):
    p.server(says(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"))
    return p.tail()


@row("A connection to a server", "is reset in the middle of an answer", "SERVER", curl=56)
def _(p):
    p.server(says(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{", reset=True))
    return p.tail()


@row("A connection to a server", "is up, and the server says nothing", "SERVER", "10000 ms")
def _(p):
    p.server(silent)
    return p.run("-e", "orders")


@row("A connection to a server", "is up, and the server says nothing in the time of --timeout", "2 s", "silent")
def _(p):
    p.server(silent)
    return p.run("-e", "-m", "2", "orders")


@row("What a server answers", "is not HTTP", "SERVER")
def _(p):
    p.server(says(b"220 mail.example ESMTP\r\n\r\n"))
    return p.tail()


@row("What a server answers", "is a page for people, with 200", "SERVER", "text/html")
def _(p):
    p.server(answers("200 OK", "<html>Welcome to the hotel's network</html>", "Content-Type: text/html\r\n"))
    return p.tail()


@row("What a server answers", "leads elsewhere", "302")
def _(p):
    p.server(answers("302 Found", "", "Location: http://portal.example/login\r\n"))
    return p.tail()


@row("What a server answers", "is 503", "503", status=1)
def _(p):
    p.server(answers("503 Service Unavailable", "<html>maintenance</html>"))
    return p.tail()


@row("What a server answers", "is that it does not know the key", "UnrecognizedClient")
def _(p):
    p.server(answers("400 Bad Request", '{"__type":"UnrecognizedClientException","message":"The security token included '
                     'in the request is invalid."}', "Content-Type: application/x-amz-json-1.1\r\n"))
    return p.tail()


# ---- credentials -----------------------------------------------------------------------------------------------

def container(p, line, body="", headers="Content-Type: application/json\r\n"):
    port = p.listen(answers(line, body, headers), "CREDENTIALS")
    p.keyless(AWS_CONTAINER_CREDENTIALS_FULL_URI=f"http://127.0.0.1:{port}/role", AWS_CONTAINER_AUTHORIZATION_TOKEN="t0ken")
    return p.tail()


@row("Credentials of a container", "are refused, with a reason", "403", "AccessDenied", "who are you?")
def _(p):
    return container(p, "403 Forbidden", '{"code":"AccessDenied","message":"who are you?"}')


@row("Credentials of a container", "are refused, as the agent of EKS does it", "400", "InvalidTokenException", "not valid")
def _(p):
    return container(p, "400 Bad Request", '{"Code":"InvalidTokenException","Message":"The token is not valid"}')


@row("Credentials of a container", "are refused with a page", "404", "no such role")
def _(p):
    return container(p, "404 Not Found", "<html>no such role\n</html>", "Content-Type: text/html\r\n")


@row("Credentials of a container", "can't be had: the endpoint fails", "500", "out of roles", status=1)
def _(p):
    return container(p, "500 Internal Server Error", '{"code":"InternalServerError","message":"out of roles"}')


@row("Credentials of a container", "can't be read", "CREDENTIALS")
def _(p):
    return container(p, "200 OK", "<html>what?")


@row("Credentials of a container", "come from an endpoint that is not running", "CREDENTIALS", "refused")
def _(p):
    p.keyless(AWS_CONTAINER_CREDENTIALS_FULL_URI=f"http://127.0.0.1:{p.closed_port('CREDENTIALS')}/role")
    return p.run("-e", "orders")


@row("Credentials of a container", "come from an endpoint that says nothing", "CREDENTIALS", "2000 ms")
def _(p):
    p.keyless(AWS_CONTAINER_CREDENTIALS_FULL_URI=f"http://127.0.0.1:{p.listen(silent, 'CREDENTIALS')}/role")
    return p.run("-e", "orders")


@row("Credentials of a container", "are asked for with a token file that is not there", "DIR/token")
def _(p):
    p.keyless(AWS_CONTAINER_CREDENTIALS_FULL_URI="http://127.0.0.1:1/role",
              AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=p.path("token"))
    return p.tail()


@row("Credentials of a container", "are asked for with a token file that may not be read", "DIR/token", root=True)
def _(p):
    p.keyless(AWS_CONTAINER_CREDENTIALS_FULL_URI="http://127.0.0.1:1/role",
              AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=p.file("token", "t0ken", 0))
    return p.tail(user=NOBODY)


@row("Credentials of a container", "have an address that is far away and not encrypted",
     "AWS_CONTAINER_CREDENTIALS_FULL_URI")
def _(p):
    p.keyless(AWS_CONTAINER_CREDENTIALS_FULL_URI="http://10.0.0.1/role")
    return p.tail()


def machine(p, talk, **more):
    port = p.listen(talk, "METADATA")
    p.keyless(AWS_EC2_METADATA_SERVICE_ENDPOINT=f"http://127.0.0.1:{port}", **more)
    del p.env["AWS_EC2_METADATA_DISABLED"]
    return p.tail()


def metadata(role=("404 Not Found", ""), document=("200 OK", "")):
    def talk(c):
        while head := read_head(c):
            line, body = ("200 OK", "token") if head.startswith(b"PUT") else \
                role if b"security-credentials/ HTTP" in head else document
            c.sendall(f"HTTP/1.1 {line}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    return talk


@row("Credentials of a machine", "are of no role", "METADATA", "no role")
def _(p):
    return machine(p, metadata())


@row("Credentials of a machine", "are refused", "METADATA", "401")
def _(p):
    return machine(p, metadata(("401 Unauthorized", "")))


@row("Credentials of a machine", "can't be had: the role may not be assumed", "AssumeRoleUnauthorizedAccess", "trust policy")
def _(p):
    return machine(p, metadata(("200 OK", "the-role"), ("200 OK", json.dumps(
        {"Code": "AssumeRoleUnauthorizedAccess", "Message": "EC2 cannot assume the role. See its trust policy."}))))


@row("Credentials of a machine", "can't be had: the service fails", "METADATA", "500", status=1)
def _(p):
    return machine(p, answers("500 Internal Server Error"))


@row("Credentials of a machine", "come from an endpoint that is not running", "METADATA", "refused", status=1)
def _(p):
    p.keyless(AWS_EC2_METADATA_SERVICE_ENDPOINT=f"http://127.0.0.1:{p.closed_port('METADATA')}")
    del p.env["AWS_EC2_METADATA_DISABLED"]
    return p.tail()


@row("Credentials of a machine", "come from an endpoint that says nothing", "METADATA", "1000 ms", status=1)
def _(p):
    return machine(p, silent)


@row("Credentials", "are nowhere", "AWS_ACCESS_KEY_ID", "~/.aws/credentials")
def _(p):
    p.keyless()
    return p.tail()


@row("Credentials", "are half in the environment", "AWS_SECRET_ACCESS_KEY")
def _(p):
    del p.env["AWS_SECRET_ACCESS_KEY"]
    return p.tail()


@row("Credentials", "are of a profile that is not there", "nobody", "DIR/.aws/config")
def _(p):
    p.keyless(AWS_PROFILE="nobody")
    return p.tail()


@row("Credentials", "are in a file that may not be read, and the profile is named", "DIR/.aws/credentials", root=True)
def _(p):
    p.file(".aws/credentials", "[work]\n", 0)
    p.keyless(AWS_PROFILE="work")
    return p.tail(user=NOBODY)


@row("Credentials", "are in a file that may not be read, and no profile is named", "DIR/.aws/credentials", root=True)
def _(p):
    p.file(".aws/credentials", "[default]\n", 0)
    p.keyless()
    return p.tail(user=NOBODY)


@row("Credentials", "are in a home that may not be read", "DIR/closed", status=2, root=True)
def _(p):
    p.env["HOME"] = p.folder("closed", 0o700)
    p.keyless()
    return p.tail(user=NOBODY)


@row("Credentials", "are in a home that does not exist", "AWS_ACCESS_KEY_ID", "DIR/gone")
def _(p):
    p.env["HOME"] = p.path("gone")
    p.keyless()
    return p.tail()


@row("Credentials", "have no home (HOME is not set)", "HOME")
def _(p):
    del p.env["HOME"]
    p.keyless()
    return p.tail()


@row("Credentials", "are in a file that is a folder", "DIR/keys", "folder")
def _(p):
    p.keyless(AWS_SHARED_CREDENTIALS_FILE=p.folder("keys"))
    return p.tail()


@row("Credentials", "are in a file that is not there", "DIR/keys")
def _(p):
    p.keyless(AWS_SHARED_CREDENTIALS_FILE=p.path("keys"))
    return p.tail()


@row("Credentials", "are to come from a pipe (FIFO) that nobody writes to", "DIR/pipe", "10 seconds")
def _(p):
    os.mkfifo(p.path("pipe"))
    p.keyless(AWS_CONFIG_FILE=p.path("pipe"))
    return p.run("-e", "orders")


@row("Credentials", "are in a file that can't be understood", "DIR/.aws/config", "line 2")
def _(p):
    p.file(".aws/config", "[default]\nhello\n")
    p.keyless()
    return p.tail()


WEB = {"AWS_ROLE_ARN": "arn:aws:iam::1:role/r"}


@row("A web identity", "has a token file that is not there", "AWS_WEB_IDENTITY_TOKEN_FILE", "DIR/token")
def _(p):
    p.keyless(AWS_WEB_IDENTITY_TOKEN_FILE=p.path("token"), **WEB)
    return p.tail()


@row("A web identity", "has a token file that may not be read", "AWS_WEB_IDENTITY_TOKEN_FILE", "DIR/token", root=True)
def _(p):
    p.keyless(AWS_WEB_IDENTITY_TOKEN_FILE=p.file("token", "t0ken", 0), **WEB)
    return p.tail(user=NOBODY)


@row("A web identity", "has a token file that is empty", "AWS_WEB_IDENTITY_TOKEN_FILE", "DIR/token", "empty")
def _(p):
    p.keyless(AWS_WEB_IDENTITY_TOKEN_FILE=p.file("token"), **WEB)
    return p.tail()


@row("A web identity", "has a token file that is a folder", "AWS_WEB_IDENTITY_TOKEN_FILE", "DIR/token", "folder")
def _(p):
    p.keyless(AWS_WEB_IDENTITY_TOKEN_FILE=p.folder("token"), **WEB)
    return p.tail()


@row("A web identity", "has no role", "AWS_ROLE_ARN")
def _(p):
    p.keyless(AWS_WEB_IDENTITY_TOKEN_FILE=p.file("token", "t0ken"))
    return p.tail()


@row("A web identity", "is refused", "ExpiredTokenException", "Token expired")
def _(p):
    port = p.listen(answers("400 Bad Request", "<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredTokenException</Code>"
                            "<Message>Token expired: current date/time must be before the expiration date</Message></Error>"
                            "</ErrorResponse>"), "STS")
    p.keyless(AWS_WEB_IDENTITY_TOKEN_FILE=p.file("token", "t0ken"), AWS_ENDPOINT_URL_STS=f"http://127.0.0.1:{port}", **WEB)
    return p.tail()


@row("A web identity", "goes to an STS that is not running", "STS", "refused", status=1)
def _(p):
    p.keyless(AWS_WEB_IDENTITY_TOKEN_FILE=p.file("token", "t0ken"),
              AWS_ENDPOINT_URL_STS=f"http://127.0.0.1:{p.closed_port('STS')}", **WEB)
    return p.tail()


@row("A web identity", "goes to STS through a proxy that answers 403", "403", "PROXY", "sts.us-east-1.amazonaws.com")
def _(p):
    p.proxy(answers("403 Forbidden"))
    p.keyless(AWS_WEB_IDENTITY_TOKEN_FILE=p.file("token", "t0ken"), **WEB)
    return p.tail()


def sign_in(p, cache=None, mode=0o644):
    p.file(".aws/config", "[profile work]\nsso_start_url = https://x.awsapps.com/start\nsso_region = us-east-1\n"
           "sso_account_id = 123456789012\nsso_role_name = Reader\n")
    name = hashlib.sha1(b"https://x.awsapps.com/start").hexdigest()
    p.names[name] = "SHA1"
    if cache is not None:
        p.file(f".aws/sso/cache/{name}.json", cache, mode)
    p.keyless(AWS_PROFILE="work")


def token_until(year):
    return json.dumps({"accessToken": "b3arer", "expiresAt": f"{year}-01-01T00:00:00Z"})


@row("A sign-in (SSO)", "was never made", "aws sso login --profile work")
def _(p):
    sign_in(p)
    return p.tail()


@row("A sign-in (SSO)", "has expired", "expired", "aws sso login --profile work")
def _(p):
    sign_in(p, token_until(2020))
    return p.tail()


@row("A sign-in (SSO)", "is in a file that may not be read", "SHA1.json", root=True)
def _(p):
    sign_in(p, token_until(2099), 0)
    return p.tail(user=NOBODY)


@row("A sign-in (SSO)", "is in a file that can't be understood", "SHA1.json")
def _(p):
    sign_in(p, "hello")
    return p.tail()


@row("A sign-in (SSO)", "is not accepted", "aws sso login --profile work")
def _(p):
    sign_in(p, token_until(2099))
    p.env["AWS_ENDPOINT_URL_SSO"] = f"http://127.0.0.1:{p.listen(answers('401 Unauthorized', '{}'), 'SSO')}"
    return p.tail()


@row("A sign-in (SSO)", "does not allow the role", "ForbiddenException", "No access", "Reader")
def _(p):
    sign_in(p, token_until(2099))
    port = p.listen(answers("403 Forbidden", '{"message":"No access","__type":"com.amazonaws.switchboard.portal#'
                            'ForbiddenException"}', "x-amzn-ErrorType: ForbiddenException\r\n"), "SSO")
    p.env["AWS_ENDPOINT_URL_SSO"] = f"http://127.0.0.1:{port}"
    return p.tail()


def session(p, cache=None, mode=0o600):
    """A profile that needs a session of `aws login`."""
    p.file(".aws/config", "[profile work]\nlogin_session = arn:aws:iam::111122223333:user/u\n")
    name = hashlib.sha256(b"arn:aws:iam::111122223333:user/u").hexdigest()
    p.names[name] = "SHA256"
    if cache is not None:
        p.file(f".aws/login/cache/{name}.json", cache, mode)
    p.keyless(AWS_PROFILE="work")


def session_until(year, **more):
    return json.dumps({"accessToken": {"accessKeyId": "AKIA", "secretAccessKey": "s3cret", "sessionToken": "t0ken",
                                       "expiresAt": f"{year}-01-01T00:00:00Z"}, **more})


@row("A session (aws login)", "was never made", "aws login --profile work")
def _(p):
    session(p)
    return p.tail()


@row("A session (aws login)", "has expired, and its cache lacks what renews it", "clientId", "aws login --profile work")
def _(p):
    session(p, session_until(2020))
    return p.tail()


@row("A session (aws login)", "has expired, and its cache can't be written", "can't be written", "aws login --profile work",
     root=True)
def _(p):
    session(p, session_until(2020, clientId="c", refreshToken="r", dpopKey="k"), 0o644)
    return p.tail(user=NOBODY)


@row("A session (aws login)", "is in a file that can't be understood", "SHA256.json", "aws login --profile work")
def _(p):
    session(p, "hello")
    return p.tail()


@row("A role with mfa_serial", "is used without a terminal", "mfa_serial", "aws configure export-credentials --profile work")
def _(p):
    p.file(".aws/config", "[profile work]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\nmfa_serial = m\n"
           "[profile base]\naws_access_key_id = AKIA\naws_secret_access_key = s3cret\n")
    p.keyless(AWS_PROFILE="work")
    return p.tail(before=os.setsid)


def program(p, text, mode=0o755, name="tool"):
    p.file(name, text, mode)
    p.file(".aws/config", f"[default]\ncredential_process = {p.path(name)}\n")
    p.keyless()


@row("credential_process", "is not there", "DIR/gone")
def _(p):
    p.file(".aws/config", f"[default]\ncredential_process = {p.path('gone')}\n")
    p.keyless()
    return p.tail()


@row("credential_process", "is not in PATH", "no-such-program")
def _(p):
    p.file(".aws/config", "[default]\ncredential_process = no-such-program --now\n")
    p.keyless()
    return p.tail()


@row("credential_process", "may not be executed", "DIR/tool")
def _(p):
    program(p, "#!/bin/sh\n", 0o644)
    return p.tail()


@row("credential_process", "is a script whose interpreter is not there", "DIR/tool", "interpreter")
def _(p):
    program(p, "#!/nonexistent/python\n")
    return p.tail()


@row("credential_process", "fails with a reason", "DIR/.aws/config", "status 3", "the vault is sealed")
def _(p):
    program(p, "#!/bin/sh\necho 'the vault is sealed' >&2\nexit 3\n")
    return p.tail()


@row("credential_process", "is killed", "signal 9")
def _(p):
    program(p, "#!/bin/sh\nkill -9 $$\n")
    return p.tail()


@row("credential_process", "prints rubbish", "JSON")
def _(p):
    program(p, "#!/bin/sh\necho 'S3CRET rubbish'\n")
    return p.tail()


@row("credential_process", "prints nothing", "nothing")
def _(p):
    program(p, "#!/bin/sh\n")
    return p.tail()


@row("credential_process", "prints keys of another version", "Version")
def _(p):
    program(p, "#!/bin/sh\necho '{\"Version\": 2}'\n")
    return p.tail()


@row("credential_process", "prints too little", "SecretAccessKey")
def _(p):
    program(p, "#!/bin/sh\necho '{\"Version\": 1, \"AccessKeyId\": \"AKID\"}'\n")
    return p.tail()


@row("credential_process", "prints keys that have expired", "expired")
def _(p):
    program(p, "#!/bin/sh\necho '{\"Version\": 1, \"AccessKeyId\": \"AKID\", \"SecretAccessKey\": \"x\", "
            "\"Expiration\": \"2020-01-01T00:00:00Z\"}'\n")
    code, text = p.tail()
    return code, re.sub(r"\d{9} s ago", "N s ago", text)


@row("credential_process", "takes long, and says what it waits for", "waited for, 60 s", "open https://example.com", "code: ", "status 1")
def _(p):
    program(p, "#!/bin/sh\necho 'open https://example.com' >&2\nprintf 'code: ' >&2\nsleep 3.5\nexit 1\n")
    return p.tail()


@row("credential_process", "wants a terminal", "no terminal here")
def _(p):
    program(p, "#!/bin/bash\nread -s code </dev/tty || exit 2\n")
    return p.tail()


@row("credential_process", "writes to standard error without end", "1048576 bytes to standard error")
def _(p):
    program(p, "#!/bin/sh\nexec yes 'no room' >&2\n")  # eight bytes a line: no bound cuts one
    code, text = p.tail()
    return code, "\n".join(line for line in text.splitlines() if "says: no room" not in line)


@row("credential_process", "hangs", "60 seconds")
def _(p):
    program(p, "#!/bin/sh\nsleep 1000\n")
    return p.run("-e", "orders")


# ---- files -----------------------------------------------------------------------------------------------------

def full_disk(command):
    """A disk of 64 KiB at DIR/disk without a free byte, in a world of its own."""
    return ("unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=64k tmpfs disk && {command} && exec \"$0\" \"$@\"")


FILL = "head -c 1000000 /dev/zero >disk/filler 2>/dev/null; :"
READ_ONLY = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o ro tmpfs disk && exec "$0" "$@"')


def keeps(p, path, **how):
    p.sandbox()
    return p.run("-e", "--save", path, "demo", **how)


@row("--save FILE", "in a folder that is not there", "--save", "DIR/gone")
def _(p):
    return keeps(p, p.path("gone/place"))


@row("--save FILE", "in a folder that may not be written", "--save", "DIR/closed", "ermission", root=True)
def _(p):
    return keeps(p, os.path.join(p.folder("closed"), "place"), user=NOBODY)


@row("--save FILE", "in a folder that may not be written, where the file is", "--save", "DIR/closed", "in place", "ermission",
     status=0, root=True)
def _(p):
    p.folder("closed")
    return keeps(p, p.file("closed/place", "", 0o666), user=NOBODY)


@row("--save FILE", "in a sticky folder, where the file is another user's", "--save", "DIR/sticky", "in place", status=0, root=True)
def _(p):
    p.folder("sticky", 0o1777)
    path = p.file("sticky/place", "", 0o664)
    os.chown(path, 12345, NOBODY)
    return keeps(p, path, user=NOBODY)


@row("--save FILE", "that is mounted by itself", "--save", "DIR/place", "in place", "mounted by itself", status=0, root=True)
def _(p):
    p.file("place", "")
    return keeps(p, p.path("place"), wrap=("unshare", "-m", "sh", "-c", 'mount --bind place place && exec "$0" "$@"'))


@row("--save FILE", "that is mounted by itself, and was removed since", "warning", "DIR/place", "is lost with this mount", status=0,
     root=True)
def _(p):
    p.file("place", "")
    p.file("other", "")
    return keeps(p, p.path("place"), wrap=("unshare", "-m", "sh", "-c",
                                           'mount --bind other place && rm other && exec "$0" "$@"'))


@row("--save FILE", "that is mounted by itself, to be read only", "--save", "DIR/place", "Read-only", root=True)
def _(p):
    p.file("place", "")
    return keeps(p, p.path("place"), wrap=("unshare", "-m", "sh", "-c", "mount --bind place place && "
                                           'mount -o remount,bind,ro place && exec "$0" "$@"'))


@row("--save FILE", "in a folder that may not be entered", "--save", "DIR/closed", "65534", root=True)
def _(p):
    return keeps(p, os.path.join(p.folder("closed", 0o700), "place"), user=NOBODY)


@row("--save FILE", "in a folder that is a file", "--save", "DIR/file")
def _(p):
    return keeps(p, p.file("file") + "/place")


@row("--save FILE", "that is a folder", "--save", "DIR/place", "folder")
def _(p):
    return keeps(p, p.folder("place"))


@row("--save FILE", "that may not be read", "--save", "DIR/open/place", "ermission", status=2, root=True)
def _(p):
    p.folder("open", 0o777)
    return keeps(p, p.file("open/place", "", 0), user=NOBODY)


@row("--save FILE", "on a file system that is read-only", "--save", "DIR/disk/place", "Read-only", root=True)
def _(p):
    p.folder("disk")
    return keeps(p, p.path("disk/place"), wrap=READ_ONLY)


@row("--save FILE", "on a disk that is full", "--save", "DIR/disk/place", root=True)
def _(p):
    p.folder("disk")
    return keeps(p, p.path("disk/place"), wrap=full_disk("touch disk/.place.lock && " + FILL))


@row("--save FILE", "that is there, on a disk that is full", "--save", "DIR/disk/place", "No space", root=True)
def _(p):
    p.sandbox()
    p.folder("disk")
    p.run("-e", "--save", p.path("place"), "demo")
    return keeps(p, p.path("disk/place"), wrap=full_disk("cp place disk && touch disk/.place.lock && " + FILL))


@row("--save FILE", "of a process that may write no file of that size (ulimit -f)", "--save", "DIR/place")
def _(p):
    return keeps(p, p.path("place"), before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))


@row("--save FILE", "that another process keeps its place in", "--save", "DIR/place", status=4)
def _(p):
    p.sandbox()
    other = subprocess.Popen([p.shared.binary, "--save", p.path("place"), "demo"], env=p.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: os.path.exists(p.path(".place.lock")), what="the lock of the other")
        return keeps(p, p.path("place"))
    finally:
        end(other)


@row("--save FILE", "that holds something else", "DIR/place", status=2)
def _(p):
    return keeps(p, p.file("place", "hello\n"))


@row("-o @FILE", "that is not there", "-o", "DIR/place", status=2)
def _(p):
    p.sandbox()
    return p.run("-e", "-o", "@" + p.path("place"), "demo")


@row("-o @FILE", "that may not be read", "-o", "DIR/place", "ermission", status=2, root=True)
def _(p):
    p.sandbox()
    return p.run("-e", "-o", "@" + p.file("place", "", 0), "demo", user=NOBODY)


@row("-o @FILE", "that is a folder", "-o", "DIR/place", "folder", status=2)
def _(p):
    p.sandbox()
    return p.run("-e", "-o", "@" + p.folder("place"), "demo")


@row("-F FILE", "that is not there", "-F", "DIR/conf", status=2)
def _(p):
    return p.run("-F", p.path("conf"), "demo")


@row("-F FILE", "that may not be read", "-F", "DIR/conf", "ermission", status=2, root=True)
def _(p):
    return p.run("-F", p.file("conf", "", 0), "demo", user=NOBODY)


@row("-F FILE", "that is a folder", "-F", "DIR/conf", "folder", status=2)
def _(p):
    return p.run("-F", p.folder("conf"), "demo")


@row("-F FILE", "with a quote that is not closed", "DIR/conf:2", "between two '", status=2)
def _(p):
    return p.run("-F", p.file("conf", "json\ngrep = \"a\n"), "demo")


@row("-F FILE", "with what may be a comment or not", "DIR/conf:1", "between quotes", status=2)
def _(p):
    return p.run("-F", p.file("conf", "poll_ms = 500 # half a second\n"), "demo")


@row("-F FILE", "with an option as on a command line", "DIR/conf:1", "dashes", status=2)
def _(p):
    return p.run("-F", p.file("conf", "--since 10m\n"), "demo")


@row("-F FILE", "with a time that is none", "DIR/conf:1", "30s", status=2)
def _(p):
    return p.run("-F", p.file("conf", "since = 30\n"), "demo")


@row("The configuration file", "of STREAM_TAIL_CONFIG that is not there", "STREAM_TAIL_CONFIG", "DIR/conf", status=2)
def _(p):
    p.env["STREAM_TAIL_CONFIG"] = p.path("conf")
    return p.run("demo")


@row("The configuration file", "of XDG_CONFIG_HOME that is a folder", "DIR/stream-tail.conf", "folder", status=2)
def _(p):
    p.env["XDG_CONFIG_HOME"] = p.dir
    p.folder("stream-tail.conf")
    return p.run("demo")


@row("The configuration file", "of HOME that may not be read", "DIR/.config/stream-tail.conf", "ermission", status=2, root=True)
def _(p):
    p.file(".config/stream-tail.conf", "", 0)
    return p.run("demo", user=NOBODY)


@row("The configuration file", "in a HOME that may not be entered", "DIR/closed", status=2, root=True)
def _(p):
    p.sandbox()
    p.env["HOME"] = p.folder("closed", 0o700)
    return p.run("-e", "gone", user=NOBODY)


@row("--store sqlite:FILE", "without the word sqlite:", "--store", "sqlite:FILE", status=2)
def _(p):
    return p.run("-G", "app", "--store", p.path("leases.db"), "demo")


@row("--store sqlite:FILE", "in a folder that is not there", "DIR/gone")
def _(p):
    return leases(p, p.path("gone/leases.db"))


def leases(p, path, **how):
    p.sandbox()
    return p.run("-e", "-G", "app", "--store", "sqlite:" + path, "demo", **how)


@row("--store sqlite:FILE", "in a folder that may not be written", "DIR/closed", root=True)
def _(p):
    return leases(p, os.path.join(p.folder("closed"), "leases.db"), user=NOBODY)


@row("--store sqlite:FILE", "in a folder that may not be entered", "DIR/closed", "ermission", root=True)
def _(p):
    return leases(p, os.path.join(p.folder("closed", 0o700), "leases.db"), user=NOBODY)


@row("--store sqlite:FILE", "in a folder that is a file", "DIR/file")
def _(p):
    return leases(p, p.file("file") + "/leases.db")


@row("--store sqlite:FILE", "that is a folder", "DIR/leases.db", "folder")
def _(p):
    return leases(p, p.folder("leases.db"))


@row("--store sqlite:FILE", "that may not be written", "DIR/leases.db", "ermission", root=True)
def _(p):
    leases(p, p.path("leases.db"))
    os.chmod(p.path("leases.db"), 0o444)
    return leases(p, p.path("leases.db"), user=NOBODY)


@row("--store sqlite:FILE", "that may not be read", "DIR/leases.db", "ermission", root=True)
def _(p):
    return leases(p, p.file("leases.db", "", 0), user=NOBODY)


@row("--store sqlite:FILE", "on a file system that is read-only", "DIR/disk/leases.db", "read-only", root=True)
def _(p):
    p.folder("disk")
    return leases(p, p.path("disk/leases.db"), wrap=READ_ONLY)


@row("--store sqlite:FILE", "on a disk that is full", "DIR/disk/leases.db", "full", status=1, root=True)
def _(p):
    p.folder("disk")
    p.sandbox()
    return p.run("-e", "-G", "app", "--store", "sqlite:" + p.path("disk/leases.db"), "-m", "6", "demo", wrap=full_disk(FILL))


@row("--store sqlite:FILE", "that is no lease file", "DIR/leases.db")
def _(p):
    return leases(p, p.file("leases.db", "hello, I am a text and no database of SQLite\n" * 100))


@row("--leases", "of a file that is not there", "DIR/leases.db")
def _(p):
    p.sandbox()
    return p.run("-G", "app", "--store", "sqlite:" + p.path("leases.db"), "--leases", "demo")


@row("Standard output", "is a full disk", "standard output", "no space left")
def _(p):
    p.sandbox()
    with open("/dev/full", "wb") as full:
        return p.run("-o", "oldest", "-e", "demo", stdout=full)


@row("Standard output", "is closed", "standard output")
def _(p):
    p.sandbox()
    return p.run("-o", "oldest", "-e", "demo", before=lambda: os.close(1))


@row("Standard output", "of -L is a full disk", "standard output", "no space left")
def _(p):
    p.sandbox()
    with open("/dev/full", "wb") as full:
        return p.run("-L", "demo", stdout=full)


@row("--metrics ADDRESS", "is another process's", "SERVER", "in use")
def _(p):
    p.sandbox()
    return p.run("-e", "--metrics", f"127.0.0.1:{p.listen(silent)}", "demo")


@row("--metrics ADDRESS", "is not of this machine", "192.0.2.1")
def _(p):
    p.sandbox()
    return p.run("-e", "--metrics", "192.0.2.1:9400", "demo")


@row("--metrics ADDRESS", "is a port of root's", "127.0.0.1:1", "ermission", root=True)
def _(p):
    p.sandbox()
    return p.run("-e", "--metrics", "127.0.0.1:1", "demo", user=NOBODY)


# ---- children of --multilang -----------------------------------------------------------------------------------

def multilang(p, executable, more="", **how):
    p.sandbox()
    url = p.shared.box.url
    name = p.file("app.properties", f"executableName = {executable}\nretrievalMode = POLLING\nstreamName = demo\napplicationName = m{id(p)}\n"
                  f"regionName = us-east-1\nkinesisEndpoint = {url}\ndynamoDBEndpoint = {url}\nmetricsLevel = NONE\n"
                  f"initialPositionInStream = TRIM_HORIZON\nAWSCredentialsProvider = EnvironmentVariableCredentialsProvider\n"
                  + more)
    return p.run("--multilang", name, **how)


@row("--multilang FILE", "is not there", "DIR/app.properties", status=2)
def _(p):
    return p.run("--multilang", p.path("app.properties"))


@row("--multilang FILE", "may not be read", "DIR/app.properties", "ermission", status=2, root=True)
def _(p):
    return p.run("--multilang", p.file("app.properties", "", 0), user=NOBODY)


@row("--multilang FILE", "is a folder", "DIR/app.properties", "folder", status=2)
def _(p):
    return p.run("--multilang", p.folder("app.properties"))


@row("A child of --multilang", "is not there", "DIR/gone", status=2)
def _(p):
    return multilang(p, p.path("gone"))


@row("A child of --multilang", "is not in PATH", "no-such-program", status=2)
def _(p):
    return multilang(p, "no-such-program --now")


@row("A child of --multilang", "may not be executed", "DIR/tool", status=2)
def _(p):
    return multilang(p, p.file("tool", "#!/bin/sh\n", 0o644))


@row("A child of --multilang", "is a folder", "DIR/tool", "folder", status=2)
def _(p):
    return multilang(p, p.folder("tool"))


@row("A child of --multilang", "is a script whose interpreter is not there", "DIR/tool", "/nonexistent/python", status=2)
def _(p):
    return multilang(p, p.file("tool", "#!/nonexistent/python -u\n", 0o755))


def first(told, words):
    """Of a child that is started again and again: the line of its first end."""
    code, text = told
    lines = [line for line in text.splitlines() if words in line]
    return code, lines[0] if lines else text


@row("A child of --multilang", "is gone when it is to be started again", "DIR/tool", "no such file", status=0)
def _(p):
    tool = p.file("tool", "#!/bin/sh\nrm \"$0\"\nexit 1\n", 0o755)
    return first(multilang(p, tool, stop_at="can't be started"), "can't be started")


@row("A child of --multilang", "ends before it answers initialize", "status 3", "initialize", status=0)
def _(p):
    tool = p.file("tool", "#!/bin/sh\nexit 3\n", 0o755)
    return first(multilang(p, tool, stop_at="gone"), "gone")


@row("A child of --multilang", "is killed before it answers initialize", "signal 9", "initialize", status=0)
def _(p):
    tool = p.file("tool", "#!/bin/sh\nkill -9 $$\n", 0o755)
    return first(multilang(p, tool, stop_at="gone"), "gone")


@row("A child of --multilang", "dies of an error that it prints", "status 1", "No module named amazon_kclpy", status=0)
def _(p):
    tool = p.file("tool", "#!/bin/sh\necho \"ModuleNotFoundError: No module named amazon_kclpy\" >&2\nexit 1\n", 0o755)
    return first(multilang(p, tool, stop_at="gone"), "gone")


@row("A child of --multilang", "prints what is no message", "hello", status=0)
def _(p):
    tool = p.file("tool", "#!/bin/sh\necho hello\nexec cat >/dev/null\n", 0o755)
    return first(multilang(p, tool, stop_at="not a message"), "not a message")


@row("A child of --multilang", "closes its output", "output", status=0)
def _(p):
    tool = p.file("tool", "#!/bin/sh\nexec >&-\nexec sleep 1000\n", 0o755)
    return first(multilang(p, tool, stop_at="killed"), "killed")


@row("A child of --multilang", "never answers", "initialize", "timeoutInSeconds", status=0)
def _(p):
    tool = p.file("tool", "#!/bin/sh\nwhile read x; do :; done\n", 0o755)
    return first(multilang(p, tool, "timeoutInSeconds = 1\n", stop_at="killed"), "killed")


# ---- the table -------------------------------------------------------------------------------------------------

def told_text(p, text):
    lines = []
    for line in p.clean(text).strip().splitlines():
        line = re.sub(r"shardId-\d{12}", "SHARD", line.removeprefix("stream-tail: "))
        line = re.sub(r" \(and \d+ more like it\)$", "", line)  # how many is a matter of time
        if line not in lines[-1:]:
            lines.append(line)
    return " // ".join(lines)


def provoke(shared, one):
    """Returns (status, text, what is wrong with it, curl's words)."""
    _, _, function, words, status, curl, root = one
    if root and not ROOT:
        raise Skip("needs root")
    place = Place(shared)
    try:
        code, text = function(place)
        if curl is not None:
            curl_code, curl_words = place.curl()
    finally:
        place.close()
    text = told_text(place, text)
    wrong = [f"it does not name \"{word}\"" for word in words if word not in text]
    wrong += [f"a secret is told: {secret}" for secret in ("s3cret", "S3CRET", "t0ken", "b3arer") if secret in text]
    if code != status:
        wrong.append(f"exit status {code}, not {status}")
    if curl is not None and curl_code != curl:
        wrong.append(f"curl ends with {curl_code}, not {curl}: {curl_words}")
    if curl is None:
        return code, text, wrong, ""
    return code, text, wrong, re.sub(r"after \d+ ms", "after N ms", place.clean(curl_words)).removeprefix("curl: ")


def read_table():
    rows, section = {}, ""
    if not os.path.exists(TABLE):
        return rows
    with open(TABLE, encoding="utf-8") as file:
        for line in file:
            if line.startswith("## "):
                section = line[3:].strip()
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if line.startswith("| ") and len(cells) >= 3 and cells[0] not in ("what fails", "---"):
                rows[(section, cells[0])] = (int(cells[1]), cells[2])
    return rows


HEAD = """# What is told when something fails

Made by `cli_failures.py --write`, which provokes each of these with the real program; the test `cli_failures` fails when a
message is another one, or a row is not provoked any more. DIR is a folder of the test, SHARED another one; PROXY, SERVER,
CREDENTIALS, METADATA, STS and SSO are ports; ` // ` stands between lines. The last column has the words of curl 7.88 in
the same place.
"""


def write_table(seen):
    section = None
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(HEAD)
        for one in ROWS:
            code, text, _, curl = seen[one[:2]]
            if one[0] != section:
                section = one[0]
                with_curl = any(other[5] is not None for other in ROWS if other[0] == section)
                file.write(f"\n## {section}\n\n| what fails | status | what is told |{' curl says |' if with_curl else ''}\n"
                           f"| --- | --- | --- |{' --- |' if with_curl else ''}\n")
            text, curl = text.replace("|", "\\|"), curl.replace("|", "\\|")
            file.write(f"| {one[1]} | {code} | {text} |{f' {curl} |' if with_curl else ''}\n")


def judge(one, got, table):
    code, text, wrong, _ = got
    wrong = list(wrong)
    known = table.get(one[:2])
    if known is None:
        wrong.append("the table has no such row")
    elif known != (code, text.replace("|", "\\|")):
        wrong.append(f"the table has: {known[0]} {known[1]}")
    return wrong


def run_all(shared, wanted):
    seen, skipped, lock = {}, {}, threading.Lock()

    def work(one):
        began = time.monotonic()
        try:
            got = provoke(shared, one)
        except Skip as why:
            got = None
            skipped[one[:2]] = str(why)
        except Exception as error:  # one row must not hide the others
            got = (-1, "", [f"{type(error).__name__}: {error}"], "")
        with lock:
            if got:
                seen[one[:2]] = got
            print(f"     {one[0]}: {one[1]} [{time.monotonic() - began:.1f} s]", flush=True)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(work, sorted(wanted, key=lambda one: one[1] != "hangs")))
    return seen, skipped


def late(one, seen, table):
    """Did it come to a time limit that the table's row knows nothing of? A busy machine's rows beside it may have held it up."""
    known = table.get(one[:2])
    return known and one[:2] in seen and "ETIMEDOUT" in seen[one[:2]][1] and "ETIMEDOUT" not in known[1]


def main():
    arguments = sys.argv[1:]
    write = "--write" in arguments
    words = [word for word in arguments if word != "--write"]
    wanted = [one for one in ROWS if not words or any(word in f"{one[0]}: {one[1]}" for word in words)]
    table = read_table()
    with contextlib.ExitStack() as stack:
        shared = All(stack.enter_context(tempfile.TemporaryDirectory(prefix="fail-")))
        shared.box = stack.enter_context(Box(1))
        shared.box.put(3)
        seen, skipped = run_all(shared, wanted)
        for one in [one for one in wanted if late(one, seen, table)]:
            print(f"again, alone: {one[0]}: {one[1]}: {seen[one[:2]][1]}", flush=True)
            seen.update(run_all(shared, [one])[0])
    bad = 0
    for one in wanted:
        name = f"{one[0]}: {one[1]}"
        if one[:2] in skipped:
            print(f"skip {name}: {skipped[one[:2]]}")
            continue
        wrong = seen[one[:2]][2] if write else judge(one, seen[one[:2]], table)
        bad += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {name}\n       {seen[one[:2]][0]} {seen[one[:2]][1]}")
        for what in wrong:
            print(f"       ! {what}")
    if not words:
        for key in table.keys() - {one[:2] for one in ROWS}:
            bad += 0 if write else 1
            print(f"FAIL {key[0]}: {key[1]}: the table has it, and nobody provokes it")
    if write and not skipped and not words:
        write_table(seen)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
