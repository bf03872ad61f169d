#===-- test_npu_join.py - launches that become one -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks whose launches are joined compute the same bits, without races and in less time, on coupled and
on split cores, where cube and vector cores then work at once; choices that ask for what cannot be are reported."""

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


def network():
    """Convolutions of sizes that the cores share in different ways, a residual, an output in the middle, a pool,
    a product and a softmax."""
    random = np.random.default_rng(7)
    nodes, weights = [], []  # of a batch of 4

    def constant(key, *shape):
        value = (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        weights.append(numpy_helper.from_array(value, key))
        return key

    def conv(source, result, channels, filters, kernel, **attributes):
        w = constant(f"w_{result}", filters, channels, kernel, kernel)
        nodes.extend([helper.make_node("Conv", [source, w], [f"c_{result}"], pads=[kernel // 2] * 4, **attributes),
                      helper.make_node("Relu", [f"c_{result}"], [result])])

    conv("x", "a", 3, 32, 3)
    conv("a", "b", 32, 48, 1)
    conv("b", "middle", 48, 32, 3)
    nodes.append(helper.make_node("Add", ["a", "middle"], ["sum"]))
    conv("sum", "d", 32, 96, 3, strides=[2, 2])
    conv("d", "e", 96, 200, 1)
    nodes.extend([helper.make_node("GlobalAveragePool", ["e"], ["pool"]), helper.make_node("Flatten", ["pool"], ["flat"]),
                  helper.make_node("MatMul", ["flat", constant("last", 200, 100)], ["scores"]),
                  helper.make_node("Softmax", ["scores"], ["y"], axis=1)])

    def info(name, *shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    graph = helper.make_graph(nodes, "join", [info("x", 4, 3, 23, 31)],
                              [info("middle", 4, 32, 23, 31), info("y", 4, 100)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


class Compiled:
    """The network for one SoC, with a choice of joined launches."""

    def __init__(self, folder, soc):
        self.folder, self.soc = folder, soc
        onnx.save(network(), str(folder / "m.onnx"))
        self.entries = {}
        self.learn()

    def learn(self):
        """Compiles, and notes the choice of joined launches and its key."""
        out = self.compile(self.bank(), "--remarks=analysis")
        self.key, self.own = self.decision(out, "npu-join-launches")
        return out

    @staticmethod
    def decision(out, name):
        line, = (line for line in out.splitlines() if f'for the key "{name}' in line)
        return line.split('for the key "')[1].split('"')[0], line.split('the choice is "')[1].split('"')[0]

    def bank(self):
        if not self.entries:
            return "none"
        lines = []
        for key, choice in self.entries.items():
            entry = dict(zip(("pass", "target", "op", "operands", "hash"), key.split("|"), strict=True))
            entry["operands"] = entry["operands"].split(",")
            lines.append(json.dumps({"format": 1, **entry, "compiler": call(tool("atc"), "--version")[1].split()[1],
                                     "choice": choice, "before_cycles": 2, "after_cycles": 1}))
        bank = self.folder / "bank.jsonl"
        bank.write_text("\n".join(lines) + "\n")
        return bank

    def compile(self, bank, *flags):
        code, out, err = call(tool("atc"), f"--model={self.folder / 'm.onnx'}", "--framework=5", f"--mdl_bank_path={bank}",
                              f"--op_bank_path={bank}", f"--output={self.folder / 'm'}", f"--soc_version={self.soc}", *flags)
        assert code == 0, out + err
        return out + err

    def compile_with(self, choice):
        self.entries[self.key] = choice
        return self.compile(self.bank())

    def run(self):
        x = np.random.default_rng(1).standard_normal((4, 3, 23, 31)).astype(np.float32)
        return npu.run_npu(self.folder / "m.om", [x])


@pytest.mark.parametrize("soc", npu.SOCS)
def test_joined_launches_compute_the_same_in_less_time(soc, tmp_path):
    model = Compiled(tmp_path, soc)
    count = sum(map(int, model.own.split()))
    untuned = model.run()[1]["cycles"]
    model.compile_with(" ".join(["1"] * count))
    plain, before = model.run()
    # Without a bank launches are joined where that is faster.
    assert len(model.own.split()) < count and untuned < before["cycles"], model.own
    out = model.compile_with(f"{count + 1}")
    assert out.count("W10055: ") == 1 and f"for {count} launches" in out, out
    # The whole network is one launch, or the message says what can be.
    out = model.compile_with(f"{count}")
    longest = out.split("the longest runs are ")[1].split("\n")[0].rstrip(".") if "W10055" in out else f"{count}"
    assert sum(map(int, longest.split())) == count
    runs = len(longest.split())
    # Only on the 310B1 launches on cube cores and on vector cores stay apart.
    assert runs < count if soc == "Ascend310B1" else runs <= count / 2, longest
    out = model.compile_with(longest)
    assert "W10055" not in out, out
    joined, after = model.run()
    for name, value in plain.items():
        assert np.abs(value).max() > 0
        np.testing.assert_array_equal(joined[name], value)
    assert after["launches"] == runs < before["launches"] == count
    assert after["cycles"] < before["cycles"]
    # Reports keep a row for each launch, with what it moves and computes, and a share of the time.
    facts = ("name", "program", "macs")
    assert [[row[key] for key in facts] for row in after["per_launch"]] == [
        [row[key] for key in facts] for row in before["per_launch"]]
    assert sum(not row["joined"] for row in after["per_launch"]) == runs
    assert sum(row["cycles"] for row in after["per_launch"]) == pytest.approx(after["cycles"], abs=count)
    assert after["macs_npu"] == before["macs_npu"]
    assert after["macs_executed"] == before["macs_executed"]


@pytest.mark.parametrize("x, w, window", [
    ((2, 16, 16, 16), (16, 16, 3, 3), dict(pads=[1] * 4)),
    ((2, 16, 16, 16), (16, 1, 7, 7), dict(pads=[3] * 4, group=16))])
def test_grids_that_could_grow_in_two_dims(x, w, window, tmp_path):
    """A grid grows in one dim: cores beyond two at once reached beyond the buffers, which atc refused (E19999)."""
    random = np.random.default_rng(3)
    weights = [numpy_helper.from_array(random.standard_normal(w).astype("f4") / np.sqrt(np.prod(w[1:])), "w"),
               numpy_helper.from_array(random.standard_normal(w[0]).astype("f4"), "b")]
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w", "b"], ["y"], **window)], "grid",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), str(tmp_path / "m.onnx"))
    image = random.standard_normal(x).astype("f4")
    want, _ = npu.run(npu.build(tmp_path / "m.onnx", tmp_path), [image])
    for soc in npu.SOCS:
        got, _ = npu.run_npu(npu.build(tmp_path / "m.onnx", tmp_path, soc), [image])
        npu.assert_near(got, want, f"{soc} {w}", error=3e-3)


def test_unfit_choices_change_nothing(tmp_path):
    model = Compiled(tmp_path, "Ascend310P3")
    plain = model.run()[1]["cycles"]
    for unfit in ("0", "1", "-1 12", "nonsense", "99999999999", "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"):
        out = model.compile_with(unfit)
        assert out.count("W10055: ") == 1, (unfit, out)
        assert model.run()[1]["cycles"] == plain


def test_cube_and_vector_cores_work_at_once(tmp_path):
    """Each kernel runs on the images one after the other: vector cores compute one while cube cores compute the next."""
    model = Compiled(tmp_path, "Ascend910B1")
    plain, _ = model.run()
    out = model.learn()
    key, groups = model.decision(out, "npu-split-batch")
    kernels = sum(int(group.split("/")[0]) for group in groups.split())
    times = {}
    for form in ("", "i"):
        # The last kernels need all images at once.
        model.entries = {key: f"{kernels - 4}/4{form} 4/1"}
        assert "W10055" not in model.learn()
        count = sum(map(int, model.own.split()))
        assert count > 3 * (kernels - 4)
        out = model.compile_with(f"{count}")
        if "W10055" in out:
            out = model.compile_with(out.split("the longest runs are ")[1].split("\n")[0].rstrip("."))
        assert "W10055" not in out, out
        dump = call(tool("om-dump"), tmp_path / "m.om", "--disassemble")[1]
        assert "at the same time on " in dump and " vector cores (" in dump
        values, report = model.run()
        for name, value in plain.items():
            np.testing.assert_array_equal(values[name], value)
        times[form] = report["cycles"]
        assert {core["kind"] for core in report["per_core"]} == {"cube", "vector"}
    assert times["i"] < times[""]
