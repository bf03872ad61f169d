#!/usr/bin/python3
# ===-- image_cases.py - writes images.npz --------------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Image files of every supported kind, and their pixels as Pillow decodes them:

    test/kernels/image_cases.py
"""

import io
from pathlib import Path

import numpy as np
from PIL import Image

OPTIONS = [("JPEG", "RGB", dict(quality=quality, subsampling=subsampling))
           for quality in (40, 90) for subsampling in (0, 1, 2)]
OPTIONS += [("JPEG", "L", {}), ("JPEG", "RGB", dict(restart_marker_blocks=2, subsampling=2))]
OPTIONS += [("PNG", mode, {}) for mode in ("1", "L", "LA", "P", "RGB", "RGBA")]
OPTIONS += [("BMP", mode, {}) for mode in ("1", "P", "RGB")]
OPTIONS += [("PPM", mode, {}) for mode in ("1", "L", "RGB")]
OPTIONS += [("TIFF", "RGB", {}), ("TIFF", "L", dict(compression="tiff_adobe_deflate"))]
OPTIONS += [("JPEG", "RGB", dict(progressive=True, quality=quality, subsampling=subsampling))
            for quality, subsampling in ((95, 0), (30, 1), (90, 2))]
OPTIONS += [("JPEG", "L", dict(progressive=True)), ("JPEG", "RGB", dict(progressive=True, restart_marker_blocks=3))]


def main():
    rng = np.random.default_rng(0)
    stored = {}
    for i, (kind, mode, options) in enumerate(OPTIONS):
        height, width = (int(size) for size in rng.integers(5, 24, 2))
        slope = np.add.outer(np.arange(height) * 7, np.arange(width) * 5)[..., None]
        pixels = slope + np.array([0, 60, 120]) + rng.integers(0, 20, (height, width, 3))
        image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).convert(mode)
        file = io.BytesIO()
        image.save(file, kind, **options)
        name = f"{i}_{kind}_{mode}"
        stored[name] = np.frombuffer(file.getvalue(), np.uint8)
        stored[name + "/pixels"] = np.array(Image.open(file).convert("RGB"))
    np.savez_compressed(Path(__file__).with_name("images.npz"), **stored)


if __name__ == "__main__":
    main()
