"""The table of what measure.py found: report.py FILE. Markdown, as bench/README.md has it. Medians with the least and the
greatest; behind them the median of the ratios to sloop of the same round."""

import json
import statistics
import sys

COLUMNS = (("CPU s per GB, 1 KiB", "cpu 1 KiB", 2), ("CPU s per GB, 100 B", "cpu 100 B", 2), ("us CPU an empty poll", "poll idle", 0),
           ("peak RSS MB, 1 KiB", "peak 1 KiB", 0), ("peak RSS MB, 100 B", "peak 100 B", 0))
GO = ("AWS SDK for Go", "kinsumer", "vmware-go-kcl-v2")
GOALS = (("cpu 1 KiB", None, 15), ("cpu 100 B", None, 15), ("poll idle", GO, 3), ("peak 1 KiB", None, 1), ("peak 100 B", None, 1))


def load(file):
    with open(file, encoding="utf-8") as text:
        return json.load(text)


def values(client, figure):
    return list(client["figures"].get(figure, {}).values())


def median(client, figure):
    return statistics.median(values(client, figure))


def ratio(client, ours, figure):
    """The median ratio, over the rounds that both have."""
    mine = ours["figures"][figure]
    return statistics.median(value / mine[number] for number, value in client["figures"][figure].items() if number in mine)


def spread(found, digits):
    """12.3 (11.9 to 14.0)"""
    low, middle, high = (f"{value:.{digits}f}" for value in (min(found), statistics.median(found), max(found)))
    return f"{middle} ({low} to {high})"


def first(client):
    return values(client, "first 1 KiB") + values(client, "first 100 B")


def row(client, ours):
    if client["missing"]:
        return [client["name"], client["version"], client["wire"], f"skipped: {client['missing']}"]
    cells = []
    for _, figure, digits in COLUMNS:
        found = values(client, figure)
        digits = digits if not found or statistics.median(found) < 100 else 0
        times = "" if client is ours or not found else f", **{ratio(client, ours, figure):.1f} x**"
        cells.append(spread(found, digits) + times if found else "-")
    return [client["name"], client["version"], client["wire"], *cells, spread(first(client), 1) if first(client) else "-"]


def goals(clients):
    """Each goal beside what was found: the best of the peers, or of those that are named, as a multiple of ours."""
    ours = clients[0]
    for figure, names, wanted in GOALS:
        peers = [c for c in clients if not c["name"].startswith("sloop") and c["figures"].get(figure)
                 and (not names or c["name"] in names)]
        if peers:
            best = min(peers, key=lambda c: ratio(c, ours, figure))
            found = ratio(best, ours, figure)
            yield f"{figure}: {found:.1f} x ours ({best['name']}), wanted {wanted}: {'met' if found >= wanted else 'not met'}"


def main():
    found = load(sys.argv[1])
    clients = found["clients"]
    table = [["", "version", "wire", *(title for title, _, _ in COLUMNS), "first record, s"]]
    table += [["---"] * len(table[0])] + [row(client, clients[0]) for client in clients]
    rounds = {c["name"]: len(values(c, "cpu 1 KiB")) for c in clients if c["figures"]}
    print(f"{found['date']}, {found['machine']}, load {min(found['load'])} to {max(found['load'])}; rounds: "
          + ", ".join(f"{name} {n}" for name, n in rounds.items()) + "\n")
    print("\n".join("| " + " | ".join(cells) + " |" for cells in table) + "\n")
    print("\n".join(goals(clients)))


if __name__ == "__main__":
    main()
