#!/bin/sh
# Shows that a commit gives the same bytes: sh src/pack/reproduce.sh [PART...] makes two releases of the last commit in two
# folders of different names and lengths, and compares them. Parts and variables are those of release.sh; the compiler's
# cache is off, or the second release would be made of the first one's objects.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
folder=$(mktemp -d /var/tmp/sloop-reproduce.XXXXXX)
export CCACHE_DISABLE=1
for one in a another/and-longer; do
  mkdir -p "$folder/$one"
  SLOOP_WORK=$folder/$one/work sh "$here/release.sh" "$folder/$one/release" "$@"
done
cd "$folder"
(cd a/release && find . -type f | sort | xargs -d '\n' sha256sum) >a.sums
(cd another/and-longer/release && find . -type f | sort | xargs -d '\n' sha256sum) >another.sums
if diff a.sums another.sums; then
  echo "reproduce: $(wc -l <a.sums) files, equal bytes"
  rm -rf "$folder"
else
  echo "reproduce: they differ; both are in $folder" >&2
  exit 1
fi
