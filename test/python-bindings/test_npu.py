# Models for an NPU run on the simulated one.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib

import numpy as np
import openatc

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "runtime-lite" / "golden"


def test_session_of_an_npu_model():
    session = openatc.Session(openatc.Model(GOLDEN / "schema-1.2.om"))
    x = np.ones((64, 48), np.float32)
    sums, _, quadrupled = session.run([x])
    np.testing.assert_array_equal(quadrupled, 4 * sums)
    npu = session.npu
    assert npu["soc"] == "Ascend310P3"
    assert npu["launches"] == 2
    assert npu["cycles"] > 0


def test_session_of_a_cpu_model():
    assert openatc.Session(openatc.Model(GOLDEN / "schema-1.1.om")).npu is None
