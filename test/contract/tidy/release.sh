#!/bin/sh
# Makes a release's tarball: sh test/contract/tidy/release.sh [FOLDER], by default build-release. First it checks that the tree can be
# released; then it makes the tarball of the last commit (meson dist), unpacks it, builds all of it there with warnings as
# errors, and runs the quick suite from it. It prints the tarball's name and SHA-256. It never tags or pushes.
#
# --check only checks, and tells everything that is missing. By hand; test/contract/tidy/habits.py tries --check.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd)
cd "$root"
check=
if [ "${1:-}" = --check ]; then
  check=1
  shift
fi
folder=${1:-$root/build-release}
status=0
missing() {
  echo "release: $1" >&2
  status=1
}

# ---- can it be released? ------------------------------------------------------------------------------------------------
version=$(sed -n "s/^  version: '\([0-9][0-9.]*\)',.*/\1/p" meson.build)
[ -n "$version" ] || { echo "release: meson.build names no version" >&2; exit 1; }
unclean=$(git status --porcelain) || exit 1
[ -z "$unclean" ] || missing "the tree is not clean: $(echo "$unclean" | head -n 5 | tr '\n' ';')"
if tagged=$(git rev-parse -q --verify "refs/tags/v$version^{commit}") && [ "$tagged" != "$(git rev-parse HEAD)" ]; then
  missing "v$version is a tag of another commit"
fi
newest=$(grep -m 1 '^## ' CHANGELOG.md || true)
if grep -q '^## Unreleased' CHANGELOG.md; then
  missing "CHANGELOG.md still has a section Unreleased: it becomes that of $version, or goes if it is empty"
fi
pattern="^## $(echo "$version" | sed 's/\./\\./g') (20[0-9][0-9]-[01][0-9]-[0-3][0-9])\$"
if ! echo "$newest" | grep -q "$pattern"; then
  missing "CHANGELOG.md begins with '$newest', not with '## $version (YEAR-MONTH-DAY)'"
elif ! awk '/^## / { n++ } n == 1 && !/^#/ && NF { found = 1 } END { exit !found }' CHANGELOG.md; then
  missing "CHANGELOG.md says nothing about $version"
fi
[ "$status" -eq 0 ] || exit 1
if [ -n "$check" ]; then
  echo "release: $version can be released"
  exit 0
fi

# ---- the tarball, and what comes of it ----------------------------------------------------------------------------------
[ ! -e "$folder" ] || { echo "release: $folder is there already" >&2; exit 1; }
mkdir -p "$folder"
folder=$(CDPATH='' cd -- "$folder" && pwd)
quietly() { # quietly NAME COMMAND...: its output is in NAME.log; told when it fails
  log=$folder/$1.log
  shift
  "$@" >"$log" 2>&1 </dev/null || {
    tail -n 60 "$log" >&2
    echo "release: failed: $* (all of it: $log)" >&2
    exit 1
  }
}
quietly setup meson setup "$folder/build" "$root"
quietly dist meson dist -C "$folder/build" --no-tests --formats xztar
tarball=$folder/build/meson-dist/sloop-$version.tar.xz
quietly unpack tar -xJf "$tarball" -C "$folder"
cd "$folder/sloop-$version"
quietly build env MESON_ARGS=-Dwerror=true sh test/build.sh build all quick
quietly quick meson test -C build --no-rebuild --print-errorlogs --suite quick
python3 test/contract/tidy/count.py build
echo "$tarball"
(cd "$(dirname "$tarball")" && sha256sum "$(basename "$tarball")")
echo "release: by hand, when that is right: git tag -s v$version && git push origin v$version"
