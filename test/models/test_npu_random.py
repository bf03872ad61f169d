#===-- test_npu_random.py - odd networks: the NPU against the CPU --===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks drawn by seeds, compiled for the CPU in f32 and for two NPUs: the answers agree and no
access races with another.

Needs numpy, pytest and the onnx package. A third of the seeds per run of CI, all of them with
OPENATC_NIGHTLY; OPENATC_TEST_SEEDS=first:last takes other seeds.
"""

import os
import sys
from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx", reason="making the networks needs the onnx package")

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
import openatc_npu as npu  # noqa: E402

import random_networks  # noqa: E402

# 79: a convolution with a residual and a slope for each channel, at the split core's border.
SEEDS = [*range(0, 40, 1 if os.environ.get("OPENATC_NIGHTLY") else 3), 79]
if "OPENATC_TEST_SEEDS" in os.environ:
    SEEDS = range(*map(int, os.environ["OPENATC_TEST_SEEDS"].split(":")))


@pytest.mark.parametrize("seed", SEEDS)
def test_network(seed, tmp_path, request):
    model, inputs = random_networks.network(seed)
    onnx.checker.check_model(model)
    path = tmp_path / "model.onnx"
    onnx.save(model, str(path))
    want, _ = npu.run(npu.build(path, tmp_path), inputs)
    for soc in npu.SOCS:
        got, report = npu.run_npu(npu.build(path, tmp_path, soc), inputs)
        error, cosine = npu.assert_near(got, want, f"seed {seed} on {soc}")
        print(f"{request.node.name} {soc}: error {error:.3g}, cosine {cosine:.6f}, "
              f"MACs {report['macs_npu']} of {report['macs_model']}")
