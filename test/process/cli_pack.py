"""What src/pack makes of a program, here of a small one: a wheel that pip installs, an image whose digests are right, an
SBOM, recipes. Each is made twice, in two folders, and has the same bytes."""

import hashlib
import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import zipfile

from command import check, equal, main, run, test

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACK = os.path.join(ROOT, "src", "pack")
EPOCH = "1764331200"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
VERSIONS = "musl 1.2.5-3.1~deb13u1 " + "a" * 64 + "\nlibuv1 1.50.0-2 " + "c" * 64 + "\nzlib 1:1.3.dfsg+really1.3.1-1 " + "b" * 64 + "\n"


def bytes_of(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def make(script, folder, *args):
    done = made(script, folder, *args)
    equal((done.returncode, done.stderr), (0, ""))


def made(script, folder, *args):
    script, *kind = script.split()
    return subprocess.run([sys.executable, os.path.join(PACK, script), *kind, "--version", "9.8.7", *args], capture_output=True,
                          text=True, check=False, cwd=folder, env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH})


def made_twice(script, *args):
    """The folder's new file and its bytes: made in two folders, they are equal."""
    results = []
    for deep in ("a", "another/and-longer"):
        with tempfile.TemporaryDirectory() as above:
            folder = os.path.join(above, deep)
            os.makedirs(folder)
            make(script, folder, *(arg.replace("FOLDER", folder) for arg in args))
            results.append([(name, bytes_of(folder, name)) for name in sorted(os.listdir(folder))])
    equal(results[0] == results[1], True, "other bytes in another folder")
    equal(len(results[0]), 1)
    return results[0][0]


LICENSE = os.path.join(ROOT, "LICENSE")
SCRATCH = tempfile.TemporaryDirectory()
PROGRAM = os.path.join(SCRATCH.name, "program")
with open(PROGRAM, "w", encoding="ascii") as program:
    program.write("#!/bin/sh\necho it runs \"$@\"\n")


@test
def pip_installs_the_wheel():
    name, data = made_twice("wheel.py program", "--cpu", os.uname().machine, "--program", PROGRAM, "--readme",
                            os.path.join(ROOT, "README.md"), "--license", LICENSE, "--folder", "FOLDER")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
        with zipfile.ZipFile(os.path.join(folder, name)) as wheel:
            record = wheel.read("stream_tail-9.8.7.dist-info/RECORD").decode().splitlines()
            equal(sorted(line.split(",")[0] for line in record), sorted(wheel.namelist()))
            check(all(entry.date_time[0] == 2025 for entry in wheel.infolist()), "the commit's date")
        target = os.path.join(folder, "target")
        pip = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", "--target",
                              target, os.path.join(folder, name)], capture_output=True, text=True, check=False, timeout=120)
        equal(pip.returncode, 0, pip.stderr)
        ran = run(os.path.join(target, "bin", "stream-tail"), "as it is")
        equal((ran.code, ran.out), (0, b"it runs as it is\n"), ran.err)


@test
def the_image_is_what_it_says():
    if not os.path.exists("/usr/share/ca-certificates/mozilla"):
        print("skip the_image_is_what_it_says: no ca-certificates", flush=True)
        return
    _, data = made_twice("image.py", "--cpu", "x86_64", "--program", PROGRAM, "--commit", COMMIT, "--license", LICENSE,
                         "--output", "FOLDER/image.tar")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        def blob(of):
            text = archive.extractfile("blobs/sha256/" + of["digest"][7:]).read()
            equal((hashlib.sha256(text).hexdigest(), len(text)), (of["digest"][7:], of["size"]))
            return text
        equal(json.load(archive.extractfile("oci-layout")), {"imageLayoutVersion": "1.0.0"})
        index = json.load(archive.extractfile("index.json"))
        manifest = json.loads(blob(index["manifests"][0]))
        config, packed = json.loads(blob(manifest["config"])), blob(manifest["layers"][0])
    equal(config["config"]["User"], "65532:65532")
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as layer:
        files = {entry.name: entry for entry in layer}
        equal(files["usr/bin/stream-tail"].mode, 0o755)
        check(layer.extractfile("usr/bin/stream-tail").read() == bytes_of(PROGRAM), "the program")
        certificates = layer.extractfile("etc/ssl/certs/ca-certificates.crt").read()
        check(certificates.count(b"-----BEGIN CERTIFICATE-----") > 100, "certificates")
        check(all(entry.isdir() or entry.isreg() for entry in files.values()), "nothing else")
    with open(os.path.join(PACK, "Dockerfile"), encoding="ascii") as file:
        lines = file.read().splitlines()
    check("USER 65532:65532" in lines and f"ENTRYPOINT {json.dumps(config['config']['Entrypoint'])}" in lines, "the same", lines)


