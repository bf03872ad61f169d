# ===-- test_images.py - ImageDecoder -------------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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


@pytest.mark.parametrize("batch, sizes", [(2**59, (0, 1, 1)), (2**59, (1, 0, 1)), (-1, (0, 0, 0)),
                                          (2**62, (1, 1, 0))])
def test_numbers_of_preprocessed_images_that_wrap(batch, sizes):
    """2^59 times the 96 bytes of an image are 0 bytes in 64 bits."""
    channels, height, width = sizes
    with pytest.raises(KernelError):
        call("Aipp", np.zeros(64, np.uint8), np.full(64, 1, np.uint8), batch=batch,
             channels=channels, height=height, width=width)
