#!/bin/sh
# How long three long answers of one HTTP/1.1 server wait for one another with CURLOPT_PIPEWAIT.
#
# CURLOPT_PIPEWAIT(3): with 1, libcurl "prefers to wait for a connection to confirm or deny that it can do multiplexing
# before continuing". One would expect the second and third request to go out on connections of their own as soon as the
# first connection is one of HTTP/1.1, as those of Debian 12's libcurl do over TLS. The server here sends the head of an
# answer and a few bytes at once, and its end 2 s later, as a subscription or a long poll has it; the HTTP version is the
# default, CURL_HTTP_VERSION_2TLS. Needs python3 with venv and Debian 12's libcurl, which the oldest PycURL builds on,
# and openssl. All stays on loopback.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$dir/key" -out "$dir/certificate" -days 2 -subj /CN=localhost 2>"$dir/openssl"
cat "$dir/key" "$dir/certificate" >"$dir/both"
cat >"$dir/ask.py" <<'END'
import pycurl, socket, ssl, sys, threading, time

HOLD_S = 2

def answer(connection, context, asked):
    if context:
        connection = context.wrap_socket(connection, server_side=True)
    while connection.recv(4096):
        asked.append(time.monotonic())
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n")
        time.sleep(HOLD_S)
        connection.sendall(b"0\r\n\r\n")

def serve(server, context, asked):
    while True:
        threading.Thread(target=answer, args=(server.accept()[0], context, asked), daemon=True).start()

def waits(scheme, version):
    """Whether the second request is sent when the first has ended, and not before."""
    server, asked, context, multi, easies = socket.create_server(("127.0.0.1", 0)), [], None, pycurl.CurlMulti(), []
    if scheme == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1])
        context.set_alpn_protocols(["http/1.1"])
    threading.Thread(target=serve, args=(server, context, asked), daemon=True).start()
    for i in range(3):
        easy = pycurl.Curl()
        easy.setopt(pycurl.URL, "%s://127.0.0.1:%d/%d" % (scheme, server.getsockname()[1], i))
        easy.setopt(pycurl.NOPROXY, "*")
        easy.setopt(pycurl.HTTP_VERSION, version)
        easy.setopt(pycurl.PIPEWAIT, 1)
        easy.setopt(pycurl.SSL_VERIFYPEER, 0)
        easy.setopt(pycurl.SSL_VERIFYHOST, 0)
        easy.setopt(pycurl.WRITEFUNCTION, lambda data: None)
        multi.add_handle(easy)
        easies.append(easy)
    while multi.perform()[1]:
        multi.select(0.2)
    assert len(asked) == 3
    return asked[1] - asked[0] > HOLD_S * 0.9

print(pycurl.version.split()[1])
seen = []
for scheme in "http", "https":
    for name, version in ("2TLS", pycurl.CURL_HTTP_VERSION_2TLS), ("1_1", pycurl.CURL_HTTP_VERSION_1_1):
        seen.append(waits(scheme, version))
        print("  %-5s CURL_HTTP_VERSION_%-4s expected: all at once; found: %s" %
              (scheme, name, "each behind the end of the first" if seen[-1] else "all at once"))
sys.exit(seen != [True, False, sys.argv[2] == "waits", False])
END
changed=0
for row in 7.45.2:does-not 7.45.4:waits 7.45.7:waits; do
  "$dir/venv/bin/pip" install -q --disable-pip-version-check "pycurl==${row%:*}"
  "$dir/venv/bin/python" "$dir/ask.py" "$dir/both" "${row#*:}" || changed=1
done
[ $changed = 0 ] || { echo "this has changed"; exit 1; }
