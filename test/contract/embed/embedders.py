#!/usr/bin/env python3
"""embedders.py - other people's builds: six programs that are built as their authors would, of what `meson install` installed into
a temporary folder, or of a copy of the source; each reads every record of a sandbox.

usage: embedders.py BUILD_DIRECTORY [NAME]     NAME: only the function of that name
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import run
from run import HERE, ROOT, ok, skip

SOURCE = ("meson.build", "meson_options.txt", "include", "src")


def shell(what, argv, **more):
    got = run.run(argv, stdin=subprocess.DEVNULL, **more)
    return ok(what, got.returncode == 0, got.stdout[-2500:])


def say_where(folder, prefix):
    """The .pc files of the folder name the prefix below which they are in this test, unless they were made relocatable."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        text = run.read(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"^prefix=/.*$", lambda _: "prefix=" + prefix, text, flags=re.M))


class Built:
    """What all six share: the installed tree, a sandbox that was built from it, the environment of a reader."""

    def __init__(self, root, got, server):
        self.root, self.got, self.server = root, got, server
        self.env = dict(os.environ, AWS_ENDPOINT_URL=server.url, AWS_REGION="us-east-1", AWS_ACCESS_KEY_ID="EXAMPLE",
                        AWS_SECRET_ACCESS_KEY="example", HOME=root)
        for name in ("AWS_PROFILE", "LD_LIBRARY_PATH"):
            self.env.pop(name, None)
        self.build_env = dict(self.env, PKG_CONFIG_PATH=os.path.dirname(got.pc), CMAKE_PREFIX_PATH=got.prefix, HOME=os.environ.get("HOME", "/"))

    def folder(self, name):
        return os.path.join(self.root, name)

    def reads(self, name, program, shared, example="print"):
        """Runs a built program; `shared`: whether it needs libsloop.so."""
        needs = "libsloop.so.0" in run.run(["readelf", "-d", program]).stdout
        ok("%s: it is linked with %s" % (name, "libsloop.so" if shared else "the archive"), needs == shared)
        env = dict(self.env, LD_LIBRARY_PATH=self.got.libdir) if shared else self.env
        if example == "print":
            run.check_print(name, [program], self.server, env, program + ".out", 60)
        else:
            run.check_until_input_ends(name, [program], self.server, env)


def meson_subproject(all_of):
    """A copy of the source in subprojects/: nothing is installed, and of sloop only what is linked is built."""
    name, folder = "Meson subproject", all_of.folder("subproject")
    source = os.path.join(folder, "subprojects", "sloop")
    os.makedirs(source)
    for part in SOURCE:
        copy = shutil.copytree if os.path.isdir(os.path.join(ROOT, part)) else shutil.copy
        copy(os.path.join(ROOT, part), os.path.join(source, part))
    shutil.copy(all_of.got.examples + "/print.c", folder)
    shutil.copy(HERE + "/serve.c", folder)
    with open(folder + "/meson.build", "w", encoding="utf-8") as file:
        file.write("project('theirs', 'c', default_options: ['c_std=gnu11'])\n"
                   "executable('print', 'print.c', dependencies: dependency('sloop', fallback: 'sloop'))\n"
                   "executable('print_static', 'print.c', dependencies: dependency('sloop', static: true))\n"
                   "executable('serve', 'serve.c', dependencies: dependency('sloop-sandbox'), build_by_default: false)\n")
    env = {name: value for name, value in all_of.build_env.items() if name not in ("PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH")}
    # Unoptimised: what is looked at is how it is built, and that is quick.
    if not shell(name + ": setup", ["meson", "setup", "--buildtype=plain", "--force-fallback-for=sloop", folder + "/build", folder], env=env):
        return
    steps = run.run(["ninja", "-C", folder + "/build", "-n", "all"]).stdout
    extra = [part for part in ("sandbox", "cli_", "stream-tail", "test", "bench") if re.search(r"\b" + part, steps.split("theirs")[-1])]
    ok(name + ": neither stream-tail nor sandbox nor tests are built", not extra, extra)
    if shell(name + ": build", ["ninja", "-C", folder + "/build"], env=env):
        all_of.reads(name, folder + "/build/print", shared=True)
        all_of.reads(name + ", static", folder + "/build/print_static", shared=False)


def meson_dependency(all_of):
    """The installed examples by the meson.build that is installed with them."""
    name, to = "Meson dependency", all_of.folder("meson")
    if shell(name + ": setup", ["meson", "setup", to, all_of.got.examples], env=all_of.build_env) and \
            shell(name + ": build", ["ninja", "-C", to], env=all_of.build_env):
        all_of.reads(name, to + "/print", shared=True)
        all_of.reads(name + ", epoll", to + "/epoll", shared=True, example="epoll")


def cmake(all_of, name, to, *options):
    if not shutil.which("cmake"):
        skip(name, "cmake is not installed")
        return False
    return shell(name + ": setup", ["cmake", "-G", "Ninja", "-S", all_of.got.examples, "-B", to, *options], env=all_of.build_env) and \
        shell(name + ": build", ["cmake", "--build", to], env=all_of.build_env)


def cmake_shared(all_of):
    name, to = "CMake shared", all_of.folder("cmake-shared")
    if cmake(all_of, name, to):
        all_of.reads(name, to + "/print", shared=True)
        refuses_others(all_of)


