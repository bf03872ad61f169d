#!/usr/bin/python3
#===-- draw_digits.py - draws handwritten-style digits -----------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws handwritten-style digits, 28 x 28 grey levels, bright ink on a dark ground.

Needs numpy only. The same count and seed give the same pictures. A digit is written along one of
the pen paths of strokes.py; every picture has its own hand: wobbly keys, slant, turn, size, place,
a bent sheet of paper, pen width and pressure, softness, ink and grain.

    draw_digits.py --count 200 --seed 1 --sheet sheet.png
"""

import argparse
import os
import struct
import sys
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from strokes import MAX_KEYS, SEGMENTS, STYLES, compile_style  # noqa: E402

SIZE = 28
# The held-out pictures on which the network's accuracy is stated; training never draws from it.
HELD_OUT_COUNT, HELD_OUT_SEED = 2000, 2
_CHUNK = 32  # Pictures rasterized together; keeps the working set near the cores' caches.

_COMPILED = [(digit, *compile_style(style)) for digit in range(10) for style in STYLES[digit]]
_STYLE_KEYS = np.stack([entry[1] for entry in _COMPILED]).astype(np.float32)
_STYLE_WEIGHTS = np.stack([entry[2] for entry in _COMPILED]).astype(np.float32)
_STYLE_DRAWN = np.stack([entry[3] for entry in _COMPILED])
_STYLES_OF_DIGIT = [[row for row, entry in enumerate(_COMPILED) if entry[0] == digit]
                    for digit in range(10)]


def _write_paths(styles, rng):
    """[count, SEGMENTS + 1, 2] pen paths in pixels, one hand for each picture."""
    count = len(styles)

    def normal(deviation, *shape):
        return (deviation * rng.standard_normal((count, *shape))).astype(np.float32)

    def uniform(low, high, *shape):
        return (low + (high - low) * rng.random((count, *shape))).astype(np.float32)

    # Keys that follow one another go astray together, or the line would shiver.
    stray = normal(1.0, MAX_KEYS + 2, 2)
    stray = 0.6 * stray[:, 1:-1] + 0.4 * (stray[:, :-2] + stray[:, 2:])
    keys = _STYLE_KEYS[styles] + uniform(0.010, 0.080, 1, 1) * stray
    paths = np.matmul(_STYLE_WEIGHTS[styles], keys) - np.float32(0.5)

    # A bent sheet: two slow waves along each axis. It moves neighbouring points together, as a
    # hurried hand does, where the wobble of the keys moves each on its own.
    for _ in range(2):
        angle = uniform(0.0, 2 * np.pi, 1)
        phase = uniform(0.0, 2 * np.pi, 1, 2)
        speed = uniform(3.0, 7.5, 1)
        along = paths[..., 0] * np.cos(angle) + paths[..., 1] * np.sin(angle)
        paths = paths + normal(0.042, 1, 2) * np.sin((speed * along)[..., None] + phase)

    height = uniform(13.5, 22.0)
    width = height * uniform(0.50, 1.15)
    slant = np.clip(normal(0.22) + np.float32(0.08), -0.50, 0.60)
    turn = np.clip(normal(0.14), -0.35, 0.35)
    x = paths[..., 0] * width[:, None] - slant[:, None] * paths[..., 1] * height[:, None]
    y = paths[..., 1] * height[:, None]
    cosine, sine = np.cos(turn)[:, None], np.sin(turn)[:, None]
    paths = np.stack([x * cosine - y * sine, x * sine + y * cosine], axis=-1)

    # Centred by its box, then put off centre, but never so far that it leaves the picture.
    low, high = paths.min(axis=1), paths.max(axis=1)
    room = np.maximum(0.0, (SIZE - 3.0 - (high - low)) / 2)
    offset = np.clip(normal(1.7, 2), -room, room)
    return paths - ((low + high) / 2 - offset)[:, None, :] + np.float32((SIZE - 1) / 2)


def _rasterize(paths, drawn, radius, softness):
    """[count, SIZE * SIZE] ink in 0..1: how deep each pixel lies in the nearest line segment."""
    grid = np.arange(SIZE, dtype=np.float32)
    px, py = np.tile(grid, SIZE)[None, :, None], np.repeat(grid, SIZE)[None, :, None]
    ax, ay = paths[:, None, :-1, 0], paths[:, None, :-1, 1]
    dx, dy = paths[:, None, 1:, 0] - ax, paths[:, None, 1:, 1] - ay
    t = ((px - ax) * dx + (py - ay) * dy) / np.maximum(dx * dx + dy * dy, np.float32(1e-6))
    np.clip(t, 0.0, 1.0, out=t)
    square = (px - ax - t * dx)**2 + (py - ay - t * dy)**2
    depth = radius[:, None, :] - np.sqrt(square)
    depth = np.where(drawn[:, None, :], depth, np.float32(-SIZE)).max(axis=2)
    # A logistic edge is the pen's edge and the scanner's blur in one.
    return 1.0 / (1.0 + np.exp(-np.clip(depth / softness[:, None], -30.0, 30.0)))


def draw_digits(count, seed, labels=None):
    """(pictures uint8 [count, 28, 28], labels uint8 [count]).

    Without `labels` the digits come in equal numbers, shuffled.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    if labels is None:
        labels = rng.permutation(np.arange(count) % 10)
    labels = np.asarray(labels, dtype=np.uint8)
    pick = rng.random(count)
    styles = np.array([_STYLES_OF_DIGIT[digit][int(p * len(_STYLES_OF_DIGIT[digit]))]
                       for digit, p in zip(labels, pick)], dtype=np.int64)

    paths = _write_paths(styles, rng)
    pen = (0.70 + 1.05 * rng.random((count, 1))).astype(np.float32)
    along = np.linspace(0.0, 1.0, SEGMENTS, dtype=np.float32)[None, :]
    waves = (0.5 + 2.0 * rng.random((count, 1))).astype(np.float32)
    phase = (2 * np.pi * rng.random((count, 1))).astype(np.float32)
    pressure = (0.28 * rng.random((count, 1))).astype(np.float32)
    radius = pen * (1.0 + pressure * np.sin(2 * np.pi * waves * along + phase).astype(np.float32))
    softness = (0.16 + 0.30 * rng.random(count)).astype(np.float32)
    ink = (0.60 + 0.40 * rng.random((count, 1))).astype(np.float32)
    ground = (0.10 * rng.random((count, 1))**2).astype(np.float32)
    grain = (0.14 * rng.random((count, 1))**2).astype(np.float32)
    dryness = (0.35 * rng.random((count, 1))**2).astype(np.float32)

    pictures = np.empty((count, SIZE * SIZE), dtype=np.uint8)
    for first in range(0, count, _CHUNK):
        part = slice(first, min(first + _CHUNK, count))
        shape = (part.stop - part.start, SIZE * SIZE)
        line = _rasterize(paths[part], _STYLE_DRAWN[styles[part]], radius[part], softness[part])
        # A dry pen skips on the paper: ink is missing in grains, only where there is a line.
        line = line * (1.0 - dryness[part] * rng.random(shape))
        value = ground[part] + (ink[part] - ground[part]) * line
        value = value + grain[part] * rng.standard_normal(shape)
        pictures[part] = np.rint(255.0 * np.clip(value, 0.0, 1.0)).astype(np.uint8)
    return pictures.reshape(count, SIZE, SIZE), labels


