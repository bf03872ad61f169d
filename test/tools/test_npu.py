# Files with NPU programs, from a schedule with programs written by hand to their
# results on the simulated NPU. Run with `pytest test/tools`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/common"))
import openatc_tools  # noqa: E402
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
N = 32

# c = relu(a x b) in f16 on one core, with flags between the queues.
MATMUL = """npu.program @matmul(%a: !npu.buffer<gm, 2048>, %b: !npu.buffer<gm, 2048>,
                    %c: !npu.buffer<gm, 2048>) grid(%x = 1) soc "{soc}" {{
  %la = npu.alloc {{offset = 0}} : !npu.buffer<l1, 2048>
  %lb = npu.alloc {{offset = 2048}} : !npu.buffer<l1, 2048>
  %l0a = npu.alloc {{offset = 0}} : !npu.buffer<l0a, 2048>
  %l0b = npu.alloc {{offset = 0}} : !npu.buffer<l0b, 2048>
  %l0c = npu.alloc {{offset = 0}} : !npu.buffer<l0c, 4096>
  %u = npu.alloc {{offset = 0}} : !npu.buffer<ub, 2048>
  npu.move_nd2nz %la, %a {{offsets = [#npu.affine<0>, #npu.affine<{a_offset}>],
    rows = #npu.range<32>, cols = #npu.range<32>, type = f16, src_row = 64, dst_col = 1024}}
    : !npu.buffer<l1, 2048>, !npu.buffer<gm, 2048>
  npu.move_nd2nz %lb, %b {{offsets = [#npu.affine<0>, #npu.affine<0>],
    rows = #npu.range<32>, cols = #npu.range<32>, type = f16, src_row = 64, dst_col = 1024}}
    : !npu.buffer<l1, 2048>, !npu.buffer<gm, 2048>
  {flag}
  npu.wait_flag mte2 to mte1 id 0
  npu.load2d %l0a, %la {{offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<2>,
    inner = #npu.range<2>, dst_outer = 1024, dst_inner = 512, src_outer = 512, src_inner = 1024}}
    : !npu.buffer<l0a, 2048>, !npu.buffer<l1, 2048>
  npu.load2d %l0b, %lb {{offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<2>,
    inner = #npu.range<2>, dst_outer = 1024, dst_inner = 512, src_outer = 512, src_inner = 1024,
    transpose}} : !npu.buffer<l0b, 2048>, !npu.buffer<l1, 2048>
  npu.set_flag mte1 to m id 0
  npu.wait_flag mte1 to m id 0
  npu.mmad %l0c, %l0a, %l0b {{offsets = [#npu.affine<0>, #npu.affine<0>, #npu.affine<0>],
    m = #npu.range<32>, n = #npu.range<32>, k = #npu.range<32>, type = f16, first = array<i64>,
    dst_col = 2048, a_row = 1024, b_row = 1024}}
    : !npu.buffer<l0c, 4096>, !npu.buffer<l0a, 2048>, !npu.buffer<l0b, 2048>
  npu.set_flag m to v id 0
  npu.wait_flag m to v id 0
  npu.move_l0c %u, %l0c {{offsets = [#npu.affine<0>, #npu.affine<0>], m = #npu.range<32>,
    n = #npu.range<32>, type = f32, dst_type = f16, relu, src_col = 2048, dst_row = 64, dst_col = 32}}
    : !npu.buffer<ub, 2048>, !npu.buffer<l0c, 4096>
  npu.set_flag v to mte3 id 0
  npu.wait_flag v to mte3 id 0
  npu.move %c, %u {{offsets = [#npu.affine<0>, #npu.affine<0>], outer = #npu.range<1>,
    inner = #npu.range<1>, bytes = #npu.range<2048>}} : !npu.buffer<gm, 2048>, !npu.buffer<ub, 2048>
}}
"""

# CPU: y is cast; NPU: relu(y x w), then that x w again in the same task; CPU: cast back.
MODEL = MATMUL + """
func.func @main(%in: memref<32x32xf32> {{om.name = "x"}},
                %out: memref<32x32xf32> {{om.name = "y", om.output}}) {{
  %w = om.weight dense<"0x{weights}"> : tensor<32x32xf16> : memref<32x32xf16>
  %h = om.alloc : memref<32x32xf16>
  %p = om.alloc : memref<32x32xf16>
  %q = om.alloc : memref<32x32xf16>
  kernel.map %in outs %h : memref<32x32xf32>, memref<32x32xf16> {{
  ^bb0(%v: f32):
    %r = arith.truncf %v : f32 to f16
    kernel.yield %r : f16
  }}
  om.launch @matmul(%h, %w, %p) prefetch(%w : memref<32x32xf16>)
    {{cost = 65536 : i64, tensor = tensor<32x32xf16>}}
    : memref<32x32xf16>, memref<32x32xf16>, memref<32x32xf16> loc("first")
  om.launch @matmul(%p, %w, %q) {{chained, cost = 65536 : i64, tensor = tensor<32x32xf16>}}
    : memref<32x32xf16>, memref<32x32xf16>, memref<32x32xf16> loc("second")
  kernel.map %q outs %out : memref<32x32xf16>, memref<32x32xf32> {{
  ^bb0(%v: f16):
    %r = arith.extf %v : f16 to f32
    kernel.yield %r : f32
  }}
  return
}}
"""
FLAG = "npu.set_flag mte2 to mte1 id 0"


