# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles neural networks and runs them.

    import openatc
    model = openatc.compile("resnet50.onnx")      # an openatc.Model
    session = openatc.Session(model, threads=2)
    scores = session(image)                       # numpy in, numpy out

Opening and running `.om` files needs only the small runtime; the compiler is
loaded with the first name that needs it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._error import (ArgumentError, CancelledError, Error, FileError, LimitError,
                     MissingFileError, UnsupportedError)
from ._runtime import (NO_LIMIT, LaunchInfo, LaunchTime, Model, Session, TensorInfo,
                       empty)
from ._runtime import runtime_version as _runtime_version
from ._values import Map, Raw

if TYPE_CHECKING:
    from ._compare import Comparison, TensorError, compare
    from ._compile import Module, ModulePort, compile, interpret, load, lower, parse
    from ._quantize import QuantError, QuantizedModel, TensorScale, quantize

__version__: str = _runtime_version()

_LAZY = {
    "Comparison": "_compare", "TensorError": "_compare", "compare": "_compare",
    "Module": "_compile", "ModulePort": "_compile", "compile": "_compile",
    "interpret": "_compile", "load": "_compile", "lower": "_compile", "parse": "_compile",
    "QuantError": "_quantize", "QuantizedModel": "_quantize", "TensorScale": "_quantize",
    "quantize": "_quantize",
}

__all__ = ["ArgumentError", "CancelledError", "Comparison", "Error", "FileError", "LaunchInfo",
           "LaunchTime", "LimitError", "MissingFileError", "Model", "Module", "ModulePort",
           "NO_LIMIT", "QuantError", "QuantizedModel", "Session", "TensorError", "TensorInfo",
           "TensorScale", "UnsupportedError", "__version__", "compare", "compile", "empty",
           "interpret", "load", "lower", "parse", "quantize"]


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'openatc' has no attribute '{name}'")
    value = getattr(importlib.import_module("." + _LAZY[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
