"""The TensorFlow models that are tested as a whole, their flags and inputs.

Both sides use this: the one that writes TensorFlow's answers and the test.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import dataclasses

import numpy as np

import recipes


@dataclasses.dataclass
class TfModel:
    path: str
    shape: tuple
    tensor: str  # where the input goes in; empty: the only input of the signature
    output: str = ""  # of the graph
    flags: tuple = ()
    picture: str = ""


MODELS = {
    "tf-mobilenet-v1-025": TfModel("tf-mobilenet-v1-025.pb", (1, 128, 128, 3), "input:0",
                                   "MobilenetV1/Predictions/Reshape_1:0", picture="cat.bmp"),
    "tf-meet-segm-full": TfModel("tf-meet-segm-full.pb", (1, 144, 256, 3), "input_1:0",
                                 "segment:0", picture="grace_hopper.bmp"),
    "tf-espcn-x3": TfModel("tf-espcn-x3.pb", (1, 60, 80, 1), "IteratorGetNext:0", "NCHW_output:0",
                           ("--input_shape=IteratorGetNext:1,60,80,1",)),
    # Cut behind the audio operators: the input is the cepstrum of a second.
    "tf-kws-dscnn-s": TfModel("tf-kws-dscnn-s.pb", (1, 49, 10), "Mfcc:0", "labels_softmax:0",
                              ("--input_nodes=Mfcc", "--input_shape=Mfcc:1,49,10")),
    "sm-mlperf-kws": TfModel("sm-mlperf-kws", (1, 49, 10, 1), "", "",
                             ("--input_shape=input_1:1,49,10,1",)),
}


def input_of(name, pictures):
    model = MODELS[name]
    if not model.picture:
        values = np.random.Generator(np.random.PCG64(1)).random(model.shape, np.float32)
        return (values - np.float32(0.5)) * np.float32(4 if "kws" in name else 1)
    picture = recipes.read_bmp(pictures / model.picture)[:, :, ::-1]
    rows = np.arange(model.shape[1]) * picture.shape[0] // model.shape[1]
    columns = np.arange(model.shape[2]) * picture.shape[1] // model.shape[2]
    picture = picture[rows][:, columns].astype(np.float32)[None]
    # What the networks were trained with: -1..1 and 0..1.
    if "mobilenet" in name:
        return np.ascontiguousarray(picture / np.float32(127.5) - np.float32(1))
    return np.ascontiguousarray(picture / np.float32(255))
