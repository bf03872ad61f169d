#===-- test_dynamic_models.py - trained networks with open dims --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles each network once, runs it at three sizes and compares with the stored answers of
ONNX Runtime (make_expected_dynamic.py); a network that listens, over a whole recording.

Needs numpy and pytest. The networks are looked for in a folder `shared` beside the checkout.
"""

import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, SHARED, compile_model  # noqa: E402

import recipes  # noqa: E402
import recipes_dynamic  # noqa: E402
from test_models import report, stored  # noqa: E402

MODELS = SHARED / "models"
PICTURES = MODELS / "inputs"
TOLERANCE = 1e-3  # of the output's range


def expected_of(name, model):
    with np.load(recipes.EXPECTED / f"dynamic-{name}.npz") as arrays:
        expected = dict(arrays)
    assert zlib.crc32(model.read_bytes()) == expected["model_crc"], (
        f"{model} is not the file that the answers are of: renew them with "
        "make_expected_dynamic.py")
    return expected


def allowed(name, spread):
    """Where an output is one number, it is a probability."""
    if name in recipes_dynamic.STEPS:
        step, most = recipes_dynamic.STEPS[name]
        return 1.001 * most * step
    return TOLERANCE * (spread or 1)


@pytest.mark.parametrize("name", recipes_dynamic.MODELS)
def test_every_size(name, tmp_path, request):
    model = stored(MODELS / f"{name}.onnx")
    stored(PICTURES / "cat.bmp")
    expected = expected_of(name, model)
    session = Session(RUNTIME, compile_model(model, tmp_path))
    worst = 0.0
    for size, feed in enumerate(recipes_dynamic.MODELS[name](PICTURES)):
        assert recipes.checksum(feed.values()) == expected["inputs_crc"][size], (
            "the recipe gives other inputs")
        outputs = session.run_values(feed)
        assert {f"shape{size}.{output}" for output in outputs} == {
            key for key in expected if key.startswith(f"shape{size}.")}
        for output, got in outputs.items():
            assert list(got.shape) == expected[f"shape{size}.{output}"].tolist()
            want = expected[f"values{size}.{output}"].astype(np.float64)
            flat = got.reshape(-1).astype(np.float64)
            at = recipes.samples(flat.size, len(want))
            error = np.abs(flat[at] - want).max()
            if got.ndim == 2 and got.shape[1] == 1000:
                assert got.argmax(axis=1).tolist() == expected[f"top{size}.{output}"].tolist()
            limit = allowed(name, float(expected[f"range{size}.{output}"]))
            worst = max(worst, error / limit)
            assert error <= limit, f"{output} at size {size}: error {error:.3g}, not {limit:.3g}"
    session.close()
    report(request, of_what_is_allowed=worst)


def test_silero_hears_a_whole_recording(tmp_path, request):
    """The state goes from chunk to chunk, so that small errors could grow."""
    name = "silero-vad-16k-op15"
    model, wav = stored(MODELS / f"{name}.onnx"), stored(PICTURES / "silero-test.wav")
    expected = expected_of(name, model)
    session = Session(RUNTIME, compile_model(model, tmp_path))
    scores, state = recipes_dynamic.listen(session.run_values, wav)
    session.close()
    assert len(scores) == len(expected["scores"]) > 1000
    # There is speech in it, and silence.
    assert expected["scores"].max() > 0.9 and expected["scores"].min() < 0.1
    worst = max(np.abs(scores - expected["scores"]).max(),
                np.abs(state - expected["state"]).max() / np.ptp(expected["state"]))
    report(request, chunks=len(scores), max_error=worst)
    assert worst <= TOLERANCE
