"""A client of HTTP/2 with prior knowledge on one connection, by the package h2 (its frames are not nghttp2's), which
reads and opens windows only when it is told to.

    with Client(url) as client:
        answer = client.call("PutRecord", {...})                 # (status, headers, body)
        ids = [client.send("GetRecords", {...}) for _ in ...]    # many at once
        client.until(lambda: all(client.done(i) for i in ids))
"""

import json
import socket
import time

import h2.config
import h2.connection
import h2.events
import h2.exceptions

import harness

TYPE = "application/x-amz-json-1.1"


class Stream:
    def __init__(self):
        self.status, self.headers, self.body, self.ended, self.reset, self.unread = None, {}, bytearray(), False, None, 0


class Client:
    def __init__(self, url, greedy=True, receive_buffer=None):
        """greedy: windows are opened again as data comes; otherwise by open_window()."""
        self.host, _, port = url.removeprefix("http://").partition(":")
        self.address, self.greedy = (self.host, int(port)), greedy
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(self.address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(30)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self.streams, self.next_id, self.went_away, self.over = {}, 1, None, False
        self.h2.initiate_connection()
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.socket.close()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def begin(self, headers, method="POST", path="/", body=b"", end=True):
        """Sends a request, its body as far as the windows go and on as they open. Returns its number."""
        i = self.next_id
        self.next_id += 2
        self.streams[i] = Stream()
        head = [(":method", method), (":path", path), (":scheme", "http"), (":authority", "%s:%d" % self.address), *headers]
        self.h2.send_headers(i, head, end_stream=end and not body)
        self.flush()
        at = 0
        while at < len(body) and self.streams[i].reset is None and not self.streams[i].ended:
            room = min(self.h2.local_flow_control_window(i), self.h2.max_outbound_frame_size, len(body) - at)
            if not room:
                self.read()
                continue
            self.h2.send_data(i, body[at:at + room], end_stream=end and at + room == len(body))
            at += room
            self.flush()
        return i

    def send(self, operation, body, service="Kinesis_20131202", **more):
        data = json.dumps(body).encode()
        headers = {"content-type": TYPE, "x-amz-target": f"{service}.{operation}", "content-length": str(len(data)), **more}
        return self.begin(list(headers.items()), body=data)

    def read(self, seconds=30):
        """What the socket has, or waits for it. False: there is no more, ever."""
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(1 << 20)
        except ConnectionResetError:
            data = b""
        if not data:
            self.over = True
            return False
        for event in self.h2.receive_data(data):
            self.take(event)
        self.flush_quietly()
        return True

    def flush_quietly(self):
        try:
            self.flush()
        except OSError:  # it has closed meanwhile
            pass

    def take(self, event):
        stream = self.streams.get(getattr(event, "stream_id", None))
        if isinstance(event, h2.events.ConnectionTerminated):
            self.went_away = event
        elif stream is None:
            return
        elif isinstance(event, h2.events.ResponseReceived):
            stream.headers = {name.decode(): value.decode() for name, value in event.headers}
            stream.status = int(stream.headers.pop(":status"))
        elif isinstance(event, h2.events.DataReceived):
            stream.body += event.data
            if self.greedy:
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            else:
                stream.unread += event.flow_controlled_length
        elif isinstance(event, h2.events.StreamEnded):
            stream.ended = True
        elif isinstance(event, h2.events.StreamReset):
            stream.reset = event.error_code

    def open_window(self):
        """Takes all that has come, and will take all that comes."""
        self.greedy = True
        for i, stream in self.streams.items():
            if stream.unread:
                self.h2.acknowledge_received_data(stream.unread, i)
                stream.unread = 0
        self.flush()

    def until(self, condition, seconds=60, what="the answers"):
        end = time.monotonic() + seconds
        while not condition():
            harness.expect(time.monotonic() < end, f"{what} did not come")
            try:
                harness.expect(self.read(1), f"the connection ended before {what} came")
            except TimeoutError:
                pass

    def done(self, i):
        return self.streams[i].ended or self.streams[i].reset is not None

    def answer(self, i, seconds=60):
        self.until(lambda: self.done(i), seconds, "an answer")
        stream = self.streams[i]
        harness.expect(stream.reset is None, f"reset: {stream.reset}")
        return stream.status, stream.headers, bytes(stream.body)

    def call(self, operation, body, **more):
        status, _, answer = self.answer(self.send(operation, body, **more))
        harness.expect(status == 200, f"{operation}: {status} {answer[:300]!r}")
        return json.loads(answer)

    def reset(self, i):
        self.h2.reset_stream(i, 8)
        self.flush()

    def until_over(self, seconds=20):
        """Reads until the connection ends."""
        end = time.monotonic() + seconds
        while not self.over:
            harness.expect(time.monotonic() < end, "the connection stays open")
            try:
                self.read(1)
            except TimeoutError:
                pass
            except h2.exceptions.ProtocolError:
                pass
