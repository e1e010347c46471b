#!/bin/sh
# Builds musl and what sloop links, static, from pinned Debian source packages:
#   sh src/pack/dependencies.sh TRIPLE PREFIX [WORK]
# TRIPLE is x86_64-linux-musl, aarch64-linux-musl, s390x-linux-musl or i686-linux-musl. PREFIX then holds the libraries,
# bin/TRIPLE-cc, and sloop.ini, a Meson cross file:
#   meson setup --cross-file PREFIX/sloop.ini --prefer-static build
#
# TRIPLE x86_64-linux-gnu or aarch64-linux-gnu: what libsloop links and no more, for the glibc of the compiler. For this
# machine's own CPU sloop.ini is a native file, else a cross file. These are for modules that a process loads beside other
# copies of the same libraries (Python, Node): position-independent, and a module linked with -Wl,--exclude-libs,ALL
# -Wl,-Bsymbolic neither shows them nor uses the others.
#
# WORK (PREFIX/work unless given) keeps the downloads and the folders of the builds; a second run with it builds only what
# is missing, or what has another pin now with all that come after it in the list. What is built depends on the pins below
# and on the compiler alone: no path of PREFIX or WORK is in a library.
#
# Needs apt-get, dpkg-source (dpkg-dev), perl, make, cmake, tclsh, xz and the compiler, of Debian 12 or later: gcc, or the gcc of
# crossbuild-essential-arm64, -s390x or -i386. Needs no root. The mirror is that of the machine's own sources;
# SLOOP_DEBIAN and SLOOP_DEBIAN_SECURITY name another, such as a snapshot of both. A version that the mirror has replaced is
# taken from there while the mirror has its files, and is the failure that says so after that. A new pin is a new version
# below and the SHA-256 of its .dsc, which names the sums of all other files.
#
#   sh src/pack/dependencies.sh --newer [WORK]      # says which pins Debian has a newer version of; status 1 if any
set -eu
umask 022

# name, version, SHA-256 of the .dsc
pins='
musl     1.2.5-3.1~deb13u1                      972970614ed9159b04343b7f85bdf16f565b4a903f05d97e57dc730c7b0b8066
zlib     1:1.3.dfsg+really1.3.1-1               ede2791e29c1d3b422f9208bdd7edf040c20445ea1e7453a72037576e64fa197
openssl  3.5.7-1~deb13u2                        25904642004d30c5c3da4642a72a7d09f8d9eb6e5ce62dab53c0371114faf8f2
nghttp2  1.64.0-1.1+deb13u1                     11f4603a9f417bc3d195be36cb462bb9df0657f52b72dd9276453a31bc0227c7
curl     8.14.1-2+deb13u5                       9a9a2c95cdc8b5d76892c70858f25eaf2dc0b0a475a1e43e0b4ad428414752df
libuv1   1.50.0-2                               5691ae93bdd0c9b147e76290bc8816c805f565b6a52ad23691a31b6092056abc
sqlite3  3.46.1-7+deb13u2                       46e1eec171e11108fc436e45309b635b601029726b6ffd3bf435bb474e511638
pcre2    10.46-1~deb13u2                        4eac7bfc4d11259da7d299f90b6c74b359d7cbb3be2f017e039b02524f30d2e6
libzstd  1.5.7+dfsg-1                           8f6ab97fa772d921334e50fa5756a0951e23c718dc913e43a228f28c1a23adf9
'

die() {
  echo "dependencies: $*" >&2
  exit 1
}
triple=${1:-}
if [ "$triple" = --newer ]; then
  prefix=
  work=${2:-$(mktemp -d /var/tmp/sloop-newer.XXXXXX)}
  mkdir -p "$work"
