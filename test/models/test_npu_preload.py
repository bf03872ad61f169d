#===-- test_npu_preload.py - weights that programs load for later ones --===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks that do not fit into a small L2: with npu-preload-weights the same bits, no access races
with another, DDR moves hardly more, and the second run is faster, on coupled and on split cores.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="making the networks needs the onnx package")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import openatc_npu as npu  # noqa: E402
from openatc_tools import call, tool  # noqa: E402

CHANNELS = 128


def network(layers=8):
    """Convolutions in pairs: a cheap one with few weights and one with many, and a product."""
    random = np.random.default_rng(7)
    nodes, weights, name = [], [], "x"

    def constant(key, *shape):
        value = (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        weights.append(numpy_helper.from_array(value, key))
        return key

    for layer in range(layers):
        kernel = 1 if layer % 2 else 3
        w = constant(f"w{layer}", CHANNELS, CHANNELS, kernel, kernel)
        nodes += [helper.make_node("Conv", [name, w], [f"c{layer}"], pads=[kernel // 2] * 4),
                  helper.make_node("Relu", [f"c{layer}"], [f"r{layer}"])]
        name = f"r{layer}"
    nodes += [helper.make_node("GlobalAveragePool", [name], ["pool"]),
              helper.make_node("Flatten", ["pool"], ["flat"]),
              helper.make_node("MatMul", ["flat", constant("last", CHANNELS, 1000)], ["y"])]
    graph = helper.make_graph(
        nodes, "preload",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, CHANNELS, 28, 28])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1000])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


@pytest.mark.parametrize("base", ["Ascend310P3", "Ascend310B1"])
def test_same_bits_and_no_races(base, tmp_path):
    onnx.save(network(), str(tmp_path / "m.onnx"))
    table = tmp_path / "small.txt"
    table.write_text(f"base = {base}\nname = Small\nl2Bytes = 1048576\nl2Ways = 16\n")
    x = np.random.default_rng(1).standard_normal((1, CHANNELS, 28, 28)).astype(np.float32)
    results, summaries = [], []
    # Which launches are joined follows from their times, which differ here.
    for passes in ("npu-join-launches,npu-preload-weights", "npu-join-launches"):
        flags = [f"--disable_passes={passes}"]
        folder = tmp_path / f"with{len(results)}"
        folder.mkdir()
        om = npu.build(tmp_path / "m.onnx", folder, base, [f"--soc_file={table}", *flags])
        code, out, _ = call(tool("atc"), f"--model={tmp_path / 'm.onnx'}", "--framework=5",
                            f"--output={folder / 'again'}", f"--soc_file={table}", *flags)
        assert code == 0
        summaries.append([line for line in out.splitlines() if line.startswith("NPU: ")])
        outputs, _ = npu.run_npu(om, [x])
        _, report = npu.run(om, [x], "--loop", "1")
        results.append((outputs["y"], report["npu"]))
    (before, plain), (after, loaded) = results
    assert np.abs(before).max() > 0
    np.testing.assert_array_equal(before, after)
    assert loaded["instructions"] > plain["instructions"], "nothing was loaded ahead"
    assert loaded["cycles"] < plain["cycles"]
    assert loaded["ddr_bytes"] < 1.1 * plain["ddr_bytes"]
    assert len(summaries[0]) == 1 and summaries[0] == summaries[1]
    # The lower bound counts each weight once, whoever loads it.
    assert loaded["bound"] == plain["bound"]


def test_the_bank_has_the_last_word(tmp_path):
    onnx.save(network(), str(tmp_path / "m.onnx"))
    table = tmp_path / "small.txt"
    table.write_text("base = Ascend310P3\nname = Small\nl2Bytes = 1048576\nl2Ways = 16\n")

    def compiled(*flags):
        code, out, _ = call(tool("atc"), f"--model={tmp_path / 'm.onnx'}", "--framework=5",
                            f"--output={tmp_path / 'm'}", f"--soc_file={table}", *flags)
        assert code == 0, out
        code, programs, _ = call(tool("om-dump"), tmp_path / "m.om", "--disassemble")
        assert code == 0 and "mmad" in programs
        return out, programs[programs.index("mmad"):]

    remarks, own = compiled("--remarks=analysis")
    keys = [line.split('for the key "')[1].split('"')[0].split("|") for line in remarks.splitlines()
            if 'for the key "npu-preload-weights' in line]
    assert len(keys) == 1
    entry = dict(zip(("pass", "target", "op", "operands", "hash"), keys[0], strict=True))
    entry["operands"] = entry["operands"].split(",")
    version = call(tool("atc"), "--version")[1].split()[1]
    bank = tmp_path / "bank.jsonl"

    def with_choice(choice):
        bank.write_text(json.dumps({"format": 1, **entry, "compiler": version, "choice": choice,
                                    "before_cycles": 2, "after_cycles": 1}) + "\n")
        return compiled(f"--mdl_bank_path={bank}")

    nothing, without = with_choice("0")[1], compiled("--disable_passes=npu-preload-weights")[1]
    assert nothing == without != own
    for unfit in ("9", "-1", "much"):
        out, same = with_choice(unfit)
        assert out.count("W10055: ") == 1 and "it must be a factor from 0 to 8" in out, out
        assert same == own
