#!/bin/sh
# Makes what a release consists of, from the last commit, into one folder:
#
#     sh src/pack/release.sh [FOLDER] [PART...]       # FOLDER: build-release unless given; PART: all unless given
#
#     source      sloop-VERSION.tar.gz
#     static      stream-tail-VERSION-linux-CPU for x86_64 and aarch64: one file that needs nothing of the machine
#     wheel       stream_tail-VERSION-py3-none-...whl: the same for pip
#     python      sloop-VERSION-cp...whl: the Python package, with the libraries inside, for glibc (see wheel.py)
#     node        sloop-VERSION.tgz: the Node package, with its sources and with binaries for glibc that have the libraries
#                 inside (see npm.py)
#     container   stream-tail-VERSION-oci-CPU.tar: the same as an image, from scratch (see Dockerfile)
#     deb         packages for the Debian that this runs on: libsloop0, libsloop-dev, stream-tail, and their source
#     recipes     a Homebrew formula, an APKBUILD, a Nix expression and a Conan recipe that build the tarball
#     sbom        sloop-VERSION.spdx.json: what the static files are made of
#     sums        SHA256SUMS
#
# The same commit gives the same bytes, in any folder: dates are the commit's, and no path gets into a file. For the
# packages that holds among machines with the same Debian packages. src/pack/reproduce.sh shows it.
#
# Needs git, gzip, meson, ninja, python3 and what dependencies.sh needs; `deb` also dpkg-dev, debhelper and the packages of
# debian/control; `container` umoci; `node` node with node_api.h (Debian: nodejs libnode-dev). Nothing is published, tagged or pushed; test/contract/tidy/release.sh says whether the
# tree can be released.
#
# SLOOP_DEPENDENCIES: a folder with what dependencies.sh has built, one folder a triple; else they are built in the work
# folder. SLOOP_CPUS: "x86_64 aarch64" unless given; i686 and s390x have no modules for Python and Node. SLOOP_PYTHONS: "python3"
# unless given; from 3.11 on one makes the wheel for all later ones, 3.9 and 3.10 make each their own, for this CPU alone.
# SLOOP_WORK: the work folder, else a new one in /var/tmp.
set -eu
umask 022
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root"
folder=${1:-$root/build-release}
[ $# -eq 0 ] || shift
parts=${*:-source static wheel python node container deb recipes sbom sums}
cpus=${SLOOP_CPUS:-x86_64 aarch64}
die() {
  echo "release: $*" >&2
  exit 1
}
for part in $parts; do
  case $part in
    source | static | wheel | python | node | container | deb | recipes | sbom | sums) ;;
    *) die "no part \"$part\"" ;;
  esac
done
work=${SLOOP_WORK:-$(mktemp -d /var/tmp/sloop-release.XXXXXX)}
mkdir -p "$folder" "$work"
folder=$(CDPATH='' cd -- "$folder" && pwd)
work=$(CDPATH='' cd -- "$work" && pwd)
version=$(sed -n "s/^  version: '\([0-9][0-9.]*\)',.*/\1/p" meson.build)
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export LC_ALL=C TZ=UTC
unset CFLAGS CPPFLAGS LDFLAGS MAKEFLAGS
tarball=$folder/sloop-$version.tar.gz
source=$work/sloop-$version

[ -n "$version" ] || die "meson.build names no version"

# quietly NAME COMMAND...: what it prints is in $work/NAME.log, and is shown when it fails.
quietly() {
  log=$work/$1.log
  shift
  "$@" >"$log" 2>&1 </dev/null || {
    tail -n 40 "$log" >&2
    die "failed: $* (all of it: $log)"
  }
}
wants() { case " $parts " in *" $1 "*) ;; *) return 1 ;; esac; }
tell() { echo "release: $*" >&2; }

make_source() {
  git archive --format=tar --prefix="sloop-$version/" "$commit" | gzip -9n >"$tarball"
  tell "$(basename "$tarball")"
}

unpack_source() {
  [ -e "$tarball" ] || make_source
  rm -rf "$source"
  tar -xzf "$tarball" -C "$work"
}

dependencies_of() { # the prefix with the static libraries of a CPU, for musl unless another libc is named
  triple=$1-linux-${2:-musl}
  if [ -n "${SLOOP_DEPENDENCIES:-}" ]; then
    echo "$SLOOP_DEPENDENCIES/$triple"
  else
    quietly "dependencies-$triple" sh "$root/src/pack/dependencies.sh" "$triple" "$work/$triple" "$work/dependencies"
    echo "$work/$triple"
  fi
}