else
  [ $# -ge 2 ] || die "usage: dependencies.sh TRIPLE PREFIX [WORK], or --newer [WORK]"
  mkdir -p "$2" "${3:-$2/work}"
  prefix=$(cd -- "$2" && pwd)
  work=${3:-$2/work}
fi
work=$(cd -- "$work" && pwd)
jobs=${SLOOP_JOBS:-$(nproc)}
libc=${triple##*-}
machine=$(uname -m)
case $triple in
  x86_64-linux-gnu) gnu=$triple openssl=linux-x86_64 cpu=x86_64 family=x86_64 endian=little qemu= ;;
  x86_64-linux-musl) gnu=x86_64-linux-gnu openssl=linux-x86_64 cpu=x86_64 family=x86_64 endian=little qemu= ;;
  i686-linux-musl) gnu=i686-linux-gnu openssl=linux-x86 cpu=i686 family=x86 endian=little qemu= ;;
  aarch64-linux-gnu) gnu=$triple openssl=linux-aarch64 cpu=aarch64 family=aarch64 endian=little qemu=qemu-aarch64-static ;;
  aarch64-linux-musl) gnu=aarch64-linux-gnu openssl=linux-aarch64 cpu=aarch64 family=aarch64 endian=little qemu=qemu-aarch64-static ;;
  s390x-linux-musl) gnu=s390x-linux-gnu openssl=linux64-s390x cpu=s390x family=s390x endian=big qemu=qemu-s390x-static ;;
  --newer) gnu= ;;
  *) die "an unknown triple: $triple" ;;
esac
[ "${cpu:-}" != "$machine" ] || qemu=
# What a program of another CPU is linked to, the emulator finds with the cross compiler.
[ -z "${qemu:-}" ] || [ "$libc" != gnu ] || qemu="$qemu', '-L', '/usr/$gnu"
for command in apt-get dpkg-source perl make cmake tclsh gcc ${gnu:+"$gnu-gcc" "$gnu-ar"}; do
  command -v "$command" >/dev/null || die "needs $command"
done

