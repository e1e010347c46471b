#!/bin/sh
# Builds and tests on other distributions, processors and libcs: sh test/platform/run.sh PLATFORM [FOLDER]. PLATFORM is
#   debian13              a root of Debian 13: demo, quick suite, two of wire, tests of stream-tail against its sandbox
#   arm64 | s390x | i386  cross-built in a root of Debian 12, run with qemu-user where it is another processor: demo, some
#                         units, and 50 fleets and 50 consumers whose hashes must equal those of this machine's build/
#   musl                  static, with what src/pack/dependencies.sh builds: demo, some units
#   unix                  compiles src/ for macOS (x86-64, arm64) and FreeBSD against their headers; runs nothing
#   libcurl               links stream-tail and the tests of the wire with the libcurl of a wheel of pycurl, and runs them
# FOLDER (/var/tmp/sloop-platform) keeps roots and builds for another run. As root on Debian 12; not part of test/run.sh.
# PLATFORMS.md says what was last seen. debian13, arm64, s390x and i386 need debootstrap; unix and libcurl python3-venv.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
platform=${1:-}
mkdir -p "${2:-/var/tmp/sloop-platform}"
folder=$(cd -- "${2:-/var/tmp/sloop-platform}" && pwd)
jobs=${SLOOP_JOBS:-$(nproc)}
libraries='libuv1-dev libcurl4-openssl-dev libssl-dev zlib1g-dev libsqlite3-dev libnghttp2-dev libpcre2-dev libzstd-dev libjansson-dev libcbor-dev libc6-dev'
tools='ninja-build meson pkg-config python3 python3-venv gcc ca-certificates openssl'
# Units that run in any root, and are about what differs between platforms.
units='base codec host program'

die() {
  echo "platform: $*" >&2
  exit 1
}