@test
def the_sbom_names_what_is_linked():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("sloop-9.8.7.tar.gz", "stream-tail-9.8.7-linux-x86_64", "stream-tail-9.8.7-linux-aarch64",
                     "sloop-9.8.7-cp311-abi3-manylinux_2_34_x86_64.whl", "sloop-9.8.7.tgz", "other"):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(name)
        with open(os.path.join(folder, "versions.txt"), "w", encoding="ascii") as file:
            file.write(VERSIONS)
        _, data = made_twice("sbom.py", "--commit", COMMIT, "--versions", os.path.join(folder, "versions.txt"), "--folder", folder,
                             "--output", "FOLDER/sbom.json")
        total = hashlib.sha256(b"stream-tail-9.8.7-linux-x86_64").hexdigest()
    sbom = json.loads(data)
    packages = {package["name"]: package for package in sbom["packages"]}
    equal(sorted(packages), ["libuv1", "musl", "sloop", "sloop-9.8.7-cp311-abi3-manylinux_2_34_x86_64.whl", "sloop-9.8.7.tar.gz",
                             "sloop-9.8.7.tgz", "stream-tail-9.8.7-linux-aarch64", "stream-tail-9.8.7-linux-x86_64", "zlib"])
    equal(packages["stream-tail-9.8.7-linux-x86_64"]["checksums"][0]["checksumValue"], total)
    equal(packages["zlib"]["licenseDeclared"], "Zlib")
    linked = {(r["spdxElementId"], r["relatedSpdxElement"]) for r in sbom["relationships"] if r["relationshipType"] == "STATIC_LINK"}
    libraries = {name: sorted(library for library in ("libuv1", "musl", "zlib")
                              if (packages[name]["SPDXID"], packages[library]["SPDXID"]) in linked) for name in packages}
    equal({name: found for name, found in libraries.items() if found}, {
        "stream-tail-9.8.7-linux-aarch64": ["libuv1", "musl", "zlib"], "stream-tail-9.8.7-linux-x86_64": ["libuv1", "musl", "zlib"],
        "sloop-9.8.7-cp311-abi3-manylinux_2_34_x86_64.whl": ["libuv1", "zlib"], "sloop-9.8.7.tgz": ["zlib"]})
    named = {package["SPDXID"] for package in sbom["packages"]} | {"SPDXRef-DOCUMENT"}
    check(all(r[end] in named for r in sbom["relationships"] for end in ("spdxElementId", "relatedSpdxElement")), "a name of nothing")
    with open(os.path.join(PACK, "dependencies.sh"), encoding="utf-8") as file:
        pins = re.search(r"^pins='\n(.*?)^'", file.read(), re.M | re.S)[1]
    with open(os.path.join(PACK, "sbom.py"), encoding="utf-8") as file:
        known = set(re.findall(r'"(\w+)": "', re.search(r"^LICENSES = \{(.*?)^\}", file.read(), re.M | re.S)[1]))
    check({line.split()[0] for line in pins.splitlines()} <= known, "the licence of each library", pins, known)


MODULE = """
#include <pthread.h>
#include <stdint.h>
{more}
__attribute__((visibility("default"))) void *PyInit__native(void);
void *PyInit__native(void) {{ return (void *)(uintptr_t)pthread_self(); }}
"""


def package(folder, more="", name="_native.abi3.so", *flags):
    """A package with a native module of that text."""
    os.mkdir(os.path.join(folder, "sloop"))
    for file, text in (("module.c", MODULE.format(more=more)), ("sloop/__init__.py", "here = 1\n"), ("sloop/py.typed", "")):
        with open(os.path.join(folder, file), "w", encoding="ascii") as out:
            out.write(text)
    subprocess.run(["cc", "-shared", "-fPIC", "-fvisibility=hidden", "-o", os.path.join(folder, "sloop", name),
                    os.path.join(folder, "module.c"), *flags], check=True)
    return ["--cpu", os.uname().machine, "--package", os.path.join(folder, "sloop"), "--project",
            os.path.join(ROOT, "pyproject.toml"), "--license", LICENSE]