# The machine's Debian mirrors: from deb822 files first, then one-line sources. $1 is how the address ends.
mirror_of() {
  { sed -n "s,^URIs: *\\([^ ]*$1\\)/\\{0\\,1\\} *\$,\\1,p" /etc/apt/sources.list.d/*.sources
    sed -n "s,^deb \\(\\[[^]]*\\] \\)\\{0\\,1\\}\\([^ ]*$1\\)/\\{0\\,1\\} .*,\\2,p" /etc/apt/sources.list /etc/apt/sources.list.d/*.list
  } 2>/dev/null | head -n 1
}
mirror=${SLOOP_DEBIAN:-$(mirror_of /debian)}
security=${SLOOP_DEBIAN_SECURITY:-$(mirror_of /debian-security)}
[ -n "$mirror" ] || die "no Debian mirror in this machine's sources: set SLOOP_DEBIAN"
[ -n "$security" ] || security=$mirror-security

# A package list of our own: the machine's is left alone, and root is not needed.
apt=$work/apt
private_apt() { # private_apt COMMAND ARGUMENT...: COMMAND is apt-get or apt-cache
  command=$1
  shift
  "$command" -q -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State="$apt/state" \
    -o Dir::Cache="$apt/cache" -o Dir::State::status="$apt/status" -o APT::Sandbox::User="$(id -un)" "$@"
}
fetch_lists() {
  [ ! -e "$apt/fetched" ] || return 0
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
  : >"$apt/status"
  key=signed-by=/usr/share/keyrings/debian-archive-keyring.gpg
  printf 'deb-src [%s] %s %s main\n' "$key" "$mirror" trixie "$key" "$mirror" trixie-updates "$key" "$security" trixie-security \
    >"$apt/sources.list"
  private_apt apt-get update >"$work/apt.log" 2>&1 || { tail -n 5 "$work/apt.log" >&2; die "apt-get update failed"; }
  : >"$apt/fetched"
}

names_of_pins() { printf '%s\n' "$pins" | sed -n 's/^\([a-z0-9]\{1,\}\) .*/\1/p'; }
names=$(names_of_pins)
if [ "$triple" = --newer ]; then
  rm -f "$apt/fetched"
  fetch_lists
  newer=0
  for name in $names; do
    pinned=$(printf '%s' "$pins" | sed -n "s/^$name  *\([^ ]*\) .*/\1/p")
    for version in $(private_apt apt-cache showsrc --only-source "$name" | sed -n 's/^Version: //p'); do
      dpkg --compare-versions "$version" gt "$pinned" || continue
      echo "$name: $version is newer than $pinned"
      newer=1
    done
  done
  [ -n "${2:-}" ] || rm -rf "$work"
  exit "$newer"
fi

# pin_of NAME: its version and the sum of its .dsc. pins_until NAME: the pins of all that are built before it, and its own.
pins_until() { printf '%s' "$pins" | sed "/^$1 /q"; }
pin_of() { printf '%s' "$pins" | sed -n "s/^$1  *//p"; }

# from_pool NAME VERSION SUM: downloads a version that the mirror no longer lists and still has. Returns 1 if it has not.
from_pool() {
  case $1 in
    lib*) initial=${1%"${1#????}"} ;;
    *) initial=${1%"${1#?}"} ;;
  esac
  dsc=$work/downloads/$1_${2#*:}.dsc
  for pool in "$mirror/pool/main" "$security/pool/updates/main"; do
    /usr/lib/apt/apt-helper download-file "$pool/$initial/$1/$1_${2#*:}.dsc" "$dsc" "SHA256:$3" || continue
    sed -n '/^Checksums-Sha256:/,/^[^ C]/s/^ \([0-9a-f]*\) [0-9]* \(.*\)$/\1 \2/p' "$dsc" | while read -r sum file; do
      /usr/lib/apt/apt-helper download-file "$pool/$initial/$1/$file" "$work/downloads/$file" "SHA256:$sum" || exit 1
    done && return 0
  done
  rm -f "$dsc"
  return 1
}

# fetch NAME: unpacks the pinned source to $work/src/NAME, checked.
fetch() {
  name=$1
  # shellcheck disable=SC2046 # two words
  set -- $(pin_of "$name")
  version=$1 sum=$2
  [ "$(cat "$work/src/$name/.unpacked" 2>/dev/null)" != "$sum" ] || return 0
  dsc=$work/downloads/${name}_$(printf '%s' "$version" | sed 's/^[0-9]*://').dsc
  mkdir -p "$work/downloads" "$work/src"
  if [ ! -e "$dsc" ]; then
    fetch_lists
    (cd "$work/downloads" && private_apt apt-get source --download-only --only-source "$name=$version") >"$work/fetch-$name.log" 2>&1 ||
      from_pool "$name" "$version" "$sum" >>"$work/fetch-$name.log" 2>&1 ||
      { tail -n 3 "$work/fetch-$name.log" >&2; die "$name $version is not to be had: was it replaced by a newer one?"; }
  fi
  [ "$(sha256sum "$dsc" | cut -d ' ' -f 1)" = "$sum" ] || die "$dsc is not the file that is pinned: $(sha256sum "$dsc")"
  rm -rf "$work/src/$name"
  (cd "$work/src" && dpkg-source --no-check -x "$dsc" "$name") >"$work/unpack-$name.log" 2>&1 ||
    { tail -n 3 "$work/unpack-$name.log" >&2; die "$name does not unpack"; } # checks the sums that the .dsc names
  echo "$sum" >"$work/src/$name/.unpacked"
}

# build NAME COMMAND...: runs the command in a fresh folder, once for the pins of NAME and of all before it, whose headers it
# may have used. Its log is $work/TRIPLE/NAME.log.
build() {
  name=$1
  shift
  [ "$(cat "$prefix/.built-$name" 2>/dev/null)" != "$(pins_until "$name")" ] || return 0
  fetch "$name"
  rm -rf "$work/$triple/$name"
  mkdir -p "$work/$triple/$name"
  began=$(date +%s)
  set +e # a subshell within a condition would go on after a failure
  (set -e; cd "$work/$triple/$name"; "$@") >"$work/$triple/$name.log" 2>&1 </dev/null
  status=$?
  set -e
  if [ "$status" -ne 0 ]; then
    tail -n 30 "$work/$triple/$name.log" >&2
    die "$name does not build: $work/$triple/$name.log"
  fi
  pins_until "$name" >"$prefix/.built-$name"
  echo "dependencies: $name: $(($(date +%s) - began)) s" >&2
}

# One date for all, and no path: the same bytes on another machine.
SOURCE_DATE_EPOCH=1735689600
export SOURCE_DATE_EPOCH
unset CFLAGS CPPFLAGS CXXFLAGS LDFLAGS PKG_CONFIG_PATH
# No path is among them, because OpenSSL writes its flags into the library.
flags="-O2 -g0 -fPIC -fstack-protector-strong -ffunction-sections -fdata-sections"
cc=$triple-cc
PATH=$prefix/bin:$PATH
PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
export PKG_CONFIG_LIBDIR
lower="nice -n 5"
static=-static

build_musl() {
  "$work/src/musl/configure" --prefix="$prefix" --syslibdir="$prefix/lib" --disable-shared --enable-wrapper=gcc \
    --target="$cpu-linux-musl" CC="$gnu-gcc" AR="$gnu-ar" RANLIB="$gnu-ranlib" \
    CFLAGS="-O2 -g0 -fPIC -ffile-prefix-map=$work=/deps"
  $lower make -j"$jobs"
  make install
  # The kernel's headers, which musl has no copy of.
  mkdir -p "$prefix/kernel"
  headers=
  for candidate in "/usr/$gnu/include" /usr/include; do
    if [ -e "$candidate/linux/mman.h" ]; then headers=$candidate; break; fi
  done
  [ -n "$headers" ] || { echo "no kernel headers (linux-libc-dev)"; return 1; }
  ln -sfn "$headers/linux" "$prefix/kernel/linux"
  ln -sfn "$headers/asm-generic" "$prefix/kernel/asm-generic"
  if [ -e "$headers/asm" ]; then ln -sfn "$headers/asm" "$prefix/kernel/asm"
  else ln -sfn "$headers/$gnu/asm" "$prefix/kernel/asm"; fi
  # musl's specs know no -static-pie: it starts at rcrt1.o, and the linker is told that there is no interpreter.
  cat >"$prefix/bin/$cc" <<CC
#!/bin/sh
# gcc for $triple. Like gcc, links what it is told to; -static-pie is what musl's own wrapper does not know.
for word; do
  case \$word in
    -c|-S|-E|-M|-MM) linking=no ;;
    -static-pie) pie=yes ;;
  esac
