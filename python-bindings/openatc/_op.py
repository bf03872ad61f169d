# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators called one at a time, by the names that the Ascend toolchain or ONNX has for them."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._compile import compile
from ._foreign import InMemory
from ._runtime import Model, Session

from . import _compiler  # isort: skip  (which _compile has loaded)

_TYPES = {"float64": "double"}

# Far above what any model needs; a million would take a minute before the operator is refused.
_MAX_OUTPUTS = 65536

# Operators that combine elements: a number takes the type of the arrays, as in NumPy. In others,
# such as TopK, a number is a size or an axis.
_ELEMENTWISE = frozenset("""
    Add AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Clip ClipByValue ClipByValueV2 Div DivNoNan Equal
    FloorDiv FloorMod Greater GreaterEqual GreaterOrEqual Less LessEqual LessOrEqual Max Maximum Mean Min
    Minimum Mod Mul NotEqual PRelu Pow RealDiv Select SelectV2 SquaredDifference Sub Sum TruncateDiv
    TruncateMod Where Xdivy Xlogy""".split())


def _type_name(name: str) -> str:
    return _TYPES.get(name, name)


def _common_type(kind: str, arrays: Sequence[Any]) -> np.dtype[Any] | None:
    """Returns the type that numbers take in an operator; None where they keep theirs."""
    types = {value.dtype for value in arrays if isinstance(value, np.ndarray) and value.dtype != bool}
    return types.pop() if kind in _ELEMENTWISE and len(types) == 1 else None


def _tensor(value: Any, format: str, common: np.dtype[Any] | None) -> dict[str, object]:
    """Describes an input: None is not given, numbers and lists of them are constants."""
    if value is None:
        return {"format": format, "shape": [], "type": "UNDEFINED"}
    is_constant = isinstance(value, (bool, int, float, list, tuple))
    array = np.asarray(value)
    # A fraction does not become a whole number.
    if is_constant and array.dtype != bool and common is not None and (common.kind == "f" or array.dtype.kind in "iu"):
        with np.errstate(over="ignore"):  # what is infinite then is refused below
            given, array = array, array.astype(common)
        if common.kind != "f" and (array != given).any():
            raise OverflowError(f"the constant {value!r} is no {common.name}, which the arrays are of")
    elif is_constant and array.dtype == np.float64:
        array = array.astype(np.float32)
    if is_constant and array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"the constant {value!r} is not finite as {array.dtype.name}; give it as an array, which is an input")
    described: dict[str, object] = {"format": format, "shape": list(array.shape),
                                    "type": _type_name(array.dtype.name)}
    if is_constant:
        described |= {"is_const": True, "const_value": array.reshape(-1).tolist()}
    return described


def _attribute(name: str, value: Any) -> dict[str, object]:
    """Describes an attribute; the type is that of its value."""
    def kind_of(item: Any) -> str:
        if isinstance(item, (list, tuple)):
            kinds = {kind_of(each) for each in item}
            return "list_" + ("float" if kinds == {"int", "float"} else
                              kinds.pop() if len(kinds) == 1 else "int" if not kinds else "mixed")
        for kind, name_of_kind in ((bool, "bool"), (int, "int"), (float, "float"), (str, "string")):
            if isinstance(item, kind):
                return name_of_kind
        return "mixed"

    plain = value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value
    kind = kind_of(plain)
    if "float" in kind and not np.isfinite(np.asarray(plain, np.float64)).all():
        raise ValueError(f"the attribute {name} is {value!r}; it must be finite")
    if "mixed" in kind:
        raise TypeError(f"the attribute {name} is {value!r}; it must be a bool, an int, a float, "
                        "a str, or a list of one of them")
    return {"name": name, "type": kind, "value": plain}


@functools.lru_cache(maxsize=64)
def _compiled(description: str, soc: str | None) -> Model:
    kind = json.loads(description)["op"]
    model: Model = compile(InMemory(kind, _compiler.single_op_model(description)), soc=soc)
    return model


def op(kind: str, *inputs: ArrayLike | None, outputs: int | Sequence[str] = 1,
       format: str | Sequence[str] = "ND", soc: str | None = None, **attributes: Any) -> Any:
    """Computes one operator of the Ascend toolchain, or of ONNX, as `atc --singleop` compiles it:

        y = openatc.op("Conv2D", x, weights, strides=[1, 1, 1, 1], pads=[1, 1, 1, 1])
        z = openatc.op("Reshape", x, [2, -1])

    Arrays are inputs. Numbers and lists are constants, as the shape of a Reshape must be, and None
    is an optional input that is not given. Where an operator combines elements, numbers take the type of the
    arrays, as in NumPy. `format` is that of all inputs, such as "NHWC", or a list
    with one per input. `outputs` is the number of outputs, or a list of their element types where
    the operator has a choice: ["float32", "int64"]. The other arguments are attributes.

    Returns an array, or a list of them where there are several. `soc` computes on an NPU, such as
    "Ascend310P3". The last operators that were compiled are kept.
    """
    formats = [format] * len(inputs) if isinstance(format, str) else list(format)
    if len(formats) != len(inputs):
        raise ValueError(f"format has {len(formats)} items for {len(inputs)} inputs")
    count = outputs if isinstance(outputs, int) else len(outputs)
    if not 1 <= count <= _MAX_OUTPUTS:
        raise ValueError(f"outputs must be from 1 to {_MAX_OUTPUTS}, not {count}")
    arrays = [value if value is None or isinstance(value, (bool, int, float, list, tuple))
              else np.asarray(value) for value in inputs]
    description = {
        "op": kind, "name": "operator",
        "input_desc": [_tensor(value, each, _common_type(kind, arrays)) for value, each in zip(arrays, formats)],
        "output_desc": [
            {"format": formats[0] if formats else "ND", "shape": [-2], "type": _type_name(each)}
            for each in (["undefined"] * outputs if isinstance(outputs, int) else outputs)],
        "attr": [_attribute(name, value) for name, value in sorted(attributes.items())]}
    text = json.dumps(description, ensure_ascii=False)
    text.encode()  # raises for what is no text
    session = Session(_compiled(text, soc))
    results: list[Any] = session.run([value for value in arrays if isinstance(value, np.ndarray)])
    return results if len(results) > 1 else results[0]