def as_input(pictures):
    """The network's input of uint8 pictures: f32 [count, 1, 28, 28] in 0..1."""
    return pictures.astype(np.float32)[:, None] / np.float32(255)


def write_png(path, grey):
    """Writes a uint8 [height, width] array as an 8-bit grey PNG."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    height, width = grey.shape
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(grey))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n"
                   + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def contact_sheet(pictures, columns=20, zoom=1):
    """One uint8 picture with all of them side by side."""
    rows = -(-len(pictures) // columns)
    cells = np.zeros((rows * columns, SIZE + 2, SIZE + 2), dtype=np.uint8)
    cells[:len(pictures), 1:-1, 1:-1] = pictures
    sheet = cells.reshape(rows, columns, SIZE + 2, SIZE + 2).transpose(0, 2, 1, 3)
    sheet = sheet.reshape(rows * (SIZE + 2), columns * (SIZE + 2))
    return sheet.repeat(zoom, axis=0).repeat(zoom, axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sheet", required=True, help="PNG file: all pictures, sorted by digit")
    parser.add_argument("--zoom", type=int, default=2)
    arguments = parser.parse_args()
    pictures, labels = draw_digits(arguments.count, arguments.seed)
    order = np.argsort(labels, kind="stable")
    write_png(arguments.sheet, contact_sheet(pictures[order], zoom=arguments.zoom))


if __name__ == "__main__":
    main()
