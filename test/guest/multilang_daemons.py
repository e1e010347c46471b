"""Daemons of the MultiLangDaemon's protocol, ours and Amazon's, on one machine with a server: each keeps what goes over its
processors' pipes (peers/multilang/pipes.py) in a folder."""

import os
import signal
import subprocess
import sys
import time

import peers
from peers import HERE, harness, servers  # puts ../process on the path

import multilang_lines
from harness import Failed, expect

CACHE = os.path.join(peers.CACHE, "multilang")
MINE = os.path.join(HERE, "peers", "multilang")


def installed():
    if not os.path.exists(os.path.join(CACHE, ".made-from")):
        raise servers.Missing("it is not installed (sh test/guest/install.sh multilang)")


def kclpy_sample(folder, sources):
    """amazon_kclpy's sample, as its source archive has it."""
    home = next(os.path.join(CACHE, name) for name in os.listdir(CACHE)
                if name.startswith("amazon_kclpy") and os.path.isdir(os.path.join(CACHE, name)))
    return f"{sys.executable} {home}/samples/sample_kclpy_app.py", {"PYTHONPATH": home}


def aws_kcl_sample(folder, sources):
    """aws-kcl's sample, which is in its repository only; else a processor of ours over the package."""
    home = os.path.join(sources, "amazon-kinesis-client-nodejs") if sources else ""
    env = {"NODE_PATH": os.path.join(CACHE, "node_modules"), "NODE_LOG_DIR": folder, "NODE_NO_WARNINGS": "1"}
    if os.path.isdir(home):
        return f"node {home}/samples/basic_sample/consumer/sample_kcl_app.js", env
    return f"node {MINE}/processor.js", env


def aws_kclrb_sample(folder, sources):
    """aws-kclrb's sample: there is no gem but in its own registry, so it is its repository or nothing."""
    home = os.path.join(sources, "amazon-kinesis-client-ruby") if sources else ""
    if not os.path.isdir(home):
        raise servers.Missing("no clone of amazon-kinesis-client-ruby (--sources FOLDER)")
    return f"ruby {home}/samples/sample_kcl.rb", {"RUBYLIB": os.path.join(home, "lib")}


def own_child(folder, sources):
    return f"{sys.executable} {MINE}/child.py", {}


def own_child_often(folder, sources):
    return f"{sys.executable} {MINE}/child.py often", {}


class Front:
    """HTTP/2 in front of a server (front.js)."""

    def __init__(self, url):
        self.process = subprocess.Popen(["node", os.path.join(MINE, "front.js"), url.rsplit(":", 1)[1].strip("/")],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, preexec_fn=servers.die_with_parent)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Daemon:
    """A daemon and its folder. make: of the processor's command. keys: of its properties."""

    def __init__(self, folder, name, kinesis, dynamodb, app, make, sources=None, **keys):
        self.folder, self.name = os.path.join(folder, name), name
        os.makedirs(os.path.join(self.folder, name))
        self.pipes = os.path.join(self.folder, name)
        command, env = make(self.folder, sources)
        self.env = harness.tail_environment(None, AWS_DEFAULT_REGION=harness.REGION, **env)
        self.file = os.path.join(self.folder, "app.properties")
        properties = {
            "executableName": f"{sys.executable} {MINE}/pipes.py {self.pipes} {command}", "applicationName": app,
            "streamName": "s", "AwsCredentialsProvider": "DefaultCredentialsProvider", "regionName": harness.REGION,
            "initialPositionInStream": "TRIM_HORIZON", "retrievalMode": "POLLING", "metricsLevel": "NONE",
            "kinesisEndpoint": kinesis, "dynamoDBEndpoint": dynamodb, "workerId": name, "shutdownGraceMillis": "15000",
            "idleTimeBetweenReadsInMillis": "500", "shardSyncIntervalMillis": "2000", **keys}
        with open(self.file, "w", encoding="utf-8") as file:
            file.writelines(f"{key} = {value}\n" for key, value in properties.items() if value is not None)
        self.err = open(os.path.join(self.folder, "log"), "ab")
        self.process = None

    def argv(self):
        raise NotImplementedError

    def start(self):
        self.process = subprocess.Popen(self.argv(), env=self.env, stdin=subprocess.DEVNULL, stdout=self.err, stderr=self.err,
                                        cwd=self.folder, preexec_fn=servers.die_with_parent)
        return self

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.running():
            self.process.kill()
        if self.process:
            self.process.wait()

    def leave(self, seconds=90):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"{self.name} stays {seconds} s after SIGTERM: {self.log()[-1000:]}") from None

    def lives(self):
        return multilang_lines.lives(self.pipes)

    def kill_processor(self, number=0):
        """Kills a living processor of this life of the daemon; 1 when there was one."""
        for life in self.lives()[::-1][number:]:
            try:
                with open(f"/proc/{life.pid}/stat", encoding="ascii") as stat:
                    if stat.read().rsplit(")", 1)[1].split()[0] != "Z":
                        os.kill(life.pid, signal.SIGKILL)
                        return 1
            except OSError:
                continue
        return 0

    def close(self):
        self.kill()
        self.err.close()


