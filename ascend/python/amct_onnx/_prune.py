# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search for the share of each layer's channels to remove."""

import json
import pathlib
import tempfile
import warnings

from openatc_toolkit import write_file

from ._tool import run_tool


def auto_channel_prune_search(model, config, input_data, output_cfg,
                              sensitivity="TaylorLossSensitivity", search_alg="GreedySearch"):
    """Writes to `output_cfg` which share of each layer's channels to remove, so that the operations
    become fewer by the `compress_ratio` of the file `config`; `amct prune --config` reads it.
    `input_data` are samples: an array of one input, or a list with one array per input, each
    of one sample or of several in front. A channel's effect is its share of the variance of what
    its readers compute; labels are not needed."""
    import numpy as np
    if search_alg != "GreedySearch":
        raise ValueError(f"search_alg is {search_alg!r}; only 'GreedySearch' is supported")
    if sensitivity not in (None, "TaylorLossSensitivity"):
        raise ValueError("a sensitivity of your own is not supported; leave it out")
    if sensitivity:
        warnings.warn("amct_onnx.auto_channel_prune_search: no gradients of a loss are computed; "
                      "the effect of a channel on its readers stands for its sensitivity",
                      stacklevel=2)
    arrays = input_data if isinstance(input_data, (list, tuple)) else [input_data]
    with tempfile.TemporaryDirectory(prefix="amct-") as folder:
        folders = []
        for index, array in enumerate(arrays):
            path = pathlib.Path(folder) / f"input_{index:03}"
            path.mkdir()
            np.save(path / "samples.npy", np.ascontiguousarray(array))
            folders.append(str(path))
        pruned = pathlib.Path(folder) / "pruned.onnx"
        found = json.loads(run_tool("prune", "--model", model, "--config", config, "--data",
                                    ";".join(folders), "--output", pruned, "--json"))
    target = pathlib.Path(output_cfg)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_file(target, "".join(_override(layer) for layer in found["layers"]))


def _override(layer):
    """Returns the settings of a layer, which remove as many channels as the search did."""
    ratio = (layer["before"] - layer["after"]) / layer["before"]
    return (f'override_layer_configs {{\n  layer_name: {json.dumps(layer["node"])}\n'
            "  prune_config { filter_pruner { balanced_l2_norm_filter_prune "
            f"{{ prune_ratio: {ratio:.9g} ascend_optimized: false }} }} }}\n}}\n")
