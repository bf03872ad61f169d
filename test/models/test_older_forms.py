#===-- test_older_forms.py - forms of models that exporters wrote and write ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of old opsets, and branches for other inputs than those that are given.

Needs numpy, pytest and the onnx package.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import call, tool  # noqa: E402


def save(path, nodes, inputs, outputs, constants, opset, version):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                              ir_version=version)
    path.write_bytes(model.SerializeToString())


def compile_file(model):
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5", "--target=cpu",
                          f"--output={model.with_suffix('')}")
    assert code == 0, out + err
    return model.with_suffix(".om"), out


def run(om, arrays, outputs=("y",)):
    """The outputs, or what om-run says of an error."""
    files = []
    for name, array in arrays.items():
        np.save(om.parent / f"{name}.npy", array)
        files.append(f"{name}={om.parent / name}.npy")
    code, out, err = call(tool("om-run"), om, "--input", ",".join(files), "--output",
                          om.parent / "out")
    return [np.load(om.parent / "out" / f"{name}.npy") for name in outputs] if code == 0 else err


SHAPE = [1, 3, 4, 5]
FORMS = [("Add", [3], 1), ("Mul", [3], 1), ("Add", [3, 4], 1), ("Mul", [5], -1), ("Sub", [4], 2),
         ("Add", [4, 5], None), ("Mul", [1], 1)]


@pytest.mark.parametrize("element", [np.float16, np.float32])
@pytest.mark.parametrize("dims", ["fixed", "dynamic", "no rank"])
def test_axis_of_old_broadcasts(tmp_path, element, dims):
    random = np.random.default_rng(4)
    x = random.normal(size=SHAPE).astype(element)
    seconds = [random.uniform(1, 2, other).astype(element) for _, other, _ in FORMS]
    dtype = TensorProto.FLOAT16 if element == np.float16 else TensorProto.FLOAT
    info = helper.make_tensor_value_info
    source, nodes, arrays = "x", [], {"x": x}
    inputs = [info("x", dtype, SHAPE if dims == "fixed" else ["A", "B", "C", "D"])]
    if dims == "no rank":
        source = "v"
        nodes.append(helper.make_node("Reshape", ["x", "to"], ["v"]))
        inputs.append(info("to", TensorProto.INT64, ["R"]))
        arrays["to"] = np.array(SHAPE)
    for n, (kind, _, axis) in enumerate(FORMS):
        attributes = {"broadcast": 1} if axis is None else {"broadcast": 1, "axis": axis}
        nodes.append(helper.make_node(kind, [source, f"b{n}"], [f"y{n}"], **attributes))
    save(tmp_path / "m.onnx", nodes, inputs,
         [info(f"y{n}", dtype, None) for n in range(len(FORMS))],
         [numpy_helper.from_array(array, f"b{n}") for n, array in enumerate(seconds)], 6, 3)
    om, _ = compile_file(tmp_path / "m.onnx")
    got = run(om, arrays, [f"y{n}" for n in range(len(FORMS))])
    assert not isinstance(got, str), got
    for (kind, other, axis), second, answer in zip(FORMS, seconds, got):
        at = 4 - len(other) if axis is None else axis % 4
        aligned = second.reshape(other + [1] * (4 - at - len(other)))
        want = {"Add": np.add, "Mul": np.multiply, "Sub": np.subtract}[kind](x, aligned)
        np.testing.assert_allclose(answer, want, rtol=2e-3, atol=2e-3, err_msg=f"{kind} {axis}")


def branch(name, nodes):
    output = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)
    return helper.make_graph(nodes, name, [], [output])


