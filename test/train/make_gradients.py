#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes gradients.npz: PyTorch's gradients of the cases in gradient_cases.py. Needs torch."""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from gradient_cases import CASES, RANDOM

arrays = {}
for case in [*CASES, *RANDOM]:
    inputs = [torch.tensor(value, dtype=torch.float64 if case.name != "cast" else torch.float32,
                           requires_grad=True) for value in case.values()]
    result = case.formula(torch, F, *inputs)
    assert tuple(result.shape) == tuple(case.result), (case.name, result.shape)
    loss = (result * torch.tensor(case.weights(), dtype=result.dtype)).sum()
    gradients = (torch.autograd.grad(loss, inputs, allow_unused=True) if loss.requires_grad
                 else [None] * len(inputs))
    for index, (value, gradient) in enumerate(zip(inputs, gradients)):
        gradient = torch.zeros_like(value) if gradient is None else gradient
        arrays[f"{case.name}.{chr(97 + index)}"] = gradient.numpy().astype(np.float32)
np.savez_compressed(Path(__file__).parent / "gradients.npz", **arrays)
print(len(CASES) + len(RANDOM), "cases")
