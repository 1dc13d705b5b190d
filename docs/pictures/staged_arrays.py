#!/usr/bin/env python3
"""Draws the pictures of docs/staged-arrays.md: staged-map.svg, staged-set.svg, staged-commit.svg.

    docs/pictures/staged_arrays.py            (standard library only; writes beside itself)
"""
from pathlib import Path

HERE = Path(__file__).parent
CELL = 44
COLOURS = {"full": "#eceff1", "base": "#bbdefb", "copied": "#ffe0b2", "new": "#c8e6c9", "value": "#e1bee7"}


class Picture:
    def __init__(self, width, height, title):
        self.size = width, height
        self.parts = [f"<title>{title}</title>"]

    def box(self, x, y, w, h, colour, label="", stroke="#546e7a", dash=False):
        dashed = ' stroke-dasharray="4 3"' if dash else ""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{COLOURS.get(colour, colour)}" stroke="{stroke}"{dashed}/>')
        if label:
            self.text(x + w / 2, y + h / 2 + 4, label, "middle")

    def text(self, x, y, text, anchor="start", size=13, weight="normal"):
        self.parts.append(
            f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}">{text}</text>')

    def arrow(self, x1, y1, x2, y2):
        self.parts.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#37474f" stroke-width="1.5" marker-end="url(#tip)"/>')

    def save(self, name):
        w, h = self.size
        tip = ('<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
               '<path d="M0 0 L8 4 L0 8 z" fill="#37474f"/></marker></defs>')
        body = "\n".join(self.parts)
        (HERE / name).write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" font-family="sans-serif" fill="#263238">\n'
            f'<rect width="{w}" height="{h}" fill="#ffffff"/>\n{tip}\n{body}\n</svg>\n')


def grid(picture, x, y, cells, title):
    """A 4 x 4 grid of chunks; cells gives colour and label by (row, column)."""
    picture.text(x, y - 10, title, weight="bold")
    for row in range(4):
        for column in range(4):
            colour, label = cells(row, column)
            picture.box(x + column * CELL, y + row * CELL, CELL, CELL, colour, label)


def stack(picture, x, y, chunks, title, height=22):
    """A slab: chunks one below the other."""
    picture.text(x, y - 10, title, weight="bold")
    for n, (colour, label) in enumerate(chunks):
        picture.box(x, y + n * height, 66, height, colour, label)


def selected(picture, x, y):
    """The outline of rows 2 to 4, columns 3 to 5."""
    half = CELL / 2
    picture.box(x + 3 * half, y + 2 * half, 3 * half, 3 * half, "none", stroke="#c62828")


def the_map():
    p = Picture(620, 440, "A map from chunks to slabs")
    grid(p, 20, 60, lambda r, c: ("base", f"{4 * r + c}"), "array: 8 x 8 in 2 x 2 chunks")
    stack(p, 300, 60, [("full", "fill")], "slabs[0]")
    stack(p, 430, 60, [("base", f"chunk {n}") for n in range(16)], "slabs[1], base")
    p.arrow(20 + 4 * CELL, 60 + CELL * 1.5, 428, 60 + 7.5 * 22)
    p.text(20, 270, "chunk 7 (row 1, column 3):")
    p.text(20, 290, "slab_indices = 1, slab_offsets = 14")
    p.save("staged-map.svg")


def the_set():
    p = Picture(760, 440, "What array[2:5, 3:6] = 42 does")
    role = {(1, 1): ("copied", "2 : 0"), (2, 1): ("copied", "2 : 2"), (2, 2): ("copied", "2 : 4"), (1, 2): ("new", "3 : 0")}
    grid(p, 20, 60, lambda r, c: role.get((r, c), ("base", f"1 : {2 * (4 * r + c)}")), "array (slab : row)")
    selected(p, 20, 60)
    stack(p, 260, 60, [("base", f"chunk {n}") for n in range(16)], "slabs[1], base")
    stack(p, 430, 60, [("copied", "chunk 5"), ("copied", "chunk 9"), ("copied", "chunk 10")], "slabs[2], staged")
    stack(p, 430, 200, [("new", "chunk 6")], "slabs[3], staged")
    stack(p, 620, 120, [("value", "42")], "value")
    for source, target in ((5, 0), (9, 1), (10, 2)):
        p.arrow(326, 60 + 22 * source + 11, 428, 60 + 22 * target + 11)
    p.arrow(620, 128, 500, 92)
    p.arrow(620, 138, 500, 210)
    p.text(20, 270, "orange: written in part,")
    p.text(20, 288, "brought in first")
    p.text(20, 312, "green: written as a whole,")
    p.text(20, 330, "its old contents are never read")
    p.save("staged-set.svg")


def the_commit():
    p = Picture(700, 300, "What a commit keeps")
    stack(p, 20, 60, [("full", "A")], "slabs[0]", 30)
    stack(p, 130, 60, [("base", "B"), ("base", "C")], "slabs[1], base", 30)
    stack(p, 270, 60, [("copied", "D"), ("copied", "C"), ("copied", "A"), ("copied", "D")], "slabs[2], staged", 30)
    stack(p, 560, 60, [("new", "D")], "slabs[2], new base", 30)
    p.arrow(338, 75, 558, 75)
    p.arrow(268, 105, 200, 105)
    p.arrow(268, 135, 90, 80)
    p.arrow(338, 165, 558, 84)
    p.text(20, 220, "Letters are hashes. C and A are there already, the second D is the first: one chunk is stored,")
    p.text(20, 240, "four chunks of the map are pointed at where their contents are. Then staged slabs are forgotten.")
    p.save("staged-commit.svg")


the_map()
the_set()
the_commit()
