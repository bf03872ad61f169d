# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the npu dialect on the simulated NPU."""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass, field
from typing import Any

from ._compile import Path

from . import _compiler  # isort: skip  (which _compile has loaded)


@dataclass(frozen=True)
class Simulation:
    """A simulated run of the programs of a module."""

    figures: dict[str, Any]
    """All figures, as `npu-sim --json` prints them."""
    hazards: list[str]
    """Accesses to the same bytes that nothing orders, one line each."""
    html: str = field(repr=False)
    """A page on where the time went."""
    timeline: str = field(repr=False)
    """A trace for ui.perfetto.dev, JSON."""

    @property
    def microseconds(self) -> float:
        """The simulated time."""
        return float(self.figures["ms"]) * 1e3

    @property
    def bound_by(self) -> str:
        """The busiest resource, "start", or "waits" where nothing is busy half of the time."""
        return str(self.figures["bound_by"])


def simulate(program: Path, *, soc: str = "", soc_file: Path = "", schedule: bool = False,
             check_hazards: bool = True, warmup: int = 0) -> Simulation:
    """Checks and simulates the npu programs of a file, or of the text of a module.

    `soc` or `soc_file` (a table) is simulated in place of the SoC that the programs name;
    `schedule` selects buffers, allocates memory and inserts flags first; `warmup` runs come before
    the one that is reported. Errors of the programs are an `openatc.Error`.
    """
    if isinstance(program, str) and "\n" in program:
        name, text = "program", program
    else:
        name, text = os.fspath(program), pathlib.Path(program).read_text()
    figures, html, timeline, hazards = _compiler.simulate_programs(
        name, text, soc, os.fspath(soc_file), schedule, check_hazards, warmup)
    return Simulation(json.loads(figures), hazards, html, timeline)
