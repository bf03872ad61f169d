# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests single operators: cases from a file, runs on the NPU and on the CPU, comparison with a
reference, report. The command is msopst."""
