"""The alerts and the dashboard that come with metrics: each name in them is on the page of a running stream-tail, with the
labels that are asked for, and promtool, which is Prometheus' own, takes the rules and says when each fires."""

import json
import os
import re
import shutil
import subprocess

import harness
import servers
from lease_exporter import Exporter
from harness import Tests, expect, wait_until
from tail_truth import SECONDS, SANDBOX, Worker, begin, get

PLACE = os.path.join(servers.ROOT, "src", "api", "prometheus")
HERE = os.path.dirname(os.path.abspath(__file__))


def asked_for(expression):
    """[(name, labels)] of the series of an expression of PromQL."""
    by = {label for group in re.findall(r"\bby \(([^)]*)\)", expression) for label in re.split(r", *", group)}
    return [(name, set(re.findall(r"(\w+)=", labels)) | by)
            for name, labels in re.findall(r"\b(sloop_\w+)(?:\{([^}]*)\})?", expression)]


def expressions():
    with open(os.path.join(PLACE, "alerts.yml"), encoding="utf-8") as file:
        found = re.findall(r"^\s+expr: (.*)$", file.read(), re.M)
    with open(os.path.join(PLACE, "dashboard.json"), encoding="utf-8") as file:
        board = json.load(file)
    found += [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return found + [variable["query"] for variable in board["templating"]["list"] if variable["type"] == "query"]


def states_of(family):
    found = re.findall(family + r'\{[^}]*state=~"([^"]*)"', " ".join(expressions()))
    return {state for words in found for state in words.split("|")}


def names(box):
    stream, _ = begin(box, 20)
    with Worker(box, "-J", "-G", "app", stream) as worker:
        worker.reader.start()
        wait_until(lambda: len(worker.lines) == 20, SECONDS, "all is read")
        box.faults("3 GetRecords * error InternalFailure:500")
        page = wait_until(lambda: (lambda text: text if "sloop_call_errors_total{" in text else None)(
            get(worker.url + "/metrics")[1]), SECONDS, "an error is counted")
        with Exporter(harness.tail_environment(box.url), "-G", "app", "-X", "leases_ms=1000", stream) as exporter:
            exporter.wait_readings(1)
            page += get(exporter.url + "/metrics")[1]
    box.clear_faults()
    families = set(re.findall(r"^# TYPE (\S+) ", page, re.M))
    labels = {}
    for name, text in re.findall(r"^(sloop_\w+)\{(.*)\} ", page, re.M):
        labels.setdefault(name, set()).update(re.findall(r'(\w+)="', text))
    asked = [series for expression in expressions() for series in asked_for(expression)]
    expect(len(asked) > 20, f"{len(asked)} series are asked for")
    for name, wanted in asked:
        expect(name in families, f"{name} is on no page")
        if name in labels:
            expect(wanted <= labels[name], f"{name} has {labels[name]}, not {wanted}")
    states = states_of("sloop_shard_state_seconds")
    with open(os.path.join(servers.ROOT, "src", "api", "constant_names.c"), encoding="utf-8") as file:
        words = set(re.findall(r'case SLOOP_SHARD_\w+: return "(\w+)";', file.read()))
    expect(states and states <= words, f"{states - words} are no states")
    with open(os.path.join(servers.ROOT, "src", "cli", "lease_words.c"), encoding="utf-8") as file:
        of_workers = set(re.findall(r'"(\w+)"', file.read().split("*slp_worker_word(")[1].split("\n}")[0]))
    states = states_of("sloop_workers")
    expect(states and states <= of_workers, f"{states - of_workers} are no states of workers")
    return f"{len(asked)} series, {len(words)} states"


def rules(*arguments):
    promtool = os.environ.get("SLOOP_TEST_PROMTOOL") or shutil.which("promtool")
    if not promtool:
        raise servers.Missing("promtool is not installed (sh test/install.sh test)")
    done = subprocess.run([promtool, *arguments], cwd=HERE, capture_output=True, text=True, timeout=SECONDS, check=False)
    expect(done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout + done.stderr)


def main():
    tests = Tests()
    with servers.Sandbox(2, SANDBOX) as box:
        tests.run("names", names, box)
    tests.run("promtool check rules", rules, "check", "rules", os.path.join(PLACE, "alerts.yml"))
    tests.run("promtool test rules", rules, "test", "rules", os.path.join(HERE, "alerts_test.yml"))
    tests.end()


main()
