#!/usr/bin/env python3
"""Writes expected/<name>.npz: TensorFlow's answers to the inputs of recipes_tf.py.

  make_expected_tf.py --models <folder of the trained models> [name ...]

Needs a Python with tensorflow and numpy. A file holds the shape of the output, a
sample of its values (recipes.samples), its range, and a checksum of the input.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import tensorflow as tf

import recipes
import recipes_tf


def run_graph(path, model, value):
    definition = tf.compat.v1.GraphDef()
    definition.ParseFromString(path.read_bytes())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        with tf.compat.v1.Session(graph=graph) as session:
            return session.run(model.output, {model.tensor: value})


def run_saved_model(path, value):
    # The loader of version 1 needs none of the classes that the model was trained with.
    with tf.Graph().as_default() as graph:
        with tf.compat.v1.Session(graph=graph) as session:
            loaded = tf.compat.v1.saved_model.load(session, ["serve"], str(path))
            signature = loaded.signature_def["serving_default"]
            (source,) = signature.inputs.values()
            (target,) = signature.outputs.values()
            return session.run(target.name, {source.name: value})


def main():
    args = recipes.arguments(__doc__, "models")
    for name in args.names or recipes_tf.MODELS:
        model = recipes_tf.MODELS[name]
        path = args.models / model.path
        value = recipes_tf.input_of(name, args.models / "inputs")
        output = (run_saved_model(path, value) if path.is_dir()
                  else run_graph(path, model, value))
        flat = output.reshape(-1)
        target = recipes.EXPECTED / f"{name}.npz"
        np.savez_compressed(target, shape=np.array(output.shape), range=np.ptp(output),
                            values=flat[recipes.samples(flat.size)], top=flat.argmax(),
                            inputs_crc=recipes.checksum([value]), tensorflow=tf.__version__)
        print(f"{target.name}: {target.stat().st_size} bytes, {list(output.shape)} "
              f"{output.min():.4g}..{output.max():.4g}, top {flat.argmax()}")


if __name__ == "__main__":
    main()
