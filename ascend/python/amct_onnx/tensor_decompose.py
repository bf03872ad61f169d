# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Divides convolutions into two smaller ones:

    from amct_onnx.tensor_decompose import auto_decomposition
    changes = auto_decomposition("model.onnx", "small.onnx", "layers.json")
"""

import json

from ._tool import run_tool


def auto_decomposition(model_file, new_model_file, decompose_info_path=None):
    """Writes the model with its large convolutions divided where that saves operations. Returns
    {node: [first, second]}; where no convolution can be divided, RuntimeError says so.
    `decompose_info_path` gets the facts of each layer as JSON."""
    flags = ["--info", decompose_info_path] if decompose_info_path else []
    found = json.loads(run_tool("decompose", "--model", model_file, "--output", new_model_file,
                                "--json", *flags))
    return {name: facts["nodes"] for name, facts in found.items()}
