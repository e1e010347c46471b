"""The clients of bench/peers: how each is started, which version of it, or why it can't run here."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.path.join(ROOT, ".cache")
BUILD = os.environ.get("SLOOP_BUILD", os.path.join(ROOT, "build"))
PYTHON = os.path.join(CACHE, "venv", "bin", "python")
JAVA_HEAP_MB = 512


@dataclass
class Client:
    name: str
    version: str
    wire: str
    command: list
    leases: bool  # does it keep leases and checkpoints?
    slow: bool = False  # to start: it runs in fewer rounds
    volume: int = 1  # reads so many times the records, the last of which are measured: for a compiler that warms up
    polls: bool = True  # does it ask a shard each PEERS_POLL_MS?
    settle_s: float = 2  # from its first polls to the window that is measured
    env: dict = field(default_factory=dict)
    missing: str = ""  # why it can't run


def text(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def found(pattern, *path):
    return re.search(pattern, text(*path)).group(1)


def of_go(module):
    return found(rf"{re.escape(module)} v(\S+)", HERE, "go", "go.mod")


def go_client(name, program, version, **more):
    binary = os.path.join(CACHE, "peers", "go", program)
    return Client(name, version, "JSON", [binary], missing="" if os.path.exists(binary) else "not built", **more)


def boto3():
    version = subprocess.run([PYTHON, "-c", "import boto3; print(boto3.__version__)"], capture_output=True, text=True,
                             check=False).stdout.strip()
    return Client("boto3", version, "JSON", [PYTHON, os.path.join(HERE, "boto3", "read.py")], False,
                  missing="" if version else "no boto3 in .cache/venv")


def aio():
    """aiobotocore and async-kinesis; the latter waits twice before it asks an empty shard again."""
    python = os.path.join(CACHE, "peers", "aio", "bin", "python")
    missing = "" if os.path.exists(os.path.join(CACHE, "peers", "aio", "requirements.txt")) else "not installed"
    versions = dict(line.split("==") for line in text(HERE, "aio", "requirements.txt").split())
    return [Client(name, versions[name], "JSON", [python, os.path.join(HERE, "aio", f"read_{name.replace('-', '_')}.py")], False,
                   polls=polls, missing=missing) for name, polls in (("aiobotocore", True), ("async-kinesis", False))]


def ours_in_python(version):
    package = os.path.join(BUILD, "src", "bind", "python")
    there = os.path.exists(os.path.join(package, "sloop", "_native.abi3.so"))
    missing = "" if there else "built without -Dpython=enabled"
    command, env = [PYTHON, os.path.join(HERE, "python", "read.py")], {"PYTHONPATH": package}
    return [Client("sloop, Python", version, "CBOR", command, False, missing=missing, env=env),
            Client("sloop, Python, views", version, "CBOR", command, False, missing=missing, env={**env, "PEERS_VIEWS": "1"}),
            Client("sloop, Python, leases", version, "CBOR", command, True, missing=missing, env=env)]


def ours_in_node(version):
    package = os.path.join(BUILD, "src", "bind", "node")
    there = os.path.exists(os.path.join(package, "sloop.node")) and shutil.which("node")
    missing = "" if there else "built without -Dnode=enabled"
    command, env = ["node", os.path.join(HERE, "node", "sloop.mjs")], {"PEERS_PACKAGE": os.path.join(package, "index.mjs")}
    return [Client("sloop, Node", version, "CBOR", command, False, missing=missing, env=env),
            Client("sloop, Node, leases", version, "CBOR", command, True, missing=missing, env=env)]


def of_npm(name, package, program, **more):
    folder = os.path.join(CACHE, "peers", "node")
    there = os.path.isdir(os.path.join(folder, "node_modules", package)) and shutil.which("node")
    version = json.loads(text(HERE, "node", "package.json"))["dependencies"][package]
    return Client(name, version, "JSON", ["node", os.path.join(folder, program)], missing="" if there else "not installed", **more)


def kcl3():
    version = found(r"amazon-kinesis-client</artifactId>\s*<version>([^<]+)", ROOT, "test", "guest", "peers", "kcl3", "pom.xml")
    classes, jars = os.path.join(CACHE, "peers", "kcl3"), os.path.join(CACHE, "interop", "kcl3", "jars")
    command = ["java", f"-Xmx{JAVA_HEAP_MB}m", "-Djavax.net.ssl.trustStore={trust}",
               "-Djavax.net.ssl.trustStorePassword=bench-peers", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
               "-cp", f"{classes}:{jars}/*", "Read"]
    there = os.path.exists(os.path.join(classes, "Read.class")) and shutil.which("java")
    return Client("KCL", version, "CBOR", command, True, slow=True, volume=3, settle_s=15,
                  missing="" if there else "not installed")


def clients():
    """Ours first: the others are compared with it."""
    ours = [os.path.join(BUILD, "bench", "peers_sloop")]
    version = found(r"version: '([^']+)'", ROOT, "meson.build")
    return [
        Client("sloop", version, "CBOR", ours, False),
        Client("sloop, leases", version, "CBOR", ours, True),
        Client("sloop, JSON", version, "JSON", ours, False, env={"PEERS_JSON": "1"}),
        *ours_in_python(version),
        *ours_in_node(version),
        boto3(),
        *aio(),
        of_npm("AWS SDK for JavaScript", "@aws-sdk/client-kinesis", "read.mjs", leases=False),
        of_npm("lifion-kinesis", "lifion-kinesis", "lifion.mjs", leases=True, slow=True),
        go_client("AWS SDK for Go", "awssdk", of_go("aws-sdk-go-v2/service/kinesis"), leases=False),
        go_client("kinsumer", "kinsumer", of_go("twitchscience/kinsumer")[-12:], leases=True),
        go_client("vmware-go-kcl-v2", "vmware", of_go("vmware/vmware-go-kcl-v2"), leases=True, slow=True),
        kcl3(),
    ]
