#===-- test_scale.py - large models compile in time and memory, or are refused -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sizes are such that anything quadratic or exponential takes minutes or gigabytes, and what
is linear seconds; test/bench/scale_bench.py measures larger ones. Needs numpy and onnx, for the
models of TensorFlow protoc."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="needs numpy")
pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
for folder in ("robustness", "bench", "common"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))

import scale_bench  # noqa: E402
from tools import (BUILD, DONE, FAILED, MAX_SECONDS, SANITIZED, START, atc_refuses,  # noqa: E402
                   available, call, files_in)

pytestmark = pytest.mark.skipif(not available(), reason=f"atc, om-run, om-dump not in {BUILD}/bin")

COMPILE = ["--output=out", "--target=cpu"]
NIGHTLY = bool(os.environ.get("OPENATC_NIGHTLY"))
# Of the nodes, inputs or outputs: a quarter is enough to tell linear from quadratic.
LARGE, CALLS = (20000, 4000) if NIGHTLY else (5000, 1000)


def make(name, size, folder):
    """Flags of atc for a model in `folder`."""
    if name.startswith("tf_") and not shutil.which("protoc"):
        pytest.skip("needs protoc")
    path, *flags = scale_bench.generate(name, size, folder)
    return [f"--model={Path(path).name}", *flags, *COMPILE]


# Before, each of them took more than a minute or 3 GB at 20000.
@pytest.mark.parametrize("name, size, megabytes", [
    ("elementwise", LARGE, 500), ("calls", CALLS, 500), ("initializers", LARGE, 500),
    ("inputs", LARGE, 500), ("dynamic_inputs", LARGE, 600 if NIGHTLY else 260), ("outputs", LARGE, 1000), ("split", LARGE, 500),
    ("concat", LARGE, 500), ("varied", LARGE, 500),
    ("both", 12, 500), ("both_static", 12, 500), ("both_varied", 9, 500), ("unranked", 20000, 500),
    ("tf_elementwise", LARGE, 500), ("tf_inputs", LARGE, 500), ("tf_calls", CALLS, 500), ("tf_orders", 20000, 500),
    ("tf_identities", 100000, 500)])
def test_large_model_compiles(name, size, megabytes, tmp_path):
    flags = make(name, size, tmp_path)
    command = [str(BUILD / "bin/atc"), *flags]
    _, peak, status, out = scale_bench.run(command, MAX_SECONDS, cwd=tmp_path)
    assert status == 0, out[-1000:]
    assert out.splitlines()[-1] == DONE
    assert SANITIZED or peak < megabytes << 20, peak


@pytest.mark.skipif(SANITIZED, reason="sanitizers have a part in the time")
@pytest.mark.parametrize("name, target", [("parts", "--soc_version=Ascend310P3"),
                                          ("multiples", "--target=cpu"),
                                          ("multiples", "--soc_version=Ascend910B1")])
def test_kernels_of_one_tensor_take_linear_time(name, target, tmp_path):
    """Each part of a tensor looked at all other parts: four times as many took 16 times as long."""
    def seconds(size):
        path, *flags = scale_bench.generate(name, size, tmp_path)
        took, _, status, out = scale_bench.run(
            [str(BUILD / "bin/atc"), f"--model={path}", *flags, "--output=out", target], 300, tmp_path)
        assert status == 0, out[-1000:]
        return took
    few = 2500 if NIGHTLY else 1000
    assert seconds(4 * few) < 8 * seconds(few)


@pytest.mark.skipif(SANITIZED, reason="sanitizers have a part in the time")
def test_a_region_of_many_kernels_takes_linear_time(tmp_path):
    """Each kernel that got another name visited all launches: four times as many took 16 times as long."""
    def seconds(size):
        flags = [*make("dynamic_outputs", size, tmp_path), "--stop_after=schedule", "--verbose"]
        _, _, status, out = scale_bench.run([str(BUILD / "bin/atc"), *flags], 300, tmp_path)
        assert status == 0, out[-1000:]
        return float(re.search(r"schedule +([0-9.]+) s", out)[1])
    assert seconds(2400) < 8 * seconds(600)


# Values with many users, trees, chains of operators that move elements, long lists and names.
@pytest.mark.parametrize("name, size", [
    ("fan_out", 10000), ("add_tree", 10000), ("growing", 3000), ("long_list", 10000),
    ("long_names", 1000000), ("big_loop", 10000), ("sequences", 10000), ("pure_transposes", 20000)])