done
if [ "\${pie:-}" = yes ] && [ "\${linking:-}" != no ]; then
  libgcc=\$($gnu-gcc -print-file-name=libgcc.a)
  folder=\${libgcc%/*}
  exec $gnu-gcc -specs "$prefix/lib/musl-gcc.specs" -ffile-prefix-map="$work"=/deps -ffile-prefix-map="$prefix"=/deps \\
  "\$@" -idirafter "$prefix/kernel" -static -nostartfiles \\
    -Wl,-pie,--no-dynamic-linker,-z,text "$prefix/lib/rcrt1.o" "$prefix/lib/crti.o" "\$folder/crtbeginS.o" \\
    "\$folder/crtendS.o" "$prefix/lib/crtn.o"
fi
exec $gnu-gcc -specs "$prefix/lib/musl-gcc.specs" -ffile-prefix-map="$work"=/deps -ffile-prefix-map="$prefix"=/deps \\
  "\$@" -idirafter "$prefix/kernel"
CC
  chmod +x "$prefix/bin/$cc"
}

# gcc with the machine's glibc. No path of the folders gets into what it compiles.
write_glibc_compiler() {
  mkdir -p "$prefix/bin"
  printf '#!/bin/sh\n# gcc for %s, which writes down no path of this machine.\nexec %s -ffile-prefix-map="%s"=/deps -ffile-prefix-map="%s"=/deps "$@"\n' \
    "$triple" "$gnu-gcc" "$work" "$prefix" >"$prefix/bin/$cc"
  chmod +x "$prefix/bin/$cc"
}

build_zlib() {
  cp -r "$work/src/zlib/." .
  CC=$cc AR=$gnu-ar RANLIB=$gnu-ranlib CFLAGS=$flags ./configure --static --prefix="$prefix"
  $lower make -j"$jobs" libz.a
  make install
}

# TLS 1.2 and 1.3, digests, and the keys that certificates and proxies have; what sloop and libcurl never ask for is left out.
# The folder of certificates is where most distributions have theirs; SSL_CERT_FILE and SSL_CERT_DIR name others.
build_openssl() {
  CC=$cc AR=$gnu-ar RANLIB=$gnu-ranlib "$work/src/openssl/Configure" "$openssl" --prefix=/usr --libdir=lib \
    --openssldir=/etc/ssl no-shared no-module no-tests no-docs no-apps no-engine no-legacy no-comp no-ssl3 no-tls1 no-tls1_1 no-srp \
    no-dtls no-quic no-srtp no-psk no-cms no-cmp no-ts no-ct no-gost no-dsa no-ec2m no-aria no-argon2 no-bf no-blake2 no-camellia \
    no-cast no-idea no-md4 no-mdc2 no-ocb no-rc2 no-rc4 no-rmd160 no-scrypt no-seed no-siphash no-slh-dsa no-sm2 no-sm3 no-sm4 \
    no-whirlpool no-ssl-trace no-tls-deprecated-ec no-weak-ssl-ciphers no-zlib $flags
  $lower make -j"$jobs" build_libs
  make install_dev DESTDIR="$PWD/installed" # it writes its prefix into the library
  cp -R installed/usr/. "$prefix"
  sed -i "s,^prefix=/usr\$,prefix=$prefix," "$prefix/lib/pkgconfig/libcrypto.pc" "$prefix/lib/pkgconfig/libssl.pc" \
    "$prefix/lib/pkgconfig/openssl.pc"
}

with_cmake() {
  package=$1
  shift
  cmake -S "$package" -B . -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$cpu" -DCMAKE_C_COMPILER="$cc" -DCMAKE_AR="$(command -v "$gnu-ar")" \
    -DCMAKE_RANLIB="$(command -v "$gnu-ranlib")" -DCMAKE_C_FLAGS="$flags" -DCMAKE_BUILD_TYPE=None -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_FIND_ROOT_PATH="$prefix" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
    -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_TRY_COMPILE_TARGET_TYPE=EXECUTABLE \
    -DCMAKE_EXE_LINKER_FLAGS="$static" -DBUILD_SHARED_LIBS=OFF "$@"
  $lower cmake --build . -j "$jobs"
  cmake --install .
}

build_nghttp2() {
  with_cmake "$work/src/nghttp2" -DENABLE_LIB_ONLY=ON -DBUILD_STATIC_LIBS=ON -DENABLE_DOC=OFF -DBUILD_TESTING=OFF
}

# HTTP alone, as much of it as the library uses. No path of certificates: sloop says where they are.
build_curl() {
  with_cmake "$work/src/curl" -DBUILD_CURL_EXE=OFF -DBUILD_STATIC_LIBS=ON -DBUILD_LIBCURL_DOCS=OFF -DBUILD_MISC_DOCS=OFF \
    -DENABLE_CURL_MANUAL=OFF -DBUILD_TESTING=OFF -DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON -DUSE_NGHTTP2=ON -DCURL_USE_LIBPSL=OFF \
    -DCURL_USE_LIBSSH2=OFF -DUSE_LIBIDN2=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DENABLE_ARES=OFF -DENABLE_THREADED_RESOLVER=ON \
    -DENABLE_UNIX_SOCKETS=ON -DCURL_DISABLE_ALTSVC=ON -DCURL_DISABLE_HSTS=ON -DCURL_DISABLE_NTLM=OFF -DCURL_DISABLE_COOKIES=OFF \
    -DCURL_CA_BUNDLE=none -DCURL_CA_PATH=none
}

build_libuv1() {
  with_cmake "$work/src/libuv1" -DLIBUV_BUILD_SHARED=OFF -DLIBUV_BUILD_TESTS=OFF -DLIBUV_BUILD_BENCH=OFF
  [ -e "$prefix/lib/libuv.a" ] || cp "$prefix/lib/libuv_a.a" "$prefix/lib/libuv.a"
  sed -e 's,-l:libuv\.a,-luv,' "$prefix/lib/pkgconfig/libuv-static.pc" >"$prefix/lib/pkgconfig/libuv.pc"
}

# Its makefile would run what it compiled for the triple, so only the one file of C is made with it.
build_sqlite3() {
  "$work/src/sqlite3/configure" CC=gcc --disable-tcl --disable-readline
  $lower make -j"$jobs" sqlite3.c
  # shellcheck disable=SC2086 # a list of words
  $lower "$cc" $flags -DSQLITE_OMIT_LOAD_EXTENSION -c sqlite3.c -o sqlite3-target.o
  "$gnu-ar" rcsD "$prefix/lib/libsqlite3.a" sqlite3-target.o
  cp sqlite3.h "$prefix/include/"
  printf 'Name: SQLite\nDescription: SQL database engine\nVersion: %s\nLibs: -L%s/lib -lsqlite3\nCflags: -I%s/include\n' \
    "$(cat "$work/src/sqlite3/VERSION")" "$prefix" "$prefix" >"$prefix/lib/pkgconfig/sqlite3.pc"
}

build_pcre2() {
  with_cmake "$work/src/pcre2" -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF -DPCRE2_SUPPORT_JIT=ON -DPCRE2_STATIC_PIC=ON
}

build_libzstd() {
  with_cmake "$work/src/libzstd/build/cmake" -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF -DZSTD_BUILD_STATIC=ON -DZSTD_BUILD_TESTS=OFF \
    -DZSTD_MULTITHREAD_SUPPORT=OFF
}

write_meson_file() {
  cat >"$prefix/sloop.ini" <<INI
[binaries]
c = '$prefix/bin/$cc'
ar = '$gnu-ar'
strip = '$gnu-strip'
pkgconfig = 'pkg-config'
cmake = 'false'
${qemu:+exe_wrapper = ['$qemu']}

[properties]
pkg_config_libdir = '$prefix/lib/pkgconfig'
needs_exe_wrapper = $([ -n "$qemu" ] && echo true || echo false)

[built-in options]
c_link_args = [${static:+"'-static-pie', "}'-Wl,--gc-sections']
c_args = ['-ffunction-sections', '-fdata-sections']
prefer_static = true
INI
  [ "$libc" = musl ] || [ "$cpu" != "$machine" ] || return 0
  cat >>"$prefix/sloop.ini" <<INI

[host_machine]
system = 'linux'
cpu_family = '$family'
cpu = '$cpu'
endian = '$endian'
INI
}

mkdir -p "$work/$triple"
if [ "$libc" = gnu ]; then
  static=
  # Neither the libc, which is the machine's, nor what is stream-tail's alone.
  pins=$(printf '%s' "$pins" | grep -v -E '^(musl|pcre2|libzstd) ')
  names=$(names_of_pins)
  write_glibc_compiler
fi
for package in $names; do
  build "$package" "build_$package"
done
write_meson_file
printf '%s\n' "$pins" | sed -n 's/^\([a-z0-9]\{1,\}\)  *\([^ ]*\)  *\([^ ]*\)$/\1 \2 \3/p' >"$prefix/versions.txt"
echo "dependencies: all in $prefix" >&2
