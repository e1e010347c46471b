#!/bin/sh
# Configures a build folder once and builds: sh test/build.sh FOLDER [TARGET...] ; MESON_ARGS are for its setup. With
# --only-setup in place of targets nothing is built.
# Quiet when all goes well. A folder made with other MESON_ARGS or before some optional library was installed is
# configured anew.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
folder=$1
shift
log=$root/.cache/build.$(basename "$folder").log
mkdir -p "$root/.cache"
fail() {
  echo "build: $1; the end of $log:" >&2
  tail -n 60 "$log" >&2
  exit 1
}
# gold links a test in a third of the time. The folder that users have is linked as they link it.
case $(basename "$folder") in
  build-ci-*) if command -v ld.gold >/dev/null; then export CC_LD=gold; fi ;;
esac
# What the configuration depends on and Meson does not see change by itself.
key="${CC:-cc} ${CC_LD:-} ${MESON_ARGS:-} $(for lib in jansson libcbor libzstd liblz4 snappy libbrotlidec libpcre2-8 libnghttp2; do
  pkg-config --modversion $lib 2>/dev/null || echo "no $lib"; done | tr '\n' ' ')"
if [ ! -e "$folder/build.ninja" ] || [ "$(cat "$folder/.made-with" 2>/dev/null)" != "$key" ]; then
  rm -rf "$folder"
  # shellcheck disable=SC2086 # a list of words
  meson setup ${MESON_ARGS:-} "$folder" "$root" >"$log" 2>&1 </dev/null || fail "meson setup failed"
  printf '%s' "$key" >"$folder/.made-with"
fi
[ "${1:-}" = --only-setup ] || ninja -C "$folder" "$@" >"$log" 2>&1 </dev/null || fail "the build failed"
