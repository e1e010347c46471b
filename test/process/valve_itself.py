"""Shows that each turn of valve.py does what it says, seen by plain sockets: else a fleet that survives it proves nothing."""

import socket
import threading
import time

from harness import Tests, expect, wait_until
from proxy_itself import segments
from valve import Valves


class Echo:
    """A service that answers every byte by the same byte, and remembers what arrived."""

    def __enter__(self):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.arrived, self.taken = b"", 0
        threading.Thread(target=self.serve, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        return self

    def serve(self):
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            self.taken += 1
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        with connection:
            try:
                while data := connection.recv(4096):
                    self.arrived += data
                    connection.sendall(data)
            except OSError:
                pass

    def __exit__(self, *exception):
        self.listening.close()


class Client:
    def __init__(self, valves, name="a"):
        self.socket = socket.create_connection(("127.0.0.1", valves.ports[name]), 5)
        self.socket.settimeout(0.3)

    def say(self, data):
        """The answer: bytes, "silence", "end" or "reset"."""
        got = b""
        try:
            self.socket.sendall(data)
            while len(got) < len(data):
                more = self.socket.recv(4096)
                if not more:
                    return "end"
                got += more
        except TimeoutError:
            return got or "silence"
        except (ConnectionResetError, BrokenPipeError):
            return "reset"
        return got

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.socket.close()


def with_echo(test):
    with Echo() as echo, Valves({"a": echo.url, "b": echo.url}) as valves:
        test(echo, valves)
    return str(valves.counts["a"])


def passes(echo, valves):
    with Client(valves) as client:
        expect(client.say(b"hello") == b"hello", "open: it does not pass")
        for mode in ("delay", "bytes", "open"):
            valves.turn("a", mode, number=1)
            expect(client.say(b"hello") == b"hello", f"{mode}: it does not pass")
    expect(echo.taken == 1, f"{echo.taken} connections")


def delays(_, valves):
    with Client(valves) as client:
        valves.turn("a", "delay", "down", 150)
        began = time.monotonic()
        expect(client.say(b"x") == b"x", "it does not pass")
        took = time.monotonic() - began
        expect(took >= 0.15, f"after {took:.3f} s")


def byte_by_byte(_, valves):
    with Client(valves) as client:
        before = segments(client.socket)
        expect(client.say(b"x" * 100) == b"x" * 100, "open: it does not pass")
        whole = segments(client.socket) - before
        valves.turn("a", "bytes", "down")

        def in_pieces():
            """A machine with a lot to do may join some of them on the way."""
            so_far = segments(client.socket)
            expect(client.say(b"x" * 100) == b"x" * 100, "it does not pass")
            return segments(client.socket) - so_far >= 100

        wait_until(in_pieces, 60, "100 segments of a byte each")
        expect(whole < 10, f"{whole} segments")


def holds(echo, valves):
    """Held bytes arrive late, also when its sender has gone; the other valve stays open."""
    with Client(valves) as client, Client(valves, "b") as other:
        valves.turn("a", "hold", "up")
        expect(client.say(b"late") == "silence", "it passes")
        expect(other.say(b"x") == b"x", "the other one is shut")
    time.sleep(0.1)  # nothing may arrive meanwhile
    expect(b"late" not in echo.arrived, "it has arrived")
    valves.turn("a", "open")
    wait_until(lambda: b"late" in echo.arrived, 20, "what was held arrives")


def holds_answers(echo, valves):
    with Client(valves) as client:
        valves.turn("a", "hold", "down")
        expect(client.say(b"question") == "silence", "an answer came")
        expect(echo.arrived == b"question", "the question did not arrive")
        valves.turn("a", "open")
        expect(client.socket.recv(100) == b"question", "the answer that was held does not come")


def swallows(echo, valves):
    with Client(valves) as client:
        expect(client.say(b"1") == b"1", "open: it does not pass")
        valves.turn("a", "hole")
        expect(client.say(b"lost") == "silence", "it passes")
        with Client(valves) as late:
            expect(late.say(b"lost too") == "silence", "a new connection passes")
            valves.turn("a", "open")
            expect(client.say(b"again") == "silence", "a connection that lost bytes speaks again")
        with Client(valves) as fresh:
            expect(fresh.say(b"2") == b"2", "open again: it does not pass")
    expect(echo.arrived == b"12", f"{echo.arrived}")


def swallows_answers(echo, valves):
    with Client(valves) as client:
        valves.turn("a", "hole", "down")
        expect(client.say(b"question") == "silence", "an answer came")
        expect(echo.arrived == b"question", "the question did not arrive")


def ends(how):
    def test(echo, valves):
        with Client(valves) as client:
            expect(client.say(b"1") == b"1", "open: it does not pass")
            valves.turn("a", how)
            seen = client.say(b"2")
            expect(seen == "reset" or (how == "cut" and seen == "end"), f"the old connection: {seen}")
            try:
                with Client(valves) as fresh:
                    seen = fresh.say(b"3")
            except ConnectionResetError:
                seen = "reset"
            expect(seen == "reset" or (how == "cut" and seen == "end"), f"a new connection: {seen}")
            valves.turn("a", "open")
            with Client(valves) as fresh:
                expect(fresh.say(b"4") == b"4", "open again: it does not pass")
        expect(echo.arrived == b"14", f"{echo.arrived}")

    return test


def resets_at_once(_, valves):
    """Without anything being said."""
    with Client(valves) as client:
        expect(client.say(b"1") == b"1", "open: it does not pass")
        valves.turn("a", "reset")
        try:
            client.socket.settimeout(5)
            client.socket.recv(1)
            expect(False, "an orderly end")
        except ConnectionResetError:
            pass


def main():
    tests = Tests()
    for name, test in (("open, delayed, byte by byte: all passes", passes), ("delay", delays),
                       ("byte by byte", byte_by_byte), ("hold, and late arrivals of the dead", holds),
                       ("hold answers", holds_answers), ("hole", swallows), ("hole for answers", swallows_answers),
                       ("cut", ends("cut")), ("reset", ends("reset")), ("a reset comes at once", resets_at_once)):
        tests.run(name, with_echo, test)
    tests.end()


if __name__ == "__main__":
    main()
