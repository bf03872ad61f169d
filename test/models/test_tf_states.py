#===-- test_tf_states.py - variables that go on from run to run against TensorFlow's answers -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SavedModels with stateful recurrent layers and with sums, which tf_networks/make_states.py made,
each with its input and TensorFlow's outputs in the third run."""
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import call, tool  # noqa: E402

MODELS = sorted((Path(__file__).resolve().parent / "tf_networks" / "states").glob("*.zip"))


def compile_model(folder, *flags):
    return call(tool("atc"), f"--model={folder}", "--framework=3", "--target=cpu", f"--output={folder}/model", *flags)


@pytest.mark.parametrize("archive", MODELS, ids=lambda path: path.stem)
def test_states(archive, tmp_path):
    with zipfile.ZipFile(archive) as file:
        file.extractall(tmp_path)
    with np.load(io.BytesIO((tmp_path / "expected.npz").read_bytes())) as arrays:
        expected = dict(arrays)
    np.save(tmp_path / "x0.npy", expected.pop("x0"))
    code, out, err = compile_model(tmp_path)
    assert code == 0, out + err
    # A run that keeps no state has the same first values.
    code, out, err = call(tool("om-run"), f"{tmp_path}/model.om", f"--input=x0={tmp_path}/x0.npy", f"--output={tmp_path}/alone")
    assert code == 0, out + err
    for runs in (1, 3):
        code, out, err = call(tool("om-run"), f"{tmp_path}/model.om", f"--input=x0={tmp_path}/x0.npy",
                              f"--output={tmp_path}/out", "--state", *(["--loop=2"] if runs == 3 else []))
        assert code == 0, out + err
        same = []
        for name, answer in expected.items():
            got = np.load(tmp_path / "out" / f"{name}.npy")
            assert (got.shape, got.dtype) == (answer.shape, answer.dtype), name
            same.append(np.allclose(got, answer, rtol=1e-5, atol=1e-6))
            assert runs == 3 or np.array_equal(got, np.load(tmp_path / "alone" / f"{name}.npy")), name
        # The first run differs from the third one in everything.
        assert same == [runs == 3] * len(expected)


@pytest.mark.parametrize("name,message", [
    ("multiplied", "(ResourceScatterMul) changes variable 'Variable_1' while the model runs, and it is no state"),
    ("looped-products", "(ResourceScatterMul) changes variable 'Variable_1' while the model runs, and it is no state"),
    ("growing", "(AssignVariableOp) changes variable 'Variable' while the model runs, and it is no state: the shape"),
    ("words", "variable 'Variable' of type DT_STRING changes while the model runs: a state holds real numbers or bools"),
    ("complex", "variable 'Variable' of type DT_COMPLEX64 changes while the model runs: a state holds real numbers")])
def test_variables_that_are_no_states(name, message, tmp_path):
    with zipfile.ZipFile(MODELS[0].parent / "refused" / f"{name}.zip") as file:
        file.extractall(tmp_path)
    code, out, err = compile_model(tmp_path)
    assert code != 0 and "E13010" in out + err and message in out + err
    assert "openatc_" not in out + err


@pytest.fixture
def sums(tmp_path):
    """The folder of running-sums: Variable_1 is the mean, y0 what it was before."""
    with zipfile.ZipFile(MODELS[0].parent / "running-sums.zip") as file:
        file.extractall(tmp_path)
    with np.load(io.BytesIO((tmp_path / "expected.npz").read_bytes())) as arrays:
        np.save(tmp_path / "x0.npy", arrays["x0"])
    return tmp_path


def run_sums(folder):
    return call(tool("om-run"), f"{folder}/model.om", f"--input=x0={folder}/x0.npy",
                f"--output={folder}/out", "--state", "--loop=2")


def test_none_removes_the_states_of_variables(sums):
    code, out, err = compile_model(sums, "--state=none")
    assert code == 0, out + err
    code, out, err = run_sums(sums)
    assert code != 0 and "state" in out + err


def test_a_pair_replaces_the_state_of_a_variable(sums):
    code, out, err = compile_model(sums, "--state=Variable_1=y0")
    assert code == 0, out + err
    code, out, err = run_sums(sums)
    assert code == 0, out + err
    # The mean stays as it begins; the count is the state that it was.
    x0 = np.load(sums / "x0.npy")
    np.testing.assert_allclose(np.load(sums / "out" / "y1.npy"), 3 * x0, rtol=1e-6)
    assert np.load(sums / "out" / "y2.npy") == 3


def test_the_type_of_all_outputs_is_none_of_states(sums):
    code, out, err = compile_model(sums, "--output_type=FP16")
    assert code == 0, out + err
    code, out, err = run_sums(sums)
    assert code == 0, out + err
    with np.load(io.BytesIO((sums / "expected.npz").read_bytes())) as arrays:
        got = np.load(sums / "out" / "y1.npy")
        assert got.dtype == np.float16
        np.testing.assert_allclose(got, arrays["y1"], rtol=2e-3, atol=1e-3)


def test_pairs_that_name_nothing_are_refused(sums):
    code, out, err = compile_model(sums, "--state=bogus=y0")
    assert code != 0 and "no input of the model is named 'bogus'" in out + err


def test_the_next_value_of_a_state_is_one_output(sums):
    code, out, err = compile_model(sums, "--out_nodes=StatefulPartitionedCall/Identity:0;Variable/next")
    assert code == 0, out + err
    code, out, err = call(tool("om-dump"), f"{sums}/model.om")
    assert code == 0 and out.count("\n  Variable/next  ") == 1, out + err