class Ours(Daemon):
    def argv(self):
        return [servers.binary(), "--multilang", self.file]


class Theirs(Daemon):
    """Of Maven Central; the first compiler only, which starts sooner."""

    def argv(self):
        return ["java", f"-Xmx{peers.JAVA_HEAP_MB}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
                os.path.join(CACHE, "jars", "*"), "software.amazon.kinesis.multilang.MultiLangDaemon", self.file]


class Site:
    """Where records and leases are: the sandbox, or kinesis-mock with dynalite."""

    def __init__(self, name, shards=4):
        self.parts = []
        if name == "sandbox":
            import sandbox_box
            box = self.enter(sandbox_box.Box())
            self.kinesis_url = self.dynamodb_url = box.url
        else:
            self.kinesis_url = self.enter(servers.KinesisMock()).url
            self.dynamodb_url = self.enter(servers.Dynalite()).url
        self.kinesis = harness.client(self.kinesis_url)
        self.dynamodb = harness.client(self.dynamodb_url, "dynamodb")
        self.kinesis.create_stream(StreamName="s", ShardCount=shards)
        harness.wait_active(self.kinesis, "s")
        self.front = None

    def enter(self, part):
        self.parts.append(part)
        return part.__enter__()

    def front_url(self):
        """Where it speaks HTTP/2: the sandbox does so itself."""
        if self.kinesis_url == self.dynamodb_url:
            return self.kinesis_url
        self.front = self.front or Front(self.kinesis_url)
        return self.front.url

    def change(self, operation, **arguments):
        """A split or a merge, when the stream is ready for it, and until it is over."""
        harness.wait_active(self.kinesis, "s")
        getattr(self.kinesis, operation)(StreamName="s", **arguments)
        harness.wait_active(self.kinesis, "s")

    def rows(self, app):
        """{shard: (checkpoint, sub)} and {shard: owner}."""
        places, owners = {}, {}
        try:
            items = self.dynamodb.scan(TableName=app, ConsistentRead=True)["Items"]
        except self.dynamodb.exceptions.ResourceNotFoundException:
            return places, owners
        for item in items:
            name = item["leaseKey"]["S"]
            if name.startswith("shardId-"):
                word = item["checkpoint"]["S"]
                sub = int(item.get("checkpointSubSequenceNumber", {}).get("N", 0))
                places[name] = (int(word), sub) if word.isdigit() else (word, sub)
                owners[name] = item.get("checkpointOwner", item.get("leaseOwner", {})).get("S", "")
        return places, owners

    def close(self):
        if self.front:
            self.front.close()
        for part in reversed(self.parts):
            part.__exit__(None, None, None)


def given(*daemons):
    return {(life.shard, *multilang_lines.place_of(r)) for daemon in daemons for life in daemon.lives()
            for r in life.records()}


def wait_given(put, seconds, what, *daemons):
    """Until all that was put was given; returns the seconds it took. put: a Producer's."""
    began = time.monotonic()

    def all_given():
        there = {place[:2] for place in given(*daemons)}
        return set(put) <= there

    try:
        harness.wait_until(all_given, seconds, what, 1)
    except Failed as failed:
        missing = set(put) - {place[:2] for place in given(*daemons)}
        raise Failed(f"{failed}: {len(missing)} of {len(put)} missing, as {sorted(missing)[:1]}; "
                     + "; ".join(d.log()[-400:] for d in daemons)) from None
    return time.monotonic() - began


def orphans(folder):
    """Processes that still have a path of that folder among their arguments."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read()
            if folder.encode() in words and int(pid) != os.getpid():
                found.append(int(pid))
        except OSError:
            continue
    return found


def verdict(site, app, put, *daemons):
    """Judges all that was said and the rows at rest; returns what to tell."""
    faults, n, repeats = multilang_lines.judge(multilang_lines.lives(*(d.pipes for d in daemons)), put, site.rows(app)[0])
    expect(not faults, f"{len(faults)} faults:\n" + "\n".join(faults[:10]))
    return f"{len(put)} records, {n} given, {repeats} repeats"
