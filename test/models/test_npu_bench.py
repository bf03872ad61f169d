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
        assert row["start"] > 0 and row["layers"] >= 1 and row["times_bound"] >= 1, row


def test_a_layer_counts_for_what_is_busiest_in_it():
    uses = dict.fromkeys(npu_bench.RESOURCES, 0.0)
    layers = [{"cycles": 300, "uses": uses | {"cube": 0.5, "vector": 0.25}},  # 100 of them start the run
              {"cycles": 400, "uses": uses | {"gm to L1, UB": 0.5, "DDR": 0.48}},  # waits for DDR
              {"cycles": 300, "uses": uses | {"L2 write": 0.2, "L1 to L0": 0.1}}]
    shares = npu_bench.shares_of({"cycles": 1000, "stalls": {"start_cycles": 100}, "per_launch": layers})
    assert shares == pytest.approx({"start": 0.1, "cube": 0.15, "ddr": 0.2, "stores": 0.06, "waits": 0.49,
                                    "loads": 0, "l1_to_l0": 0, "vector": 0})


def test_drawn_tiles_are_counted():
    row, = rows("tiles", "--cases", "80")
    assert row["cases"] == 80 and 72 <= row["tiles"] + row["boxes"] <= 80
    assert min(row[name] for name in ("other_steps", "other_cores", "other_order", "divided_depth", "other_buffers")) > 0, row
