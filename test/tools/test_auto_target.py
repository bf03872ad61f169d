#===-- test_auto_target.py - parts of a model on NPU and CPU by cost ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--target=auto chooses the cheapest placement, --op_placement pins nodes to a side.

Needs numpy, pytest and the onnx package.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import call, tool  # noqa: E402

HIDDEN = 32


def save(path, nodes, constants, shape):
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [info("x", TensorProto.FLOAT, shape)], [info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
              str(path))
    return path


def conv_model(path, channels, size):
    """Two convolutions of 3x3 with an activation between them."""
    random = np.random.default_rng(5)
    k = (random.normal(size=(channels, channels, 3, 3)) / (3 * channels ** 0.5)).astype(np.float32)
    pads = {"pads": [1, 1, 1, 1]}
    nodes = [helper.make_node("Conv", ["x", "k"], ["c"], name="first", **pads),
             helper.make_node("Relu", ["c"], ["r"], name="positive"),
             helper.make_node("Conv", ["r", "k"], ["y"], name="second", **pads)]
    return save(path, nodes, {"k": k}, [1, channels, size, size])


def chain_model(path):
    """A convolution for the NPU, and behind it recurrent layers with small maps between them."""
    random = np.random.default_rng(6)
    rows = 28
    constants = {"k": random.normal(size=(128, 128, 3, 3)).astype(np.float32) / 40,
                 "shape": np.array([rows, 1, 28 * 128])}
    nodes = [helper.make_node("Conv", ["x", "k"], ["c"], name="conv", pads=[1, 1, 1, 1]),
             helper.make_node("Transpose", ["c"], ["t"], perm=[2, 0, 1, 3]),
             helper.make_node("Reshape", ["t", "shape"], ["s"]),
             helper.make_node("GlobalAveragePool", ["s"], ["g"], name="mean"),
             helper.make_node("Transpose", ["g"], ["x0"], perm=[0, 2, 1])]
    width = 1
    for i in range(4):
        constants[f"w{i}"] = random.normal(size=(1, 4 * HIDDEN, width)).astype(np.float32) / 4
        constants[f"r{i}"] = random.normal(size=(1, 4 * HIDDEN, HIDDEN)).astype(np.float32) / 8
        constants[f"axes{i}"] = np.array([1])
        nodes += [helper.make_node("LSTM", [f"x{i}", f"w{i}", f"r{i}"], [f"h{i}"], name=f"memory{i}",
                                   hidden_size=HIDDEN),
                  helper.make_node("Squeeze", [f"h{i}", f"axes{i}"], [f"q{i}"]),
                  helper.make_node("LeakyRelu", [f"q{i}"], [f"x{i + 1}" if i < 3 else "y"],
                                   name=f"leaky{i}")]
        width = HIDDEN
    return save(path, nodes, constants, [1, 128, rows, 28])


def atc(path, *flags, ok=True):
    """The lines of atc, and its summary where it has succeeded."""
    summary = path.with_suffix(".json")
    code, out, err = call(tool("atc"), f"--model={path}", "--framework=5",
                          f"--output={path.with_suffix('')}", f"--json={summary}", *flags)
    assert (code == 0) == ok, out + err
    return out.splitlines(), json.loads(summary.read_text()) if ok else None


def auto(path, *flags):
    lines, summary = atc(path, "--target=auto", "--soc_version=Ascend310P3",
                         "--placement_processors=2", *flags)
    return lines, summary, summary["auto"]


def run(path, shape, *flags):
    """The output of the compiled model for a fixed input, and what om-run reports."""
    data = path.with_name("x.npy")
    np.save(data, np.random.default_rng(1).normal(size=shape).astype(np.float32))
    code, out, err = call(tool("om-run"), path.with_suffix(".om"), "--input", data, "--output",
                          path.parent, "--json", *flags)
    assert code == 0, out + err
    return np.load(path.parent / "y.npy"), json.loads(out)