def test_a_branch_that_does_not_fit_fails_only_when_it_is_taken(tmp_path):
    """The detector of one sampling rate cannot take the frames of the other."""
    random = np.random.default_rng(5)
    first, second = (random.normal(size=(n, 2)).astype(np.float32) for n in (64, 100))
    narrow = branch("narrow", [helper.make_node("MatMul", ["x", "first"], ["narrow_y"])])
    wide = branch("wide", [
        helper.make_node("Reshape", ["x", "shape"], ["rows"], name="to_rows"),
        helper.make_node("MatMul", ["rows", "second"], ["product"], name="product"),
        helper.make_node("Relu", ["product"], ["wide_y"])])
    constants = [numpy_helper.from_array(array, name) for name, array in
                 {"first": first, "second": second, "rate": np.array(16000),
                  "shape": np.array([1, 100])}.items()]
    info = helper.make_tensor_value_info
    save(tmp_path / "m.onnx",
         [helper.make_node("Equal", ["sr", "rate"], ["is_narrow"]),
          helper.make_node("If", ["is_narrow"], ["y"], name="choose", then_branch=narrow,
                           else_branch=wide)],
         [info("x", TensorProto.FLOAT, [1, 64]), info("sr", TensorProto.INT64, [])],
         [info("y", TensorProto.FLOAT, None)], constants, 13, 8)
    om, out = compile_file(tmp_path / "m.onnx")
    warnings = [line for line in out.splitlines() if line.startswith("W11011: ")]
    assert len(warnings) == 1 and "node 'to_rows' (Reshape)" in warnings[0], out
    x = random.normal(size=(1, 64)).astype(np.float32)
    answer, = run(om, {"x": x, "sr": np.array(16000)})
    np.testing.assert_allclose(answer, x @ first, rtol=1e-5, atol=1e-5)
    failure = run(om, {"x": x, "sr": np.array(8000)})
    assert isinstance(failure, str) and "'to_rows'" in failure, failure


def test_a_rank_in_a_branch_that_its_cell_does_not_take_fails_only_when_it_is_taken(tmp_path):
    """What the other sampling rate leaves of a signal has one dim more."""
    info, node = helper.make_tensor_value_info, helper.make_node
    random = np.random.default_rng(6)
    constants = [numpy_helper.from_array(random.normal(size=dims).astype(np.float32), name) for name, dims in
                 {"w": (1, 12, 4), "r": (1, 12, 4)}.items()]
    constants += [numpy_helper.from_array(np.array(16000), "rate"), numpy_helper.from_array(np.array([0]), "axis")]
    plain = branch("plain", [node("GRU", ["x", "w", "r"], ["plain_y", ""], hidden_size=4)])
    deeper = branch("deeper", [node("Unsqueeze", ["x", "axis"], ["more"]),
                               node("GRU", ["more", "w", "r"], ["deeper_y", ""], name="cell", hidden_size=4)])
    save(tmp_path / "m.onnx",
         [node("Equal", ["sr", "rate"], ["is_plain"]),
          node("If", ["is_plain"], ["y"], name="choose", then_branch=plain, else_branch=deeper)],
         [info("x", TensorProto.FLOAT, [5, 2, 4]), info("sr", TensorProto.INT64, [])],
         [info("y", TensorProto.FLOAT, None)], constants, 13, 8)
    om, out = compile_file(tmp_path / "m.onnx")
    assert "W11011: node 'cell' (GRU)" in out and "has rank 4 in input 0" in out, out
    x = random.normal(size=(5, 2, 4)).astype(np.float32)
    assert run(om, {"x": x, "sr": np.array(16000)})[0].shape == (5, 1, 2, 4)
    failure = run(om, {"x": x, "sr": np.array(8000)})
    assert isinstance(failure, str) and "'cell'" in failure, failure


def test_outside_of_branches_what_does_not_fit_is_an_error(tmp_path):
    info = helper.make_tensor_value_info
    save(tmp_path / "m.onnx", [helper.make_node("Reshape", ["x", "shape"], ["y"], name="rows")],
         [info("x", TensorProto.FLOAT, [1, 64])], [info("y", TensorProto.FLOAT, None)],
         [numpy_helper.from_array(np.array([1, 100]), "shape")], 13, 8)
    code, out, _ = call(tool("atc"), f"--model={tmp_path / 'm.onnx'}", "--framework=5",
                        "--target=cpu", f"--output={tmp_path / 'm'}")
    assert code == 1 and "E14001: " in out and "node 'rows' (Reshape)" in out, out


@pytest.mark.parametrize("batch", [1, "n"])
def test_a_gemm_of_three_dims_is_refused_when_compiling(tmp_path, batch):
    """As ONNX and ONNX Runtime do, also where dims are dynamic."""
    info = helper.make_tensor_value_info
    save(tmp_path / "m.onnx", [helper.make_node("Gemm", ["x", "w"], ["y"], name="product")],
         [info("x", TensorProto.FLOAT, [batch, 3, 4])], [info("y", TensorProto.FLOAT, None)],
         [numpy_helper.from_array(np.ones((4, 5), np.float32), "w")], 13, 8)
    code, out, _ = call(tool("atc"), f"--model={tmp_path / 'm.onnx'}", "--framework=5",
                        "--target=cpu", f"--output={tmp_path / 'm'}")
    assert code == 1 and "E14001: " in out and "'product' (Gemm): " in out, out
    assert "has rank 3" in out, out


