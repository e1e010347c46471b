#!/bin/sh
# Whether libcurl goes by a network of IPv6 in NO_PROXY.
#
# CURLOPT_NOPROXY(3): "Since 7.86.0, IP addresses specified using this option can be provided using CIDR notation". With a
# network of IPv4 that is so. One would expect 2001:db8::/32 to keep 2001:db8::1 from the proxy as well. Asked are the
# libcurl of Debian 12 and a later one, as wheels of PycURL bring them. Nothing leaves this machine: the proxy is a socket
# on loopback that counts, and what goes past it is cut off. Needs python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
cat >"$dir/ask.py" <<'END'
import pycurl, socket, sys, threading

proxy = socket.create_server(("127.0.0.1", 0))
asked = []

def serve():
    while True:
        connection, _ = proxy.accept()
        asked.append(connection.recv(4096))
        connection.close()

def goes_by_it(host, rule):
    asked.clear()
    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, "http://%s:9/" % host)
    curl.setopt(pycurl.PROXY, "http://127.0.0.1:%d" % proxy.getsockname()[1])
    curl.setopt(pycurl.NOPROXY, rule)
    curl.setopt(pycurl.CONNECTTIMEOUT_MS, 300)
    try:
        curl.perform()
    except pycurl.error:
        pass
    return not asked

threading.Thread(target=serve, daemon=True).start()
print(pycurl.version.split()[1])
seen = []
for host, rule, expected in (("127.1.2.3", "127.0.0.0/8", True), ("[2001:db8::1]", "2001:db8::1", True),
                             ("[2001:db8::1]", "2001:db8::/32", True), ("[2001:db8::1]", "2001:db8::1/128", True)):
    seen.append(goes_by_it(host, rule))
    print("  %-15s %-16s expected: past the proxy; found: %s" % (host, rule, "past it" if seen[-1] else "through it"))
sys.exit(seen != [True, True, False, False])
END
changed=0
for version in 7.45.2 7.45.7; do
  "$dir/venv/bin/pip" install -q --disable-pip-version-check "pycurl==$version"
  "$dir/venv/bin/python" "$dir/ask.py" || changed=1
done
[ $changed = 0 ] || { echo "this has changed"; exit 1; }
