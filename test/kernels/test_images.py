# ===-- test_images.py - ImageDecoder -------------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import resource
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from host_kernels import KernelError, call

with np.load(Path(__file__).with_name("images.npz")) as stored:
    IMAGES = dict(stored)
NAMES = [name for name in IMAGES if "/" not in name]


def decode(file, **attributes):
    return call("ImageDecoder", file, **attributes)[0]


@pytest.mark.parametrize("name", NAMES)
def test_pixels(name):
    file, pixels = IMAGES[name], IMAGES[name + "/pixels"]
    np.testing.assert_array_equal(decode(file), pixels)
    np.testing.assert_array_equal(decode(file, pixel_format="BGR"), pixels[..., ::-1])
    gray = decode(file, pixel_format="Grayscale")
    assert gray.shape == pixels.shape[:2] + (1,)
    assert np.abs(gray[..., 0] - pixels @ [.299, .587, .114]).max() <= .51
    assert call("ImageDecoder", file, only_shapes=True) == [pixels.shape]


@pytest.mark.parametrize("name", NAMES)
def test_broken_files(name):
    rng = np.random.default_rng(1)
    for _ in range(40):
        file = IMAGES[name][:rng.integers(0, len(IMAGES[name]) + 1)].copy()
        for at in rng.integers(0, max(len(file), 1), rng.integers(0, 5)):
            if len(file):
                file[at] = rng.integers(0, 256)
        result = decode(file)
        assert result.dtype == np.uint8 and result.shape[2] == 3


def test_unknown_files():
    assert decode(np.zeros(0, np.uint8)).shape == (0, 0, 3)
    assert decode(np.frombuffer(b"text", np.uint8), pixel_format="Grayscale").shape == (0, 0, 1)
    with pytest.raises(KernelError, match="pixel_format"):
        decode(np.zeros(4, np.uint8), pixel_format="CMYK")


@pytest.mark.parametrize("name,channels", [("0_JPEG_RGB", 3), ("6_JPEG_L", 1), ("9_PNG_L", 1), ("11_PNG_P", 3),
                                            ("12_PNG_RGB", 3), ("16_BMP_RGB", 3)])
def test_channels_of_the_file(name, channels):
    pixels = IMAGES[name + "/pixels"]
    assert decode(IMAGES[name], channels=0).tolist() == pixels[..., :channels].tolist()
    assert decode(IMAGES[name], channels=3).tolist() == pixels.tolist()
    assert decode(IMAGES[name], channels=1).shape == pixels.shape[:2] + (1,)


def test_files_that_are_no_images_of_a_number_of_channels():
    for name, channels in (("10_PNG_LA", 2), ("13_PNG_RGBA", 4)):
        with pytest.raises(KernelError, match=f"the file has {channels} channels"):
            decode(IMAGES[name], channels=0)
        assert decode(IMAGES[name], channels=3).shape[2] == 3
    with pytest.raises(KernelError, match="are no image in one of the formats"):
        decode(np.frombuffer(b"text", np.uint8), channels=3)


def png(width, height, data):
    """16-bit RGBA."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    header = struct.pack(">IIBBBBB", width, height, 16, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def tiff(width, height, compression, data):
    """RGB in one strip; the type of an entry is 3 for 16 bits, 4 for 32."""
    entries = [(256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, compression), (262, 3, 2), (273, 4, 8),
               (277, 3, 3), (278, 4, height), (279, 4, len(data))]
    return (b"II*\0" + struct.pack("<I", 8 + len(data)) + data + struct.pack("<H", len(entries))
            + b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries) + bytes(4))


JPEG = (b"\xff\xd8\xff\xc0\x00\x11\x08" + struct.pack(">HH", 65500, 65500) + b"\x03\x01\x22\x00\x02\x11\x00\x03\x11\x00"
        b"\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00" + bytes(100))
ZEROS = zlib.compress(bytes(1 << 20))


@pytest.mark.parametrize("file", [png(16384, 16384, ZEROS), JPEG, tiff(16384, 16384, 8, ZEROS), tiff(16384, 16384, 1, ZEROS),
                                  tiff(65536, 65536, 1, ZEROS)],
                         ids=["png", "jpeg", "tiff-deflated", "tiff", "large-tiff"])
def test_headers_of_more_pixels_than_bytes_can_describe(file):
    """A file of 135 bytes took 3.3 GB and 18 s before it was refused."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert decode(np.frombuffer(file, np.uint8)).shape == (0, 0, 3)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def test_the_best_compression_is_read():
    """Zeros, of which deflate makes a thousandth."""
    size = 512
    file = png(size, size, zlib.compress(bytes(size * (8 * size + 1)), 9))
    assert len(file) < size * size * 8 / 900
    pixels = decode(np.frombuffer(file, np.uint8))
    assert pixels.shape == (size, size, 3) and not pixels.any()
    rows = zlib.compress(bytes(size * size * 3), 9)
    assert decode(np.frombuffer(tiff(size, size, 8, rows), np.uint8)).shape == (size, size, 3)


@pytest.mark.parametrize("batch, sizes", [(2**59, (0, 1, 1)), (2**59, (1, 0, 1)), (-1, (0, 0, 0)),
                                          (2**62, (1, 1, 0))])
def test_numbers_of_preprocessed_images_that_wrap(batch, sizes):
    """2^59 times the 96 bytes of an image are 0 bytes in 64 bits."""
    channels, height, width = sizes
    with pytest.raises(KernelError):
        call("Aipp", np.zeros(64, np.uint8), np.full(64, 1, np.uint8), batch=batch,
             channels=channels, height=height, width=width)
