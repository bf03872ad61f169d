# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs `.om` files: `python3 -m ais_bench --model x.om`, and ais_bench.infer.interface."""
