"""Draws what measure.py found: picture.py FILE > peers.svg. Four panels, a bar for each client, all from zero."""

import sys
from html import escape

from report import load, median, ratio

PANELS = (("CPU seconds per GB, records of 1 KiB", "cpu 1 KiB"), ("CPU seconds per GB, records of 100 B", "cpu 100 B"),
          ("CPU µs per empty poll", "poll idle"), ("peak memory, MB, records of 1 KiB", "peak 1 KiB"))
WIDTH, PANEL_WIDTH, LABEL_WIDTH, BAR_WIDTH = 900, 440, 150, 180
LINE, HEAD = 20, 30
# As test/process/watch.svg, which stands beside it.
STYLE = """<style>.paper{fill:#f6f8fa;stroke:#d0d7de}text{fill:#1f2328;font:12px sans-serif}.ours{fill:#0969da}.theirs{fill:#afb8c1}
.title{font-size:14px;font-weight:bold}.name{text-anchor:end}.own{font-weight:bold}
@media (prefers-color-scheme:dark){
.paper{fill:#0d1117;stroke:#30363d}text{fill:#e6edf3}.ours{fill:#4493f8}.theirs{fill:#57606a}}</style>"""


def text(x, y, words, kind=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{escape(words)}</text>'


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def panel(title, figure, clients, left, top):
    ours = clients[0]
    greatest = max(median(client, figure) for client in clients)
    yield text(left, top + 14, title, "title")
    for i, client in enumerate(clients):
        value, y = median(client, figure), top + HEAD + i * LINE
        length = max(1, BAR_WIDTH * value / greatest)
        times = "" if client is ours else f"  ({ratio(client, ours, figure):.1f} x)"
        yield text(left + LABEL_WIDTH, y + 11, client["name"], "name own" if client is ours else "name")
        kind = "ours" if client is ours else "theirs"
        yield (f'<rect x="{left + LABEL_WIDTH + 8}" y="{y}" width="{length:.1f}" height="{LINE - 6}" rx="2" '
               f'class="{kind}"/>')
        yield text(left + LABEL_WIDTH + 14 + length, y + 11, number(value) + times)


def main():
    everybody = load(sys.argv[1])["clients"]
    clients = [c for c in everybody if all(c["figures"].get(figure) for _, figure in PANELS)
               and (c is everybody[0] or not c["name"].startswith("sloop"))]
    if clients[:1] != everybody[:1]:
        sys.exit("sloop has not all figures")
    height = HEAD + LINE * len(clients) + 24
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{2 * height + 8}" '
          f'viewBox="0 0 {WIDTH} {2 * height + 8}" role="img">')
    print("<title>What sloop and other clients of Kinesis cost</title>\n" + STYLE)
    print(f'<rect class="paper" x=".5" y=".5" width="{WIDTH - 1}" height="{2 * height + 7}" rx="8"/>')
    for i, (title, figure) in enumerate(PANELS):
        for shape in panel(title, figure, clients, 12 + i % 2 * PANEL_WIDTH, 12 + i // 2 * height):
            print(shape)
    print("</svg>")


if __name__ == "__main__":
    main()
