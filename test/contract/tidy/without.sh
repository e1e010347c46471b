#!/bin/sh
# Builds stream-tail without each optional library (the features of meson_options.txt), one at a time and all at once:
# sh test/contract/tidy/without.sh [FOLDER]. Each one must build without a warning, link nothing of the library, and start. Needs all
# of them installed, to see that each is left out. By hand; not part of test/run.sh.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd)
folder=${1:-$(mktemp -d)}
# The ones left out are parts of sloop itself.
options=$(sed -n "s/^option('\([^']*\)', type: 'feature'.*/\1/p" "$root/meson_options.txt" | grep -vxE 'tests|bench|cli|sandbox|groups')
[ -n "$options" ] || { echo "without: no optional library in meson_options.txt" >&2; exit 1; }
mkdir -p "$folder"
status=0

build() { # build NAME MESON-ARGUMENT...: only what depends on the options is compiled again
  name=$1
  shift
  { if [ -e "$folder/build/build.ninja" ]; then meson configure "$folder/build" "$@"
    else meson setup -Dwerror=true "$@" "$folder/build" "$root"; fi &&
    ninja -C "$folder/build" stream-tail; } >"$folder/$name.log" 2>&1 </dev/null ||
    { tail -n 20 "$folder/$name.log"; return 1; }
  readelf -d "$folder/build/stream-tail" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort >"$folder/$name.needs"
}

wrong() {
  echo "FAIL $1: $2"
  status=1
}

all_enabled='' all_disabled=''
for option in $options; do
  all_enabled="$all_enabled -D$option=enabled"
  all_disabled="$all_disabled -D$option=disabled"
done
# shellcheck disable=SC2086 # a list of words
build with $all_enabled || { wrong "with all" "it does not build; is each library installed?"; exit 1; }
for option in $options all; do
  left_out="$all_enabled -D$option=disabled"
  [ "$option" != all ] || left_out=$all_disabled
  # shellcheck disable=SC2086 # a list of words
  if ! build "without-$option" $left_out; then
    wrong "without $option" "it does not build"
    continue
  fi
  gone=$(comm -23 "$folder/with.needs" "$folder/without-$option.needs" | tr '\n' ' ')
  tail=$folder/build/stream-tail
  if [ -z "$gone" ]; then
    wrong "without $option" "it needs the same libraries as before"
  elif ! "$tail" -h >/dev/null || ! echo | "$tail" --demo >"$folder/without-$option.demo" 2>&1; then
    wrong "without $option" "it does not run: $(tail -n 3 "$folder/without-$option.demo")"
  else
    echo "ok without $option: no $gone"
  fi
done
[ $# -gt 0 ] || rm -rf "$folder"
exit $status