@test
def the_wheel_of_the_package_is_named_for_what_its_module_needs():
    for file, tag in (("_native.abi3.so", "cp311-abi3"), ("_native.cpython-39-x86_64-linux-gnu.so", "cp39-cp39")):
        with tempfile.TemporaryDirectory() as folder:
            name, data = made_twice("wheel.py package", *package(folder, "", file), "--folder", "FOLDER")
            check(re.fullmatch(rf"sloop-9\.8\.7-{tag}-manylinux_2_\d+_{os.uname().machine}\.whl", name), name)
            with open(os.path.join(folder, name), "wb") as out:
                out.write(data)
            with zipfile.ZipFile(os.path.join(folder, name)) as wheel:
                equal([one for one in wheel.namelist() if one.startswith("sloop/")],
                      ["sloop/__init__.py", "sloop/py.typed", f"sloop/{file}"])
                check(b"Requires-Python: >=3.9" in wheel.read("sloop-9.8.7.dist-info/METADATA"), "what it needs")


@test
def a_module_that_is_not_alone_makes_no_wheel():
    shown = '__attribute__((visibility("default"))) int inflate(void);\nint inflate(void) { return 1; }'
    for more, flags, reason in ((shown, (), "shows PyInit__native, inflate (2)"),
                                ("", ("-Wl,--no-as-needed", "-lstdc++"), "needs more than the system's libraries: libstdc++.so.6")):
        with tempfile.TemporaryDirectory() as folder:
            done = made("wheel.py package", folder, *package(folder, more, "_native.abi3.so", *flags), "--folder", folder)
            equal(done.returncode, 1)
            check(reason in done.stderr, done.stderr)
            equal([name for name in os.listdir(folder) if name.endswith(".whl")], [])


