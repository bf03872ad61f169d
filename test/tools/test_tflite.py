#===-- test_tflite.py - TensorFlow Lite models (--framework=6) -------------------------------===//
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of one operator and small networks equal TensorFlow Lite's interpreter, and errors are
clear. test/frontends/tflite/make_models.py has made the models and the expected values."""

import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import ROOT, call, tool  # noqa: E402

ARCHIVE = ROOT / "test/frontends/tflite/models.tar.xz"
# Operators that are refused with a reason.
REFUSED = {"complex_result": "is complex"}


def read_archive():
    with tarfile.open(ARCHIVE) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


FILES = read_archive()
NAMES = sorted(name[:-7] for name in FILES if name.endswith(".tflite"))


def atc(folder, model, *flags, target="--target=cpu", framework="6"):
    return call(tool("atc"), f"--model={model}", f"--framework={framework}",
                f"--output={folder / 'out'}", target, *flags)


def write_model(folder, name):
    path = folder / f"{name}.tflite"
    path.write_bytes(FILES[path.name])
    return path


def compute(folder, name, *flags, **options):
    """The outputs by name, and what is expected."""
    values = dict(np.load(io.BytesIO(FILES[f"{name}.npz"])))
    code, out, err = atc(folder, write_model(folder, name), *flags, **options)
    assert code == 0, out + err
    given = []
    for key, value in values.items():
        if key.startswith("in:"):
            np.save(folder / f"{len(given)}.npy", value)
            given.append(f"{key[3:]}={folder / str(len(given))}.npy")
    command = [tool("om-run"), folder / "out.om", "--output", folder / "outputs"]
    code, out, err = call(*command, *(["--input", ",".join(given)] if given else []))
    assert code == 0, out + err
    return {path.stem: np.load(path) for path in (folder / "outputs").glob("*.npy")}, values


def differences(got, values):
    """One line per output that differs."""
    lines = []
    for key in (key for key in values if key.startswith("out:")):
        number, name = key[4:].split(":", 1)
        expected, scale = values[key], float(values[f"scale:{number}"])
        # An input that is a result, too, has a name of its own.
        named = {other.split(":", 2)[2] for other in values if other.startswith("out:")}
        alike = [value for other, value in got.items() if value.shape == expected.shape
                 and value.dtype == expected.dtype and other not in named
                 and not other.endswith("next")]  # of a state
        value = got.get(name, got.get(name.replace("/", "_"), alike[0] if alike else None))
        if value is None or value.shape != expected.shape or value.dtype != expected.dtype:
            lines.append(f"{name}: {expected.dtype}{expected.shape} is missing among {list(got)}")
        elif expected.size and scale:
            steps = np.abs(value.astype("i8") - expected.astype("i8"))
            if steps.max() > 1:
                lines.append(f"{name}: {steps.max()} steps")
        elif expected.size and expected.dtype.kind == "f":
            error = np.abs(value.astype("f8") - expected).max() / max(1, np.abs(expected).max())
            if not error < values["tolerance"]:
                lines.append(f"{name}: {error}")
        elif not np.array_equal(value, expected):
            lines.append(f"{name}: {value.reshape(-1)[:8]}, expected {expected.reshape(-1)[:8]}")
    return lines


def check(folder, name):
    folder.mkdir()
    if name in REFUSED:
        code, err, _ = atc(folder, write_model(folder, name))
        return [] if code and "E13010" in err and REFUSED[name] in err else [err]
    try:
        return differences(*compute(folder, name))
    except AssertionError as error:
        return [str(error)]


def test_models_equal_the_interpreter(tmp_path):
    # A third of them per run of CI, all with OPENATC_NIGHTLY.
    chosen = NAMES if os.environ.get("OPENATC_NIGHTLY") else NAMES[::3]
    with ThreadPoolExecutor(2) as pool:
        errors = dict(zip(chosen, pool.map(lambda name: check(tmp_path / name, name), chosen),
                          strict=True))
    assert not {name: lines for name, lines in errors.items() if lines}


@pytest.mark.parametrize("name", ["open_dilated", "open_mirror", "open_segment_sum",
                                  "open_segment_max", "open_diag", "open_set_diag", "open_spectrum",
                                  "open_update_part"])
def test_batches_of_any_size(tmp_path, name):
    assert not check(tmp_path / name, name)


@pytest.mark.parametrize("name", ["dynamic_items", "open_dynamic_items"])
def test_weights_in_bytes_multiply_bytes(tmp_path, name):
    """Each item of a batch has a scale of its own; with force_fp32 floats are multiplied."""
    values = None
    files = {}
    for mode in ("", "force_fp32"):
        folder = tmp_path / (mode or "bytes")
        folder.mkdir()
        got, values = compute(folder, name, *([f"--precision_mode={mode}"] if mode else []))
        assert not differences(got, values)
        files[mode] = (folder / "out.om").stat().st_size, list(got.values())[0]
    assert files[""][0] < files["force_fp32"][0]
    assert np.abs(files[""][1] - files["force_fp32"][1]).max() > 1e-5


def test_a_bias_that_does_not_fit_bytes_is_refused(tmp_path):
    """A convolution of dynamic range, tensors 14 and 8, gets the bias of another one."""
    data, inputs = FILES["cnn_dynamic.tflite"], struct.pack("<4i", 3, 14, 8, 2)
    assert data.count(inputs) == 1
    model = tmp_path / "m.tflite"
    model.write_bytes(data.replace(inputs, struct.pack("<4i", 3, 14, 8, 3)))
    code, out, _ = atc(tmp_path, model)
    assert code and "E14001" in out and "its bias has 8 values, expected 16" in out, out


def test_a_function_of_other_elements_is_refused(tmp_path):
    """The body of a scatter, a sum of its inputs 0 and 1, becomes one of input 0 alone."""
    data, pair = FILES["hlo_scatter_add.tflite"], struct.pack("<3i", 2, 0, 1)
    found = [match.start() for match in re.finditer(re.escape(pair), data)]
    assert len(found) == 2  # inputs of the subgraph, and of its operator
    for at in found:
        model = tmp_path / "m.tflite"
        model.write_bytes(data[:at + 8] + bytes(4) + data[at + 12:])
        code, out, _ = atc(tmp_path, model)
        assert code and "E14001" in out and "of its inputs" in out, out


def test_integers_that_are_dequantized_are_read_as_both(tmp_path):
    assert not check(tmp_path / "model", "q_dequantized")


@pytest.mark.parametrize("name", ["sparse_dense", "sparse_conv", "sparsef16_conv", "sparseint8_dense",
                                  "sparseint8_conv"])
def test_weights_without_their_zeros(tmp_path, name):
    assert not check(tmp_path / name, name)


@pytest.mark.parametrize("name", ["cnn_float", "cnn_int8io"])
def test_networks_on_an_npu(tmp_path, name):
    got, values = compute(tmp_path, name, target="--soc_version=Ascend310P3")
    expected = next(value for key, value in values.items() if key.startswith("out:"))
    value = next(iter(got.values())).astype("f8")
    assert np.abs(value - expected).max() <= (1 if expected.dtype.kind == "i" else 5e-3)


def test_variables_go_on_from_run_to_run(tmp_path):
    got, values = compute(tmp_path, "variables")
    x = next(value for key, value in values.items() if key.startswith("in:"))
    np.save(tmp_path / "0.npy", x)
    name = next(key[3:] for key in values if key.startswith("in:"))
    code, out, err = call(tool("om-run"), tmp_path / "out.om", "--input", f"{name}={tmp_path / '0.npy'}",
                          "--output", tmp_path / "third", "--state", "--loop=2")
    assert code == 0, out + err
    mean = np.array([1, 2, 3], "f4")
    for _ in range(3):
        mean = mean * .5 + x * 2
    result = next(name for name in got if not name.endswith("next"))
    assert np.allclose(np.load(tmp_path / "third" / f"{result}.npy"), mean + 3, rtol=1e-5)


#===--- Errors ---------------------------------------------------------------------------------===//


def test_shapes_are_those_of_the_file(tmp_path):
    model = write_model(tmp_path, "conv_SAME")
    name = next(key[3:] for key in np.load(io.BytesIO(FILES["conv_SAME.npz"])) if key[:3] == "in:")
    code, err, _ = atc(tmp_path, model, f"--input_shape={name}:2,8,8,4")
    assert code == 1 and "E10002" in err and name in err and "1,8,8,4" in err
    code, out, err = atc(tmp_path, model, f"--input_shape={name}:1,8,8,4")
    assert code == 0, out + err


def test_the_kind_of_a_file_is_named(tmp_path):
    model = write_model(tmp_path, "add")
    code, err, _ = atc(tmp_path, model, framework="5")
    assert code == 1 and "is a TensorFlow Lite model: give --framework=6" in err
    (tmp_path / "text.tflite").write_text("no model")
    code, err, _ = atc(tmp_path, tmp_path / "text.tflite")
    assert code == 1 and "E13005" in err and "TFL3" in err


def test_damaged_indices_of_weights_without_their_zeros(tmp_path):
    whole = FILES["sparse_dense.tflite"]
    order, segments = np.array([3, 0, 1, 2], "i4").tobytes(), np.array([17], "i4").tobytes() + b"\0"
    for found, place, value, message in [
            (order, 8, 2, "has its dims in no order"), (order, 12, 9, "has its dims in no order"),
            (segments, 4, 1, "has segments that overlap"), (segments, 20, 255, "has a segment from"),
            (segments, 0, 16, "has no segment 15")]:
        at = whole.index(found) + place
        damaged = bytearray(whole)
        damaged[at] = value
        path = tmp_path / "damaged.tflite"
        path.write_bytes(damaged)
        code, err, _ = atc(tmp_path, path)
        assert code == 1 and "E13005" in err and "is stored without its zeros, and " + message in err, err


def first_weights(model):
    """A tensor with data that has four dims."""
    return next(tensor for tensor in model["subgraphs"][0]["tensors"]
                if len(tensor.get("shape", [])) == 4 and model["buffers"][tensor["buffer"]].get("data"))


def add_large_weights(model):
    """Tensors of 2^28 zeros, none of which is stored."""
    row = {"format": "SPARSE_CSR", "array_segments_type": "Int32Vector", "array_segments": {"values": [0, 0]},
           "array_indices_type": "Int32Vector", "array_indices": {"values": []}}
    model["subgraphs"][0]["tensors"] += [
        {"shape": [1 << 28], "type": "INT8", "buffer": 0, "name": f"w{i}", "sparsity": {
            "traversal_order": [0], "block_map": [], "dim_metadata": [row]}} for i in range(17)]


def set_padding(model):
    next(op["builtin_options"] for op in model["subgraphs"][0]["operators"]
         if op.get("builtin_options_type") == "Conv2DOptions")["padding"] = 9


def compile_changed(tmp_path, name, change, *flags):
    """What atc says of a model that is changed as JSON."""
    flatc = shutil.which("flatc")
    if not flatc:
        pytest.skip("needs flatc (Debian: flatbuffers-compiler), which changes a model")
    schema = ROOT / "frontends/tflite/schema/tflite.fbs"
    path = write_model(tmp_path, name)
    subprocess.run([flatc, "-t", "--strict-json", "--raw-binary", schema, "--", path], cwd=tmp_path,
                   check=True)
    text = path.with_suffix(".json")
    model = json.loads(text.read_text(encoding="utf-8"))
    change(model)
    text.write_text(json.dumps(model), encoding="utf-8")
    subprocess.run([flatc, "-b", "--strict-json", schema, text], cwd=tmp_path, check=True)
    return atc(tmp_path, path.with_suffix(".bin"), *flags)


@pytest.mark.parametrize("change, said", [
    (lambda model: first_weights(model).update(shape=[1 << 20, 1 << 20, 1 << 24, 1]),
     "has more than 2^40 elements"),
    # Such weights have fewer bytes than their dims say, which is not what is wrong.
    (lambda model: (first_weights(model).update(sparsity={}),
                    model["buffers"][first_weights(model)["buffer"]].update(data=[0] * 8)),
     "is stored without its zeros, and "),
    # Tables of indices that nest once per dim.
    (lambda model: first_weights(model).update(shape=[1] * 60000, sparsity={
        "traversal_order": list(range(60000)), "block_map": [],
        "dim_metadata": [{"format": "DENSE", "dense_size": 1}] * 60000}), "has 60000 dims and blocks, more than 64"),
    (add_large_weights, "and that have more than 4 GB with them"),
    (set_padding, "the padding 9 is neither SAME (0) nor VALID (1)"),
    (lambda model: model["subgraphs"][0]["tensors"][model["subgraphs"][0]["inputs"][0]].update(
        type=77), "has the type number 77, which cannot be imported"),
    (lambda model: first_weights(model).update(sparsity={
        "traversal_order": [*range(200004)], "block_map": [0] * 200000,
        "dim_metadata": [{"dense_size": 1}] * 200004}), "has 200004 dims and blocks, more than 64"),
], ids=["product-of-dims", "sparse", "deep", "many-large", "padding", "type", "blocks"])
def test_what_no_converter_writes(change, said, tmp_path):
    code, err, _ = compile_changed(tmp_path, "conv_VALID", change)
    assert code == 1 and said in err, err


def test_boxes_that_overlap_by_the_threshold(tmp_path):
    """The second box shares half of what it and the first one cover: it is left out as in the
    interpreter, not kept as in ONNX."""
    code, err, _ = atc(tmp_path, write_model(tmp_path, "suppress"))
    assert code == 0, err
    boxes = np.array([[i, i, i + 1, i + 1] for i in range(9)], "f4")
    boxes[1] = 0, 0, 1, .5
    scores = np.linspace(.9, .5, 9, dtype="f4")
    names = [key[3:] for key in np.load(io.BytesIO(FILES["suppress.npz"])) if key.startswith("in:")]
    for name, value in zip(names, (boxes, scores), strict=True):
        np.save(tmp_path / f"{name}.npy", value)
    code, err, _ = call(tool("om-run"), tmp_path / "out.om", "--output", tmp_path / "made", "--input",
                        ",".join(f"{name}={tmp_path / name}.npy" for name in names))
    assert code == 0, err
    made = [np.load(path) for path in (tmp_path / "made").glob("*.npy")]
    assert [value.tolist() for value in made if value.dtype == "i4" and value.ndim] == [[0, 2, 3, 4, 5]]


def test_states_of_bytes_begin_with_zero(tmp_path):
    """They began with the byte 0, which stands for another number."""
    def change(model):
        graph = model["subgraphs"][0]
        lstm = next(op for op in graph["operators"] if len(op["inputs"]) >= 20)
        graph["tensors"][lstm["inputs"][18]].update(
            type="INT8", quantization={"scale": [.5], "zero_point": [7]})

    code, err, _ = compile_changed(tmp_path, "lstm_steps_clipped", change)
    assert code == 0, err
    values = np.load(io.BytesIO(FILES["lstm_steps_clipped.npz"]))
    name = next(key[3:] for key in values if key.startswith("in:"))
    np.save(tmp_path / "x.npy", values["in:" + name])
    code, err, _ = call(tool("om-run"), tmp_path / "out.om", "--input", tmp_path / "x.npy", "--output",
                        tmp_path / "made")
    assert code == 0, err
    made, = (np.load(path) for path in (tmp_path / "made").glob("*.npy"))
    expected = next(values[key] for key in values if key.startswith("out:"))
    np.testing.assert_allclose(made, expected, atol=1e-4)


def test_weights_without_columns(tmp_path):
    """They were said not to have two dims."""
    def change(model):
        graph = model["subgraphs"][0]
        tensors = [graph["tensors"][index] for index in graph["operators"][0]["inputs"]]
        tensors[0]["shape"][1] = tensors[1]["shape"][1] = 0
        model["buffers"][tensors[1]["buffer"]]["data"] = []

    code, err, _ = compile_changed(tmp_path, "dense", change)
    assert code == 1 and "operator FULLY_CONNECTED" in err and "have no columns" in err, err


def test_signatures(tmp_path):
    """The first subgraph was compiled, whatever the signatures were."""
    def name(**signatures):
        def change(model):
            model["signature_defs"] = [{"signature_key": key, "subgraph_index": index}
                                       for key, index in signatures.items()]
        return change

    def outputs():
        """What the model makes of the same random input."""
        shutil.rmtree(tmp_path / "made", ignore_errors=True)
        code, err, _ = call(tool("om-run"), tmp_path / "out.om", "--random", "--output", tmp_path / "made")
        assert code == 0, err
        return [np.load(path).tolist() for path in (tmp_path / "made").glob("*.npy")]

    both = name(twice=1, more=2)
    code, err, _ = compile_changed(tmp_path, "if", both)
    assert code == 1 and ("E13005: the model has no signature 'serving_default'; it has 'more', "
                          "'twice': choose one with --signature_def") in err, err
    code, err, _ = compile_changed(tmp_path, "if", both, "--signature_def=less")
    assert code == 1 and "no signature 'less'; it has 'more', 'twice'" in err, err
    code, err, _ = compile_changed(tmp_path, "if", name(twice=9))
    assert code == 1 and "has a signature of subgraph 9, but 3 subgraphs" in err, err
    found = []
    for chosen, flags in ((both, ["--signature_def=twice"]), (both, ["--signature_def=more"]),
                          (name(more=2, serving_default=1), []), (name(twice=1), []),
                          (name(any=0, same=0), [])):
        code, err, _ = compile_changed(tmp_path, "if", chosen, *flags)
        assert code == 0, err
        found.append(outputs())
    assert found[0] == found[2] == found[3] != found[1], found
    assert found[4] in found[:2]  # the subgraph that chooses between the two


def test_a_subgraph_that_calls_itself_is_one_error(tmp_path):
    """There was one per level."""
    def change(model):
        branch = next(op for op in model["subgraphs"][0]["operators"]
                      if op.get("builtin_options_type") == "IfOptions")
        branch["builtin_options"] = {"then_subgraph": 0, "else_subgraph": 0}

    code, err, _ = compile_changed(tmp_path, "if", change)
    assert code == 1 and err.count("E13005: subgraph 0 calls itself") == 1, err
    assert len(re.findall(r"^E\d{5}: ", err, re.M)) == 1, err


def test_damaged_files_are_errors(tmp_path):
    whole = bytearray(FILES["conv_SAME.tflite"])
    rng = np.random.default_rng(0)
    for trial in range(12):
        damaged = bytearray(whole if trial % 2 else whole[:rng.integers(8, len(whole))])
        for place in rng.integers(8, len(damaged), 6):
            damaged[place] ^= int(rng.integers(1, 256))
        path = tmp_path / "damaged.tflite"
        path.write_bytes(damaged)
        code, err, _ = atc(tmp_path, path)
        assert code == 0 or (code == 1 and re.search(r"^E\d{5}: ", err, re.M)), err
