#!/bin/sh
# Shows that a commit gives the same bytes on two machines: sh src/pack/two_roots.sh FOLDER [PART...]
#
# Makes two roots of Debian 12 in FOLDER with debootstrap, and in each of them a release of the last commit by release.sh,
# libraries included. The roots differ in the host's name, the user, the folder of the checkout, the folder of the release,
# language, time zone, umask and number of jobs. Both releases are compared, file by file.
#
# FOLDER keeps roots and releases (FOLDER/one/release, FOLDER/two/release). A second run uses the roots again and makes both
# releases anew, with the libraries that the first run built, unless FOLDER/*/work is removed. Needs root and debootstrap.
# SLOOP_CPUS and PART are those of release.sh.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
checkout=$(CDPATH='' cd -- "$here/../.." && pwd)
mkdir -p "${1:?usage: two_roots.sh FOLDER [PART...]}"
folder=$(CDPATH='' cd -- "$1" && pwd)
shift
parts=$*
die() {
  echo "two_roots: $*" >&2
  exit 1
}
[ "$(id -u)" -eq 0 ] || die "needs root"
command -v debootstrap >/dev/null || die "needs debootstrap"
mirror=$(sed -n 's/^URIs: *\([^ ]*debian\)\/\{0,1\} *$/\1/p' /etc/apt/sources.list.d/*.sources 2>/dev/null | head -n 1)
[ -n "$mirror" ] || die "no Debian mirror in this machine's sources"
# What release.sh and dependencies.sh need; debian/control names the rest.
packages='build-essential ca-certificates cmake crossbuild-essential-arm64 debhelper git libnode-dev meson ninja-build
  nodejs perl python3 python3-dev qemu-user-static tcl xz-utils'

make_root() { # make_root NAME
  place=$folder/$1/root
  [ ! -e "$place/.complete" ] || return 0
  mkdir -p "$folder/$1"
  debootstrap --variant=minbase bookworm "$place" "$mirror" >"$folder/$1/root.log" 2>&1 ||
    die "debootstrap: see $folder/$1/root.log"
  cp /etc/resolv.conf /etc/hosts "$place/etc/"
  grep -l Acquire::Check /etc/apt/apt.conf.d/* 2>/dev/null | while read -r file; do cp "$file" "$place/etc/apt/apt.conf.d/"; done
  rm -f "$place/etc/apt/sources.list"
  cp /etc/apt/sources.list.d/debian.sources "$place/etc/apt/sources.list.d/"
  mkdir -p "$place/root/control/debian"
  cp "$here/debian/control" "$here/debian/changelog" "$place/root/control/debian/"
  # shellcheck disable=SC2086,SC2016 # a list of words; expanded inside
  chroot "$place" env DEBIAN_FRONTEND=noninteractive sh -ec '
    apt-get update
    apt-get install -y --no-install-recommends "$@"
    apt-get build-dep -y --no-install-recommends /root/control
    dpkg-query -W -f "\${Package} \${Version} \${Architecture}\n" >/root/packages
  ' sh $packages >>"$folder/$1/root.log" 2>&1 || die "apt-get: see $folder/$1/root.log"
  : >"$place/.complete"
}

# release_in NAME USER HOST CHECKOUT RELEASE LANGUAGE ZONE UMASK JOBS
release_in() {
  place=$folder/$1/root
  chroot "$place" id "$2" >/dev/null 2>&1 || chroot "$place" useradd -m "$2"
  rm -rf "${place:?}$4" "${place:?}$5"
  mkdir -p "$place$4" "$place$5" "$place/var/tmp/work-$2" "$place/dev/shm"
  git clone -q --no-local "$checkout" "$place$4"
  git -C "$place$4" checkout -q --detach "$commit"
  chroot "$place" chown -R "$2:" "$4" "$5" "/var/tmp/work-$2"
  cat >"$place/root/release.sh" <<RELEASE
set -eu
umask $8
cd '$4'
export HOME=/home/$2 USER=$2 LANG=$6 TZ=$7 SLOOP_JOBS=$9 SLOOP_WORK=/var/tmp/work-$2 SLOOP_CPUS='${SLOOP_CPUS:-x86_64 aarch64}'
exec sh src/pack/release.sh '$5' $parts
RELEASE
  began=$(date +%s)
  # shellcheck disable=SC2016 # expanded inside
  unshare --mount --uts --pid --fork sh -ec '
    hostname "$3"
    mount --bind "$1" "$1" && cd "$1"
    for device in null zero random urandom; do
      [ -e "dev/$device" ] || : >"dev/$device"
      mount --bind "/dev/$device" "dev/$device"
    done
    mount -t tmpfs tmpfs dev/shm && mount -t proc proc proc
    ln -sfn /proc/self/fd dev/fd
    exec chroot --userspec="$2" . env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin sh -c "$(cat root/release.sh)"
  ' sh "$place" "$2" "$3" >"$folder/$1/release.log" 2>&1 </dev/null ||
    { tail -n 40 "$folder/$1/release.log" >&2; die "release.sh failed: see $folder/$1/release.log"; }
  rm -rf "$folder/$1/release"
  cp -R "$place$5" "$folder/$1/release"
  echo "two_roots: $1: $(($(date +%s) - began)) s"
}
sums_of() { (cd "$folder/$1/release" && find . -type f | sort | xargs -d '\n' sha256sum); }

commit=$(git -C "$checkout" rev-parse HEAD)
{ make_root one && release_in one ann first /home/ann/sloop /home/ann/release C.UTF-8 UTC 022 "$(nproc)"; } &
one=$!
{ make_root two && release_in two bartholomew second-machine /srv/checkouts/of/sloop-source /srv/made/release-files de_DE.UTF-8 \
  Asia/Tokyo 077 $(($(nproc) + 1)); } &
two=$!
failed=0
wait "$one" || failed=1
wait "$two" || failed=1
[ "$failed" -eq 0 ] || exit 1
cmp "$folder/one/root/root/packages" "$folder/two/root/root/packages" || die "the roots have other packages: remove them"
sums_of one >"$folder/one.sums"
sums_of two >"$folder/two.sums"
diff "$folder/one.sums" "$folder/two.sums" || die "they differ: $folder/one/release, $folder/two/release"
echo "two_roots: $commit: $(wc -l <"$folder/one.sums") files, equal bytes"
