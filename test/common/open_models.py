# ===-- open_models.py - sessions of models whose dims are open ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Needs numpy and the onnx package."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import openatc_npu as npu
from openatc_runtime import Session
from openatc_tools import RUNTIME

TYPES = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8, np.float32: TensorProto.FLOAT,
         np.int32: TensorProto.INT32, np.int64: TensorProto.INT64, np.float16: TensorProto.FLOAT16,
         np.float64: TensorProto.DOUBLE}


def session_of(folder, node, inputs, result, constants, opset=17):
    """A session with two threads of a node, or a list of them, with the output "y" of type `result`; `inputs` maps names to types and
    dims, which may be names, `constants` names to arrays."""
    graph = helper.make_graph(
        node if isinstance(node, list) else [node], "g", [helper.make_tensor_value_info(name, TYPES[kind], dims) for name, (kind, dims) in inputs.items()],
        [helper.make_tensor_value_info("y", TYPES[result], None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    path = folder / "m.onnx"
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))
    return Session(RUNTIME, npu.build(path, folder, None), threads=2)


def full(rng, kind, shape):
    """Numbers of the whole range of an integer type."""
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max + 1, shape).astype(kind)
