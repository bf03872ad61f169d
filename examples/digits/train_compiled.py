#!/usr/bin/python3
#===-- train_compiled.py - trains the digit network with a compiled step -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the bundled digit network from scratch with openatc.train and reports its accuracy.

Needs numpy, the openatc package, and the onnx package for the untrained model.

    PYTHONPATH=build/python examples/digits/train_compiled.py --output trained.onnx
"""

import argparse
import os
import sys
import tempfile
import time

import numpy as np
import openatc

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
from draw_digits import HELD_OUT_COUNT, HELD_OUT_SEED, as_input, draw_digits  # noqa: E402
from train_digits import BATCH, TRAIN_SEED, accuracy, build_network, export  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=24000, help="pictures to train on")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rate", type=float, default=4e-3, help="peak learning rate")
    parser.add_argument("--threads", type=int, default=0, help="0: one per processor")
    parser.add_argument("--output", help="file for the trained model")
    arguments = parser.parse_args()

    pictures, labels = draw_digits(arguments.count, TRAIN_SEED)
    images, labels = as_input(pictures), labels.astype(np.int64)
    per_epoch = len(images) // BATCH
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "untrained.onnx")
        export(build_network(), path)
        begin = time.time()
        trainer = openatc.train(
            path, input_shapes={"image": (BATCH, 1, 28, 28)}, threads=arguments.threads,
            optimizer={"kind": "adamw", "beta2": 0.99, "weight_decay": 0.02,
                       "no_decay": ["*_norm.scale", "*.bias"]},
            learning_rate=openatc.schedules.cosine(arguments.rate, per_epoch * arguments.epochs,
                                                   warmup=max(1, per_epoch // 4)))
        print(f"compiled the step in {time.time() - begin:.1f} s", flush=True)
        rng = np.random.Generator(np.random.PCG64(TRAIN_SEED))
        for epoch in range(arguments.epochs):
            begin, order, loss, right = time.time(), rng.permutation(len(images)), 0.0, 0
            for first in range(0, per_epoch * BATCH, BATCH):
                rows = order[first:first + BATCH]
                step = trainer.run(images[rows], labels[rows])
                loss += step.loss
                scores, = step.outputs.values()
                right += int((scores.argmax(axis=1) == labels[rows]).sum())
            seen = per_epoch * BATCH
            print(f"epoch {epoch + 1}/{arguments.epochs}: loss {loss / per_epoch:.4f}, right "
                  f"{100 * right / seen:.2f} %, {time.time() - begin:.1f} s", flush=True)
        output = arguments.output or os.path.join(folder, "trained.onnx")
        trainer.export_onnx(output)
        held_out = accuracy(output, *draw_digits(HELD_OUT_COUNT, HELD_OUT_SEED))
    print(f"{100 * held_out:.2f} % of {HELD_OUT_COUNT} held-out pictures right")


if __name__ == "__main__":
    main()