def cmake_static(all_of):
    name, to = "CMake static", all_of.folder("cmake-static")
    if cmake(all_of, name, to, "-DSLOOP_STATIC=ON"):
        all_of.reads(name, to + "/print", shared=False)


def refuses_others(all_of):
    """find_package says what is not there: a newer version, a component that nobody has; and the sandbox is one."""
    folder = all_of.folder("cmake-asks")
    os.makedirs(folder)
    shutil.copy(HERE + "/serve.c", folder)
    for asked, told in (("9.0", "version: 0.1.0"), ("0.1 COMPONENTS shard", "There is no shard"),
                        ("0.1 COMPONENTS sandbox", None)):
        with open(folder + "/CMakeLists.txt", "w", encoding="utf-8") as file:
            file.write("cmake_minimum_required(VERSION 3.18)\nproject(theirs C)\nfind_package(sloop %s REQUIRED)\n"
                       "add_executable(serve serve.c)\ntarget_link_libraries(serve PRIVATE sloop::sandbox)\n" % asked)
        got = run.run(["cmake", "-G", "Ninja", "-S", folder, "-B", folder + "/build"], env=all_of.build_env)
        if told:
            ok("CMake: find_package(sloop %s) is refused: %s" % (asked, told), got.returncode != 0 and told in got.stdout, got.stdout)
            shutil.rmtree(folder + "/build", ignore_errors=True)
        elif shell("CMake: the sandbox is a component", ["cmake", "--build", folder + "/build"], env=all_of.build_env):
            server = run.Server(folder + "/build/serve")
            ok("CMake: that sandbox serves, and stops when its input closes", server.stop() == 0)


def pkg_config_static(all_of):
    """The archive beside libsloop.so, by the Makefile of the examples; and in a tree that has the archive alone, by --static."""
    name, tree = "pkg-config static", all_of.folder("archive")
    shutil.copytree(all_of.got.prefix, tree, symlinks=True)
    libdir = os.path.join(tree, os.path.relpath(all_of.got.libdir, all_of.got.prefix))
    examples = os.path.join(tree, os.path.relpath(all_of.got.examples, all_of.got.prefix))
    env = dict(all_of.build_env, PKG_CONFIG_PATH=os.path.join(libdir, "pkgconfig"))
    say_where(env["PKG_CONFIG_PATH"], tree)
    private = run.run(["pkg-config", "--print-requires-private", "sloop"], env=env).stdout.split()
    plain = run.run(["pkg-config", "--libs", "sloop"], env=env).stdout.split()
    ok(name + ": who links libsloop.so is asked for libuv alone",
       {"libcurl", "libcrypto", "zlib"} <= set(private) and "-luv" in plain and "-lcurl" not in plain, (private, plain))
    if shell(name + ": build", ["make", "-C", examples, "print", "STATIC=1"], env=env):
        all_of.reads(name, examples + "/print", shared=False)
    for file in os.listdir(libdir):
        if file.startswith("libsloop.so"):
            os.remove(os.path.join(libdir, file))
    whole = run.run(["pkg-config", "--static", "--cflags", "--libs", "sloop"], env=env).stdout.split()
    others = [flag for flag in whole if flag.startswith("-l") and flag != "-lsloop"]
    if run.run(["cc", "-x", "c", "-", "-o", "/dev/null", *others], input="int main(void) { return 0; }\n").returncode:
        # Debian's libcurl4-openssl-dev does not bring the development files of all that libcurl was built with.
        skip(name + ", by --static", "libcurl.pc names libraries without development files here: " + " ".join(others))
    elif shell(name + ", by --static: build", ["cc", examples + "/print.c", "-o", examples + "/whole", *whole]):
        all_of.reads(name + ", by --static", examples + "/whole", shared=False)


def cpp_with_asio(all_of):
    name = "C++ with asio"
    if not os.path.exists("/usr/include/asio.hpp"):
        skip(name, "asio.hpp is not installed")
        return
    examples = all_of.folder("with-asio")
    shutil.copytree(all_of.got.examples, examples)
    if shell(name + ": build", ["make", "-C", examples, "asio", "CXXFLAGS=-O1 -pthread"], env=all_of.build_env):
        all_of.reads(name, examples + "/asio", shared=True, example="asio")


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory(prefix="sloop-embedders-") as root:
        got = run.Installed(sys.argv[1], os.path.join(root, "root"))
        if not ok("meson install gives headers, libraries and sloop.pc", got.ok, got.log):
            return 1
        say_where(os.path.dirname(got.pc), got.prefix)
        env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(got.pc))
        flags = run.run(["pkg-config", "--cflags", "--libs", "sloop-sandbox"], env=env)
        if not ok("pkg-config knows sloop-sandbox", flags.returncode == 0, flags.stdout):
            return 1
        if not shell("a sandbox is built with pkg-config", ["cc", HERE + "/serve.c", "-o", root + "/serve", *flags.stdout.split()]):
            return 1
        server = run.Server(root + "/serve")
        all_of = Built(root, got, server)
        for embedder in (meson_subproject, meson_dependency, cmake_shared, cmake_static, pkg_config_static, cpp_with_asio):
            if len(sys.argv) == 2 or sys.argv[2] == embedder.__name__:
                embedder(all_of)
        ok("the sandbox stops when its input closes", server.stop() == 0)
    print("%d passed, %d failed, %d skipped" % (len(run.passed), len(run.failed), len(run.skipped)))
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
