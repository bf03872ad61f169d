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


@pytest.mark.parametrize("archive", MODELS, ids=lambda path: path.stem)
def test_states(archive, tmp_path):
    with zipfile.ZipFile(archive) as file:
        file.extractall(tmp_path)
    with np.load(io.BytesIO((tmp_path / "expected.npz").read_bytes())) as arrays:
        expected = dict(arrays)
    np.save(tmp_path / "x0.npy", expected.pop("x0"))
    code, out, err = call(tool("atc"), f"--model={tmp_path}", "--framework=3", "--target=cpu",
                          f"--output={tmp_path}/model")
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
        # The first run differs from the third one in everything.
        assert same == [runs == 3] * len(expected)
