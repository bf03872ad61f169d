#!/usr/bin/env python3
"""Writes expected.json: what OpenCV's DNN computes for the nets of caffe_zoo.py.

Needs opencv-python-headless 4.x (version 5 reads no Caffe models) and numpy. OpenCV has no
layer Upsample; it runs the net with an equal Deconvolution in its place.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import pathlib
import sys
import tempfile

import cv2
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "common"))
from caffe_zoo import ZOO  # noqa: E402


def readable(net):
    for index, (kind, name, bottoms, tops, _, _) in enumerate(net.layers):
        if kind == "Upsample":
            net.layers[index] = ("Deconvolution", name, bottoms, tops,
                                 [np.ones((8, 1, 2, 2), "f4")],
                                 {"convolution_param": {"num_output": 8, "kernel_size": 2,
                                                        "stride": 2, "group": 8,
                                                        "bias_term": False}})
    return net


def expected(build):
    net = readable(build())
    shape = net.inputs["data"]
    with tempfile.TemporaryDirectory() as folder:
        model = cv2.dnn.readNetFromCaffe(*map(str, net.save(folder)))
    model.setInput(np.random.default_rng(0).uniform(-1, 1, shape).astype("f4"))
    names = list(model.getUnconnectedOutLayersNames())
    result = {}
    for name, value in zip(names, model.forward(names), strict=True):
        flat = value.reshape(-1)
        step = max(1, len(flat) // 40)
        result[name] = {"shape": list(value.shape), "step": step,
                        "values": [float(f"{x:.7g}") for x in flat[::step]]}
    return result


def main():
    everything = {name: expected(build) for name, build in ZOO.items()}
    (HERE / "expected.json").write_text(json.dumps(everything, indent=1) + "\n")


if __name__ == "__main__":
    main()