ADD_ON = """
#include <pthread.h>
#define SHOWN __attribute__((visibility("default")))
extern int uv_run(void *, int), napi_create_object(void *, void **);
{more}
SHOWN int node_api_module_get_api_version_v1(void);
SHOWN void *napi_register_module_v1(void *, void *);
int node_api_module_get_api_version_v1(void) {{ return 8; }}
void *napi_register_module_v1(void *env, void *exports) {{
  pthread_detach(pthread_self());
  uv_run(env, 0);
  napi_create_object(env, &exports);
  return {value};
}}
"""
PLATFORM = "linux-" + {"x86_64": "x64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)


def add_on(folder, more="", value="exports", *flags, platform=PLATFORM, compiler="cc"):
    """A package for Node with a binary of that text."""
    node = os.path.join(folder, "node")
    for file, text in (("package.json", json.dumps({"version": "9.8.7", "files": ["index.*", "lib/*.js", "prebuilds", "sources"]})),
                       ("index.js", "1;"), ("index.mjs", "2;"), ("lib/a.js", "3;"), ("lib/b.txt", "4"), ("sources/meson.build", "5"),
                       ("sources/deep/er", "6"), ("prebuilds/linux-old/sloop.node", "7"), ("other", "8"),
                       ("../add_on.c", ADD_ON.format(more=more, value=value))):
        os.makedirs(os.path.dirname(os.path.join(node, file)), exist_ok=True)
        with open(os.path.join(node, file), "w", encoding="ascii") as out:
            out.write(text)
    binary = os.path.join(folder, "sloop.node")
    subprocess.run([compiler, "-shared", "-fPIC", "-fvisibility=hidden", "-o", binary, os.path.join(folder, "add_on.c"), *flags],
                   check=True)
    return ["--package", node, "--license", LICENSE, f"{platform}={binary}"]


@test
def the_package_for_node_has_what_npm_would_pack():
    with tempfile.TemporaryDirectory() as folder:
        args = add_on(folder)
        name, data = made_twice("npm.py", *args, "--folder", "FOLDER")
        equal(name, "sloop-9.8.7.tgz")
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as packed:
            files = {entry.name.removeprefix("package/"): entry for entry in packed}
            check(all(entry.isreg() and entry.mtime == int(EPOCH) for entry in files.values()), "files of the commit's date")
            equal(packed.extractfile(f"package/prebuilds/{PLATFORM}/sloop.node").read(), bytes_of(folder, "sloop.node"))
        ours = set(files) - {f"prebuilds/{PLATFORM}/sloop.node"}
        equal(ours, {"LICENSE", "package.json", "index.js", "index.mjs", "lib/a.js", "sources/meson.build", "sources/deep/er"})
        node = os.path.join(folder, "node")
        with open(os.path.join(node, "package.json"), "w", encoding="ascii") as out:  # npm wants a name
            json.dump({"name": "sloop", "version": "9.8.7", "files": ["index.*", "lib/*.js", "prebuilds", "sources"]}, out)
        try:
            done = subprocess.run(["npm", "pack", "--dry-run", "--json", "--offline"], cwd=node, capture_output=True, text=True, check=True)
        except FileNotFoundError:
            print("skip the_package_for_node_has_what_npm_would_pack: no npm to compare with", flush=True)
            return
        equal({file["path"] for file in json.loads(done.stdout)[0]["files"]}, ours - {"LICENSE"} | {"prebuilds/linux-old/sloop.node"})


@test
def a_binary_of_another_cpu_is_taken_for_that_one():
    if shutil.which("aarch64-linux-gnu-gcc") is None:
        print("skip a_binary_of_another_cpu_is_taken_for_that_one: no aarch64-linux-gnu-gcc", flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        args = add_on(folder, platform="linux-arm64", compiler="aarch64-linux-gnu-gcc")
        done = made("npm.py", folder, *args, "--folder", folder)
        equal((done.returncode, done.stderr), (0, ""))
        check("for linux-arm64 (glibc 2." in done.stdout, done.stdout)


@test
def a_binary_that_is_not_alone_makes_no_package_for_node():
    shown = "SHOWN int crc32(void);\nint crc32(void) { return 1; }"
    asked = "extern void *SSL_CTX_new(void *);"
    other = "linux-arm64" if PLATFORM == "linux-x64" else "linux-x64"
    for more, value, flags, platform, reason in (
            (shown, "exports", (), PLATFORM, "shows crc32, "),
            (asked, "SSL_CTX_new(exports)", (), PLATFORM, "would take SSL_CTX_new from elsewhere"),
            ("", "exports", ("-Wl,--no-as-needed", "-lstdc++"), PLATFORM, "needs more than the system's libraries: libstdc++.so.6"),
            ("", "exports", (), other, f"not for {other}"),
            ("", "exports", (), PLATFORM + "-musl", "-musl is none of linux-x64, linux-arm64")):
        with tempfile.TemporaryDirectory() as folder:
            done = made("npm.py", folder, *add_on(folder, more, value, *flags, platform=platform), "--folder", folder)
            equal(done.returncode, 1, reason)
            check(reason in done.stderr, reason, done.stderr)
            check(not os.path.exists(os.path.join(folder, "sloop-9.8.7.tgz")), reason)


@test
def every_script_can_be_read_by_a_shell():
    scripts = [name for name in sorted(os.listdir(PACK)) if name.endswith(".sh")]
    check(len(scripts) >= 4, scripts)
    for name in scripts + ["recipes/APKBUILD.in", "debian/tests/demo", "debian/tests/embed"]:
        done = subprocess.run(["sh", "-n", os.path.join(PACK, name)], capture_output=True, text=True, check=False)
        equal((done.returncode, done.stderr), (0, ""), name)
    for name in ("debian/rules", "debian/tests/demo", "debian/tests/embed"):
        check(os.stat(os.path.join(PACK, name)).st_mode & stat.S_IXUSR, name, "is not executable")


@test
def a_release_whose_program_starts_no_sandbox_is_no_endless_try():
    for program, said in ((None, "try: no "), ("#!/bin/sh\necho it is broken >&2\nexit 3\n", "it is broken")):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "sloop-9.8.7.tgz"), "wb").close()
            if program:
                file = os.path.join(folder, f"stream-tail-9.8.7-linux-{os.uname().machine}")
                with open(file, "w", encoding="utf-8") as script:
                    script.write(program)
                os.chmod(file, 0o755)
            done = run("sh", os.path.join(PACK, "try.sh"), folder, "node", "python")
            out = done.out.decode()
            equal(done.code, 1, out, done.err)
            for what in ("node: a sandbox of the static program", "python: a sandbox of the static program, behind TLS"):
                check(f"FAIL {what}\n" in out, out)
            check(said in out and out.endswith("2 failed\n"), out, done.err)


@test
def the_recipes_have_the_version_and_nothing_else_to_fill_in():
    recipes = [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(PACK, "recipes")) for name in names
               if name.endswith(".in")]
    check(len(recipes) >= 4, recipes)
    for name in recipes:
        text = bytes_of(name).decode()
        holes = set(re.findall(r"@[A-Z0-9]+@", text))
        check({"@URL@"} < holes <= {"@URL@", "@VERSION@", "@SHA256@", "@SHA512@"}, name, holes)
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as file:
        version = re.search(r"^  version: '([0-9.]+)'", file.read(), re.M)[1]
    check(bytes_of(PACK, "debian", "changelog").decode().startswith(f"sloop ({version}-"), "debian/changelog is of", version)
    check(f"image: stream-tail:{version}\n" in bytes_of(PACK, "kubernetes", "stream-tail.yaml").decode(), "the Deployment is of", version)


if __name__ == "__main__":
    main(at_once=2)
