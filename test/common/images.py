# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Image files made of arrays [height, width] or [height, width, 3] of uint8."""

import struct
import zlib

import numpy as np


def pnm(pixels):
    kind = b"P5" if pixels.ndim == 2 else b"P6"
    height, width = pixels.shape[:2]
    return kind + b"\n# made by a test\n%d %d\n255\n" % (width, height) + pixels.tobytes()


def bmp(pixels):
    """24 bits a pixel, from the bottom up, blue first."""
    colors = np.stack([pixels] * 3, -1) if pixels.ndim == 2 else pixels
    height, width = colors.shape[:2]
    row = (width * 3 + 3) // 4 * 4
    lines = b"".join(line[:, ::-1].tobytes().ljust(row, b"\0") for line in colors[::-1])
    return (struct.pack("<2sIHHI", b"BM", 54 + len(lines), 0, 0, 54)
            + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(lines), 0, 0, 0, 0)
            + lines)


def png(pixels):
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))

    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + line.tobytes() for line in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if pixels.ndim == 2 else 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def jpeg(blocks, height, width):
    """Gray, of blocks of 8x8 pixels with one value each, and without loss."""
    def segment(marker, data):
        return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data

    bits, last = "", 0
    for value in blocks.astype(int).ravel() - 128:
        difference, last = value - last, value
        size = int(abs(difference)).bit_length()
        bits += format(size, "04b")  # every size has a code of 4 bits
        if size:
            bits += format(difference if difference > 0 else difference + (1 << size) - 1,
                           f"0{size}b")
        bits += "0"  # nothing else in the block
    bits += "1" * (-len(bits) % 8)
    data = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    sizes = bytes([0, 0, 0, 12] + [0] * 12) + bytes(range(12))
    return (b"\xff\xd8" + segment(0xDB, b"\0" + b"\x08" * 64)
            + segment(0xC0, struct.pack(">BHHBBBB", 8, height, width, 1, 1, 0x11, 0))
            + segment(0xC4, b"\0" + sizes)
            + segment(0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\0")
            + segment(0xDA, b"\x01\x01\0\0\x3f\0") + data + b"\xff\xd9")