def tool(name, *args, cwd=None):
    return subprocess.run([openatc_tools.tool(name), *map(str, args)], cwd=cwd, capture_output=True,
                          text=True, timeout=300)


def inputs():
    rng = np.random.default_rng(7)
    weights = (rng.integers(-8, 9, (N, N)) / 32).astype(np.float16)
    return weights, (rng.integers(-16, 17, (N, N)) / 16).astype(np.float32)


def write(folder, weights, soc="Ascend310P3", flag=FLAG, a_offset=0, text=MODEL):
    (folder / "m.mlir").write_text(text.format(weights=weights.tobytes().hex().upper(), soc=soc,
                                               flag=flag, a_offset=a_offset))


def compile_(folder, *flags):
    return tool("atc", "--model=m.mlir", "--output=m", "--soc_version=Ascend310P3", *flags, cwd=folder)


@pytest.fixture
def built(tmp_path):
    weights, x = inputs()
    write(tmp_path, weights)
    result = compile_(tmp_path)
    assert result.returncode == 0, result.stdout
    np.save(tmp_path / "x.npy", x)
    return tmp_path


def run(folder, *flags):
    result = tool("om-run", folder / "m.om", "--input", folder / "x.npy", "--output", folder / "out",
                  *flags)
    assert result.returncode == 0, result.stderr
    return result.stdout, np.load(folder / "out" / "y.npy")


def expected():
    weights, x = inputs()
    w = weights.astype(np.float32)
    p = np.maximum(x.astype(np.float16).astype(np.float32) @ w, 0).astype(np.float16)
    return np.maximum(p.astype(np.float32) @ w, 0).astype(np.float16).astype(np.float32)


def test_runs_on_cpu_and_npu(built):
    text, y = run(built)
    np.testing.assert_allclose(y, expected(), rtol=2e-3, atol=2e-3)
    assert y.max() > 0.5 and (y == 0).any()
    assert "simulated Ascend310P3 (the first run: L2 is empty" in text
    later, _ = run(built, "--loop", "2")
    assert "simulated Ascend310P3 (the last run: L2 holds what the one before left)" in later


def test_json_of_the_npu(built):
    text, _ = run(built, "--json", "--loop", "2")
    npu = json.loads(text)["npu"]
    assert npu["soc"] == "Ascend310P3"
    assert npu["launches"] == 2
    assert not npu["first_run"]
    assert json.loads(run(built, "--json")[0])["npu"]["first_run"]
    assert npu["macs_npu"] == 2 * N**3
    assert npu["macs_npu"] <= npu["macs_total"]
    assert npu["macs_share"] == pytest.approx(npu["macs_npu"] / npu["macs_total"])
    assert npu["cycles"] > 500
    assert npu["ms"] == pytest.approx(npu["cycles"] / 1060e3, rel=1e-3)
    assert npu["queues"]["M"]["busy_cycles"] > 0
    assert npu["l2"]["hit_bytes"] > 0
    assert npu["bound"]["what"] in ("cube", "ddr")
    bound, rounding = npu["bound"]["ms"], 5e-7
    assert npu["ms"] / (bound + rounding) <= npu["times_bound"] <= npu["ms"] / (bound - rounding)
    assert [launch["name"] for launch in npu["per_launch"]] == ["first", "second"]
    # The second launch goes on in the task of the first.
    assert npu["per_launch"][1]["cycles"] < npu["per_launch"][0]["cycles"]
    assert sum(launch["cycles"] for launch in npu["per_launch"]) == pytest.approx(npu["cycles"], abs=1)


def test_time_and_results_can_be_left_out(built):
    json_of = lambda *flags: json.loads(run(built, "--json", *flags)[0])["npu"]
    _, y = run(built, "--no-time")
    np.testing.assert_allclose(y, expected(), rtol=2e-3, atol=2e-3)
    assert json_of("--no-time")["cycles"] == 0
    assert json_of("--no-functional")["cycles"] == json_of()["cycles"]


def test_timeline(built):
    run(built, "--timeline", built / "t.json")
    events = json.loads((built / "t.json").read_text())["traceEvents"]
    names = {event["name"] for event in events}
    assert {"first", "second", "mmad", "move_nd2nz"} <= names


def test_report(built):
    run(built, "--report", built / "r.html")
    page = (built / "r.html").read_text()
    assert "<html" in page and "Ascend310P3" in page and "second" in page


def test_disassembly(built):
    result = tool("om-dump", "--disassemble", built / "m.om")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert any(line.startswith("program `matmul`: 1 cores") or "`matmul`" in line for line in lines)
    for word in ("move_nd2nz", "load2d", "mmad", "move_l0c", "set_flag"):
        assert any(word in line for line in lines)


