# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports models of Keras and functions of TensorFlow as SavedModels."""

from __future__ import annotations

import os
import sys
from typing import Any

from ._foreign import Example, framework


def _specs(tensorflow: Any, args: Any) -> list[Any]:
    """Returns a tf.TensorSpec per example: of arrays, tensors and specs."""
    if not isinstance(args, (list, tuple)):
        args = (args,)
    return [arg if isinstance(arg, tensorflow.TensorSpec) else
            tensorflow.TensorSpec(arg.shape, arg.dtype) for arg in args]


def _concrete(tensorflow: Any, function: Any, example: Example) -> Any:
    signature = getattr(function, "input_signature", None)
    if example.args is None and not signature and not getattr(function, "structured_inputs", None):
        raise TypeError("the function has no input signature: give args, arrays or tf.TensorSpec "
                        "with the shapes of its inputs")
    specs = [] if example.args is None else _specs(tensorflow, example.args)
    return function.get_concrete_function(*specs)


def export(model: Any, example: Example, folder: str) -> str:
    """Writes a Keras model, a tf.function or a tf.Module as a SavedModel in `folder` and returns
    its path. Raises TypeError where the shapes of the inputs are not known."""
    tensorflow = framework("tensorflow")

    if example.kwargs is not None or example.dynamic_shapes is not None:
        raise TypeError("kwargs and dynamic_shapes are for models of PyTorch: args of TensorFlow "
                        "may be tf.TensorSpec, with None for a dynamic dim")
    path = os.path.join(folder, type(model).__name__)
    # Keras and TensorFlow write to stdout what they export.
    if hasattr(model, "get_concrete_function"):
        concrete = _concrete(tensorflow, model, example)
        holder = tensorflow.Module()
        holder.kept = (concrete, list(concrete.variables))
        tensorflow.saved_model.save(holder, path, signatures=concrete)
    elif hasattr(model, "export") and sys.modules.get("keras") is not None and \
            isinstance(model, sys.modules["keras"].Model):
        options = {} if example.args is None else \
            {"input_signature": _specs(tensorflow, example.args)}
        model.export(path, verbose=False, **options)
    elif example.args is not None:
        call = model if callable(model) else model.__call__
        concrete = tensorflow.function(call).get_concrete_function(
            *_specs(tensorflow, example.args))
        tensorflow.saved_model.save(model, path, signatures=concrete)
    else:
        tensorflow.saved_model.save(model, path)
    return path
