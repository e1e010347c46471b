"""An HTTPS server for test/wire/tls.c: python tls_server.py CERT KEY. Prints its port, answers every
POST with as many bytes as the path says, ends when standard input does. Of /meet it answers three at once, when the third
has come."""
import http.server
import ssl
import sys
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/meet":
            three.wait()
            self.path = "/3"
        body = bytes(i % 251 for i in range(251)) * (int(self.path[1:] or 0) // 251 + 1)
        body = body[: int(self.path[1:] or 0)]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that refuses our certificate is what some tests are about


three = threading.Barrier(3)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server = Server(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
