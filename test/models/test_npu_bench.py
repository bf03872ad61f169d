# npu_bench.py: where the time of a network goes, and drawn tiles. Run with `pytest test/models`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("numpy", reason="test/bench/npu_bench.py needs numpy")
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
sys.path.insert(0, str(ROOT / "test" / "bench"))
import npu_bench  # noqa: E402


def rows(*arguments):
    done = subprocess.run([sys.executable, ROOT / "test" / "bench" / "npu_bench.py", *arguments, "--json",
                           "--build", BUILD], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_shares_are_the_whole_time():
    found = rows("shares", "--soc", "Ascend310P3,Ascend910B1", "--batch", "1,4",
                 str(ROOT / "examples" / "digits" / "digits.onnx"))
    assert [(row["soc"], row["batch"]) for row in found] == [
        (soc, batch) for soc in ("Ascend310P3", "Ascend910B1") for batch in (1, 4)]
    for row in found:
        shares = [row[name] for name in ("start", *dict.fromkeys(npu_bench.RESOURCES.values()), "waits")]
        assert all(0 <= share <= 1 for share in shares), row
        assert abs(sum(shares) - 1) < 1e-6, row
        assert row["start"] > 0 and row["layers"] >= 1 and row["times_bound"] >= row["times_layers_bound"] >= 1, row


def test_nothing_that_costs_less_makes_a_network_slower():
    digits = str(ROOT / "examples" / "digits" / "digits.onnx")
    found = rows("whatif", "--soc", "Ascend310P3,Ascend910B1", "--batch", "4", digits)
    assert [row["soc"] for row in found] == ["Ascend310P3", "Ascend910B1"]
    for row in found:
        assert all(row[what] >= 0.999 for what in npu_bench.FREE), row
        assert row["latencies"] > 1, row


def test_a_layer_counts_for_what_is_busiest_in_it():
    uses = dict.fromkeys(npu_bench.RESOURCES, 0.0)
    layers = [{"cycles": 300, "uses": uses | {"cube": 0.5, "vector": 0.25}},  # 100 of them start the run
              {"cycles": 400, "uses": uses | {"gm to L1, UB": 0.5, "DDR": 0.48}},  # waits for DDR
              {"cycles": 300, "uses": uses | {"L2 write": 0.2, "L1 to L0": 0.1}}]
    shares = npu_bench.shares_of({"cycles": 1000, "stalls": {"start_cycles": 100}, "per_launch": layers})
    assert shares == pytest.approx({"start": 0.1, "cube": 0.15, "ddr": 0.2, "stores": 0.06, "waits": 0.49,
                                    "loads": 0, "l1_to_l0": 0, "vector": 0})


def test_no_layer_is_faster_than_the_cube_or_its_tensors():
    table = {"cubeCores": 2, "ddrPeak": 10, "ddrEfficiency": 0.5, "l2Read": 100, "l2Write": 50, "l2Bytes": 1000, "runCycles": 7}
    part = lambda space, size: {"space": space, "size": size}
    cube = {"macs": 4096 * 2 * 30, "args": [part("arena", 200), part("weights", 100), part("arena", 300)]}
    stores = {"macs": 0, "args": [part("arena", 200), part("arena", 5000)]}
    large = {"macs": 4096, "args": [part("arena", 200), part("weights", 1500), part("arena", 300)]}
    lookup = {"macs": 0, "args": [part("weights", 10**9), part("io", 8), part("arena", 100)]}
    assert npu_bench.layers_bound([cube, stores], table) == 7 + 30 + 50
    assert npu_bench.layers_bound([large], table) == 7 + 150  # DDR's time for all weights
    assert npu_bench.layers_bound([cube, stores, large], table) == 7 + max(30 + 50 + 50, 160)
    assert npu_bench.layers_bound([lookup], table) == 7 + 10


def test_drawn_tiles_are_counted():
    row, = rows("tiles", "--cases", "80")
    assert row["cases"] == 80 and 72 <= row["tiles"] + row["boxes"] <= 80
    assert min(row[name] for name in ("other_steps", "other_cores", "other_order", "divided_depth", "other_buffers")) > 0, row
