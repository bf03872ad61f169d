#===-- test_transformer_forms.py - transformers as PyTorch exports them ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each form of test/lm/forms (make_forms.py) compiles with dynamic dims, computes what torch
computes at several sizes, and has its attention fused."""

import lzma
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="needs numpy (Debian: python3-numpy)")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, call, tool  # noqa: E402

FORMS = ROOT / "test" / "lm" / "forms"
# The number of attentions: an encoder-decoder's decoder has two per layer.
ATTENTIONS = {"t5": 2, "whisper": 2}


@pytest.mark.parametrize("name", sorted(path.stem for path in FORMS.glob("*.npz")))
def test_form(tmp_path, name):
    model = tmp_path / f"{name}.onnx"
    model.write_bytes(lzma.decompress((FORMS / f"{name}.onnx.xz").read_bytes()))
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5", "--target=cpu",
                          f"--output={tmp_path}/model")
    assert code == 0, out + err
    code, dump, err = call(tool("om-dump"), tmp_path / "model.om")
    assert code == 0, err
    assert dump.count("KvAttention(") == ATTENTIONS.get(name.split("-")[0], 1), dump
    assert "Softmax(" not in dump and " Attention(" not in dump, dump
    arrays = dict(np.load(FORMS / f"{name}.npz"))
    outputs = [line.split()[2] for line in dump.splitlines() if line.startswith("  output %")]
    session = Session(RUNTIME, tmp_path / "model.om", threads=1)
    for run in sorted({key.split(".")[0] for key in arrays}):
        feed = {key[len(run) + 1:]: value for key, value in arrays.items()
                if key.startswith(f"{run}.") and not key.startswith(f"{run}.out.")}
        got = session.run_values(feed)
        for i, output in enumerate(outputs):
            want = arrays[f"{run}.out.{i}"]
            np.testing.assert_allclose(got[output], want, rtol=1e-3,
                                       atol=1e-4 * (np.abs(want).max() if want.size else 1))
    session.close()