def test_other_large_graphs_compile(name, size, tmp_path):
    if not NIGHTLY and name not in ("growing", "long_names", "pure_transposes"):
        pytest.skip("takes long: OPENATC_NIGHTLY=1 runs it")
    flags = make(name, size, tmp_path)
    seconds, peak, status, out = scale_bench.run([str(BUILD / "bin/atc"), *flags], 600, cwd=tmp_path)
    assert status == 0, out[-1000:]
    assert SANITIZED or (seconds < MAX_SECONDS and peak < 2 << 30), (seconds, peak)


@pytest.mark.parametrize("op, operands", [("Expand", 1), ("Slice", 3)])
def test_operand_of_very_many_dims(op, operands, tmp_path):
    """Code for a call has loops over dims; a shape of 100,000 of them fails when it is used."""
    from onnx import TensorProto, helper
    def port(name, element, shape):
        return helper.make_tensor_value_info(name, element, shape)
    shapes = [port(f"s{i}", TensorProto.INT64, [100000]) for i in range(operands)]
    graph = helper.make_graph(
        [helper.make_node(op, ["x", *(each.name for each in shapes)], ["y"])], "g",
        [port("x", TensorProto.FLOAT, ["n"]), *shapes], [port("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    seconds, peak, status, out = scale_bench.run(
        [str(BUILD / "bin/atc"), "--model=m.onnx", "--framework=5", *COMPILE], MAX_SECONDS, tmp_path)
    assert status == 0, out
    assert SANITIZED or (seconds < 10 and peak < 500 << 20), (seconds, peak)


def test_rank_that_a_constant_states(tmp_path):
    """A mutation whose shape is a tensor of 16,777,216 elements: types of so many dims were made."""
    model = Path(__file__).resolve().parents[1] / "fuzz/corpus-tf/rank-of-millions.pb"
    seconds, peak, status, out = scale_bench.run(
        [str(BUILD / "bin/atc"), f"--model={model}", "--framework=3", *COMPILE], MAX_SECONDS, tmp_path)
    assert status == 1 and "of node 'y' (ScatterNd)" in out, out
    assert SANITIZED or (seconds < 10 and peak < 500 << 20), (seconds, peak)


def test_what_large_models_compute(tmp_path):
    """A chain of which no two operators are fused gives what the same operators give alone."""
    import numpy as np
    status, out, _ = call("atc", *make("elementwise", LARGE, tmp_path), cwd=tmp_path)
    assert status == 0, out
    x = np.linspace(-1, 1, 16, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    status, out, err = call("om-run", "out.om", "--input", "x.npy", "--output", ".", cwd=tmp_path)
    assert status == 0, err
    expected = x.astype(np.float64)
    for i in range(LARGE):
        expected = (expected + 0.001 * i, np.tanh(expected), 1 / (1 + np.exp(-expected)))[i % 3]
    assert np.allclose(np.load(tmp_path / "y.npy"), expected, atol=1e-5)


@pytest.mark.parametrize("name, size, code, words", [
    ("bomb", 30, "E16006", ["500000 nodes", "'F"]),
    ("loop_bomb", 30, "E16006", ["500000 nodes", "'body'"]),
    ("tf_bomb", 30, "E16006", ["500000 nodes"]),
    ("call_depth", 1000, "E16004", ["64 deep"]),
    ("ifs", 61, "E16004", ["'if1'", "60 graphs"]),
    ("ifs", 1000 if NIGHTLY else 300, "E16004", ["60 graphs"]),
    ("loops", 300 if NIGHTLY else 100, "E16004", ["60 graphs"]),
    *([("both_varied", 13, "E16006", ["8191 regions", "8000"])] if NIGHTLY else [])])
def test_model_that_unfolds_without_end_is_refused(name, size, code, words, tmp_path):
    atc_refuses(make(name, size, tmp_path), tmp_path, code, *words)


@pytest.mark.skipif(not NIGHTLY, reason="takes long: OPENATC_NIGHTLY=1 runs it")
def test_more_programs_than_an_npu_model_has(tmp_path):
    flags = [flag for flag in make("reversals", 6000, tmp_path) if flag != "--target=cpu"]
    atc_refuses([*flags, "--soc_version=Ascend310P3"], tmp_path, "E10055", "262144 instructions", "--target=cpu")


def test_deepest_models_compile(tmp_path):
    for name in ("ifs", "loops"):
        status, out, err = call("atc", *make(name, 60, tmp_path), cwd=tmp_path)
        assert (status, err) == (0, ""), out
        status, _, err = call("om-dump", "out.om", cwd=tmp_path)
        assert status == 0, err


@pytest.mark.parametrize("target", ["--target=cpu", "--soc_version=Ascend310P3",
                                    "--soc_version=Ascend910B1"])
def test_huge_fill_is_made_when_it_runs(target, tmp_path):
    """A node of a few bytes became a weight of 32 GB; on a chip whose schedule is simulated while
    compiling, each of its lines was touched."""
    path, *flags = scale_bench.generate("fill", 33, tmp_path)
    seconds, peak, status, out = scale_bench.run(
        [str(BUILD / "bin/atc"), f"--model={path}", *flags, "--output=out", target], MAX_SECONDS,
        tmp_path)
    assert status == 0, out
    # A second or two, whatever the size: 20 s beside other work where the schedule was simulated up to a limit.
    assert SANITIZED or (seconds < 5 and peak < 500 << 20), (seconds, peak)
    assert (tmp_path / "out.om").stat().st_size < 1 << 20


@pytest.mark.parametrize("target", ["--soc_version=Ascend310P3", "--soc_version=Ascend910B1"])
@pytest.mark.parametrize("op", ["LayerNormalization", "Gather"])
def test_huge_tensors_take_no_time(op, target, tmp_path):
    """Simulating what would be joined took 11 s, and a table of more rows than an instruction counts
    was an internal error."""
    from onnx import TensorProto, helper
    shape = [1 << 26, 7]
    second = ("i", TensorProto.INT32, [9]) if op == "Gather" else ("s", TensorProto.FLOAT, [7])
    graph = helper.make_graph(
        [helper.make_node(op, ["x", second[0]], ["y"])], "huge",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape),
         helper.make_tensor_value_info(*second)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [9, 7] if op == "Gather" else shape)])
    model = tmp_path / "huge.onnx"
    model.write_bytes(helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    seconds, peak, status, out = scale_bench.run(
        [str(BUILD / "bin/atc"), f"--model={model}", "--framework=5", "--output=out", target],
        MAX_SECONDS, tmp_path)
    assert status == 0, out
    assert SANITIZED or (seconds < 5 and peak < 500 << 20), (seconds, peak)


# Constants of one value, (name, dims, value), and what computes with them.
MUCH_WORK = {
    "MatMul": ([("a", [1000, 20000], 1.0), ("b", [20000, 1000], 1.0)], ["a", "b"], {}),
    "Conv": ([("a", [1, 1, 200000], 1.0), ("b", [1, 1, 200000], 1.0)], ["a", "b"], {"pads": [100000] * 2}),
    "ReduceSum": ([("a", [1 << 29], 1.0)], ["a"], {"keepdims": 0}),
    "Pow": ([("a", [1 << 24], 1.5), ("b", [1], 1.01)], ["a", "b"], {}),
    "LRN": ([("a", [1, 260000, 1, 1], 1.0)], ["a"], {"size": 260001}),
    "TfIdfVectorizer": ([("a", [200000], 1)], ["a"], {
        "max_gram_length": 2, "min_gram_length": 2, "max_skip_count": 200000, "mode": "TF",
        "ngram_counts": [0, 0], "ngram_indexes": [0], "pool_int64s": [1, 2], "weights": [1.0]}),
}


@pytest.mark.parametrize("op", MUCH_WORK)
def test_what_constants_make_is_left_to_runs(op, tmp_path):
    """Files of some hundred bytes kept the compiler busy for minutes to hours, or took gigabytes."""
    from onnx import TensorProto, helper
    constants, inputs, attributes = MUCH_WORK[op]
    nodes, shapes = [], []
    for name, dims, value in constants:
        kind = TensorProto.FLOAT if isinstance(value, float) else TensorProto.INT64
        shapes.append(helper.make_tensor(f"{name}_dims", TensorProto.INT64, [len(dims)], dims))
        nodes.append(helper.make_node("ConstantOfShape", [f"{name}_dims"], [name],
                                      value=helper.make_tensor("value", kind, [1], [value])))
    # Of elements, a chain: one such op alone is fast enough.
    for i in range(250 if op == "Pow" else 0):
        nodes.append(helper.make_node(op, inputs, [f"p{i}"], **attributes))
        inputs = [f"p{i}", *inputs[1:]]
    graph = helper.make_graph(
        [*nodes, helper.make_node(op, inputs, ["y"], **attributes)], "work", [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], shapes)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    seconds, peak, status, out = scale_bench.run(
        [str(BUILD / "bin/atc"), "--model=m.onnx", "--framework=5", *COMPILE], MAX_SECONDS, tmp_path)
    assert status == 0, out
    assert SANITIZED or (seconds < 20 and peak < 600 << 20), (seconds, peak)


def test_dynamic_dim_splits_into_many(tmp_path):
    """More than 32 parts were an internal error."""
    import numpy as np
    from onnx import TensorProto, helper
    names = [f"y{i}" for i in range(40)]
    graph = helper.make_graph(
        [helper.make_node("Split", ["x"], names, axis=0)], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    status, out, _ = call("atc", "--model=m.onnx", "--framework=5", *COMPILE, cwd=tmp_path)
    assert status == 0, out
    x = np.arange(80, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    status, _, err = call("om-run", "out.om", "--input", "x.npy", "--output", ".", cwd=tmp_path)
    assert status == 0, err
    for i, name in enumerate(names):
        assert np.load(tmp_path / f"{name}.npy").tolist() == x[2 * i:2 * i + 2].tolist()


@pytest.mark.parametrize("element, value", [("FLOAT", 2.5), ("INT8", -3), ("BOOL", True)])
def test_what_a_huge_fill_holds(element, value, tmp_path):
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
    kind = getattr(TensorProto, element)
    graph = helper.make_graph(
        [helper.make_node("ConstantOfShape", ["shape"], ["all"],
                          value=helper.make_tensor("value", kind, [1], [value])),
         helper.make_node("Gather", ["all", "x"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.INT64, [3])],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(np.array([(1 << 26) + 1]), "shape")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    status, out, _ = call("atc", "--model=m.onnx", "--framework=5", *COMPILE, cwd=tmp_path)
    assert status == 0, out
    assert (tmp_path / "out.om").stat().st_size < 1 << 20
    np.save(tmp_path / "x.npy", np.array([0, 5, 1 << 26]))
    status, out, err = call("om-run", "out.om", "--input", "x.npy", "--output", ".", cwd=tmp_path)
    assert status == 0, err
    assert np.load(tmp_path / "y.npy").tolist() == [value] * 3


@pytest.mark.skipif(SANITIZED, reason="the limit does not hold under sanitizers")
@pytest.mark.parametrize("flags, limit", [
    (["--max_memory=1G"], "1.0G that --max_memory allows"),
    (["--max_memory=0.5GiB"], "0.5G that --max_memory allows"),
    (["--max_memory=unlimited"], "1.5G that ulimit -v allows"),
    ([], "1.5G that ulimit -v allows")])
def test_out_of_memory_is_one_coded_line(flags, limit, tmp_path):
    """64 GB of constants, and a limit that holds in each part of the compiler: that of the flag, or that
    of the process where it is lower. The folder of the result is gone again."""
    made = [flag.replace("--output=out", "--output=new/sub/out") for flag in make("ranges", 33, tmp_path)]
    atc_refuses([*made, *flags], tmp_path, "E19001", "not enough memory", limit, "allow more",
                memory=3 << 29)


@pytest.mark.skipif(SANITIZED, reason="the limit does not hold under sanitizers")
@pytest.mark.parametrize("name, size", [("elementwise", 3000 if NIGHTLY else 600),
                                        ("varied_dynamic", LARGE), ("inputs", LARGE),
                                        ("tf_elementwise", 3000 if NIGHTLY else 600)])
def test_memory_that_ends_anywhere_is_one_coded_line(name, size, tmp_path):
    """Limits from what the compiler has at its start to more than it needs: importers, MLIR and
    LLVM run out of memory in turn, in any of their threads."""
    flags = make(name, size, tmp_path)
    before = files_in(tmp_path)
    refused = 0
    for megabytes in (20, 40, 60, 80, 100, 130, 160, 200):
        status, out, err = call("atc", *flags, f"--max_memory={megabytes}M", cwd=tmp_path)
        if status == 0:
            # More memory does it no harm; to see that takes as long as all that went before.
            (tmp_path / "out.om").unlink()
            if not NIGHTLY:
                break
            continue
        refused += 1
        lines = out.splitlines()
        assert (status, err) == (1, ""), (megabytes, status, out, err)
        assert lines[0] == START and lines[-2] == FAILED, lines
        assert lines[-1].startswith("E19001: not enough memory"), lines
        assert files_in(tmp_path) == before, megabytes
    assert refused >= 1


@pytest.mark.parametrize("value", ["0M", "16", "1.5X", "-1G", "G", "1..5G", "16Gb", "1e9G", "5G "])
def test_amounts_of_memory_are_checked(value, tmp_path):
    atc_refuses([*make("elementwise", 3, tmp_path), f"--max_memory={value}"], tmp_path, "E10001",
                f'"{value.strip()}', "--max_memory", "800M or 16G")


@pytest.mark.parametrize("value", ["2G", "900MB", "2.5GiB", "1t", "unlimited"])
def test_amounts_of_memory_are_taken(value, tmp_path):
    status, out, _ = call("atc", *make("elementwise", 3, tmp_path), f"--max_memory={value}",
                          cwd=tmp_path)
    assert status == 0, out
