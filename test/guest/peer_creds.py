"""peer_creds.py [--write] [--only TEXT] [--clients sloop,boto3,go,js] - which keys, region and endpoint stream-tail, boto3,
the Go SDK and the JavaScript SDK choose by themselves, for each configuration of creds_rows.py: what the request to Kinesis
was signed with, or the refusal.

The cells are compared with creds_table.txt, which --write makes anew. Where stream-tail and boto3 differ, creds_rows.WHY
says why, and a reason without a difference is a failure. 169.254.170.2 is an address of this machine while it runs, in a
network of its own (unshare), which also keeps every client from the outside.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "process"))

import harness  # noqa: E402
import servers  # noqa: E402
import creds_rows  # noqa: E402
import creds_servers  # noqa: E402
import creds_world  # noqa: E402

TABLE = os.path.join(HERE, "creds_table.txt")
INTEROP = os.path.join(servers.CACHE, "interop")
CLIENTS = ["sloop", "boto3", "go", "js"]
SECONDS = 90
BOTO3 = """import boto3
try:
    boto3.client("kinesis").list_shards(StreamName="stream")
except Exception as error:
    print(f"{type(error).__name__}: {error}")
"""


def commands():
    return {"sloop": [servers.binary(), "-o", "oldest", "-e", "stream"],
            "boto3": [os.path.join(INTEROP, "credsboto", "venv", "bin", "python"), "-c", BOTO3],
            "go": [os.path.join(INTEROP, "credsgo", "peer")],
            "js": ["node", os.path.join(HERE, "peers", "credsjs", "ask.mjs"), os.path.join(INTEROP, "credsjs")]}


def versions():
    with open(os.path.join(HERE, "peers", "credsgo", "go.mod"), encoding="utf-8") as file:
        go = re.search(r"aws-sdk-go-v2/config (\S+)", file.read()).group(1)
    with open(os.path.join(HERE, "peers", "credsjs", "package.json"), encoding="utf-8") as file:
        js = json.load(file)["dependencies"]["@aws-sdk/client-kinesis"]
    with open(os.path.join(HERE, "peers", "credsboto", "requirements.txt"), encoding="utf-8") as file:
        boto3 = re.search(r"^boto3==(\S+)", file.read(), re.M).group(1)
    return f"boto3 {boto3} with awscrt, aws-sdk-go-v2/config {go}, @aws-sdk/client-kinesis {js}"


class Links(creds_servers.Server):
    """169.254.170.2: hands each path on to the world whose name it begins with."""

    def __init__(self):
        self.worlds = {}
        super().__init__()

    def answer(self, handler):
        _, name, rest = handler.path.split("/", 2)
        handler.path = "/" + rest
        return self.worlds[name].givers.answer(handler)


def on_link_port(links):
    """The same server at the address and the port that clients know."""
    kind = type(links.server)
    server = kind(("169.254.170.2", 80), links.server.RequestHandlerClass)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def shown(text, world):
    """One line of what was told, without what differs from run to run."""
    lines = [line for line in text.splitlines() if line.strip() and not re.match(r"\(node|\(Use `node|    at ", line)]
    line = " ".join(lines[-1].split()) if lines else "(nothing was told)"
    for pattern, put in ((re.escape(world.home), "~"), (r"127\.0\.0\.1:\d+", "SERVER"), (r"(/\d+)(/container)", r"\2"),
                         (r"A[SK]IA[A-Z, ]+\d+", "KEY"), (r"\d{4}-\d\d-\d\d[T ][\d:.]+(Z|\+00:00| \+0000 UTC)?", "TIME"),
                         (r"RequestID: [^,]*", "RequestID"), (r"^stream-tail: ", "")):
        line = re.sub(pattern, put, line)
    return line if len(line) < 230 else line[:227] + "..."


def cell(client, make, links, number):
    with creds_world.World() as world:
        world.relative = False
        make(world)
        if world.relative:
            links.worlds[str(number)] = world
            world.env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = f"/{number}/container/relative"
        try:
            done = subprocess.run(commands()[client], env=world.env, timeout=SECONDS, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
            told = done.stdout.decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            told = f"no end within {SECONDS} s"
        if not world.seen:
            return "refused", shown(told, world)
        owner, region, name = world.seen[0]
        text = owner + ("" if region == harness.REGION else f", region {region}")
        text += "" if name == "kinesis" else f", at <{name}>"
        return text, ""


def written(cells, clients):
    lines = ["Which keys, region and endpoint four clients choose by themselves, each row run: sh test/guest/run.sh creds.",
             "Made by peer_creds.py --write; creds_rows.py makes the configurations. A cell is the source of the keys that",
             "signed the request to Kinesis (a role: what it was assumed with), with the region unless it is that of all rows,",
             "and the endpoint where a row has several; or what was told. != marks a cell that is not boto3's.",
             "", versions(), ""]
    before = None
    for number, (group, name, _) in enumerate(creds_rows.ROWS):
        if group != before:
            lines += ["", f"## {group}", ""]
            before = group
        lines.append(name)
        theirs = cells[number, "boto3"][0]
        for client in clients:
            what, told = cells[number, client]
            lines.append(f"  {'  ' if what == theirs else '!='} {client:6} {what}" + (f": {told}" if told else ""))
        if (group, name) in creds_rows.WHY:
            lines.append(f"     why    {creds_rows.WHY[group, name]}")
        lines.append("")
    return "\n".join(lines)


def read_table():
    """{(group, name, client): cell} of the file."""
    found, group, name = {}, "", ""
    with open(TABLE, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("## "):
                group = line[3:]
            elif line.startswith("  ") and line[5:11].strip() in CLIENTS:
                what = line[12:]
                found[group, name, line[5:11].strip()] = "refused" if what.startswith("refused: ") else what
            elif line and not line.startswith(" "):
                name = line
    return found


def in_a_network_of_its_own():
    if os.environ.get("SLOOP_CREDS_NETWORK"):
        return
    if not shutil.which("unshare") or not shutil.which("ip"):
        print("skip all: needs unshare and ip")
        sys.exit(77)
    script = "ip link set lo up && ip addr add 169.254.170.2/32 dev lo && exec \"$@\""
    os.environ["SLOOP_CREDS_NETWORK"] = "1"
    more = [] if os.getuid() == 0 else ["--map-root-user"]
    os.execvp("unshare", ["unshare", *more, "--net", "sh", "-c", script, "sh", sys.executable, *sys.argv])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--write", action="store_true")
    options.add_argument("--only", default="")
    options.add_argument("--clients", default=",".join(CLIENTS))
    options.add_argument("--at-once", type=int, default=4)
    chosen = options.parse_args()
    harness.boto3_or_skip()
    in_a_network_of_its_own()
    clients = chosen.clients.split(",")
    links = Links()
    on_link_port(links)
    wanted = [(n, c) for n, (group, name, _) in enumerate(creds_rows.ROWS) for c in clients if chosen.only in f"{group}: {name}"]

    def run(job):
        number, client = job
        return cell(client, creds_rows.ROWS[number][2], links, CLIENTS.index(client) * 1000 + number)

    with concurrent.futures.ThreadPoolExecutor(chosen.at_once) as pool:
        cells = dict(zip(wanted, pool.map(run, wanted)))
    known = read_table() if os.path.exists(TABLE) and not chosen.write else {}
    failed = 0
    for number in sorted({number for number, _ in wanted}):
        group, name, _ = creds_rows.ROWS[number]
        wrong = []
        if {"sloop", "boto3"} <= set(clients):
            same = cells[number, "sloop"][0] == cells[number, "boto3"][0]
            if same == ((group, name) in creds_rows.WHY):
                wrong.append("a reason for a difference that is none" if same else "ours is not boto3's, without a reason")
        if not chosen.write:
            wrong += [f"{client} was '{known.get((group, name, client))}'" for client in clients
                      if known.get((group, name, client)) != cells[number, client][0]]
        failed += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok'} {group}: {name}" + (": " + "; ".join(wrong) if wrong else ""))
        if wrong:
            for client in clients:
                print(f"     {client:6} {': '.join(x for x in cells[number, client] if x)}")
    if chosen.write and len(cells) == len(creds_rows.ROWS) * len(CLIENTS):
        with open(TABLE, "w", encoding="utf-8") as file:
            file.write(written(cells, clients))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
