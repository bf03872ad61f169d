# ===-- test_microsoft.py - com.microsoft's operators against onnxruntime's results ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import numpy as np
import pytest
from host_kernels import KernelError, call
from microsoft_cases import EXPECTED, cases

CASES = list(cases())


@pytest.fixture(scope="module")
def expected():
    with np.load(EXPECTED) as stored:
        return dict(stored)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(case, expected):
    wanted = {i: expected[f"{case.name}/{i}"] for i in range(case.outputs)
              if f"{case.name}/{i}" in expected}
    assert wanted
    left_out = [i for i, value in enumerate(case.inputs) if value is None]
    results = call(case.kernel, *case.inputs, outputs=case.outputs, missing=left_out,
                   **case.attributes)
    shapes = call(case.kernel, *case.inputs, outputs=case.outputs, missing=left_out,
                  only_shapes=True, **case.attributes)
    for i, want in wanted.items():
        got = results[i]
        assert got.dtype == want.dtype and got.shape == want.shape == shapes[i]
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)
        else:  # roundings of halves may differ
            assert np.abs(got.astype(int) - want.astype(int)).max(initial=0) <= 1


def test_half_precision():
    x = np.linspace(-3, 3, 24, dtype=np.float16).reshape(3, 8)
    gamma = np.ones(8, np.float16)
    full, = call("SimplifiedLayerNormalization", x.astype(np.float32), gamma.astype(np.float32))
    half, = call("SimplifiedLayerNormalization", x, gamma)
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, full, rtol=2e-3)


def test_errors():
    x = np.zeros((2, 3, 8), np.float32)
    with pytest.raises(KernelError, match="bias of 4 elements for 8"):
        call("BiasGelu", x, np.zeros(4, np.float32))
    with pytest.raises(KernelError):
        call("MultiHeadAttention", x, x, np.zeros((2, 4, 8), np.float32), num_heads=2)
    with pytest.raises(KernelError, match="not among the embeddings"):
        call("EmbedLayerNormalization", np.array([[7]], np.int32), None,
             np.zeros((5, 8), np.float32), np.zeros((4, 8), np.float32), None,
             np.ones(8, np.float32), np.ones(8, np.float32), missing=[1, 4])