@pytest.mark.parametrize("batch", [1, "n"])
@pytest.mark.parametrize("opset, rows", [(10, [3, 5]), (13, [3, 5]), (16, [2.5, 4.5])])
def test_corners_of_regions_before_opset_16(tmp_path, opset, rows, batch):
    """They were positions of pixels; since then the middle of the first pixel is at 0.5."""
    node = helper.make_node("RoiAlign", ["x", "boxes", "images"], ["y"], output_height=2,
                            output_width=2, sampling_ratio=1)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 1, 8, 8]),
              helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [1, 4])]
    save(tmp_path / "m.onnx", [node], inputs,
         [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
         [numpy_helper.from_array(np.array([0]), "images")], opset, 8)
    om, _ = compile_file(tmp_path / "m.onnx")
    ramp = np.broadcast_to(np.arange(8, dtype="f4")[:, None], (1, 1, 8, 8)).copy()
    y, = run(om, {"x": ramp, "boxes": np.array([[2, 2, 6, 6]], "f4")})
    np.testing.assert_allclose(y[0, 0], np.repeat(np.array(rows, "f4")[:, None], 2, 1), rtol=1e-6)


@pytest.mark.parametrize("dims", [[1, 1, 5, 7], [1, 1, "h", "w"]])
@pytest.mark.parametrize("mode, left_out", [("linear", 0), ("nearest", 0), ("linear", 1)])
def test_last_corners_of_fractional_scales(tmp_path, mode, left_out, dims):
    """5 * 1.3 elements are 6, the last of which is the last element of the input. An input that is left
    out may have an empty name."""
    model = tmp_path / "model.onnx"
    info = helper.make_tensor_value_info
    node = helper.make_node("Resize", ["x", "", "s"] + [""] * left_out, ["y"], mode=mode,
                            coordinate_transformation_mode="align_corners")
    save(model, [node], [info("x", TensorProto.FLOAT, dims)], [info("y", TensorProto.FLOAT, None)],
         [numpy_helper.from_array(np.array([1, 1, 1.3, 1.3], "f4"), "s")], 18, 9)
    om, _ = compile_file(model)
    x = np.random.default_rng(5).standard_normal((1, 1, 5, 7)).astype("f4")
    got, = run(om, {"x": x})
    assert got.shape == (1, 1, 6, 9)
    rows, columns = np.arange(6) * 4 / 5, np.arange(9) * 6 / 8
    if mode == "nearest":
        want = x[0, 0][np.ceil(rows - 0.5).astype(int)][:, np.ceil(columns - 0.5).astype(int)]
    else:
        hats = [np.maximum(0, 1 - np.abs(at[:, None] - np.arange(size)))
                for at, size in ((rows, 5), (columns, 7))]
        want = hats[0] @ x[0, 0] @ hats[1].T
    np.testing.assert_allclose(got[0, 0], want, atol=1e-5)


@pytest.mark.parametrize("dims", [[1, 1, 5, 7], [1, 1, "h", "w"]])
@pytest.mark.parametrize("coordinates", ["align_corners", "half_pixel_symmetric"])
def test_positions_of_a_kept_aspect_ratio(tmp_path, coordinates, dims):
    """The smaller scale, 1.2, serves both axes: 7 columns become 8, not 8.4."""
    model, info = tmp_path / "model.onnx", helper.make_tensor_value_info
    node = helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="linear", axes=[2, 3],
                            coordinate_transformation_mode=coordinates,
                            keep_aspect_ratio_policy="not_larger")
    save(model, [node], [info("x", TensorProto.FLOAT, dims)], [info("y", TensorProto.FLOAT, None)],
         [numpy_helper.from_array(np.array([6, 20]), "s")], 18, 9)
    om, _ = compile_file(model)
    x = np.random.default_rng(7).standard_normal((1, 1, 5, 7)).astype("f4")
    got, = run(om, {"x": x})
    hats = []
    for size, count in ((5, 6), (7, 8)):
        at = np.arange(count) * (size - 1) / (count - 1)
        if coordinates == "half_pixel_symmetric":
            at = size / 2 * (1 - count / (1.2 * size)) + (np.arange(count) + 0.5) / 1.2 - 0.5
        at = np.clip(at, 0, size - 1)
        hats.append(np.maximum(0, 1 - np.abs(at[:, None] - np.arange(size))))
    np.testing.assert_allclose(got, (hats[0] @ x[0, 0] @ hats[1].T)[None, None], atol=1e-5)