def rules(path, text):
    path.write_text(text)
    return f"--op_placement={path}"


def test_the_cheapest_candidate_is_compiled(tmp_path):
    for channels, size, side in ((256, 56, "npu"), (4, 8, "cpu")):
        path = conv_model(tmp_path / "m.onnx", channels, size)
        lines, summary, chosen = auto(path)
        times = {each["name"]: each["total_ms"] for each in chosen["candidates"]}
        assert chosen["chosen"] == side and times[side] == min(times.values()), times
        assert {"npu", "cpu"} <= set(times)
        assert ("placement" in summary) == (side == "npu")
        assert sum(line.endswith("  chosen") for line in lines) == 1
        for each in chosen["candidates"]:
            parts = [each[key] for key in ("npu_ms", "cpu_ms", "switches_ms", "copies_ms")]
            assert each["total_ms"] == pytest.approx(sum(parts))
        assert {kernel["side"] for kernel in chosen["kernels"]} == {side}
        # The cost is that of a later run: the first one reads all weights from DDR.
        got, report = run(path, (1, channels, size, size), "--loop", 1, "--warmup", 1)
        assert ("npu" in report) == (side == "npu")
        if side == "npu":
            assert not report["npu"]["first_run"]
            assert report["npu"]["ms"] == pytest.approx(chosen["candidates"][0]["npu_ms"], rel=1e-3)


def test_the_modelled_cpu_is_charged_by_its_work(tmp_path):
    _, _, small = auto(conv_model(tmp_path / "m.onnx", 64, 16))
    _, _, large = auto(conv_model(tmp_path / "m.onnx", 64, 64))
    cpu = [next(c for c in each["candidates"] if c["name"] == "cpu")["cpu_ms"]
           for each in (small, large)]
    assert 10 < cpu[1] / cpu[0] < 17, cpu  # sixteen times the work
    rate = large["host"]["float_macs_per_second"]
    assert cpu[1] >= 2 * 64 * 64 * 9 * 64 * 64 / rate * 1e3


def test_small_maps_between_host_kernels_move_to_the_cpu(tmp_path):
    path = chain_model(tmp_path / "m.onnx")
    flag = rules(tmp_path / "p.cfg", "LSTM = cpu\n")
    _, summary, chosen = auto(path, flag)
    times = {each["name"]: each["total_ms"] for each in chosen["candidates"]}
    switches = {each["name"]: each["switches"] for each in chosen["candidates"]}
    assert chosen["chosen"].startswith("mixed"), times
    assert times[chosen["chosen"]] < min(times["npu"], times["cpu"]), times
    assert switches[chosen["chosen"]] < switches["npu"], switches
    side = {node: kernel["side"] for kernel in chosen["kernels"] for node in kernel["nodes"]}
    assert side["conv"] == "npu" and side["leaky1"] == side["memory2"] == "cpu", side
    whys = {layer["name"]: layer["why"] for layer in summary["placement"]["cpu_layers"]}
    assert whys["leaky1"] == "it is placed there", whys
    mixed, report = run(path, (1, 128, 28, 28))
    assert report["npu"]["host"]["switches"] == switches[chosen["chosen"]]
    atc(path, "--target=cpu")
    expected, _ = run(path, (1, 128, 28, 28))
    np.testing.assert_allclose(mixed, expected, atol=2e-3)
    # The result does not depend on when it is computed.
    assert auto(path, flag)[2]["candidates"] == chosen["candidates"]


def test_switches_have_a_budget(tmp_path):
    path = chain_model(tmp_path / "m.onnx")
    _, _, chosen = auto(path, "--placement_switches=0")
    entry = next(c for c in chosen["candidates"] if c["name"] == chosen["chosen"])
    assert entry["switches"] == 0
    assert any("more than 0 of --placement_switches" in each.get("error", "")
               for each in chosen["candidates"])
    # No placement has so few switches where each side has to run something.
    flag = rules(tmp_path / "p.cfg", "LSTM = cpu\n[ByNodeName]\nconv = npu\n")
    lines, _ = atc(path, "--target=auto", "--soc_version=Ascend310P3", "--placement_switches=0",
                   flag, ok=False)
    assert lines[-1].startswith("E10055: --target=auto finds no placement"), lines


