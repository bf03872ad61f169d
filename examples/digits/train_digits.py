#!/usr/bin/python3
#===-- train_digits.py - trains the bundled digit network --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the bundled digit network on pictures that draw_digits.py draws; writes digits.onnx.

Needs numpy, and the onnx package (Debian: python3-onnx) for the file it writes.

    OMP_NUM_THREADS=1 examples/digits/train_digits.py

The seeds are fixed and sums are made in a fixed order: two runs with the same numpy and the same
BLAS write the same file.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
import onnx_file  # noqa: E402
from draw_digits import (HELD_OUT_COUNT, HELD_OUT_SEED, SIZE, as_input,  # noqa: E402
                         draw_digits)
from layers import (AveragePoolLinear, BatchNorm, Conv, MaxPool, Relu,  # noqa: E402
                    Residual, Sequence)

TRAIN_SEED, WEIGHT_SEED = 1, 3
BATCH = 64
# Every batch is worked on in two halves, one per thread. The halves and the order of their sum do
# not depend on how many threads there are, so neither does the result.
HALVES = 2


def build_network():
    rng = np.random.Generator(np.random.PCG64(WEIGHT_SEED))

    def conv(name, inputs, outputs, kernel, **options):
        return [Conv(name, inputs, outputs, kernel, rng, **options),
                BatchNorm(name + "_norm", outputs)]

    return Sequence([
        *conv("stem", 1, 16, 3, needs_dx=False), Relu("stem_relu"),
        MaxPool("stem_pool"),
        Residual("inverted_add", [
            *conv("expand", 16, 48, 1), Relu("expand_relu6", limit=6),
            *conv("depthwise", 48, 48, 3, depthwise=True), Relu("depthwise_relu6", limit=6),
            *conv("project", 48, 16, 1),
        ]),
        *conv("down", 16, 32, 3, stride=2), Relu("down_relu"),
        Residual("basic_add", conv("basic", 32, 32, 3)), Relu("basic_relu"),
        *conv("head", 32, 64, 1), Relu("head_relu"),
        AveragePoolLinear("scores", 64, 10, rng),
    ])


def softmax_loss(scores, labels):
    """(summed cross entropy, its gradient with regard to the scores)."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    chances = np.exp(shifted)
    chances /= chances.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -np.log(np.maximum(chances[rows, labels], 1e-12)).sum()
    chances[rows, labels] -= 1
    return loss, chances


class Adam:
    """Adam with weight decay that acts on the weights directly."""

    def __init__(self, parameters, decay):
        self.decay, self.step_count = decay, 0
        self.first = {name: np.zeros_like(array) for name, array in parameters.items()}
        self.second = {name: np.zeros_like(array) for name, array in parameters.items()}

    def step(self, parameters, gradients, rate, beta1=0.9, beta2=0.99):
        self.step_count += 1
        correction1 = 1 - beta1**self.step_count
        correction2 = 1 - beta2**self.step_count
        updated = {}
        for name, array in parameters.items():
            gradient = gradients[name]
            self.first[name] += (1 - beta1) * (gradient - self.first[name])
            self.second[name] += (1 - beta2) * (gradient * gradient - self.second[name])
            move = self.first[name] / correction1
            move = move / (np.sqrt(self.second[name] / correction2) + 1e-8)
            if array.ndim == 2:
                move = move + self.decay * array
            updated[name] = (array - rate * move).astype(np.float32)
        return updated


def train(network, images, labels, epochs, peak_rate, pool):
    """Trains in place. The images are [count, 28, 28, 1]."""
    rng = np.random.Generator(np.random.PCG64(TRAIN_SEED))
    optimizer = Adam(network.parameters, decay=0.02)
    steps_per_epoch = len(images) // BATCH
    warm_up, total = max(1, steps_per_epoch // 4), steps_per_epoch * epochs

    def half(rows):
        scores, caches = network.forward(images[rows], {})
        loss, dscores = softmax_loss(scores, labels[rows])
        _, gradients = network.backward(dscores / np.float32(BATCH), caches)
        return loss, int((scores.argmax(axis=1) == labels[rows]).sum()), gradients

    step = 0
    for epoch in range(epochs):
        start, order = time.time(), rng.permutation(len(images))
        loss = right = 0
        for first in range(0, steps_per_epoch * BATCH, BATCH):
            rows = order[first:first + BATCH].reshape(HALVES, -1)
            parts = list(pool.map(half, rows))
            loss += sum(part[0] for part in parts)
            right += sum(part[1] for part in parts)
            gradients = {name: sum(part[2][name] for part in parts) for name in parts[0][2]}
            cosine = 0.5 + 0.5 * np.cos(np.pi * max(0, step - warm_up) / (total - warm_up))
            rate = peak_rate * min(1.0, (step + 1) / warm_up) * cosine
            network.update(optimizer.step(network.parameters, gradients, rate))
            step += 1
        seen = steps_per_epoch * BATCH
        print(f"epoch {epoch + 1}/{epochs}: loss {loss / seen:.4f}, "
              f"right {100 * right / seen:.2f} %, {time.time() - start:.0f} s", flush=True)


def settle_statistics(network, images, pool, count=4096, batch=128):
    """Stores the batch norms' mean and variance over many pictures, with the final weights."""
    def collect(rows):
        statistics = {}
        network.forward(images[rows], statistics)
        return statistics

    batches = min(count, len(images)) // batch
    parts = list(pool.map(collect, np.arange(batches * batch).reshape(batches, batch)))
    for layer in network.flat():
        if isinstance(layer, BatchNorm):
            means = np.stack([part[layer.name][0] for part in parts]).astype(np.float64)
            variances = np.stack([part[layer.name][1] for part in parts])
            mean = means.mean(axis=0)
            # The variance over all pictures: within the batches and between them.
            layer.variance = (variances.mean(axis=0) + means.var(axis=0)).astype(np.float32)
            layer.mean = mean.astype(np.float32)


