"""A TCP proxy that fails on purpose, between stream-tail and a server.

usage: proxy.py --to HOST:PORT [--listen HOST] [--cert FILE --key FILE] [--stall-handshake] [RULE...]

RULE is COUNT:ACTION[:ARGUMENT[:OPERATION]]. Each request whose operation matches (default: any) uses up the first
rule that still counts; OPERATION "connect" matches a new connection instead. COUNT * is for ever.

  delay:MS       the answer is held back so long
  cut:N          N bytes of the answer, then an orderly end (FIN)
  half:N         N bytes, then only our sending side is closed; we go on listening
  rst:N          N bytes, then a reset (SO_LINGER 0)
  blackhole:N    N bytes, then nothing more, and the connection stays open
  trickle:N      the first N bytes one by one, each in a packet of its own
  slow:N         N bytes a second
  corrupt:K      the answer's byte K has its highest bit turned over
  corrupt-body:K the same, counted from the first byte after the head
  lose-request   the request is not passed on and the connection is reset
  fin-request    the same, with an orderly end
  idle:MS        the connection is closed when no request follows within so long
  refuse         (connect) the connection is reset at once
  deaf           (connect) the connection is taken and nothing ever happens on it

With --cert it speaks TLS to the client and plain TCP to the server; --stall-handshake takes connections and never
answers the handshake. It prints "listening PORT", runs until its standard input closes, and then prints a JSON object:
connections, requests, faults (how often each action was used).
"""

import asyncio
import json
import os
import re
import signal
import socket
import ssl
import struct
import subprocess
import sys

OPERATION = re.compile(rb"(?:Kinesis_20131202|DynamoDB(?:Streams)?_20120810)\.(\w+)", re.IGNORECASE)
HEAD_END = b"\r\n\r\n"
RESET = struct.pack("ii", 1, 0)


class Rule:
    def __init__(self, text):
        count, self.action, argument, self.operation = (text.split(":") + ["", "", ""])[:4]
        self.left = float("inf") if count == "*" else int(count)
        self.number = int(argument or 0)
        if self.action in ("refuse", "deaf"):
            self.operation = "connect"

    def matches(self, operation):
        if self.left <= 0:
            return False
        return self.operation == operation if operation == "connect" else self.operation in ("", "*", operation)