# root_of RELEASE NAME PACKAGE...: makes $folder/NAME, a root of that release with those packages.
root_of() {
  release=$1 place=$folder/$2
  shift 2
  [ ! -e "$place/.complete" ] || return 0
  [ "$(id -u)" -eq 0 ] || die "needs root"
  mirror=$(sed -n 's/^URIs: *\([^ ]*debian\)\/\{0,1\} *$/\1/p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)
  [ -n "$mirror" ] || die "no Debian mirror in this machine's sources"
  debootstrap --variant=minbase "$release" "$place" "$mirror" >"$place.log" 2>&1 || die "debootstrap: see $place.log"
  cp /etc/resolv.conf /etc/hosts "$place/etc/" 2>/dev/null || true
  cp /etc/ssl/certs/ca-certificates.crt "$place/root/ca.crt" 2>/dev/null || true
  for file in $(grep -l Acquire /etc/apt/apt.conf.d/* 2>/dev/null); do cp "$file" "$place/etc/apt/apt.conf.d/"; done
  chroot "$place" sh -c '
    for processor in $1; do dpkg --add-architecture "$processor"; done
    shift
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
  ' sh "$@" >>"$place.log" 2>&1 || die "apt-get: see $place.log"
  : >"$place/.complete"
}

# in_root NAME COMMAND: with this checkout at /src. Nothing stays mounted.
in_root() {
  place=$folder/$1
  mkdir -p "$place/src" "$place/work" "$place/dev/pts" "$place/dev/shm"
  for device in null zero random urandom tty; do [ -e "$place/dev/$device" ] || : >"$place/dev/$device"; done
  unshare --mount --pid --fork sh -c '
    mount --bind "$1" "$1" && cd "$1"
    for device in null zero random urandom tty; do mount --bind /dev/$device "dev/$device"; done
    mount -t tmpfs tmpfs dev/shm && mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
    ln -sfn pts/ptmx dev/ptmx && ln -sfn /proc/self/fd dev/fd
    mount --bind "$2" src && mount -t proc proc proc
    exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 JOBS="$4" sh -ec "$3"
  ' sh "$place" "$root" "$2" "$jobs"
}

debian13() {
  # shellcheck disable=SC2086 # lists of words
  root_of trixie debian13 '' $tools g++ nghttp2-proxy $libraries
  in_root debian13 '
    cd /work
    [ -e build/build.ninja ] || meson setup -Dwerror=true build /src
    ninja -C build -j"$JOBS" stream-tail quick test/process/sandbox_main test/process/tail-scripted \
      test/wire/wire_tls test/wire/wire_proxies
    failed=
    try() { name=$1; shift; echo "== $name"; "$@" || failed="$failed $name"; }
    try demo build/stream-tail --demo
    try quick meson test -C build --no-rebuild --suite quick --timeout-multiplier 4 --print-errorlogs
    try wire meson test -C build --no-rebuild --timeout-multiplier 4 --print-errorlogs --suite wire tls proxies
    [ -x venv/bin/python ] || { python3 -m venv venv
      PIP_CERT=/root/ca.crt venv/bin/pip install -q $(grep -iE "^(boto3|botocore|h2|aws-kinesis-agg|protobuf)==" /src/test/process/servers/requirements.txt); }
    export SLOOP_BIN=/work/build/stream-tail SLOOP_TEST_SANDBOX=/work/build/test/process/sandbox_main
    export SLOOP_TAIL_SCRIPTED=/work/build/test/process/tail-scripted PYTHONDONTWRITEBYTECODE=1
    for test in sandbox_boto3 tail_sandbox_faults tail_push tail_push_h2 tail_save cli_manners; do
      try $test venv/bin/python /src/test/process/$test.py
    done
    [ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
  '
}

# cross ARCHITECTURE GNU MULTIARCH FAMILY ENDIAN [QEMU]
cross() {
  every=
  for package in $libraries; do every="$every $package:amd64 $package:arm64 $package:s390x $package:i386"; done
  # shellcheck disable=SC2086 # lists of words
  root_of bookworm debian12 'arm64 s390x i386' $tools gcc-aarch64-linux-gnu gcc-s390x-linux-gnu gcc-i686-linux-gnu qemu-user-static $every
  mkdir -p "$folder/debian12/work"
  cat >"$folder/debian12/work/$1.ini" <<INI
[binaries]
c = '$2-gcc'
ar = '$2-ar'
strip = '$2-strip'
pkgconfig = 'pkg-config'
${6:+exe_wrapper = '$6'}
[properties]
pkg_config_libdir = '/usr/lib/$3/pkgconfig:/usr/share/pkgconfig'
needs_exe_wrapper = $([ -n "${6:-}" ] && echo true || echo false)
[host_machine]
system = 'linux'
cpu_family = '$4'
cpu = '$4'
endian = '$5'
INI
  in_root debian12 "
    cd /work
    [ -e build-$1/build.ninja ] || meson setup --cross-file $1.ini -Dwerror=true build-$1 /src
    targets='stream-tail test/swarm/swarm test/swarm/herd_swarm'
    for unit in $units; do targets=\"\$targets test/unit/unit_\$unit\"; done
    ninja -C build-$1 -j\"\$JOBS\" \$targets
    ${6:-} build-$1/stream-tail --demo
    for unit in $units; do ${6:-} build-$1/test/unit/unit_\$unit; done
    [ -e build-here/build.ninja ] || meson setup build-here /src
    ninja -C build-here -j\"\$JOBS\" test/swarm/swarm test/swarm/herd_swarm
    SLOOP_TEST_WRAPPER='${6:-}' python3 /src/test/swarm/same.py build-here build-$1 100
  "
}

musl() {
  triple=$(uname -m)-linux-musl
  sh "$root/src/pack/dependencies.sh" "$triple" "$folder/$triple"
  build=$folder/build-$triple
  [ -e "$build/build.ninja" ] || meson setup --cross-file "$folder/$triple/sloop.ini" -Dwerror=true "$build" "$root"
  targets=stream-tail
  for unit in $units; do targets="$targets test/unit/unit_$unit"; done
  # shellcheck disable=SC2086 # a list of words
  ninja -C "$build" -j"$jobs" $targets
  "$build/stream-tail" --demo
  for unit in $units; do "$build/test/unit/unit_$unit"; done
}

# Each file of src/ alone, with the warnings of meson.build as errors. libuv, libcurl, OpenSSL, zlib, SQLite, PCRE2 and
# nghttp2 are Debian's headers; those of the system come with the compiler.
unix() {
  status=0
  [ -x "$folder/zig/bin/python" ] || { python3 -m venv "$folder/zig" && "$folder/zig/bin/pip" install -q ziglang==0.15.2; }
  mkdir -p "$folder/zig/include" "$folder/zig/cache"
  cp -R /usr/include/uv.h /usr/include/uv /usr/include/openssl /usr/include/sqlite3.h /usr/include/zlib.h /usr/include/zconf.h \
    /usr/include/pcre2.h /usr/include/nghttp2 "/usr/include/$(gcc -print-multiarch)/curl" "$folder/zig/include/"
  cp -R "/usr/include/$(gcc -print-multiarch)/openssl/." "$folder/zig/include/openssl/"
  export ZIG_GLOBAL_CACHE_DIR="$folder/zig/cache" ZIG_LOCAL_CACHE_DIR="$folder/zig/cache"
  cd "$root"
  for target in x86_64-macos aarch64-macos x86_64-freebsd; do
    files=0 bad=0
    for file in $(find src -name '*.c' -not -path 'src/bind/*' | sort); do
      files=$((files + 1))
      "$folder/zig/bin/python" -m ziglang cc -target $target -c -O0 -o "$folder/zig/one.o" -std=c11 -Wall -Wextra -Wshadow \
        -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla -Wno-missing-field-initializers \
        -Werror -D_GNU_SOURCE '-DSLP_VERSION="0"' -DSLP_HAVE_ZSTD=0 -DSLP_HAVE_LZ4=0 -DSLP_HAVE_SNAPPY=0 -DSLP_HAVE_BROTLI=0 \
        -DSLP_HAVE_PCRE2=1 -Iinclude -Isrc -isystem "$folder/zig/include" "$file" || { bad=$((bad + 1)) status=1; }
    done
    echo "$target: $files files compiled, $bad failed"
  done
  return $status
}

libcurl() {
  place=$folder/libcurl
  if [ ! -e "$place/pc/libcurl.pc" ]; then
    mkdir -p "$place/pc"
    python3 -m pip download -q --no-deps --only-binary :all: -d "$place" pycurl==7.49.0 # libcurl 8.23.0, OpenSSL 3.6
    (cd "$place" && python3 -m zipfile -e pycurl-*.whl unpacked && cp unpacked/pycurl.libs/* .)
    for library in curl crypto ssl; do
      file=$(find "$place" -maxdepth 1 -name "lib$library-*.so*" | head -n 1)
      ln -sf "$file" "$place/lib$library.so"
      printf 'Name: lib%s\nDescription: of a wheel\nVersion: %s\nLibs: -L%s -l%s\n' $library \
        "$([ $library = curl ] && echo 8.23.0 || echo 3.6.0)" "$place" $library >"$place/pc/lib$library.pc"
    done
    printf 'Cflags: -I/usr/include/%s\n' "$(gcc -print-multiarch)" >>"$place/pc/libcurl.pc"
  fi
  export LD_LIBRARY_PATH="$place" PKG_CONFIG_PATH="$place/pc"
  [ -e "$place/build/build.ninja" ] ||
    meson setup -Dwerror=true -Dc_link_args=-Wl,--allow-shlib-undefined "$place/build" "$root"
  ninja -C "$place/build" -j"$jobs" stream-tail
  meson test -C "$place/build" --suite wire --print-errorlogs --timeout-multiplier 4 # builds what it needs, no more
}

case $platform in
  debian13 | musl | unix | libcurl) $platform ;;
  arm64) cross arm64 aarch64-linux-gnu aarch64-linux-gnu aarch64 little qemu-aarch64-static ;;
  s390x) cross s390x s390x-linux-gnu s390x-linux-gnu s390x big qemu-s390x-static ;;
  i386) cross i386 i686-linux-gnu i386-linux-gnu x86 little ;;
  *) die "usage: run.sh {debian13|arm64|s390x|i386|musl|unix|libcurl} [FOLDER]" ;;
esac