def export(network, path):
    graph = onnx_file.GraphWriter()
    scores = network.to_onnx(graph, "image")
    graph.save(path, scores, [1, 10], [1, 1, SIZE, SIZE])


def accuracy(path, pictures, labels):
    """The share of uint8 pictures that the network in an ONNX file gets right, run with numpy."""
    right = 0
    for first in range(0, len(pictures), 250):
        scores = onnx_file.run(path, as_input(pictures[first:first + 250]))
        right += int((scores.argmax(axis=1) == labels[first:first + 250]).sum())
    return right / len(pictures)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=24000, help="pictures to train on")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rate", type=float, default=4e-3, help="peak learning rate")
    parser.add_argument("--output", default=FOLDER, help="folder for digits.onnx and train.json")
    arguments = parser.parse_args()

    start = time.time()
    pictures, labels = draw_digits(arguments.count, TRAIN_SEED)
    images = as_input(pictures).transpose(0, 2, 3, 1)
    drawn = time.time()
    print(f"drew {arguments.count} pictures in {drawn - start:.0f} s", flush=True)

    network = build_network()
    with ThreadPoolExecutor(HALVES) as pool:
        train(network, images, labels, arguments.epochs, arguments.rate, pool)
        settle_statistics(network, images, pool)

    path = os.path.join(arguments.output, "digits.onnx")
    export(network, path)
    held_out = accuracy(path, *draw_digits(HELD_OUT_COUNT, HELD_OUT_SEED))
    report = {
        "command": "/usr/bin/python3 examples/digits/train_digits.py",
        "seeds": {"train": TRAIN_SEED, "held_out": HELD_OUT_SEED, "weights": WEIGHT_SEED},
        "train_pictures": arguments.count,
        "epochs": arguments.epochs,
        "peak_rate": arguments.rate,
        "batch": BATCH,
        "parameters": int(sum(array.size for array in network.parameters.values())),
        "file_bytes": os.path.getsize(path),
        "held_out_pictures": HELD_OUT_COUNT,
        "held_out_accuracy": held_out,
        "seconds": round(time.time() - start),
        "numpy": np.__version__,
    }
    with open(os.path.join(arguments.output, "train.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)
        file.write("\n")
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
