"""The models that are tested as a whole, and their inputs.

Both sides use this: the one that writes ONNX Runtime's answers and the test.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import pathlib
import subprocess
import sys
import tempfile
import zlib

import numpy as np

EXPECTED = pathlib.Path(__file__).parent / "expected"

# name: inputs in the model's order, (shape, how). Networks of the zoo have seeded
# weights, so anything in the range of a normalized picture will do.
_NOISE = {"noise": 1, "deviation": 1}
# Here it would drive the scores into the thousands, where their sigmoid says only 0 or 1.
_FAINT = {"noise": 1, "deviation": 0.1}
ZOO = {
    "resnet18": [((1, 3, 224, 224), _NOISE)],
    "resnet50": [((1, 3, 224, 224), _NOISE)],
    "mobilenetv2": [((1, 3, 224, 224), _NOISE)],
    "efficientnet_lite0": [((1, 3, 224, 224), _NOISE)],
    "squeezenet11": [((1, 3, 224, 224), _NOISE)],
    "vgg16": [((1, 3, 224, 224), _NOISE)],
    "yolov5n": [((1, 3, 640, 640), _FAINT)],
}
# Trained networks look at a picture, prepared as each wants it.
REAL = {
    "ultraface-rfb-320": [((1, 3, 240, 320), {"picture": "grace_hopper.bmp", "mean": 127,
                                              "scale": 1 / 128, "order": "rgb"})],
    "yolox-nano": [((1, 3, 416, 416), {"picture": "cat.bmp", "mean": 0, "scale": 1,
                                       "order": "bgr"})],
    "twinlitenet": [((1, 3, 320, 320), {"picture": "cat.bmp", "mean": 0, "scale": 1 / 255,
                                        "order": "rgb"})],
}
LARGE = {"vgg16"}


def inputs_of(name, pictures):
    """The input arrays of a model; `pictures` is the folder of the BMP files."""
    return [_make(shape, how, pictures) for shape, how in (ZOO | REAL)[name]]


def _make(shape, how, pictures):
    if "noise" in how:
        # Uniform: the simplest stream of the generator.
        values = np.random.Generator(np.random.PCG64(how["noise"])).random(shape, np.float32)
        return (values - np.float32(0.5)) * np.float32(np.sqrt(12) * how["deviation"])
    picture = read_bmp(pictures / how["picture"])
    rows = np.arange(shape[2]) * picture.shape[0] // shape[2]
    columns = np.arange(shape[3]) * picture.shape[1] // shape[3]
    picture = picture[rows][:, columns].astype(np.float32)
    if how["order"] == "rgb":
        picture = picture[:, :, ::-1]
    picture = (picture - np.float32(how["mean"])) * np.float32(how["scale"])
    return np.ascontiguousarray(picture.transpose(2, 0, 1)[None])


def read_bmp(path):
    """A 24-bit picture as u8 [height, width, BGR], its first row on top."""
    data = path.read_bytes()
    header = np.frombuffer(data[:54], np.uint8)
    at, = header[10:14].view("<i4")
    width, height = header[18:26].view("<i4")
    assert data[:2] == b"BM" and header[28:30].view("<i2")[0] == 24
    pitch = (3 * width + 3) // 4 * 4
    rows = np.frombuffer(data, np.uint8, pitch * abs(height), at).reshape(abs(height), pitch)
    picture = rows[:, :3 * width].reshape(abs(height), width, 3)
    return picture[::-1] if height > 0 else picture


def samples(size, count=2000):
    """Flat indices of the elements that are kept, spread over the whole tensor."""
    index = np.arange(min(size, count), dtype=np.int64)
    if size <= count:
        return index
    # One in each of `count` equal parts, at a scattered place: a fixed step may
    # meet the same few columns of a matrix only.
    return index * size // count + index * 2654435761 % 2**32 % (size // count)


def ranges(value):
    """max - min of an output; of each column where rows are records, such as the
    boxes of a detector with small scores beside large coordinates."""
    value = np.asarray(value, np.float64)
    rows = value.reshape(-1, value.shape[-1] if is_records(value.shape) else 1)
    return rows.max(axis=0) - rows.min(axis=0)


def is_records(shape):
    return len(shape) == 3 and shape[-1] <= 128


def checksum(arrays):
    value = 0
    for array in arrays:
        value = zlib.crc32(np.ascontiguousarray(array).tobytes(), value)
    return value


def arguments(doc, *folders):
    """The command line of the scripts that make expected values: names of models, and a flag for
    each folder that they are read from."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    parser.add_argument("names", nargs="*", help="default: all")
    for folder in folders:
        parser.add_argument(f"--{folder}", type=pathlib.Path, required=True)
    return parser.parse_args()


def zoo_model(name, generator, folder):
    """The path of a generated model, made now if it is not there. Tests that run beside each other see
    a whole file or none."""
    path = folder / f"{name}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as made:
            subprocess.run([sys.executable, str(generator), made, name], check=True,
                           stdout=subprocess.DEVNULL)
            (pathlib.Path(made) / path.name).replace(path)
    return path
