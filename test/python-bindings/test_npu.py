# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling for an NPU, and sessions of the simulated one."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import openatc
from test_runtime import address, error_text

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "runtime-lite" / "golden"
SOCS = ["Ascend310P3", "Ascend910A", "Ascend910B1"]


@pytest.fixture(scope="module")
def digits_npu(digits_onnx):
    return openatc.compile(digits_onnx, soc="Ascend310P3")


@pytest.fixture(scope="module")
def golden():
    return openatc.Model(GOLDEN / "schema-1.2.om")


def programs_by_hand():
    """The model of test/tools/test_npu.py, whose NPU programs are written by hand."""
    spec = importlib.util.spec_from_file_location("tools_npu", TESTS / "tools" / "test_npu.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- compile -------------------------------------------------------------------------------

@pytest.mark.parametrize("soc", SOCS)
def test_digits(digits_onnx, pictures, right_scores, soc):
    model = openatc.compile(digits_onnx, soc=soc)
    assert model.target == "npu" and model.soc == soc and model.npu_bytes > 0
    session = openatc.Session(model, check_hazards=True)
    for digit in (3, 8):
        scores, = session.run([pictures[digit]])
        np.testing.assert_allclose(scores[0], right_scores[digit], atol=0.05)
        assert scores.argmax() == digit
    assert session.hazards() == []
    assert session.npu["soc"] == soc and session.npu["macs_npu"] > 100000


def test_launch_info(digits_npu, digits):
    ours = [launch for launch in digits_npu.launches if launch.npu]
    assert ours and all(launch.tasks >= 1 for launch in ours)
    # More than the fewest a matrix of 10 x 64 needs; and the CPU has none.
    assert sum(launch.macs for launch in ours) > 100000
    assert all(launch.macs == 0 for launch in digits_npu.launches if not launch.npu)
    assert not any(launch.npu or launch.macs for launch in digits.launches)
    assert digits.soc == "" and digits.npu_bytes == 0


def test_precision_mode(digits_onnx, pictures, right_scores):
    def distance(mode):
        session = openatc.Session(openatc.compile(digits_onnx, soc="Ascend310P3",
                                                  precision_mode=mode))
        return max(np.abs(session.run([pictures[d]])[0][0] - right_scores[d]).max()
                   for d in range(4))

    assert distance("must_keep_origin_dtype") < 1e-3
    assert 1e-6 < distance("force_fp16") < 0.05
    assert distance(None) == distance("force_fp16")


def test_module_and_file_compile_to_the_same(digits_onnx, digits_npu, pictures):
    module = openatc.load(digits_onnx)
    before = module.to_text(weights=True)
    model = module.compile(soc="Ascend310P3", precision_mode="force_fp16")
    assert module.to_text(weights=True) == before
    np.testing.assert_array_equal(openatc.Session(model).run([pictures[5]])[0],
                                  openatc.Session(digits_npu).run([pictures[5]])[0])


def test_own_table(digits_onnx, digits_npu, pictures, tmp_path):
    table = tmp_path / "fast.soc"
    table.write_text("base = Ascend310P3\nname = Fast\nmhz = 4240\n")
    path = tmp_path / "fast.om"
    for chosen in ({"soc_file": table}, {"soc": "Ascend310P3", "soc_file": str(table)}):
        assert openatc.compile(digits_onnx, path, load=False, **chosen) is None
        model = openatc.Model(path)
        assert model.soc == "Fast"
        # The file holds the table: nobody needs to have it.
        session = openatc.Session(model)
        session.run([pictures[1]])
        assert session.npu["ms"] == pytest.approx(session.npu["cycles"] / 4240e3, rel=1e-3)
    # A model simulated on another table than its own.
    session = openatc.Session(digits_npu, soc_file=table)
    session.run([pictures[1]])
    assert session.npu["soc"] == "Fast"


def test_compile_errors(digits_onnx, tmp_path):
    error = error_text(openatc.compile, digits_onnx, soc="Ascend999")
    assert error.code == "E10001" and "Ascend310P3" in str(error)
    assert error_text(openatc.load(digits_onnx).compile, soc="").code == "E10004"
    assert error_text(openatc.compile, digits_onnx, soc_file=tmp_path / "none.soc").code == "E10410"
    bad = tmp_path / "bad.soc"
    bad.write_text("base = Ascend310P3\nwheels = 4\nmhz = fast\n")
    error = error_text(openatc.compile, digits_onnx, soc_file=bad)
    assert error.code == "E10001" and len(error.messages) == 2 and "bad.soc:2" in str(error)
    for mode, code in (("bf17", "E10001"), ("allow_fp32_to_bf16", "E10055")):
        error = error_text(openatc.compile, digits_onnx, soc="Ascend310P3", precision_mode=mode)
        assert error.code == code and "allow_fp32_to_fp16" in str(error)
    for wrong in ({"soc": 310}, {"precision_mode": 16}, {"soc_file": 3}):
        with pytest.raises(TypeError):
            openatc.compile(digits_onnx, **wrong)
    # A CPU computes in the types of the model, and in no others; weights may be narrower.
    wide = openatc.compile(digits_onnx, precision_mode="must_keep_origin_dtype")
    narrow = openatc.compile(digits_onnx, precision_mode="allow_mix_precision_bf16")
    assert narrow.weights_bytes < wide.weights_bytes


# --- sessions ------------------------------------------------------------------------------

def test_cpu_and_npu_in_one_schedule(golden):
    session = openatc.Session(golden)
    assert session.npu["launches"] == 0
    x = np.ones((64, 48), np.float32)
    for _ in range(2):
        sums, _, quadrupled = session.run([x])
        np.testing.assert_array_equal(quadrupled, 4 * sums)
        assert session.npu["launches"] == 2 and session.npu["cycles"] > 0
    assert [launch.npu for launch in golden.launches] == [False] * 4 + [True] * 2
    tensors = session.tensors([x])
    np.testing.assert_array_equal(tensors["doubled"], 2 * tensors["sums"])


def test_arrays_are_used_in_place(golden):
    quadrupled = openatc.empty(64)
    before = address(quadrupled)
    sums, _, same = openatc.Session(golden).run([np.ones((64, 48), "f4")],
                                                {"quadrupled": quadrupled})
    assert same is quadrupled and address(same) == before
    np.testing.assert_array_equal(quadrupled, 4 * sums)


def test_session_options(golden, tmp_path):
    x = [np.ones((64, 48), "f4")]
    plain = openatc.Session(golden)
    plain.run(x)
    untimed = openatc.Session(golden, timed=False)
    _, _, quadrupled = untimed.run(x)
    assert untimed.npu["cycles"] == 0 and quadrupled.any()
    idle = openatc.Session(golden, functional=False)
    idle.run(x)
    assert idle.npu["cycles"] == plain.npu["cycles"] > 0
    # The 310P3 cannot bring weights into L2 ahead of their use.
    assert plain.npu["l2"]["prefetched_bytes"] == 0
    table = tmp_path / "prefetching.soc"
    table.write_text("base = Ascend310P3\nname = Prefetching\nl2Prefetch = 1\n")
    brought = []
    for prefetch in (False, True):
        session = openatc.Session(golden, soc_file=table, prefetch=prefetch)
        session.run(x)
        brought.append(session.npu["l2"]["prefetched_bytes"])
    assert brought[0] == 0 < brought[1]


def test_timeline(golden, tmp_path):
    session = openatc.Session(golden)
    session.run([np.ones((64, 48), "f4")])
    session.timeline(tmp_path / "t.json")
    trace = json.loads((tmp_path / "t.json").read_text())
    assert {"double", "quadruple", "move"} <= {event["name"] for event in trace["traceEvents"]}
    assert "dropped_spans" not in trace["otherData"]
    few = openatc.Session(golden, timeline_spans=2)
    few.run([np.ones((64, 48), "f4")])
    few.timeline(str(tmp_path / "few.json"))
    assert json.loads((tmp_path / "few.json").read_text())["otherData"]["dropped_spans"] > 0


def test_report(digits_npu, pictures, tmp_path):
    session = openatc.Session(digits_npu)
    session.run([pictures[0]])
    session.report(path=tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "Ascend310P3" in page
    name = next(launch.name for launch in digits_npu.launches if launch.npu)
    assert name.split("/")[-1] in page


def test_hazards_are_found():
    hand = programs_by_hand()
    weights, x = hand.inputs()

    def session_of(model, flag):
        text = model.format(weights=weights.tobytes().hex().upper(), soc="Ascend310P3", flag=flag,
                            a_offset=0)
        session = openatc.Session(openatc.parse(text).compile(soc="Ascend310P3"),
                                  check_hazards=True)
        return session, session.run([x])[0]

    session, y = session_of(hand.MODEL, hand.FLAG)
    np.testing.assert_allclose(y, hand.expected(), rtol=2e-3, atol=2e-3)
    assert session.hazards() == []
    # Without the flag nothing keeps the loads from L1 behind the moves into it.
    session, _ = session_of(hand.MODEL.replace("npu.wait_flag mte2 to mte1 id 0", ""), "")
    lines = session.hazards()
    assert lines and any("'first'" in line for line in lines)


def test_session_errors(digits, golden, tmp_path):
    for option in ({"check_hazards": True}, {"functional": False}, {"timed": False},
                   {"prefetch": False}, {"soc_file": tmp_path / "x.soc"}):
        error = error_text(openatc.Session, digits, **option)
        assert error.code == "E10057" and "soc=" in str(error)
    session = openatc.Session(digits)
    assert session.npu is None
    for call in (session.hazards, lambda: session.timeline(tmp_path / "t"),
                 lambda: session.report(tmp_path / "t")):
        assert error_text(call).code == "E10057"
    assert not (tmp_path / "t").exists()
    session = openatc.Session(golden)
    assert "check_hazards=True" in str(error_text(session.hazards))
    for write in (session.timeline, session.report):
        assert error_text(write, tmp_path / "no folder" / "x").code == "E13004"
        with pytest.raises(TypeError):
            write(3)
    assert error_text(openatc.Session, golden, soc_file=tmp_path / "none.soc").code == "E10001"


# --- compare -------------------------------------------------------------------------------

def test_compare(digits_npu, digits_onnx, pictures):
    comparison = openatc.compare(digits_npu, digits_onnx, [pictures[3]], tolerance=0.01)
    assert comparison.agree and len(comparison.errors) > 3, comparison
    assert comparison.errors[-1].tensor == "scores"
    assert any(digits_npu.launches[error.launch].npu for error in comparison.errors)
    assert 0 < comparison.errors[-1].of_range < 0.01


# --- quantized networks --------------------------------------------------------------------

@pytest.mark.parametrize("soc", SOCS)
def test_a_quantized_network_stays_on_the_npu(digits_onnx, pictures, soc):
    # The cube cannot compute all of it in int8, so it computes it in floats.
    quantized = openatc.quantize(digits_onnx, pictures)
    session = openatc.Session(quantized.compile(soc=soc), check_hazards=True)
    for digit in (3, 8):
        assert session.run([pictures[digit]])[0].argmax() == digit
    assert session.npu["macs_npu"] == session.npu["macs_model"]
    assert session.hazards() == []
