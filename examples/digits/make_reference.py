#!/usr/bin/env python3
#===-- make_reference.py - test pictures and ONNX Runtime's answers ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the committed test pictures and stores what ONNX Runtime answers for digits.onnx.

Needs numpy and onnxruntime; run it again after train_digits.py. It writes

    pictures/digit_<d>.npy      f32 [1, 1, 28, 28], one picture of each digit: the network's input
    pictures/digit_<d>.png      the same picture to look at
    pictures/sheet.png          some of the held-out pictures, to look at
    reference_scores.npy        f32 [10, 10]: row d holds ONNX Runtime's scores for digit_<d>
    heldout.npz                 500 held-out pictures: `images` u8 [500, 28, 28], `labels` u8 [500],
                                `scores` f32 [500, 10] of ONNX Runtime
    reference.json              the accuracy of those scores, and with what they were made
"""

import json
import os
import sys

import numpy as np
import onnxruntime

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
from draw_digits import (HELD_OUT_COUNT, HELD_OUT_SEED, as_input, contact_sheet,  # noqa: E402
                         draw_digits, write_png)

PICTURE_SEED = 18  # Ten pictures that a person reads at once; the hard ones are in heldout.npz.
COMMITTED = 500


def main():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(os.path.join(FOLDER, "digits.onnx"), options,
                                           providers=["CPUExecutionProvider"])

    def scores_of(pictures):
        return np.concatenate([session.run(["scores"], {"image": image[None]})[0]
                               for image in as_input(pictures)])

    folder = os.path.join(FOLDER, "pictures")
    os.makedirs(folder, exist_ok=True)
    pictures, labels = draw_digits(10, PICTURE_SEED, labels=np.arange(10))
    for digit, picture in zip(labels, pictures):
        np.save(os.path.join(folder, f"digit_{digit}.npy"), as_input(picture[None]))
        write_png(os.path.join(folder, f"digit_{digit}.png"), picture)
    scores = scores_of(pictures)
    np.save(os.path.join(FOLDER, "reference_scores.npy"), scores)

    images, truth = draw_digits(HELD_OUT_COUNT, HELD_OUT_SEED)
    images, truth = images[:COMMITTED], truth[:COMMITTED]
    held_out_scores = scores_of(images)
    np.savez_compressed(os.path.join(FOLDER, "heldout.npz"), images=images, labels=truth,
                        scores=held_out_scores)
    order = np.argsort(truth[:200], kind="stable")
    write_png(os.path.join(folder, "sheet.png"), contact_sheet(images[order]))

    report = {
        "onnxruntime": onnxruntime.__version__,
        "pictures_seed": PICTURE_SEED,
        "pictures_right": int((scores.argmax(axis=1) == labels).sum()),
        "heldout_pictures": COMMITTED,
        "heldout_right": int((held_out_scores.argmax(axis=1) == truth).sum()),
    }
    report["heldout_accuracy"] = report["heldout_right"] / COMMITTED
    with open(os.path.join(FOLDER, "reference.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, indent=2)
        file.write("\n")
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
