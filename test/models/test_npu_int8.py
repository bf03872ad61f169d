#===-- test_npu_int8.py - quantized networks give the CPU's integers on the NPU ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The digit network as int8: every stored integer is the same on the CPU and on the NPU.

Needs numpy and pytest.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "digits"))
from openatc_tools import call, compile_model, tool  # noqa: E402

import draw_digits  # noqa: E402
from test_calibrated import DIGITS, calibrate  # noqa: E402


def run_dumped(om, picture, folder):
    np.save(folder.with_suffix(".npy"), picture)
    code, out, err = call(tool("om-run"), om, "--input", folder.with_suffix(".npy"), "--dump",
                          folder, "--json", *(["--check-hazards"] if "npu" in folder.name else []))
    assert code == 0, out + err
    return {path.stem: np.load(path) for path in folder.glob("*.npy")}, json.loads(out)


@pytest.mark.parametrize("soc", ["Ascend310P3", "Ascend310", "Ascend910A"])
def test_digits_have_the_same_integers(tmp_path, soc):
    pictures, _ = draw_digits.draw_digits(18, seed=77)
    data = draw_digits.as_input(pictures)
    samples = [data[i:i + 1] for i in range(len(data))]
    model = calibrate(DIGITS / "digits.onnx", samples[:16], tmp_path / "amct")
    cpu_om = compile_model(model, tmp_path)
    npu_om = tmp_path / "npu.om"
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=5",
                          f"--soc_version={soc}", f"--output={tmp_path / 'npu'}")
    assert code == 0, out + err
    compared = 0
    for number, picture in enumerate(samples[16:]):
        want, _ = run_dumped(cpu_om, picture, tmp_path / f"cpu-{number}")
        got, report = run_dumped(npu_om, picture, tmp_path / f"npu-{number}")
        # The scores leave their product as real numbers: that one is the CPU's.
        assert report["npu"]["macs_share"] > 0.99
        for name in sorted(want.keys() & got.keys()):
            if want[name].dtype.kind not in "iu":
                continue
            compared += 1
            np.testing.assert_array_equal(got[name], want[name], err_msg=name)
    assert compared >= 4
