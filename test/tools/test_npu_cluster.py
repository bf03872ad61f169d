"""npu-cluster: plans for a network on a cluster, their conversion, and what is wrong with files."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import ROOT, call, tool  # noqa: E402

EXAMPLES = ROOT / "examples" / "cluster"
LARGE = EXAMPLES / "transformer-200b.json"


def plan(cluster, network, *flags):
    code, out, err = call(tool("npu-cluster"), EXAMPLES / cluster, network, "--json", *flags)
    assert code == 0, err
    return json.loads(out)


def test_a_transformer_of_200_b_is_planned_and_converted(tmp_path):
    begin = time.monotonic()
    trained = plan("servers-2048.json", LARGE, "--plan=training")
    (tmp_path / "trained.json").write_text(json.dumps(trained))
    served = plan("servers-of-8.json", LARGE, "--plan=inference", "--devices=64", "--batch=64",
                  f"--convert={tmp_path}/trained.json")
    assert time.monotonic() - begin < 60
    for answer, devices in ((trained, 2048), (served, 64)):
        best = answer["plans"][0]
        assert best["tp"] * best["pp"] * best["dp"] == devices == answer["devices"]
        for each in answer["plans"]:
            memory = each["memory_bytes"]
            assert memory["total"] <= answer["device_memory_bytes"] <= 32e9
            assert memory["total"] == pytest.approx(sum(memory.values()) - memory["total"])
            assert each["step_ms"] == pytest.approx(sum(each["time_ms"].values()))
        steps = [each["step_ms"] for each in answer["plans"]]
        assert steps == sorted(steps)
    # The ranks of a replica read every share of every layer once.
    best = served["plans"][0]
    assert len(served["conversion"]) == best["tp"] * best["pp"]
    shares = [0.0] * best["layers"]
    for rank in served["conversion"]:
        for read in rank["reads"]:
            for layer in range(*read["layers"]):
                shares[layer] += read["share"][1] - read["share"][0]
    assert shares == pytest.approx([1.0] * len(shares))


def test_the_table_says_what_the_next_best_costs():
    code, out, _ = call(tool("npu-cluster"), EXAMPLES / "servers-of-8.json", LARGE,
                        "--plan=inference", "--devices=64", "--batch=64")
    assert code == 0
    assert "the next best, tp:" in out and "longer" in out
    assert "memory of the fullest device: weights" in out


@pytest.mark.parametrize("network, flags, text", [
    (None, ["--devices=8"], "E10061: no division of"),
    (None, ["--devices=64", "--convert=none.json"], "E13018: the plan 'none.json' cannot be used"),
    ({"transformer": {"layers": 2}}, [], "E13018: the file"),
    ({"layers": [{"macs": 1e9, "wheels": 4}]}, [], "layer 0: 'wheels' is no field of it"),
])
def test_what_cannot_be_planned_is_one_coded_line(tmp_path, network, flags, text):
    file = LARGE
    if network:
        file = tmp_path / "network.json"
        file.write_text(json.dumps(network))
    code, out, err = call(tool("npu-cluster"), EXAMPLES / "servers-of-8.json", file,
                          "--plan=inference", "--batch=64", *flags)
    assert code == 1 and text in err and len(err.splitlines()) == 1


def test_a_plan_of_another_network_is_not_converted(tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps(
        {"tp": 1, "pp": 1, "dp": 1, "stages": [0], "layers": 3}))
    code, _, err = call(tool("npu-cluster"), EXAMPLES / "servers-of-8.json", LARGE,
                        "--plan=inference", "--devices=64", "--batch=64",
                        f"--convert={tmp_path}/plan.json")
    assert code == 1 and "another number of layers" in err
