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

from ._display import Profile
from ._error import (ArgumentError, CancelledError, Error, FileError, LimitError,
                     MissingFileError, UnsupportedError)
from ._runtime import (NO_LIMIT, LaunchInfo, LaunchTime, Model, Session, TensorInfo,
                       empty)
from ._runtime import runtime_version as _runtime_version
from ._values import Map, Raw, Shape

if TYPE_CHECKING:
    from . import builder, schedules
    from ._compare import Comparison, TensorError, compare
    from ._compile import (Module, ModulePort, compile, from_keras, from_torch, interpret, load,
                           lower, parse)
    from ._hooks import Hooks, Operation
    from ._op import op
    from ._pool import Pool
    from ._quantize import (Histogram, QuantError, QuantizedModel, TensorScale,
                            quantize)
    from ._simulate import Simulation, simulate
    from ._torch import backend as torch_backend
    from ._train import StepInfo, Trainer, train

__version__: str = _runtime_version()

# The module that has a name, and what it calls it; None for a module of the package.
_LAZY: dict[str, tuple[str, str | None]] = {
    **{name: ("_compare", name) for name in ("Comparison", "TensorError", "compare")},
    **{name: ("_compile", name) for name in ("Module", "ModulePort", "compile", "from_keras",
                                             "from_torch", "interpret", "load", "lower",
                                             "parse")},
    **{name: ("_quantize", name) for name in ("Histogram", "QuantError", "QuantizedModel",
                                              "TensorScale", "quantize")},
    **{name: ("_simulate", name) for name in ("Simulation", "simulate")},
    **{name: ("_train", name) for name in ("StepInfo", "Trainer", "train")},
    **{name: ("_hooks", name) for name in ("Hooks", "Operation")},
    "Pool": ("_pool", "Pool"),
    "op": ("_op", "op"),
    "builder": ("builder", None),
    "schedules": ("schedules", None),
    "torch_backend": ("_torch", "backend"),
}

__all__ = ["ArgumentError", "CancelledError", "Comparison", "Error", "FileError", "Histogram",
           "Hooks", "LaunchInfo", "LaunchTime", "LimitError", "MissingFileError", "Model", "Module", "ModulePort",
           "NO_LIMIT", "Operation", "Pool", "Profile", "QuantError", "QuantizedModel", "Session", "Shape",
           "Simulation", "StepInfo", "TensorError", "TensorInfo", "TensorScale", "Trainer",
           "UnsupportedError", "__version__", "builder", "compare", "compile", "empty", "from_keras",
           "from_torch", "interpret", "load", "lower", "op", "parse", "quantize", "schedules", "simulate",
           "torch_backend", "train"]


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'openatc' has no attribute '{name}'")
    home, attribute = _LAZY[name]
    module = importlib.import_module("." + home, __name__)
    value = module if attribute is None else getattr(module, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
