"""TCP valves between workers and services, turned while everything runs: so a worker can be cut off from its lease table
and not from its records, or the other way round, or hear no answers although its requests arrive.

usage: valve.py NAME=HOST:PORT...

Prints a JSON object {NAME: port}, then takes orders on standard input and answers each with "ok" once it holds:

  NAME DIRECTION MODE [NUMBER]      DIRECTION: up (to the service), down (from it), both

  open        everything passes
  delay MS    everything passes, so much later
  bytes       everything passes, byte by byte, each in a packet of its own
  hold        nothing passes; what came meanwhile passes when the valve is turned again, as after packets that were sent
              again: also when its sender is dead by then
  hole        what comes is swallowed; a connection that lost something stays silent for ever
  cut         (both) connections are ended in order, new ones too
  reset       (both) the same by a reset

It runs until its standard input ends, and then prints {NAME: {connections, bytes, held, swallowed, ended}}.
"""

import asyncio
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading

RESET = struct.pack("ii", 1, 0)
WAYS = ("up", "down")


class Way:
    """A direction of a valve."""

    def __init__(self):
        self.mode, self.number = "open", 0
        self.turned = asyncio.Event()

    def turn(self, mode, number):
        self.mode, self.number = mode, number
        self.turned.set()
        self.turned = asyncio.Event()


class Link:
    """A connection of a client and its twin to the service."""

    def __init__(self, valve, reader, writer):
        self.valve, self.reader, self.writer = valve, reader, writer
        self.up_writer = None

    def end(self, mode):
        self.valve.count("ended")
        for writer in filter(None, (self.writer, self.up_writer)):
            if mode == "reset":
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                writer.transport.abort()
            else:
                writer.close()

    async def run(self):
        if self.valve.ways["up"].mode in ("cut", "reset"):
            return self.end(self.valve.ways["up"].mode)
        try:
            up_reader, self.up_writer = await asyncio.open_connection(*self.valve.to)
        except OSError:
            return self.end("reset")
        if self.valve.ways["up"].mode in ("cut", "reset"):  # turned while we connected
            return self.end(self.valve.ways["up"].mode)
        pumps = {asyncio.ensure_future(self.pump("up", self.reader, self.up_writer)),
                 asyncio.ensure_future(self.pump("down", up_reader, self.writer))}
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for task in pumps:
            task.cancel()
        for writer in (self.up_writer, self.writer):
            writer.close()  # after what is written
        return None

    async def pump(self, direction, reader, writer):
        way, silent = self.valve.ways[direction], False
        while data := await reader.read(65536):
            self.valve.count("bytes", len(data))
            if way.mode == "delay":
                await asyncio.sleep(way.number / 1000)
            while way.mode == "hold":
                self.valve.count("held", len(data))
                await way.turned.wait()
            silent = silent or way.mode == "hole"
            if silent:
                self.valve.count("swallowed", len(data))
                continue
            step = 1 if way.mode == "bytes" else len(data)
            for at in range(0, len(data), step):
                writer.write(data[at : at + step])
                await writer.drain()
                if step == 1:
                    await asyncio.sleep(0)


class Valve:
    def __init__(self, to):
        self.to = to
        self.ways = {way: Way() for way in WAYS}
        self.links = set()
        self.counts = {}

    def count(self, what, n=1):
        self.counts[what] = self.counts.get(what, 0) + n

    async def take(self, reader, writer):
        link = Link(self, reader, writer)
        self.links.add(link)
        self.count("connections")
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await link.run()
        except (OSError, asyncio.CancelledError):
            writer.close()
        finally:
            self.links.discard(link)

    def turn(self, direction, mode, number):
        for way in WAYS if direction == "both" else (direction,):
            self.ways[way].turn(mode, number)
        if mode in ("cut", "reset"):
            for link in list(self.links):
                link.end(mode)


async def serve(arguments):
    valves, ports = {}, {}
    for argument in arguments:
        name, to = argument.split("=", 1)
        host, port = to.rsplit(":", 1)
        valves[name] = Valve((host, int(port)))
        server = await asyncio.start_server(valves[name].take, "127.0.0.1", 0, backlog=512)
        ports[name] = server.sockets[0].getsockname()[1]
    print(json.dumps(ports), flush=True)
    loop, ended, rest = asyncio.get_running_loop(), asyncio.Event(), [b""]

    def on_input():
        data = os.read(0, 65536)
        if not data:
            loop.remove_reader(0)
            ended.set()
        *lines, rest[0] = (rest[0] + data).split(b"\n")
        for line in lines:
            name, direction, mode, *number = line.decode().split()
            valves[name].turn(direction, mode, int(number[0]) if number else 0)
            print("ok", flush=True)

    loop.add_reader(0, on_input)
    await ended.wait()
    print(json.dumps({name: valve.counts for name, valve in valves.items()}), flush=True)
    os._exit(0)  # connections that are held silent on purpose are not waited for


class Valves:
    """The program as a context manager. services: {NAME: URL}. Its turn() may be called on any thread."""

    def __init__(self, services):
        self.argv = [sys.executable, os.path.abspath(__file__),
                     *(f"{name}={url.split('//')[1].strip('/')}" for name, url in services.items())]
        self.process = self.ports = self.counts = None
        self.lock = threading.Lock()

    def __enter__(self):
        self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the valves do not start")
        self.ports = json.loads(line)
        return self

    def url(self, name):
        return f"http://127.0.0.1:{self.ports[name]}"

    def turn(self, name, mode, direction="both", number=0):
        with self.lock:
            self.process.stdin.write(f"{name} {direction} {mode} {number}\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        if answer != "ok\n":
            raise RuntimeError(f"the valves say {answer!r} to {name} {direction} {mode}")

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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C of a test is for the workers; we end with our input
    asyncio.run(serve(sys.argv[1:]))
