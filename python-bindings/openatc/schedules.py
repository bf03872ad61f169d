# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Learning-rate schedules for `openatc.train`: functions of the number of an update, from 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Schedule = Callable[[int], float]
"""Returns the learning rate of an update, counted from 0."""

__all__ = ["Schedule", "constant", "cosine", "linear", "steps"]


def constant(rate: float) -> Schedule:
    """Returns a schedule with one learning rate."""
    return lambda step: rate


def cosine(peak: float, steps: int, *, warmup: int = 0, final: float = 0.0) -> Schedule:
    """Returns a schedule that rises to `peak` in `warmup` updates and falls to `final` along half
    a cosine until update `steps`."""
    def rate(step: int) -> float:
        if step < warmup:
            return peak * (step + 1) / warmup
        done = min(1.0, (step - warmup) / max(1, steps - warmup))
        return final + (peak - final) * (0.5 + 0.5 * math.cos(math.pi * done))
    return rate


def linear(peak: float, steps: int, *, warmup: int = 0, final: float = 0.0) -> Schedule:
    """Returns a schedule that rises to `peak` in `warmup` updates and falls to `final` along a line
    until update `steps`."""
    def rate(step: int) -> float:
        if step < warmup:
            return peak * (step + 1) / warmup
        done = min(1.0, (step - warmup) / max(1, steps - warmup))
        return peak + (final - peak) * done
    return rate


def steps(peak: float, milestones: Sequence[int], *, factor: float = 0.1) -> Schedule:
    """Returns a schedule that multiplies the learning rate by `factor` at every milestone."""
    return lambda step: peak * factor ** sum(step >= each for each in milestones)