def test_nodes_are_pinned_to_the_cpu(tmp_path):
    path = conv_model(tmp_path / "m.onnx", 32, 28)
    shape = (1, 32, 28, 28)
    _, summary = atc(path, "--soc_version=Ascend310P3",
                     rules(tmp_path / "p.cfg", "[ByNodeName]\nsecond = cpu\npositive = cpu\n"))
    layers = {layer["name"] for layer in summary["placement"]["cpu_layers"]}
    assert "second" in layers and "first" not in layers
    assert summary["placement"]["cpu"]["macs"] == summary["placement"]["npu"]["macs"]
    mixed, _ = run(path, shape)
    # All on the CPU computes what the CPU computes: in f32.
    atc(path, "--soc_version=Ascend310P3", rules(tmp_path / "p.cfg", "Conv = cpu\nRelu = cpu\n"))
    pinned, _ = run(path, shape)
    atc(path, "--target=cpu")
    expected, _ = run(path, shape)
    np.testing.assert_allclose(pinned, expected, atol=1e-4)
    assert np.abs(pinned - expected).max() < np.abs(mixed - expected).max() / 4
    np.testing.assert_allclose(mixed, expected, atol=5e-3)
    # A rule about a node outweighs one about its type.
    _, summary = atc(path, "--soc_version=Ascend310P3",
                     rules(tmp_path / "p.cfg", "Conv = cpu\n[ByNodeName]\nfirst = npu\n"))
    assert summary["placement"]["cpu"]["macs"] == summary["placement"]["npu"]["macs"]


def test_a_pin_that_cannot_be_is_a_warning(tmp_path):
    path = chain_model(tmp_path / "m.onnx")
    lines, summary, chosen = auto(path, rules(tmp_path / "p.cfg",
                                              "[ByNodeName]\nconv = npu\nnothere = cpu\n"))
    assert all(each["name"] != "cpu" for each in chosen["candidates"])
    assert any("no node 'nothere'" in line for line in lines), lines
    lines, _ = atc(path, "--soc_version=Ascend310P3",
                   rules(tmp_path / "p.cfg", "[ByNodeName]\nmean = npu\nconv = npu\n"))
    assert not any(line.startswith("W10055") for line in lines), lines
    path = conv_model(tmp_path / "m.onnx", 32, 28)
    lines, _ = atc(path, "--target=cpu", rules(tmp_path / "p.cfg", "Conv = cpu\n"))
    assert "W10055: --op_placement has no effect with --target=cpu" in lines


@pytest.mark.parametrize("flags, code", [
    (["--target=auto"], "E10007"),
    (["--target=auto", "--soc_version=Ascend310P3", "--stop_after=graph"], "E10055"),
    (["--target=auto", "--soc_version=Ascend310P3", "--placement_switches=-1"], "E10001"),
    (["--target=auto", "--soc_version=Ascend310P3", "--placement_processors=0"], "E10001"),
    (["--soc_version=Ascend310P3", "--op_placement={}/none.cfg"], "E10410"),
    (["--soc_version=Ascend310P3", "--op_placement={}/bad.cfg"], "E10001"),
])
def test_what_cannot_be_asked_for(tmp_path, flags, code):
    (tmp_path / "bad.cfg").write_text("Conv = gpu\n[ByName]\n")
    path = conv_model(tmp_path / "m.onnx", 4, 8)
    lines, _ = atc(path, *[flag.format(tmp_path) for flag in flags], ok=False)
    assert lines[-1].startswith(code + ": "), lines
