# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that are objects of other frameworks, and files of formats that are not compiled."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from ._error import Error, _printable


class InMemory(NamedTuple):
    """An ONNX model that is in no file."""

    name: str
    data: bytes


class Example(NamedTuple):
    """What an object of another framework needs in order to be exported."""

    args: Any = None
    kwargs: Mapping[str, Any] | None = None
    dynamic_shapes: Any = None


# What a file is: by its first bytes, then by the ending of its name, and what to do with it.
_OWN_OBJECT = "load it with {how} and give the object"
_TORCH = "load the module with torch and give it: openatc.compile(module, args=(example,))"
_KERAS = "load the model with keras.saving.load_model(path) and give it: openatc.compile(model)"
_FORMATS: dict[str, tuple[str, str]] = {
    ".pt2": ("a program of torch.export", _OWN_OBJECT.format(how="torch.export.load(path)")),
    ".pt": ("a PyTorch file", _TORCH),
    ".pth": ("a PyTorch file", _TORCH),
    ".h5": ("an HDF5 file of Keras", _KERAS),
    ".hdf5": ("an HDF5 file of Keras", _KERAS),
    ".keras": ("a Keras file", _KERAS),
    ".om": ("a compiled model", "it needs no compiling: openatc.Model(path) opens it"),
    ".safetensors": ("a file of weights without a graph",
                     "give the module that has these weights: openatc.compile(module, args=...)"),
    ".zip": ("an archive", "unpack it and give the model that is in it"),
}
# The same of bytes, which have no name: where a mark is, and the mark.
_MARKS = ((4, b"TFL3", "a TensorFlow Lite model", "write them to a file and give its path"),
          (8, b"OATC", "a compiled model", "openatc.Model(data) opens it"),
          (0, b"PK\x03\x04", "an archive", "load the object that is in it and give that"))
# Zip files are what the endings of their names say.
_ZIPPED = (".pt2", ".pt", ".pth", ".keras")


def refuse_other_formats(path: str | os.PathLike[str]) -> None:
    """Raises an Error that names the format of a file that is known but not read, and what to do
    with it. Returns for all others, whose readers know best."""
    name = os.fsdecode(path)
    ending = os.path.splitext(name)[1].lower()
    try:
        with open(path, "rb") as file:
            front = file.read(8)
    except OSError:
        return  # the reader says why
    if front.startswith(b"PK\x03\x04"):
        ending = ending if ending in _ZIPPED else ".zip"
    elif front.startswith(b"\x89HDF\r\n\x1a\n"):
        ending = ".h5"
    elif front.startswith(b"\x08"):
        return  # an ONNX model or a graph of TensorFlow, whatever its name is
    if ending in _FORMATS:
        what, advice = _FORMATS[ending]
        raise Error([f"E13005: '{_printable(name)}' is {what}: {advice}"])


def refuse_other_bytes(data: bytes) -> None:
    """Raises an Error for the bytes of a model that is known, but not read from memory."""
    for at, mark, what, advice in _MARKS:
        if data[at:at + len(mark)] == mark:
            raise Error([f"E13005: the bytes are {what}: {advice}"])


def framework(name: str) -> Any:
    """Imports a package that this one does not need; ImportError without it."""
    return importlib.import_module(name)


@contextmanager
def apart_from_tensorflow() -> Iterator[None]:
    """Imports modules in `with` so that they use their own libraries. TensorFlow shows its
    protobuf to the whole process, and a compiler that called it would crash."""
    if "tensorflow" not in sys.modules or not hasattr(os, "RTLD_DEEPBIND"):
        yield
        return
    flags = sys.getdlopenflags()
    sys.setdlopenflags(flags | os.RTLD_DEEPBIND)
    try:
        yield
    finally:
        sys.setdlopenflags(flags)


def _is_torch(model: Any) -> bool:
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "nn"):
        return False
    export: Any = sys.modules.get("torch.export")
    return isinstance(model, torch.nn.Module) or (
        export is not None and isinstance(model, export.ExportedProgram))


def _is_keras(model: Any) -> bool:
    """Whether an object is a Keras model, a tf.function or a tf.Module."""
    if hasattr(model, "get_concrete_function"):
        return True
    homes = {(each.__module__.partition(".")[0], each.__name__) for each in type(model).__mro__}
    return bool(homes & {("keras", "Model"), ("tf_keras", "Model"), ("tensorflow", "Module")})


def is_foreign(model: Any) -> bool:
    """Returns whether a model is an object of PyTorch or TensorFlow."""
    return _is_torch(model) or _is_keras(model)


def needs_example(model: Any) -> bool:
    """Returns whether a model is a torch.nn.Module, which does not know its inputs."""
    return _is_torch(model) and isinstance(model, sys.modules["torch"].nn.Module)


def _described(model: Any) -> str:
    """Returns what a message calls an object that is no model: a class by its name, other objects
    by their type."""
    if isinstance(model, type):
        return f"the class {model.__name__}"
    return f"an object of type {type(model).__name__}"


def refuse_other_objects(model: Any) -> None:
    """Raises a TypeError for an object that is neither a path nor a model."""
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(
            f"{_described(model)} is no model: give a path, the bytes of an ONNX model, an "
            "onnx.ModelProto, an openatc.builder.Graph, or a model of PyTorch, Keras or "
            "TensorFlow (an instance, not its class or its weights)")


@contextmanager
def exported(model: Any, example: Example) -> Iterator[Any]:
    """Gives what a reader can read of any model: a path or an InMemory for objects of other
    frameworks, which `example` helps to export, and everything else as it is."""
    if not is_foreign(model):
        if any(each is not None for each in example):
            raise TypeError("args, kwargs and dynamic_shapes are for models that are objects of "
                            f"PyTorch or TensorFlow, which {_described(model)} is not")
        if isinstance(model, (str, os.PathLike)):
            refuse_other_formats(model)
        yield model
        return
    with tempfile.TemporaryDirectory(prefix="openatc") as folder:
        if _is_torch(model):
            from . import _torch
            yield _torch.export(model, example, folder)
        else:
            from . import _keras
            yield _keras.export(model, example, folder)