static_of() { echo "$folder/stream-tail-$version-linux-$1"; }

without() { # the options that leave tests and benches out, where meson_options.txt has them
  for part in tests bench; do
    if grep -q "^option('$part'" meson_options.txt; then echo "-D$part=disabled"; fi
  done
}

# Without debug information the compiler writes down no folder, and so does not the id of the build.
make_static() {
  [ -d "$source" ] || unpack_source
  for cpu in $cpus; do
    prefix=$(dependencies_of "$cpu")
    [ -e "$prefix/sloop.ini" ] || die "no $prefix/sloop.ini: dependencies.sh makes it"
    build=$work/static-$cpu
    rm -rf "$build"
    # shellcheck disable=SC2046 # several options
    (cd "$source" && quietly "setup-$cpu" meson setup --cross-file "$prefix/sloop.ini" --prefix=/usr --prefer-static \
      -Ddebug=false -Doptimization=2 -Ddefault_library=static "-Dc_link_args=['-static-pie', '-Wl,--gc-sections']" $(without) "$build")
    quietly "build-$cpu" nice -n 5 ninja -C "$build" ${SLOOP_JOBS:+-j"$SLOOP_JOBS"} stream-tail
    strip=$(sed -n "s/^strip = '\(.*\)'/\1/p" "$prefix/sloop.ini")
    "$strip" --strip-all -o "$(static_of "$cpu")" "$build/stream-tail"
    chmod 755 "$(static_of "$cpu")"
    tell "$(basename "$(static_of "$cpu")"): $(wc -c <"$(static_of "$cpu")") bytes"
  done
}

needs_static() {
  for cpu in $cpus; do [ -e "$(static_of "$cpu")" ] || make_static; done
}

make_wheel() {
  needs_static
  for cpu in $cpus; do
    python3 src/pack/wheel.py program --version "$version" --cpu "$cpu" --program "$(static_of "$cpu")" --readme README.md \
      --license LICENSE --folder "$folder" >&2
  done
}

# set_up_module NAME CPU OPTION...: a build folder, $work/NAME, for a module that has the libraries inside. Leaves the prefix
# with the libraries in $prefix.
set_up_module() {
  name=$1 cpu=$2
  shift 2
  [ -d "$source" ] || unpack_source
  prefix=$(dependencies_of "$cpu" gnu)
  [ -e "$prefix/sloop.ini" ] || die "no $prefix/sloop.ini: dependencies.sh makes it"
  kind=--cross-file
  [ "$cpu" != "$(uname -m)" ] || kind=--native-file
  rm -rf "${work:?}/$name"
  # shellcheck disable=SC2046 # several options
  (cd "$source" && quietly "setup-$name" meson setup "$kind" "$prefix/sloop.ini" --prefix=/usr -Ddebug=false -Doptimization=2 \
    $(without) -Dcli=disabled -Dsandbox=disabled "$@" "$work/$name")
}
build_module() { # build_module NAME TARGET FOLDER PATTERN: builds a target, and strips its file, which is in that folder
  quietly "build-$1" nice -n 5 ninja -C "$work/$1" ${SLOOP_JOBS:+-j"$SLOOP_JOBS"} "$2"
  "$(sed -n "s/^strip = '\(.*\)'/\1/p" "$prefix/sloop.ini")" --strip-unneeded "$3"/$4
}

has_glibc() { # has_glibc CPU PART: whether dependencies.sh makes the libraries that modules for that CPU have inside
  ! grep -q "^  $1-linux-gnu)" "$root/src/pack/dependencies.sh" || return 0
  tell "$2: nothing for $1: dependencies.sh makes no libraries for its glibc"
  return 1
}

make_python() {
  for cpu in $cpus; do
    has_glibc "$cpu" python || continue
    for python in ${SLOOP_PYTHONS:-python3}; do
      tag=$("$python" -c 'import sys; print("%d%02d" % sys.version_info[:2])')
      if [ "$tag" -lt 311 ] && [ "$cpu" != "$(uname -m)" ]; then
        tell "no wheel for $cpu by $python: before 3.11 it can be made on a machine of that CPU alone"
        continue
      fi
      set_up_module "python-$cpu-$tag" "$cpu" -Dpython=enabled -Dpython_binary="$(command -v "$python")"
      build=$work/python-$cpu-$tag
      build_module "python-$cpu-$tag" python-package "$build/src/bind/python/sloop" '_native.*.so'
      python3 src/pack/wheel.py package --version "$version" --cpu "$cpu" --package "$build/src/bind/python/sloop" \
        --project pyproject.toml --license LICENSE --folder "$folder" >&2
    done
  done
}

