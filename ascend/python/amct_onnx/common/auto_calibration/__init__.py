# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calibration that leaves layers float until an evaluator is satisfied."""

from ._evaluator import AutoCalibrationEvaluatorBase
from ._search import accuracy_based_auto_calibration

__all__ = ["AutoCalibrationEvaluatorBase", "accuracy_based_auto_calibration"]
