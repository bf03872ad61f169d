# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An estimate of the energy of a simulated run, from published figures per operation and byte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ENERGY: dict[str, float] = {
    "mac_f16": 1.5, "mac_int8": 0.23, "vector_f16": 0.4,
    "L0A": 3.1, "L0B": 3.1, "L0C": 3.1, "L1": 12.5, "UB": 6.3, "L2": 25.0,
    "DDR": 160.0, "HBM": 31.0,
}
"""pJ per multiply-accumulate, per element of the vector unit, and per byte read or written. MACs,
additions, SRAMs of 64 KB to 1 MB (per 64 bits, divided by 8) and DRAM are those of M. Horowitz,
"Computing's energy problem", ISSCC 2014, at 45 nm; HBM is 3.9 pJ per bit (M. O'Connor et al., MICRO
2017). No vendor has published figures of these chips: use sums to compare programs, not to plan a
power supply."""


def energy(figures: Mapping[str, Any], *, int8: bool = False, hbm: bool = False,
           table: Mapping[str, float] = ENERGY) -> dict[str, float]:
    """Microjoules of a run by where they are spent, and their sum.

    `figures` are those of a session's `npu` or of a simulation; `int8`: the cube multiplies
    8-bit integers; `hbm`: the memory is HBM.
    """
    parts = {"cube": float(figures["macs_executed"]) * table["mac_int8" if int8 else "mac_f16"]}
    local = vector = 0.0
    for pair, count in figures["moved_bytes"].items():
        source, _, target = pair.partition(" -> ")
        local += count * (table.get(source.upper(), 0) + table.get(target.upper(), 0))
        if source.upper() == target.upper() == "UB":
            vector += count / 2 * table["vector_f16"]
    parts["vector"], parts["local memories"] = vector, local
    l2 = figures["l2"]
    parts["L2"] = (l2["hit_bytes"] + l2["missed_bytes"]) * table["L2"]
    ddr = figures["ddr"]
    parts["DDR"] = (ddr["read_bytes"] + ddr["written_bytes"]) * table["HBM" if hbm else "DDR"]
    result = {name: value * 1e-6 for name, value in parts.items()}
    result["sum"] = sum(result.values())
    return result
