# Gears: one file of a static model per choice of the dynamic dims. Every gear is compared with
# the static compilation of its size. Run with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import pathlib
import re
import shlex
import struct
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "common"))
onnx = pytest.importorskip("onnx")
import gear_models
from openatc_tools import call, tool

TARGETS = ["--target=cpu", "--soc_version=Ascend310P3"]


def atc(model, output, *flags):
    return call(tool("atc"), f"--model={model}", "--framework=5", f"--output={output}", *flags)


def compiled(model, output, *flags):
    code, out, err = atc(model, output, *flags)
    assert code == 0, out + err
    return output.with_name(output.name + ".om")


def run(om, folder, inputs, *flags):
    """The outputs by name, and om-run's figures."""
    folder.mkdir(exist_ok=True)
    files = []
    for name, values in inputs.items():
        np.save(folder / f"{name}.npy", values)
        files.append(f"{name}={folder / name}.npy")
    code, out, err = call(tool("om-run"), om, "--input", ",".join(files), "--output",
                          folder / "out", "--json", *flags)
    assert code == 0, err
    figures = json.loads(out)
    return {entry["name"]: np.load(folder / "out" / f"{entry['name']}.npy")
            for entry in figures["outputs"]}, figures


CASES = {
    "resnet": (gear_models.resnet, "x:{0},3,32,32", ["--dynamic_batch_size=1,2,4"],
               [(1,), (2,), (4,)]),
    "mlp": (gear_models.mlp, "a:{0},40;b:{0},24",
            ["--input_format=ND", "--dynamic_dims=1,1;3,3;16,16;"], [(1,), (3,), (16,)]),
    "detector": (gear_models.detector, "x:1,3,{0},{1}", ["--dynamic_image_size=64,64;96,128"],
                 [(64, 64), (96, 128)]),
}


def shapes_of(text):
    return {name: tuple(int(dim) for dim in dims.split(","))
            for name, dims in (item.split(":") for item in text.split(";"))}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", CASES)
def test_gears_are_their_static_models(case, target, tmp_path):
    make, shape, flags, gears = CASES[case]
    model = make(tmp_path / "m.onnx")
    open_dims = shape.format(*[-1] * len(gears[0]))
    om = compiled(model, tmp_path / "gears", target, f"--input_shape={open_dims}", *flags)
    rng = np.random.default_rng(7)
    for gear in gears:
        static = compiled(model, tmp_path / "static", target, f"--input_shape={shape.format(*gear)}")
        inputs = {name: rng.standard_normal(dims).astype(np.float32)
                  for name, dims in shapes_of(shape.format(*gear)).items()}
        got, figures = run(om, tmp_path / "run", inputs)
        want, expected = run(static, tmp_path / "run", inputs)
        assert got.keys() == want.keys()
        for name in want:
            np.testing.assert_array_equal(got[name], want[name])
        assert tuple(figures["gear"])[:len(gear)] == gear
        assert figures.get("npu", {}).get("cycles") == expected.get("npu", {}).get("cycles")
        assert figures.get("npu", {}).get("macs_model") == expected.get("npu", {}).get("macs_model")