def test_whole_sums_between_integers(tmp_path):
    """The fractions of integers are cut off: each product and each sum is rounded to f32, in the order
    of the corners."""
    model, info = tmp_path / "model.onnx", helper.make_tensor_value_info
    node = helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="linear", axes=[2, 3],
                            coordinate_transformation_mode="align_corners")
    save(model, [node], [info("x", TensorProto.INT32, [1, "c", "h", "w"])],
         [info("y", TensorProto.INT32, None)], [numpy_helper.from_array(np.array([40, 29]), "s")], 18, 9)
    om, _ = compile_file(model)
    x = np.random.default_rng(1).integers(-128, 127, (1, 8, 17, 23)).astype("i4")
    got, = run(om, {"x": x})
    axes = []
    for size, count in ((17, 40), (23, 29)):
        at = np.arange(count, dtype="f4") * np.float32(size - 1) / np.float32(count - 1)
        low = at.astype(int)
        high = np.minimum(low + 1, size - 1)
        half = np.where(low == high, np.float32(0.5), np.float32(0))
        axes.append([(low, high - at.astype("f4") + half), (high, at - low.astype("f4") + half)])
    want = np.float32(0)
    for row, row_weight in axes[0]:
        for column, weight in axes[1]:
            corner = x[0][:, row][:, :, column].astype("f4")
            want = want + weight.astype("f4") * row_weight.astype("f4")[:, None] * corner
    np.testing.assert_array_equal(got[0], want.astype("i4"))


@pytest.mark.parametrize("dims", [[1, 64, 9, 9], ["n", 64, "h", "w"]])
def test_weights_that_are_expanded_from_smaller_ones(tmp_path, dims):
    """A blur for all channels is one kernel that is repeated."""
    model, info = tmp_path / "model.onnx", helper.make_tensor_value_info
    nodes = [helper.make_node("Expand", ["blur", "shape"], ["w"]),
             helper.make_node("Conv", ["x", "w"], ["y"], group=64)]
    blur = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]).astype("f4").reshape(1, 1, 5, 5) / 256
    save(model, nodes, [info("x", TensorProto.FLOAT, dims)], [info("y", TensorProto.FLOAT, None)],
         [numpy_helper.from_array(blur, "blur"),
          numpy_helper.from_array(np.array([64, 1, 5, 5]), "shape")], 13, 8)
    om, _ = compile_file(model)
    x = np.random.default_rng(6).standard_normal((1, 64, 9, 9)).astype("f4")
    got, = run(om, {"x": x})
    windows = np.lib.stride_tricks.sliding_window_view(x, (5, 5), (2, 3))
    np.testing.assert_allclose(got, np.einsum("ncijhw,hw->ncij", windows, blur[0, 0]), atol=1e-5)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("dims", ["fixed", "dynamic", "no rank"])
def test_factors_of_groups(tmp_path, dims, constant):
    """Up to opset 20 GroupNormalization had a scale and a bias per group, or one for all of them."""
    random = np.random.default_rng(5)
    x = random.normal(size=(2, 6, 3)).astype("f4")
    factors = {"s": random.normal(size=2).astype("f4"), "b": random.normal(size=1).astype("f4")}
    info = helper.make_tensor_value_info
    shape = {"fixed": x.shape, "dynamic": ["N", "C", "L"], "no rank": None}[dims]
    inputs = [info("x", TensorProto.FLOAT, shape)]
    if not constant:
        inputs += [info(name, TensorProto.FLOAT, None if dims == "no rank" else value.shape)
                   for name, value in factors.items()]
    save(tmp_path / "m.onnx",
         [helper.make_node("GroupNormalization", ["x", "s", "b"], ["y"], num_groups=2)], inputs,
         [info("y", TensorProto.FLOAT, None)],
         [numpy_helper.from_array(value, name) for name, value in factors.items()] if constant else [],
         18, 8)
    om, _ = compile_file(tmp_path / "m.onnx")
    got = run(om, {"x": x} | ({} if constant else factors))
    rows = x.reshape(2, 2, -1).astype("f8")
    rows = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-5)
    want = rows * factors["s"][:, None] + factors["b"][:, None]
    np.testing.assert_allclose(got[0], want.reshape(x.shape), rtol=1e-4, atol=1e-5)