def test_another_table(built):
    (built / "fast.soc").write_text("base = Ascend310P3\nname = Fast\nmhz = 4240\n")
    npu = json.loads(run(built, "--json", "--soc-file", built / "fast.soc")[0])["npu"]
    assert npu["soc"] == "Fast"
    assert npu["ms"] == pytest.approx(npu["cycles"] / 4240e3, rel=1e-3)
    (built / "bad.soc").write_text("base = Ascend310P3\nwheels = 4\n")
    result = tool("om-run", built / "m.om", "--soc-file", built / "bad.soc")
    assert result.returncode == 1
    assert result.stderr.startswith("E10001:") and "bad.soc:2" in result.stderr


def test_hazards(tmp_path):
    weights, x = inputs()
    write(tmp_path, weights)
    assert compile_(tmp_path).returncode == 0
    result = tool("om-run", tmp_path / "m.om", "--check-hazards")
    assert result.returncode == 0, result.stderr
    # Without the flag nothing keeps the loads from L1 behind the moves into it.
    text = MODEL.replace("npu.wait_flag mte2 to mte1 id 0", "")
    write(tmp_path, weights, flag="", text=text)
    assert compile_(tmp_path).returncode == 0
    result = tool("om-run", tmp_path / "m.om", "--check-hazards")
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert lines and all(line.startswith("E19999: hazard in launch") for line in lines)
    assert any("'first'" in line for line in lines)


def test_npu_options_need_an_npu_model():
    golden = ROOT / "test" / "runtime-lite" / "golden" / "schema-1.0.om"
    result = tool("om-run", golden, "--no-functional")
    assert result.returncode == 1
    assert result.stderr.startswith("E10057:")


def test_dump(built):
    result = tool("om-dump", built / "m.om")
    assert result.returncode == 0, result.stderr
    assert "NPU programs for Ascend310P3" in result.stdout
    assert "program matmul" in result.stdout and "chained" in result.stdout
    assert "prefetch" not in result.stdout
    assert "prefetch weights+0 (2048)" in tool("om-dump", "--tensors", built / "m.om").stdout
    dump = json.loads(tool("om-dump", "--json", built / "m.om").stdout)
    assert dump["soc"] == "Ascend310P3" and dump["soc_table"] == ""
    assert dump["npu_programs"][0]["arguments"] == [2048] * 3
    assert [step["kind"] for step in dump["schedule"]] == ["launch", "npu_launch", "npu_launch", "launch"]


def test_table_of_the_user(tmp_path):
    weights, x = inputs()
    write(tmp_path, weights, soc="Mine")
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "mine.soc").write_text("base = Ascend310P3\nname = Mine\nmhz = 2000\n")
    result = tool("atc", "--model=m.mlir", "--output=m", "--soc_file=mine.soc", cwd=tmp_path)
    assert result.returncode == 0, result.stdout
    text, y = run(tmp_path, "--json")
    np.testing.assert_allclose(y, expected(), rtol=2e-3, atol=2e-3)
    assert json.loads(text)["npu"]["soc"] == "Mine"


def test_programs_that_cannot_run_are_not_written(tmp_path):
    weights, _ = inputs()
    write(tmp_path, weights, a_offset=64)
    result = compile_(tmp_path)
    assert result.returncode == 1
    assert "E19999" in result.stdout and "'matmul'" in result.stdout
    assert "instruction 0 (move_nd2nz)" in result.stdout
    assert not (tmp_path / "m.om").exists()


@pytest.mark.parametrize("flags, code, words", [
    (["--soc_version=Ascend9"], "E10001", "Ascend310B1, Ascend310P3"),
    (["--soc_version=Ascend310P3", "--soc_file=none.soc"], "E10410", "none.soc"),
    (["--soc_version=Ascend310P3", "--soc_file=bad.soc"], "E10001", "bad.soc:2"),
    (["--soc_version=Ascend310P3", "--precision_mode=half"], "E10001", "must_keep_origin_dtype"),
    (["--soc_version=Ascend310P3", "--precision_mode=allow_mix_precision_bf16"], "E10055",
     "allow_mix_precision_fp16"),
    (["--target=npu"], "E10007", "--soc_version"),
])
def test_bad_flags(tmp_path, flags, code, words):
    weights, _ = inputs()
    write(tmp_path, weights)
    (tmp_path / "bad.soc").write_text("mhz = 900\nmhz = fast\n")
    result = tool("atc", "--model=m.mlir", "--output=m", *flags, cwd=tmp_path)
    assert result.returncode == 1
    errors = [line for line in result.stdout.splitlines() if line.startswith("E")]
    assert errors and all(line.startswith(code) for line in errors), errors
    assert words in errors[0]


@pytest.mark.parametrize("mode", ["force_fp16", "allow_fp32_to_fp16", "must_keep_origin_dtype",
                                  "cube_fp16in_fp32out"])
def test_precision_modes_are_taken(built, mode):
    result = compile_(built, "--precision_mode=" + mode)
    assert result.returncode == 0, result.stdout
    assert "W10055" not in result.stdout
