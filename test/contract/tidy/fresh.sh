#!/bin/sh
# Shows that a fresh machine is enough: sh test/contract/tidy/fresh.sh [FOLDER] makes a minimal Debian 12 there (debootstrap,
# about 300 MB, kept for another run), clones this checkout's last commit into it and runs both commands of the README
# as root, each twice, with the time each took. Needs root, debootstrap and git. Not part of test/run.sh.
#
# The package mirror, certificates and the settings of pip and npm are the machine's own; nothing of them is written
# into the checkout. SLOOP_FRESH_TEST=0 leaves out test/run.sh.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd)
fresh=${1:-/var/tmp/sloop-fresh}
[ "$(id -u)" -eq 0 ] || { echo "fresh: needs root" >&2; exit 1; }
for command in debootstrap git chroot unshare; do
  command -v "$command" >/dev/null || { echo "fresh: needs $command" >&2; exit 1; }
done

# The machine's Debian mirror: from deb822 files first, then one-line sources.
mirror=$(sed -n 's/^URIs: *\([^ ]*debian\)\/\{0,1\} *$/\1/p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)
[ -n "$mirror" ] || mirror=$(sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*debian\)\/\{0,1\} .*/\2/p' /etc/apt/sources.list \
  /etc/apt/sources.list.d/*.list 2>/dev/null | head -n 1)
[ -n "$mirror" ] || { echo "fresh: no Debian mirror in this machine's sources" >&2; exit 1; }

if [ ! -e "$fresh/.complete" ]; then
  rm -rf "$fresh"
  mkdir -p "$fresh"
  echo "fresh: debootstrap bookworm into $fresh" >&2
  debootstrap --variant=minbase bookworm "$fresh" "$mirror" >"$fresh.log" 2>&1 || {
    tail -n 20 "$fresh.log" >&2
    exit 1
  }
  : >"$fresh/.complete"
fi
# How this machine reaches the outside, where it differs from a plain one.
cp /etc/resolv.conf /etc/hosts "$fresh/etc/" 2>/dev/null || true
mkdir -p "$fresh/root/outside"
for file in /etc/pip.conf "$HOME/.npmrc"; do
  if [ -e "$file" ]; then cp "$file" "$fresh/$(dirname "$file" | sed "s,^$HOME,root,")/"; fi
done
for file in $(grep -l Acquire /etc/apt/apt.conf.d/* 2>/dev/null); do cp "$file" "$fresh/etc/apt/apt.conf.d/"; done
if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
  cp /etc/ssl/certs/ca-certificates.crt "$fresh/root/outside/ca.crt"
fi
rm -rf "$fresh/root/sloop"
git clone -q --no-hardlinks "$root" "$fresh/root/sloop"

cat >"$fresh/root/inside.sh" <<'INSIDE'
set -eu
mount -t proc proc /proc
# Debian's own bundle replaces nothing here: these variables point at the machine's.
ca=/root/outside/ca.crt
[ -e "$ca" ] && export PIP_CERT=$ca NODE_EXTRA_CA_CERTS=$ca npm_config_cafile=$ca
export HOME=/root LANG=C.UTF-8
cd /root/sloop
timed() {
  began=$(date +%s)
  status=0
  "$@" >/root/out.log 2>&1 </dev/null || status=$?
  tail -n "${lines:-12}" /root/out.log | sed 's/^/    /'
  echo "fresh: $* : exit code $status after $(($(date +%s) - began)) s"
  [ "$status" -eq 0 ] || { [ "${lines:-12}" = 200 ] || tail -n 200 /root/out.log; exit "$status"; }
}
timed sh test/try.sh
timed sh test/try.sh
if [ "${SLOOP_FRESH_TEST:-1}" = 1 ]; then
  timed sh test/run.sh
  timed sh test/run.sh
fi
INSIDE
for device in null zero random urandom tty; do [ -e "$fresh/dev/$device" ] || : >"$fresh/dev/$device"; done
# A mount namespace of its own: nothing stays mounted, whatever happens.
exec unshare --mount --pid --fork sh -c '
  mount --bind "$1" "$1" && cd "$1" # the new root is a mount, or no test in it could make mounts of its own
  for device in null zero random urandom tty; do mount --bind /dev/$device "$1/dev/$device"; done
  mkdir -p "$1/dev/shm" "$1/dev/pts" && mount -t tmpfs tmpfs "$1/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts" && ln -sf pts/ptmx "$1/dev/ptmx" # terminals
  exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin SLOOP_FRESH_TEST="${SLOOP_FRESH_TEST:-1}" sh /root/inside.sh
' fresh "$fresh"
