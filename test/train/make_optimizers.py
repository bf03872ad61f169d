#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes optimizers.npz: the parameter after each of five updates on sum(sin(x * w)^2), per text
of options of train-apply-optimizer. Needs torch; lamb and lars, which it lacks, are written out
from their papers."""

from pathlib import Path

import numpy as np
import torch

X = torch.tensor([1.0, 0.7, -0.4], dtype=torch.float64)
START, RATE, STEPS = [0.5, -1.0, 2.0], 0.1, 5


def loss_of(w):
    return (torch.sin(X * w) ** 2).sum()


def run(make, clip=None):
    w = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    optimizer = make([w])
    values = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss_of(w).backward()
        if clip:
            clip(w)
        optimizer.step()
        values.append(w.detach().numpy().copy())
    return np.array(values, np.float32)


def lamb(decay, beta1=0.9, beta2=0.999, epsilon=1e-6):
    w, m, v, values = torch.tensor(START, dtype=torch.float64), 0, 0, []
    for step in range(1, STEPS + 1):
        w.requires_grad_(True)
        gradient, = torch.autograd.grad(loss_of(w), w)
        w = w.detach()
        m, v = beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient ** 2
        move = (m / (1 - beta1 ** step)) / ((v / (1 - beta2 ** step)).sqrt() + epsilon) + decay * w
        w = w - RATE * w.norm() / move.norm() * move
        values.append(w.numpy().copy())
    return np.array(values, np.float32)


def lars(decay, momentum, trust, epsilon):
    w, buffer, values = torch.tensor(START, dtype=torch.float64), 0, []
    for _ in range(STEPS):
        w.requires_grad_(True)
        gradient, = torch.autograd.grad(loss_of(w), w)
        w = w.detach()
        ratio = trust * w.norm() / (gradient.norm() + decay * w.norm() + epsilon)
        buffer = momentum * buffer + RATE * ratio * (gradient + decay * w)
        w = w - buffer
        values.append(w.numpy().copy())
    return np.array(values, np.float32)


O = torch.optim
np.savez_compressed(Path(__file__).parent / "optimizers.npz", **{
    "kind=sgd": run(lambda p: O.SGD(p, RATE)),
    "kind=sgd momentum=0.9 weight-decay=0.1": run(
        lambda p: O.SGD(p, RATE, momentum=0.9, weight_decay=0.1)),
    "kind=sgd momentum=0.9 dampening=0.5": run(
        lambda p: O.SGD(p, RATE, momentum=0.9, dampening=0.5)),
    "kind=sgd momentum=0.9 nesterov=true": run(
        lambda p: O.SGD(p, RATE, momentum=0.9, nesterov=True)),
    "kind=adam weight-decay=0.1": run(lambda p: O.Adam(p, RATE, weight_decay=0.1)),
    "kind=adamw weight-decay=0.1": run(lambda p: O.AdamW(p, RATE, weight_decay=0.1)),
    "kind=adagrad lr-decay=0.1 epsilon=1e-10": run(lambda p: O.Adagrad(p, RATE, lr_decay=0.1)),
    "kind=lamb weight-decay=0.1 epsilon=1e-6": lamb(0.1),
    "kind=lars momentum=0.9 weight-decay=0.1 trust=0.5": lars(0.1, 0.9, 0.5, 1e-8),
    "kind=sgd clip-norm=0.5": run(lambda p: O.SGD(p, RATE),
                                  lambda w: torch.nn.utils.clip_grad_norm_([w], 0.5)),
    "kind=sgd clip-value=0.2": run(lambda p: O.SGD(p, RATE),
                                   lambda w: torch.nn.utils.clip_grad_value_([w], 0.2)),
})
