#===-- test_tf_preprocessing.py - strings and lookup tables against TensorFlow's answers --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keras preprocessing layers, lookup tables and operators on strings: SavedModels that
tf_networks/make_preprocessing.py made, each with its inputs and TensorFlow's outputs."""
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, call, tool  # noqa: E402

MODELS = sorted((Path(__file__).resolve().parent / "tf_networks" / "saved").glob("*.zip"))


def unpack(archive, folder):
    """Writes the SavedModel and returns the inputs and the expected outputs."""
    with zipfile.ZipFile(archive) as file:
        for name in file.namelist():
            if name != "expected.npz":
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(file.read(name))
        with np.load(io.BytesIO(file.read("expected.npz"))) as arrays:
            values = {k: v.astype(object) if v.dtype.kind == "S" else v for k, v in arrays.items()}
    return ({k: v for k, v in values.items() if k[0] == "x"},
            {k: v for k, v in values.items() if k[0] == "y"})


def compile_model(folder, *flags):
    return call(tool("atc"), f"--model={folder}", "--framework=3", "--target=cpu",
                f"--output={folder}/model", *flags)


def check(got, expected):
    assert list(got) == list(expected)
    for name, answer in expected.items():
        assert got[name].shape == answer.shape, name
        if answer.dtype == object:
            assert got[name].tolist() == answer.tolist(), name
        else:
            np.testing.assert_allclose(got[name], answer, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("archive", MODELS, ids=lambda path: path.stem)
@pytest.mark.parametrize("batch", ["dynamic", "fixed"])
def test_preprocessing(archive, batch, tmp_path):
    inputs, expected = unpack(archive, tmp_path)
    shapes = ";".join(f"{k}:" + ",".join(map(str, v.shape)) for k, v in inputs.items())
    code, out, err = compile_model(tmp_path, *([f"--input_shape={shapes}"] if batch == "fixed" else []))
    assert code == 0, out + err
    session = Session(RUNTIME, tmp_path / "model.om")
    check(session.run_values(inputs), expected)
    if batch == "dynamic" and archive.stem in ("hashes", "lookups"):
        # Rows do not depend on each other.
        rows = {k: v[1:2] for k, v in inputs.items()}
        check(session.run_values(rows), {k: v[1:2] for k, v in expected.items()})
    session.close()


def test_random_numbers_of_a_model_that_counts_them(tmp_path):
    archive = next(path for path in MODELS if path.stem == "augmented-images")
    inputs, expected = unpack(archive, tmp_path)
    code, out, err = compile_model(tmp_path)
    assert code == 0 and (out + err).count("W11015") == 1 and "and 2 more like it count" in out + err, out + err
    session = Session(RUNTIME, tmp_path / "model.om")
    for _ in range(2):
        check(session.run_values(inputs), expected)


def test_a_missing_file_of_a_table_is_named(tmp_path):
    unpack(next(path for path in MODELS if path.stem == "files"), tmp_path)
    (tmp_path / "assets" / "lines.txt").unlink()
    code, out, err = compile_model(tmp_path)
    assert code != 0 and "E13005" in out + err and "lines.txt" in out + err


def test_a_short_line_of_a_file_is_named(tmp_path):
    unpack(next(path for path in MODELS if path.stem == "files"), tmp_path)
    (tmp_path / "assets" / "columns.txt").write_text("one,11\nthree\n")
    code, out, err = compile_model(tmp_path)
    assert code != 0 and "needs column 1 of line 2 of its file, which has 1" in out + err