# Leases in a file are refused in node, which has a SQLite of its own, so none is linked in.
make_node() {
  binaries=
  for cpu in $cpus; do
    has_glibc "$cpu" node || continue
    case $cpu in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; *) die "node has no name here for $cpu" ;; esac
    set_up_module "node-$cpu" "$cpu" -Dnode=enabled -Dsqlite=disabled
    build_module "node-$cpu" node-package "$work/node-$cpu/src/bind/node" sloop.node
    binaries="$binaries linux-$arch=$work/node-$cpu/src/bind/node/sloop.node"
  done
  if [ -z "$binaries" ]; then
    tell "node: no package, for it would have no binary"
    return
  fi
  quietly node-sources node "$source/src/bind/node/install.js" --sources
  # shellcheck disable=SC2086 # a list of words
  python3 src/pack/npm.py --version "$version" --package "$source/src/bind/node" --license LICENSE --folder "$folder" $binaries >&2
}

make_container() {
  needs_static
  for cpu in $cpus; do
    python3 src/pack/image.py --version "$version" --cpu "$cpu" --program "$(static_of "$cpu")" --commit "$commit" \
      --license LICENSE --output "$folder/stream-tail-$version-oci-$cpu.tar" >&2
  done
  cp src/pack/Dockerfile "$folder/Dockerfile"
}

make_deb() {
  [ -e "$tarball" ] || make_source
  debs=$work/deb
  rm -rf "$debs"
  mkdir -p "$debs"
  cp "$tarball" "$debs/sloop_$version.orig.tar.gz"
  tar -xzf "$tarball" -C "$debs"
  cp -R "$debs/sloop-$version/src/pack/debian" "$debs/sloop-$version/debian"
  (cd "$debs/sloop-$version" && quietly deb env DEB_BUILD_OPTIONS="parallel=${SLOOP_JOBS:-$(nproc)} ${DEB_BUILD_OPTIONS:-}" \
    nice -n 5 dpkg-buildpackage -us -uc)
  (cd "$debs" && cp -- *.deb *.dsc *.debian.tar.xz "sloop_$version.orig.tar.gz" "$folder/")
  tell "$(cd "$debs" && ls -- *.deb | tr '\n' ' ')"
}

# The recipes name the tarball by its sum. Where it will be published is not known here: @URL@ stays for whoever does it,
# unless SLOOP_URL names it.
make_recipes() {
  [ -e "$tarball" ] || make_source
  sum=$(sha256sum "$tarball" | cut -d ' ' -f 1)
  sum512=$(sha512sum "$tarball" | cut -d ' ' -f 1)
  url=${SLOOP_URL:-https://github.com/sloop/sloop/releases/download/v$version}/sloop-$version.tar.gz
  mkdir -p "$folder/recipes/conan/test_package"
  cp src/pack/recipes/conan/test_package/* test/contract/embed/print.c test/contract/embed/serve.c "$folder/recipes/conan/test_package/"
  for recipe in stream-tail.rb APKBUILD sloop.nix conan/conanfile.py; do
    sed -e "s|@VERSION@|$version|g" -e "s|@URL@|$url|g" -e "s|@SHA256@|$sum|g" -e "s|@SHA512@|$sum512|g" \
      "src/pack/recipes/$recipe.in" >"$folder/recipes/$recipe"
  done
  tell "recipes: $(cd "$folder/recipes" && ls | tr '\n' ' ')"
}

make_sbom() {
  first=${cpus%% *}
  prefix=$(dependencies_of "$first")
  python3 src/pack/sbom.py --version "$version" --commit "$commit" --versions "$prefix/versions.txt" --folder "$folder" \
    --output "$folder/sloop-$version.spdx.json" >&2
}

make_sums() {
  (cd "$folder" && find . -type f ! -name SHA256SUMS | sed 's,^\./,,' | sort | xargs -d '\n' sha256sum >"$work/SHA256SUMS" &&
    mv "$work/SHA256SUMS" SHA256SUMS)
  tell "SHA256SUMS: $(wc -l <"$folder/SHA256SUMS") files"
}

for part in source static wheel python node container deb recipes sbom sums; do
  if wants "$part"; then "make_$part"; fi
done
[ -n "${SLOOP_WORK:-}" ] || rm -rf "$work"
