# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The built package and the digit network."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build"))
sys.path.insert(0, str(BUILD / "python"))

np = pytest.importorskip("numpy", reason="needs numpy (Debian: python3-numpy)")
openatc = pytest.importorskip("openatc", reason="needs the built package (openatc_python)")

DIGITS = ROOT / "examples" / "digits"

# Two inputs, two outputs, and a tensor between that is neither.
SMALL = """
func.func @main(%a: tensor<2x3xf32> {om.name = "a"}, %b: tensor<2x3xf32> {om.name = "b"})
    -> (tensor<2x3xf32> {om.name = "sum"}, tensor<2x3xf32> {om.name = "positive"}) {
  %0 = graph.add %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.relu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
"""


@pytest.fixture(scope="session")
def digits_onnx():
    return DIGITS / "digits.onnx"


@pytest.fixture(scope="session")
def pictures():
    return [np.load(DIGITS / "pictures" / f"digit_{d}.npy") for d in range(10)]


@pytest.fixture(scope="session")
def right_scores():
    """ONNX Runtime's."""
    return np.load(DIGITS / "reference_scores.npy")


@pytest.fixture(scope="session")
def digits_om(digits_onnx, tmp_path_factory):
    path = tmp_path_factory.mktemp("digits") / "digits.om"
    openatc.compile(digits_onnx, path)
    return path


@pytest.fixture(scope="session")
def digits(digits_om):
    return openatc.Model(digits_om)


@pytest.fixture(scope="session")
def small():
    return openatc.compile(openatc.parse(SMALL))


@pytest.fixture
def pair():
    generator = np.random.default_rng(3)
    return [generator.standard_normal((2, 3)).astype("f4") for _ in range(2)]
