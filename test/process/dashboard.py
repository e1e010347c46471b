"""Draws src/api/prometheus/dashboard.png: the dashboard of a real run. A stream-tail reads a sandbox; its calls fail for a
minute, and later nobody reads what it prints for two and a half. The real Prometheus scrapes it, and each panel's own
queries are asked of that, as Grafana does, and drawn where the panel lies. By hand, six minutes, with a python that has
boto3 and matplotlib, and with Debian's prometheus:

  python3 test/process/dashboard.py [--data FILE]

FILE keeps what was answered; if it is there, it is drawn, and nothing is run.
What is drawn is what Prometheus answered; colours and fonts are not Grafana's."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import harness
import servers
from situations import World

PLACE = os.path.join(servers.ROOT, "src", "api", "prometheus")
STEP = 2
FOOT = 2  # rows for what happened
STYLES = ("-", (0, (4, 2)), (0, (1, 1)))  # so that a line over another one is seen
# (for how long, what begins then)
STORY = ((40, "reads"), (60, "calls fail"), (45, "reads again"), (150, "nobody reads its output"), (45, "reads again"))


class Prometheus:
    def __init__(self, folder, target):
        port = servers.free_port()
        self.url = f"http://127.0.0.1:{port}"
        with open(os.path.join(folder, "prometheus.yml"), "w", encoding="utf-8") as file:
            file.write(f"global: {{scrape_interval: {STEP}s, evaluation_interval: {STEP}s}}\n"
                       f"rule_files: ['{PLACE}/alerts.yml']\n"
                       f"scrape_configs: [{{job_name: sloop, static_configs: [{{targets: ['{target}']}}]}}]\n")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"], preexec_fn=servers.die_with_parent)

    def ask(self, query, begin, end):
        """[(labels, [(time, value)])]"""
        text = urllib.parse.urlencode({"query": query, "start": begin, "end": end, "step": STEP})
        with urllib.request.urlopen(f"{self.url}/api/v1/query_range?{text}", timeout=20) as answer:
            found = json.load(answer)["data"]["result"]
        return [(one["metric"], [(float(at), float(value)) for at, value in one["values"]]) for one in found]

    def close(self):
        self.process.terminate()
        self.process.wait(20)


def run():
    """(the dashboard with what each query answered, when each part of the story began, alerts that fired)."""
    world = World(60)
    with tempfile.TemporaryDirectory() as folder:
        prometheus = None
        try:
            world.begin()
            prometheus = Prometheus(folder, world.urls[0].split("//")[1])
            world.puts.thread.start()
            begin, parts = time.time(), []
            for seconds, what in STORY:
                parts.append((time.time(), what))
                if what == "calls fail":
                    world.box.faults("* GetRecords * error InternalFailure:500")
                elif what.startswith("nobody"):
                    world.readers[0].may_read.clear()
                else:
                    world.box.clear_faults()
                    world.readers[0].may_read.set()
                time.sleep(seconds)
            end = time.time()
            with open(os.path.join(PLACE, "dashboard.json"), encoding="utf-8") as file:
                board = json.load(file)
            for panel in board["panels"]:
                panel["answers"] = [(target, prometheus.ask(target["expr"].replace("$stream", ".*"), begin, end))
                                    for target in panel["targets"]]
            alerts = prometheus.ask('ALERTS{alertstate="firing"}', begin, end)
            return board, parts, begin, end, alerts
        finally:
            if prometheus:
                prometheus.close()
            world.close()


def legend(target, labels):
    text = re.sub(r"\{\{(\w+)\}\}", lambda m: labels.get(m[1], ""), target.get("legendFormat", ""))
    return re.sub(r"\b(w\d)\.[0-9a-f]{16}\b", r"\1", text)


def draw(board, parts, begin, end, alerts):
    import matplotlib  # pylint: disable=import-outside-toplevel

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel

    plt.style.use("dark_background")
    plt.rcParams.update({"font.size": 7, "axes.titlesize": 8, "legend.fontsize": 6})
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in board["panels"]) + FOOT
    figure = plt.figure(figsize=(12, rows * 0.27))
    for panel in board["panels"]:
        at = panel["gridPos"]
        axes = figure.add_axes([at["x"] / 24 + 0.032, 1 - (at["y"] + at["h"] - 2.4) / rows, at["w"] / 24 - 0.045,
                                (at["h"] - 3.4) / rows])
        lines = 0
        for target, answers in panel["answers"]:
            for labels, values in answers:
                xs, ys = [], []
                for moment, value in values:
                    if xs and moment - begin - xs[-1] > STEP * 1.5:  # there is no value between
                        xs.append(xs[-1] + STEP)
                        ys.append(float("nan"))
                    xs.append(moment - begin)
                    ys.append(value)
                axes.plot(xs, ys, linewidth=1.2, label=legend(target, labels), linestyle=STYLES[lines % len(STYLES)])
                lines += 1
        axes.set_title(panel["title"], loc="left")
        axes.set_xlim(0, end - begin)
        axes.set_ylim(bottom=0)
        axes.set_ylim(top=max(axes.get_ylim()[1] * 1.05, 1))
        axes.grid(alpha=0.2)
        axes.set_ylabel("s" if panel["fieldConfig"]["defaults"]["unit"] == "s" else "")
        for moment, _ in parts[1:]:
            axes.axvline(moment - begin, color="0.5", linewidth=0.5, linestyle=":")
        if lines:
            axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.1), frameon=False,
                        ncol=3 if max(len(line.get_label()) for line in axes.lines) < 30 else 2)
        else:
            axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center")
    told = "; ".join(f"{moment - begin:.0f} s: {what}" for moment, what in parts)
    fired = {(labels["alertname"], labels.get("shard", "")): values[0][0] - begin for labels, values in alerts}
    first = sorted((at, f"{name} {shard}".strip()) for (name, shard), at in fired.items())
    told += "\nalerts that fired: " + (", ".join(f"{text} ({at:.0f} s)" for at, text in first) or "none")
    figure.text(0.01, 0.003, told, fontsize=7)
    path = os.path.join(PLACE, "dashboard.png")
    figure.savefig(path, dpi=85)
    print(f"{path}: {os.path.getsize(path)} bytes; {told}")


def main():
    kept = sys.argv[2] if sys.argv[1:2] == ["--data"] else None
    if kept and os.path.exists(kept):
        with open(kept, encoding="utf-8") as file:
            seen = json.load(file)
    else:
        seen = run()
    if kept and not os.path.exists(kept):
        with open(kept, "w", encoding="utf-8") as file:
            json.dump(seen, file)
    draw(*seen)


if __name__ == "__main__":
    main()