class Link:
    """A connection of the client and its twin to the server."""

    def __init__(self, proxy, reader, writer):
        self.proxy, self.reader, self.writer = proxy, reader, writer
        self.rule = None
        self.sent = 0  # bytes of the present answer
        self.body_at = None  # where its body begins
        self.tail = b""
        self.silent = False
        self.watch = None

    async def run(self):
        rule = self.proxy.pick("connect")
        if rule and rule.action == "refuse":
            return self.reset()
        if rule and rule.action == "deaf":
            await asyncio.Event().wait()
        try:
            up_reader, up_writer = await asyncio.open_connection(*self.proxy.to)
        except OSError:
            return self.reset()
        up = asyncio.ensure_future(self.requests(up_writer))
        down = asyncio.ensure_future(self.answers(up_reader))
        await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
        for task in (up, down):
            task.cancel()
        for end in (up_writer, self.writer):
            end.close()
        return None

    def reset(self):
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.writer.transport.abort()

    async def requests(self, up_writer):
        while data := await self.reader.read(65536):
            found = OPERATION.search(data)
            if found:
                self.begin(found.group(1).decode())
            if self.rule and self.rule.action == "lose-request":
                return self.reset()
            if self.rule and self.rule.action == "fin-request":
                return None
            up_writer.write(data)
            await up_writer.drain()
        return None

    def begin(self, operation):
        """A new request on this connection (no client here pipelines)."""
        self.rule = self.proxy.pick(operation)
        self.proxy.requests += 1
        self.sent, self.body_at, self.tail, self.silent = 0, None, b"", False
        if self.watch:
            self.watch.cancel()
            self.watch = None

    async def answers(self, up_reader):
        while data := await up_reader.read(65536):
            if self.body_at is None:
                seen = self.tail + data
                at = seen.find(HEAD_END)
                if at >= 0:
                    self.body_at = self.sent - len(self.tail) + at + len(HEAD_END)
                self.tail = seen[-3:]
            if not await self.pass_on(data):
                return

    async def pass_on(self, data):
        """False: this connection is over."""
        rule = self.rule
        action, number = (rule.action, rule.number) if rule else ("", 0)
        if self.silent:
            return True
        if action == "delay" and self.sent == 0:
            await asyncio.sleep(number / 1000)
        elif action in ("cut", "half", "rst", "blackhole") and self.sent + len(data) >= number:
            await self.write(data[: number - self.sent])
            return await self.stop_short(action)
        elif action == "trickle":
            while data and self.sent < number:
                await self.write(data[:1])
                data = data[1:]
                await asyncio.sleep(0)
        elif action == "slow":
            for byte in range(0, len(data), max(1, number // 20)):
                await self.write(data[byte : byte + max(1, number // 20)])
                await asyncio.sleep(0.05)
            return True
        elif action in ("corrupt", "corrupt-body"):
            at = number if action == "corrupt" else (self.body_at + number if self.body_at is not None else -1)
            if self.sent <= at < self.sent + len(data):
                data = bytearray(data)
                data[at - self.sent] ^= 0x80
        await self.write(bytes(data))
        if action == "idle":
            if self.watch:
                self.watch.cancel()
            self.watch = asyncio.get_running_loop().call_later(number / 1000, self.writer.close)
        return True

    async def stop_short(self, action):
        if action == "rst":
            self.reset()
            return False
        if action == "half":
            self.writer.write_eof()
        self.silent = action in ("half", "blackhole")
        return self.silent

    async def write(self, data):
        self.sent += len(data)
        self.writer.write(data)
        await self.writer.drain()


class Server:
    def __init__(self, to, rules):
        self.to, self.rules = to, rules
        self.connections = self.requests = 0
        self.used = {}

    def pick(self, operation):
        for rule in self.rules:
            if rule.matches(operation):
                rule.left -= 1
                self.used[rule.action] = self.used.get(rule.action, 0) + 1
                return rule
        return None

    async def take(self, reader, writer):
        self.connections += 1
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await Link(self, reader, writer).run()
        except (OSError, asyncio.CancelledError):
            writer.close()

    async def stall(self, reader, writer):
        self.connections += 1
        await asyncio.Event().wait()


async def serve(arguments):
    options, rules = {"--listen": "127.0.0.1"}, []
    while arguments:
        word = arguments.pop(0)
        if word == "--stall-handshake":
            options[word] = True
        elif word.startswith("--"):
            options[word] = arguments.pop(0)
        else:
            rules.append(Rule(word))
    host, port = options["--to"].rsplit(":", 1)
    server = Server((host, int(port)), rules)
    context = None
    if "--cert" in options:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options["--cert"], options["--key"])
    handler = server.stall if "--stall-handshake" in options else server.take
    listening = await asyncio.start_server(handler, options["--listen"], 0, ssl=context, backlog=512)
    print("listening", listening.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def on_input():
        if not os.read(0, 4096):
            loop.remove_reader(0)
            ended.set()

    loop.add_reader(0, on_input)
    await ended.wait()
    print(json.dumps({"connections": server.connections, "requests": server.requests, "faults": server.used}), flush=True)
    os._exit(0)  # connections that are held silent on purpose are not waited for


class Proxy:
    """The program as a context manager: with Proxy(url, rules) as p: ... p.url; p.counts after the end."""

    def __init__(self, url, rules=(), options=(), scheme="http", host="127.0.0.1"):
        self.argv = [sys.executable, os.path.abspath(__file__), "--to", url.split("//")[1].strip("/"), *options, *rules]
        self.scheme, self.host, self.counts, self.process = scheme, host, None, None

    def __enter__(self):
        self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().split()
        if not line:
            raise RuntimeError("the proxy does not start")
        self.port = int(line[1])
        return self

    @property
    def url(self):
        return f"{self.scheme}://{self.host}:{self.port}"

    def __exit__(self, *exception):
        self.process.stdin.close()
        text = self.process.stdout.readline()
        self.counts = json.loads(text) if text else None
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C of a test is for stream-tail; we end with our input
    asyncio.run(serve(sys.argv[1:]))