IMAGES = {"RGB888_U8": lambda h, w: (1, h, w, 3), "YUV420SP_U8": lambda h, w: (1, h * 3 // 2, w, 1)}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("image", IMAGES)
def test_gears_of_images(image, target, tmp_path):
    """Dims of an image are other ones than those of --input_shape, or only follow from them."""
    model = gear_models.one_conv(tmp_path / "m.onnx")
    config = tmp_path / "aipp.cfg"
    config.write_text(f"aipp_op {{ aipp_mode: static input_format: {image} }}")
    flags = [target, f"--insert_op_conf={config}"]
    om = compiled(model, tmp_path / "gears", "--input_shape=x:1,3,-1,-1",
                  "--dynamic_image_size=16,24;32,32", *flags)
    axes = [(axis["dim"], axis["value"]) for axis in dump(om)["gears"]["axes"]]
    assert axes == ([(1, 0), (2, 1)] if image == "RGB888_U8" else [(2, 1)])
    rng = np.random.default_rng(3)
    for h, w in [(16, 24), (32, 32)]:
        static = compiled(model, tmp_path / "static", f"--input_shape=x:1,3,{h},{w}", *flags)
        inputs = {"x": rng.integers(0, 256, IMAGES[image](h, w), dtype=np.uint8)}
        (got, figures), (want, _) = run(om, tmp_path / "run", inputs), run(static, tmp_path / "run", inputs)
        assert figures["gear"] == [h, w]
        for name in want:
            assert want[name].shape == (1, 4, h, w)
            np.testing.assert_array_equal(got[name], want[name])
    run(om, tmp_path / "run", inputs, "--dump", tmp_path / "dump")
    wrong = {"x": np.zeros(IMAGES[image](16, 32), np.uint8)}
    np.save(tmp_path / "wrong.npy", wrong["x"])
    code, _, err = call(tool("om-run"), om, "--input", f"x={tmp_path / 'wrong.npy'}")
    assert code == 1 and "the gears are 16,24; 32,32" in err


@pytest.mark.parametrize("target, shape, flag, gears", [
    (TARGETS[1], "1,3,{0},{1}", "--dynamic_image_size=16,24;32,24", [(16, 24), (32, 24)]),
    (TARGETS[0], "{0},3,16,24", "--dynamic_batch_size=1,2", [(1,), (2,)]),
], ids=["image", "batch"])
def test_gears_of_images_whose_parameters_are_inputs(target, shape, flag, gears, tmp_path):
    """Inputs of dynamic AIPP do not have the size: the input that chooses the gear does."""
    model = gear_models.one_conv(tmp_path / "m.onnx")
    config = tmp_path / "aipp.cfg"
    config.write_text("aipp_op { aipp_mode: dynamic max_src_image_size: 4096 }")
    flags = [target, f"--insert_op_conf={config}"]
    om = compiled(model, tmp_path / "gears", "--input_shape=x:" + shape.format(-1, -1), flag, *flags)
    for gear in gears:
        dims = shape.format(*gear)
        n, _, h, w = map(int, dims.split(","))
        static = compiled(model, tmp_path / "static", f"--input_shape=x:{dims}", *flags)
        # Format 3, RGB888_U8; a matrix and biases of 0, factors of 1.
        header = struct.pack("<5B3x2i48x", 3, 0, 0, 0, n, w, h)
        parameters = header + struct.pack("<64x4e4e16x", 0, 0, 0, 0, 1, 1, 1, 1) * n
        pixels = np.random.default_rng(n + h).integers(0, 256, 4096, dtype=np.uint8)
        inputs = {"x": pixels, "ascend_dynamic_aipp_data": np.frombuffer(parameters, np.uint8)}
        want, _ = run(static, tmp_path / "run", inputs)
        shape_input = {"ascend_mbatch_shape_data": np.array(gear, np.int64)}
        got, figures = run(om, tmp_path / "run", inputs | shape_input)
        assert tuple(figures["gear"]) == gear
        for name in want:
            assert want[name].shape == (n, 4, h, w) and np.ptp(want[name]) > 10
            np.testing.assert_array_equal(got[name], want[name])


def test_images_of_any_size_are_not_padded(tmp_path):
    """Each size is a gear; a size that the format of the pixels does not have is an error."""
    model = gear_models.one_conv(tmp_path / "m.onnx")
    shape = "--input_shape=x:1,3,16~20,16"
    config = tmp_path / "aipp.cfg"
    config.write_text("aipp_op { aipp_mode: static input_format: YUV420SP_U8 }")
    code, out, _ = atc(model, tmp_path / "m", TARGETS[1], shape, f"--insert_op_conf={config}")
    assert code == 1 and "E10052" in out and "is 17 and must be even" in out, out
    config.write_text("aipp_op { aipp_mode: static input_format: RGB888_U8 }")
    draw = np.random.default_rng(0)
    for flags, x in ([], draw.standard_normal((1, 3, 17, 16), np.float32)), \
            ([f"--insert_op_conf={config}"], draw.integers(0, 256, (1, 17, 16, 3), np.uint8)):
        om = compiled(model, tmp_path / "m", TARGETS[1], shape, *flags)
        assert [gear["values"] for gear in dump(om)["gears"]["gears"]] == [[i] for i in range(16, 21)]
        # Sizes of the output follow from the range without being values of it.
        got, _ = run(om, tmp_path / "run", {"x": x})
        static = compiled(model, tmp_path / "static", TARGETS[1], "--input_shape=x:1,3,17,16", *flags)
        want, _ = run(static, tmp_path / "run", {"x": x})
        for name, value in want.items():
            np.testing.assert_array_equal(got[name], value)


def test_constants_are_stored_once(tmp_path):
    model = gear_models.resnet(tmp_path / "m.onnx", channels=64)
    one = compiled(model, tmp_path / "one", TARGETS[1], "--input_shape=x:4,3,32,32")
    om = compiled(model, tmp_path / "gears", TARGETS[1], "--input_shape=x:-1,3,32,32",
                  "--dynamic_batch_size=1,2,4")
    weights = lambda path: sum(segment["size"] for segment in dump(path)["segments"]
                               if segment["kind"] == "weights")
    assert weights(om) <= 1.05 * weights(one)


def dump(om):
    code, out, err = call(tool("om-dump"), om, "--json")
    assert code == 0, err
    return json.loads(out)


def test_what_the_file_states(tmp_path):
    model = gear_models.detector(tmp_path / "m.onnx")
    om = compiled(model, tmp_path / "m", "--target=cpu", "--input_shape=x:1,3,-1,-1",
                  "--dynamic_image_size=64,64;96,128")
    gears = dump(om)["gears"]
    assert gears["kind"] == "image"
    assert gears["inputs"] == [
        {"name": "x", "dtype": "f32", "dims": [1, 3, -1, -1]},
        {"name": "ascend_mbatch_shape_data", "dtype": "i64", "dims": [2]}]
    assert [port["dims"] for port in gears["outputs"]] == [[1, 18, -1, -1], [1, 18, -1, -1],
                                                           [1, -1, 18]]
    assert [gear["values"] for gear in gears["gears"]] == [[64, 64], [96, 128]]
    assert gears["axes"] == [{"output": False, "index": 0, "dim": 2, "value": 0},
                             {"output": False, "index": 0, "dim": 3, "value": 1}]
    code, out, _ = call(tool("om-dump"), om)
    assert code == 0 and "gears (image)" in out and "value 1 is dim 3 of input x" in out


def test_the_shape_input_and_shapes_choose(tmp_path):
    model = gear_models.resnet(tmp_path / "m.onnx")
    om = compiled(model, tmp_path / "m", "--target=cpu", "--input_shape=x:-1,3,32,32",
                  "--dynamic_batch_size=1,2")
    np.save(tmp_path / "two.npy", np.array([2], np.int64))
    code, out, err = call(tool("om-run"), om, "--json", "--shape", "x:2,3,32,32", "--input",
                          f"ascend_mbatch_shape_data={tmp_path / 'two.npy'}")
    assert code == 0 and json.loads(out)["gear"] == [2], err
    code, out, err = call(tool("om-run"), om, "--json", "--shape", "x:1,3,32,32")
    assert code == 0 and json.loads(out)["gear"] == [1], err
    code, _, err = call(tool("om-run"), om, "--shape", "x:3,3,32,32")
    assert code == 1 and "E10014" in err and "the gears are 1; 2" in err
    code, _, err = call(tool("om-run"), om, "--shape", "x:1,3,32,32", "--input",
                        f"ascend_mbatch_shape_data={tmp_path / 'two.npy'}")
    assert code == 1 and "must be a tensor of f32 with dims [2, 3, 32, 32]" in err
    code, _, err = call(tool("om-run"), om, "--shape", "x:1,3,32,32", "--dump", tmp_path / "dump")
    assert code == 0, err
    assert np.load(tmp_path / "dump" / "y.npy").shape == (1, 10)
    code, _, err = call(tool("om-run"), om, "--shape", "x:1,3,32,32", "--compare", model)
    assert code == 1 and "E10057" in err


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("flags, code, word", [
    (["--dynamic_batch_size=1,2", "--dynamic_dims=1;2"], "E10009", "exclude each other"),
    (["--dynamic_batch_size=1,2", "--input_shape=x:"], "E10012", "no dims"),
    (["--dynamic_batch_size=1,2", "--input_shape=x:-1,3,-1,32"], "E10018", "dim 2"),
    (["--dynamic_image_size=8,8;16,16", "--input_shape=x:-1,3,-1,-1"], "E10019", "dims 2 and 3"),
    (["--dynamic_image_size=8,8;16,16", "--input_shape=x:1,3,-1,8"], "E10019", "dims 2 and 3"),
    (["--dynamic_image_size=8;16", "--input_shape=x:1,3,-1,-1"], "E10020", "height"),
    (["--dynamic_image_size=8,8;16,16", "--input_shape=x:1,3,-1,-1", "--input_format=ND"],
     "E10001", "NCHW or NHWC"),
    (["--dynamic_batch_size=1,2", "--input_shape=x:1,3,32,32"], "E10031", "-1"),
    (["--dynamic_batch_size=1,2"], "E10031", "-1"),
    (["--dynamic_batch_size=1", "--input_shape=x:-1,3,32,32"], "E10035", "at least 2"),
    (["--dynamic_batch_size=" + ",".join(map(str, range(1, 102))), "--input_shape=x:-1,3,32,32"],
     "E10036", "101"),
    (["--dynamic_dims=1,2;3", "--input_shape=x:-1,3,-1,32", "--input_format=ND"], "E10037",
     "1 values"),
    (["--dynamic_batch_size=0,2", "--input_shape=x:-1,3,32,32"], "E10038", "greater than 0"),
    (["--dynamic_batch_size=2,1,2", "--input_shape=x:-1,3,32,32"], "E10039", "twice"),
    (["--dynamic_batch_size=2,2,2", "--input_shape=x:-1,3,32,32"], "E10039", "twice"),
    (["--dynamic_batch_size=1,4096", "--input_shape=x:-1,3,32,32"], "E10001", "1 to 2048"),
    (["--dynamic_batch_size=1,two", "--input_shape=x:-1,3,32,32"], "E10001", "not a number"),
    (["--dynamic_image_size=8,8;16,16", "--input_shape=x:1,3,32,32"], "E10040", "-1"),
    (["--dynamic_dims=8;16", "--input_shape=x:1,3,32,32", "--input_format=ND"], "E10040", "-1"),
    (["--dynamic_dims=8;16", "--input_shape=x:-1,3,-1,32", "--input_format=ND"], "E10045", "2"),
    (["--dynamic_dims=8,8;16,16", "--input_shape=x:-1,3,32,32", "--input_format=ND"], "E10046",
     "one for each"),
    (["--dynamic_dims=8;16", "--input_shape=x:-1,3,32,32"], "E10001", "must be ND"),
    (["--dynamic_batch_size=1,2", "--input_shape=x:-1,3,32,32", "--stop_after=graph"], "E10055",
     "--stop_after"),
    (["--dynamic_batch_size=1,2", "--input_shape=nobody:-1,3,32,32"], "E10016", "gear 1"),
])
def test_limits(flags, code, word, target, tmp_path):
    model = gear_models.resnet(tmp_path / "m.onnx")
    status, out, _ = atc(model, tmp_path / "m", target, *flags)
    assert status == 1
    lines = [line for line in out.splitlines() if line.startswith("E")]
    assert any(line.startswith(code) and word in line for line in lines), out
    assert not (tmp_path / "m.om").exists()


def test_the_summary_is_of_the_gear_with_most_work(tmp_path):
    """Not of no kernels: programs of the NPU are those of a gear."""
    model, summary = gear_models.resnet(tmp_path / "m.onnx"), tmp_path / "s.json"
    flags = [f"--json={summary}", TARGETS[1]]
    code, out, _ = atc(model, tmp_path / "m", "--input_shape=x:-1,3,32,32", "--dynamic_batch_size=1,4,2", *flags)
    placement = json.loads(summary.read_text())["placement"]
    assert code == 0 and "Gear 4, which has the most work:" in out and "of 0 kernels" not in out, out
    code, _, _ = atc(model, tmp_path / "m", "--input_shape=x:4,3,32,32", *flags)
    alone = json.loads(summary.read_text())["placement"]
    assert code == 0 and placement.pop("gear") == "4" and placement == alone
    assert alone["npu"]["kernels"] > 0 and alone["npu"]["macs"] > 0


CALLS = "--disable_passes=host-expand-recurrent"  # recurrent cells stay calls for an NPU, too


@pytest.mark.parametrize("target", TARGETS)
def test_gears_with_host_kernels(target, tmp_path):
    """A recurrent cell between generated code."""
    net = gear_models.Network(6)
    rows = net.node("Transpose", [net.node("Relu", ["x"])], perm=[1, 0, 2])
    net.node("LSTM", [rows, net.random(1, 32, 6), net.random(1, 32, 8)], "states", hidden_size=8)
    net.node("Tanh", [net.node("Squeeze", ["states", net.constant([1], np.int64)])], "y")
    model = net.save(tmp_path / "m.onnx", [("x", 1, ["n", "t", 6])],
                     [("y", 1, ["t", "n", 8])])
    om = compiled(model, tmp_path / "gears", target, "--input_format=ND",
                  "--input_shape=x:-1,-1,6", "--dynamic_dims=1,5;2,3", CALLS)
    assert all(gear["host_program"] for gear in dump(om)["gears"]["gears"])
    rng = np.random.default_rng(9)
    for sizes in ((1, 5), (2, 3), (1, 5)):
        static = compiled(model, tmp_path / "static", target,
                          "--input_shape=x:{},{},6".format(*sizes), CALLS)
        x = rng.standard_normal((*sizes, 6)).astype(np.float32)
        got, figures = run(om, tmp_path / "run", {"x": x}, "--profile")
        want, expected = run(static, tmp_path / "run", {"x": x}, "--profile")
        np.testing.assert_array_equal(got["y"], want["y"])
        assert figures["gear"] == list(sizes)
        assert sorted(row["name"] for row in figures["profile"]) == \
            sorted(row["name"] for row in expected["profile"])
        assert figures.get("npu", {}).get("cycles") == expected.get("npu", {}).get("cycles")
    code, _, err = call(tool("om-run"), om, "--shape", "x:1,4,6")
    assert code == 1 and "the gears are 1,5; 2,3" in err


def test_an_output_that_is_no_tensor_is_refused(tmp_path):
    net = gear_models.Network(7)
    net.node("SplitToSequence", ["x", net.constant(1, np.int64)], "y", axis=0)
    model = net.save(tmp_path / "m.onnx", [("x", 1, ["n", 4])], [])
    made = onnx.load(model)
    made.graph.output.add().CopyFrom(onnx.helper.make_tensor_sequence_value_info("y", 1, None))
    onnx.save(made, model)
    status, out, _ = atc(model, tmp_path / "m", "--target=cpu", "--input_shape=x:-1,4",
                         "--dynamic_batch_size=1,2")
    assert status == 1 and "E10055: gear 1: output 'y' is no tensor" in out


def test_one_gears_error_names_it(tmp_path):
    """A size that the network cannot take is found in its gear."""
    model = gear_models.detector(tmp_path / "m.onnx")
    status, out, _ = atc(model, tmp_path / "m", "--target=cpu", "--input_shape=x:1,3,-1,-1",
                         "--dynamic_image_size=64,64;72,64")
    assert status == 1 and "gear 72,64: " in out


# --- Ranges for an NPU -----------------------------------------------------------------------

NPU = TARGETS[1]


@pytest.mark.parametrize("case, shape, sizes", [
    ("resnet", "x:{0},3,32,32", [1, 2, 3, 5]),
    ("mlp", "a:{0},40;b:{0},24", [1, 3, 6]),
])
def test_ranges_are_padded(case, shape, sizes, tmp_path):
    model = CASES[case][0](tmp_path / "m.onnx")
    om = compiled(model, tmp_path / "range", NPU, "--input_shape=" + shape.format("1~6"))
    rng = np.random.default_rng(8)
    for size in sizes:
        static = compiled(model, tmp_path / "static", NPU, "--input_shape=" + shape.format(size))
        inputs = {name: rng.standard_normal(dims).astype(np.float32)
                  for name, dims in shapes_of(shape.format(size)).items()}
        got, figures = run(om, tmp_path / "run", inputs)
        want, _ = run(static, tmp_path / "run", inputs)
        assert got["y"].shape == want["y"].shape
        np.testing.assert_allclose(got["y"], want["y"], rtol=2e-3, atol=2e-3)
        assert figures["gear"] == [min(gear for gear in (1, 2, 4, 6) if gear >= size)]
    code, _, err = call(tool("om-run"), om, "--shape", shape.format(7))
    assert code == 1 and "it takes 1 to 6" in err


def test_what_ranges_become(tmp_path):
    model = gear_models.mlp(tmp_path / "m.onnx")
    _, out, _ = atc(model, tmp_path / "m", NPU, "--input_shape=a:-1,40;b:-1,24")
    assert "W11001" in out and "computed at 1, 2, 4, 8, 16, 32, 64;" in out and "'a', 'b'" in out
    gears = lambda: [gear["values"] for gear in dump(tmp_path / "m.om")["gears"]["gears"]]
    assert gears() == [[1], [2], [4], [8], [16], [32], [64]]
    compiled(model, tmp_path / "m", NPU, "--input_shape_range=a:[3~20,40];b:[3~20,24]")
    assert gears() == [[4], [8], [16], [20]] and dump(tmp_path / "m.om")["gears"]["min"] == [3]
    compiled(model, tmp_path / "m", NPU, "--input_shape=a:1~20,40;b:1~20,24",
             "--input_hint_shape=0:[5,40];a:[10,40]")
    assert gears() == [[5], [10], [20]]
    compiled(model, tmp_path / "m", NPU, "--input_shape=a:-1,40;b:-1,24",
             "--input_hint_shape=0:[5,40]")
    assert gears() == [[5]]


@pytest.mark.parametrize("shape, flags, code, word", [
    ("x:1~2~3,3,32,32", [], "E10002", "1~2~3"),
    ("x:8~2,3,32,32", [], "E10002", "8~2"),
    ("x:[1~2,3,32,32", [], "E10002", "bracket"),
    ("x:-1,3,32,32", ["--input_hint_shape=1:[8,3,32,32]"], "E10002", "no input"),
    ("x:1~4,3,32,32", ["--input_hint_shape=0:[8,3,32,32]"], "E10002", "not within the range"),
    ("x:1~4,3,32,32", ["--input_hint_shape=0:[8,3]"], "E10002", "as many dims"),
    ("", ["--input_shape_range=x:[1~b,3,32,32]"], "E10048", "1~b"),
    ("x:1~4,3,32,32", ["--dynamic_batch_size=1,2"], "E10040", "write -1"),
    ("", ["--input_shape_range=x:[-1,3,32,32]", "--dynamic_batch_size=1,2"], "E10009", "exclude"),
    ("x:1~4,3,32,32", ["--stop_after=graph"], "E10055", "--stop_after"),
    ("x:1~900,3,2~900,2~900", ["--input_hint_shape=" + ";".join(
        f"0:[{size},3,{size},{size}]" for size in (2, 4, 8, 16))], "E10036", "more than 100 gears"),
])
def test_ranges_that_are_refused(shape, flags, code, word, tmp_path):
    model = gear_models.resnet(tmp_path / "m.onnx")
    given = [f"--input_shape={shape}"] if shape else []
    status, out, _ = atc(model, tmp_path / "m", NPU, *given, *flags)
    assert status == 1
    assert any(line.startswith(code) and word in line for line in out.splitlines()), out


def test_a_model_is_never_moved_to_the_cpu(tmp_path):
    model = gear_models.resnet(tmp_path / "m.onnx")
    # A dynamic batch is a loop over static tiles, which the NPU runs.
    om = compiled(model, tmp_path / "m", NPU)
    assert dump(om)["target"] == "npu"
    status, out, _ = atc(model, tmp_path / "m", NPU, "--disable_passes=host-tile-dynamic-dim")
    assert status == 1 and "E10002" in out and "[-1,3,32,32]" in out and "--target=cpu" in out
    om = compiled(model, tmp_path / "m", NPU, "--target=cpu", "--input_shape=x:1~4,3,32,32")
    assert dump(om)["target"] == "cpu"


OPEN = re.compile(r"W11010: dims of -1 and a~b in --input_shape stay open, .* for example (--.*)")


@pytest.mark.parametrize("case, shape, sizes, word", [
    # Convolutions mix elements along height and width.
    ("resnet", "x:1,3,{0},{1}", [(32, 32), (20, 50)], "mixes elements along the dim"),
    ("resnet", "x:{0},3,{1},{1}", [(2, 24)], "mixes elements along the dim"),
    ("detector", "x:1,3,{0},{1}", [(64, 96)], "--dynamic_image_size"),
])
def test_what_cannot_be_padded_stays_open(case, shape, sizes, word, tmp_path):
    """Every size runs; the host computes what the NPU has no tiles for, and atc says so."""
    model = CASES[case][0](tmp_path / "m.onnx")
    dims = shape.format(-1, -1)
    status, out, _ = atc(model, tmp_path / "m", NPU, f"--input_shape={dims}")
    assert status == 0 and OPEN.search(out) and word in out and "become gears, inputs" not in out, out
    assert re.search(r"NPU: [1-9]", out), out
    for size in sizes:
        inputs = {name: np.random.default_rng(4).standard_normal(own, np.float32)
                  for name, own in shapes_of(shape.format(*size)).items()}
        got, _ = run(tmp_path / "m.om", tmp_path / "run", inputs)
        static = compiled(model, tmp_path / "static", "--target=cpu", f"--input_shape={shape.format(*size)}")
        want, _ = run(static, tmp_path / "run", inputs)
        for name, value in want.items():
            np.testing.assert_allclose(got[name], value, rtol=1e-2, atol=1e-2)


def test_nothing_leaves_the_npu_altogether(tmp_path):
    """A model of small convolutions, of which no tile of rows would run on the NPU."""
    model = gear_models.resnet(tmp_path / "m.onnx", channels=16)
    status, out, _ = atc(model, tmp_path / "m", NPU, "--input_shape=x:1,3,-1,-1")
    refusal = re.search(r"E10055: dims of -1 and a~b .* all of it would run on the CPU. .* for example (--.*), or", out)
    assert status == 1 and refusal and "W11010" not in out and "mixes elements along the dim" in out, out
    assert not (tmp_path / "m.om").exists()
    compiled(model, tmp_path / "m", NPU, *shlex.split(refusal.group(1)))


def test_each_size_of_a_range_where_nothing_can_be_padded(tmp_path):
    """Convolutions along a range of few sizes: every size is a gear."""
    model = gear_models.resnet(tmp_path / "m.onnx")
    status, out, _ = atc(model, tmp_path / "m", NPU, "--input_shape=x:1,3,32,30~33")
    assert status == 0, out
    assert "W11001: inputs are not padded: " in out and "each of the 4 sizes becomes a gear" in out
    om = tmp_path / "m.om"
    assert [gear["values"] for gear in dump(om)["gears"]["gears"]] == [[30], [31], [32], [33]]
    for size in (31, 33):
        inputs = {"x": np.random.default_rng(size).standard_normal((1, 3, 32, size), np.float32)}
        got, _ = run(om, tmp_path / "run", inputs)
        static = compiled(model, tmp_path / "static", NPU, f"--input_shape=x:1,3,32,{size}")
        want, _ = run(static, tmp_path / "run", inputs)
        for name, value in want.items():
            np.testing.assert_array_equal(got[name], value)
    code, _, err = call(tool("om-run"), om, "--shape", "x:1,3,32,34")
    assert code == 1 and "it takes 30 to 33" in err


def test_a_range_and_what_only_the_run_knows(tmp_path):
    """The loader refuses ranges with host programs; E19999 was what the user saw of it."""
    model = gear_models.one_conv(tmp_path / "m.onnx")
    config = tmp_path / "aipp.cfg"
    config.write_text("aipp_op { aipp_mode: dynamic max_src_image_size: 4096 }")
    flags = [NPU, f"--insert_op_conf={config}"]
    status, out, _ = atc(model, tmp_path / "m", *flags, "--input_shape=x:1,3,16,24~26")
    assert status == 1 and "E10055: " in out and "only known when it runs" in out, out
    compiled(model, tmp_path / "m", *flags, *shlex.split(re.search(r"for example (--.*)", out).group(1)))


@pytest.mark.parametrize("shape", ["x:1,3,16~400,24~400", "x:1~3,3,32,8~96"])
def test_the_flags_that_a_warning_writes_compile(shape, tmp_path):
    model = gear_models.resnet(tmp_path / "m.onnx")
    status, out, _ = atc(model, tmp_path / "m", NPU, f"--input_shape={shape}")
    assert status == 0 and "more than 100 sizes" in out
    flags = OPEN.search(out).group(1)
    compiled(model, tmp_path / "m", NPU, *shlex.split(flags))
    first = [gear["values"] for gear in dump(tmp_path / "m.om")["gears"]["gears"]][0]
    assert ",".join(map(str, first)) in flags


def test_the_size_may_not_be_in_the_numbers(tmp_path):
    """y = x * the batch: the importer makes a constant of the shape."""
    net = gear_models.Network(5)
    size = net.node("Gather", [net.node("Shape", ["x"]), net.constant(0, np.int64)])
    net.node("Mul", ["x", net.node("Cast", [size], to=1)], "y")
    model = net.save(tmp_path / "m.onnx", [("x", 1, ["n", 4])], [("y", 1, ["n", 4])])
    status, out, _ = atc(model, tmp_path / "m", NPU, "--input_shape=x:-1,4")
    assert status == 1 and "E10055" in out and "depends on the size of the dim" in out
    om = compiled(model, tmp_path / "m", NPU, "--input_shape=x:-1,4", "--dynamic_batch_size=2,3")
    for size in (2, 3):
        got, _ = run(om, tmp_path / "run", {"x": np.ones((size, 4), np.float32)})
        np.testing.assert_array_equal(got["y"], np.full((size, 4), size, np.float32))
