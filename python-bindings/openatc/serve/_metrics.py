# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Metrics of inferences, in the registry that MLServer's /metrics route shows."""

from __future__ import annotations

from functools import cache

from prometheus_client import Histogram

_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)


@cache
def _histograms() -> tuple[Histogram, Histogram]:
    # Made with the first model: MLServer decides before that how worker processes share values.
    labels = ["model_name", "model_version"]
    return (Histogram("openatc_run_seconds", "Seconds per inference, with all of its rows", labels,
                      buckets=_SECONDS),
            Histogram("openatc_batch_rows", "Rows per inference", labels, buckets=_ROWS))


def observe(model: str, version: str | None, seconds: float, rows: int) -> None:
    """Counts one inference."""
    for histogram, value in zip(_histograms(), (seconds, rows)):
        histogram.labels(model, version or "").observe(value)
