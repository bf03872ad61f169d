# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The digit network and its pictures for tests of the package amct_onnx."""

import sys

import numpy as np
import pytest

from openatc_runtime import Session
from openatc_tools import ROOT, RUNTIME, compile_model, tool

sys.path.insert(0, str(ROOT / "ascend/python"))
import amct_onnx as amct  # noqa: E402,F401

MODEL = ROOT / "examples/digits/digits.onnx"
PICTURES = [np.load(path).reshape(1, 1, 28, 28)
            for path in sorted((ROOT / "examples/digits/pictures").glob("*.npy"))]


@pytest.fixture(autouse=True)
def tool_of_the_build(monkeypatch):
    monkeypatch.setenv("OPENATC_AMCT", str(tool("amct")))


def scores(model, folder):
    """The outputs of an ONNX model for all pictures."""
    om = compile_model(model, folder)
    results = []
    for picture in PICTURES:
        session = Session(RUNTIME, om)
        session.inputs[0][1][...] = picture
        session.run()
        results.append(session.outputs[0][1].copy().ravel())
        session.close()
    return np.stack(results)
