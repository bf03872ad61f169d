# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models on many SoCs, batches and precisions."""

import json

import pytest

from openatc import sweep


def test_points(digits_onnx):
    points = sweep.sweep(digits_onnx, socs=["Ascend310P3", "Ascend910B1"], batches=[1, 8],
                         prices={"Ascend310P3": 100}, with_energy=True)
    assert [(p.soc, p.batch) for p in points] == [
        ("Ascend310P3", 1), ("Ascend310P3", 8), ("Ascend910B1", 1), ("Ascend910B1", 8)]
    for point in points:
        assert point.error == "" and point.ms > 0 and point.macs_share == 1
        assert point.per_second == pytest.approx(1e3 * point.batch / point.ms)
        assert point.energy_uj > 0
        assert (point.per_price is None) == (point.soc != "Ascend310P3")
    assert points[1].per_second > 4 * points[0].per_second
    assert points[1].energy_uj > points[0].energy_uj


def test_tables_are_swept(digits_onnx):
    slow, fast = sweep.sweep(digits_onnx, socs=["Ascend310P3"],
                             parameters={"runCycles": [1060000, 106000]})
    assert slow.parameters == {"runCycles": "1060000"}
    assert slow.ms == pytest.approx(fast.ms + 0.9, abs=1e-3)
    bad, = sweep.sweep(digits_onnx, socs=["Ascend310P3"], parameters={"l2Bytes": [-1]})
    assert "l2Bytes" in bad.error and bad.ms == 0


def test_command_line(digits_onnx, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert sweep.main([str(digits_onnx), "--batch", "1..2", "--html", str(page)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[0].startswith("soc ") and "100.0" in lines[1]
    assert page.read_text().count("<tr>") == 3
    assert sweep.main([str(digits_onnx), "--soc", "Ascend9,Ascend310P3", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["points"]
    assert "Ascend9" in first["error"] and second["error"] == ""
    assert sweep.main([str(digits_onnx), "--soc", "Ascend9"]) == 1
    assert sweep.main(["missing.onnx"]) == 1
    assert capsys.readouterr().err.startswith("E10410: ")


@pytest.mark.parametrize("flags", [["--batch", "0"], ["--batch", "x"], ["--jobs", "-1"], ["--precision", "f8"],
                                   ["--set", "l2Bytes"], ["--price", "Ascend310P3=x"]])
def test_bad_flags(digits_onnx, flags, capsys):
    with pytest.raises(SystemExit) as ended:
        sweep.main([str(digits_onnx), *flags])
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("E10001: ")


def test_energy():
    figures = {"macs_executed": 1000, "moved_bytes": {"l1 -> l0a": 100, "ub -> ub": 10},
               "l2": {"hit_bytes": 8, "missed_bytes": 2}, "ddr": {"read_bytes": 1, "written_bytes": 1}}
    parts = sweep.energy(figures)
    table = sweep.ENERGY
    assert parts["cube"] == pytest.approx(1e-3 * table["mac_f16"])
    assert parts["L2"] == pytest.approx(1e-5 * table["L2"])
    assert parts["sum"] == pytest.approx(sum(v for k, v in parts.items() if k != "sum"))
    assert sweep.energy(figures, int8=True)["cube"] < parts["cube"]
    assert sweep.energy(figures, hbm=True)["DDR"] < parts["DDR"]
    assert sweep.energy(figures, table={**table, "L2": 0.0})["L2"] == 0
