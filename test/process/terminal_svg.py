"""Draws the screen of a Terminal as SVG. The places and the styles are the terminal's; the tones of the colours are the
picture's own, and follow the reader's light or dark theme."""

import html
import re

CELL_W, CELL_H, MARGIN, BAR = 8, 17, 14, 26  # pixels: a character, what is around the screen, the line with the command
NAMES = {"1": "bold", "2": "faint", "31": "red", "32": "green", "33": "yellow"}  # the number of a style: its class
STYLE = """
.paper{fill:#f6f8fa;stroke:#d0d7de}.text,.bold{fill:#1f2328}.bold{font-weight:bold}
.faint{fill:#59636e}.red{fill:#cf222e}.green{fill:#1a7f37}.yellow{fill:#9a6700}.reverse{fill:#f6f8fa}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}
@media (prefers-color-scheme:dark){
.paper{fill:#0d1117;stroke:#30363d}.text,.bold{fill:#e6edf3}
.faint{fill:#9198a1}.red{fill:#ff7b72}.green{fill:#3fb950}.yellow{fill:#d29922}.reverse{fill:#0d1117}}
"""


def class_of(style):
    """Returns the class of the last number of the style that has one; a reversed cell has the paper's colour."""
    numbers = style.split()
    return "reverse" if "7" in numbers else next((NAMES[n] for n in reversed(numbers) if n in NAMES), "text")


def runs_of(cells):
    """Yields (first column, characters, class) of each run of cells with one style."""
    begin = 0
    for column in range(1, len(cells) + 1):
        if column == len(cells) or class_of(cells[column][1]) != class_of(cells[begin][1]):
            yield begin, "".join(character for character, _ in cells[begin:column]), class_of(cells[begin][1])
            begin = column


def blocks(text, first, y, kind):
    """Block elements as rectangles, so that no font has a say in them; equal neighbours are one."""
    bars = []  # [column where it begins, its width in columns, its height]
    for column, character in enumerate(text, first):
        code = ord(character)
        if 0x2581 <= code <= 0x2588:  # from below, in eighths of the height
            wide, high = 1, (code - 0x2580) / 8
        elif 0x2589 <= code <= 0x258f:  # from the left, in eighths of the width
            wide, high = (0x2590 - code) / 8, 1
        else:
            continue
        if bars and bars[-1][0] + bars[-1][1] == column and bars[-1][2] == high:
            bars[-1][1] += wide
        else:
            bars.append([column, wide, high])
    full = CELL_H - 3
    return [f'<rect class="{kind}" x="{MARGIN + column * CELL_W}" y="{y + 1 + full * (1 - high):g}" width="{wide * CELL_W:g}" '
            f'height="{full * high:g}"/>' for column, wide, high in bars]


def run_in_svg(text, first, y, kind):
    """Each word stands at its own column, whatever the widths of the font are."""
    out = []
    if kind == "reverse":
        out.append(f'<rect class="text" x="{MARGIN + first * CELL_W}" y="{y}" width="{len(text) * CELL_W}" height="{CELL_H}"/>')
    out += blocks(text, first, y, kind)
    for part in re.finditer(r"\S+(?: \S+)*", re.sub("[\u2581-\u258f]", " ", text)):
        out.append(f'<text class="{kind}" x="{MARGIN + (first + part.start()) * CELL_W}" y="{y + 13}" '
                   f'textLength="{len(part[0]) * CELL_W}" lengthAdjust="spacingAndGlyphs">{html.escape(part[0], quote=False)}</text>')
    return out


def svg(command, rows):
    """Returns the picture: the line of the command, and below it the rows, each a list of (character, style)."""
    width = 2 * MARGIN + max(map(len, rows)) * CELL_W
    height = 2 * MARGIN + BAR + len(rows) * CELL_H
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
           f"<title>{html.escape(command)}</title>", f"<style>{STYLE.strip()}</style>",
           f'<rect class="paper" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>']
    out += run_in_svg("$ " + command, 0, MARGIN - 3, "faint")
    for row, cells in enumerate(rows):
        for first, text, kind in runs_of(cells):
            out += run_in_svg(text, first, MARGIN + BAR + row * CELL_H, kind)
    return "\n".join(out + ["</svg>"]) + "\n"
