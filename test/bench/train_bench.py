#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the training step of openatc.train with PyTorch's, eager and compiled.

    train_bench.py --torch-python PYTHON [--model mobilenetv2,bert_tiny] [--rounds 2] [--json]

The Python with torch (and transformers, for bert_tiny) makes the models and exports them; this
one needs the built package. Each side is a process of its own; processor time per step and the
peak of the resident memory are reported.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def measure(step, steps):
    """Returns the processor and wall milliseconds per step (the best), and the peak in MB."""
    for _ in range(2):
        step()
    processor, wall = [], []
    for _ in range(steps):
        used, begin = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        step()
        now = resource.getrusage(resource.RUSAGE_SELF)
        wall.append(time.perf_counter() - begin)
        processor.append(now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"processor_ms": 1e3 * min(processor), "wall_ms": 1e3 * min(wall), "peak_mb": peak}


def build_torch(name, batch):
    """Returns a model whose result is class scores, its inputs and the labels."""
    import torch
    from torch import nn
    torch.manual_seed(1)
    if name == "bert_tiny":
        from transformers import BertConfig, BertForSequenceClassification
        config = BertConfig(hidden_size=312, num_hidden_layers=4, num_attention_heads=12,
                            intermediate_size=1200, num_labels=10, hidden_dropout_prob=0.0,
                            attention_probs_dropout_prob=0.0, attn_implementation="eager")

        class Bert(nn.Module):
            def __init__(self):
                super().__init__()
                self.bert = BertForSequenceClassification(config)

            def forward(self, ids):
                return self.bert(input_ids=ids).logits
        return Bert(), torch.randint(0, 30000, (batch, 128)), torch.arange(batch) % 10

    def unit(inputs, outputs, kernel, stride=1, groups=1, act=True):
        return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
                nn.BatchNorm2d(outputs)] + ([nn.ReLU6()] if act else [])

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride, expand):
            super().__init__()
            inner = inputs * expand
            self.body = nn.Sequential(*(unit(inputs, inner, 1) if expand > 1 else []),
                                      *unit(inner, inner, 3, stride, inner),
                                      *unit(inner, outputs, 1, act=False))
            self.adds = stride == 1 and inputs == outputs

        def forward(self, x):
            return x + self.body(x) if self.adds else self.body(x)
    layers, channels = unit(3, 32, 3, 2), 32
    for expand, outputs, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                           (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                           (6, 320, 1, 1)]:
        for index in range(count):
            layers.append(Block(channels, outputs, stride if index == 0 else 1, expand))
            channels = outputs
    model = nn.Sequential(*layers, *unit(channels, 1280, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(1280, 1000))
    return model, torch.rand(batch, 3, 224, 224), torch.arange(batch)


def run_torch(arguments):
    import torch
    torch.set_num_threads(arguments.threads)
    model, inputs, labels = build_torch(arguments.model, arguments.batch)
    model.train()
    if arguments.side == "export":
        torch.onnx.export(model, (inputs,), arguments.file, dynamo=False, input_names=["input"],
                          output_names=["scores"], opset_version=17, do_constant_folding=False,
                          training=torch.onnx.TrainingMode.PRESERVE)
        # Batch norms are those of inference in the file; openatc.train switches them.
        return {}
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    loss = torch.nn.CrossEntropyLoss()
    run = torch.compile(model) if arguments.side == "torch-compiled" else model

    def step():
        optimizer.zero_grad()
        loss(run(inputs), labels).backward()
        optimizer.step()
    return measure(step, arguments.steps)


def run_openatc(arguments):
    sys.path.insert(0, os.environ.get("OPENATC_PYTHON", str(ROOT / "build" / "python")))
    import numpy as np
    import openatc
    begin = time.perf_counter()
    trainer = openatc.train(arguments.file, optimizer={"kind": "sgd", "momentum": 0.9},
                            learning_rate=1e-3, threads=arguments.threads)
    seconds = time.perf_counter() - begin
    port = trainer.model.inputs["input"]
    rng = np.random.default_rng(1)
    inputs = (rng.integers(0, 30000, port.shape) if port.numpy_dtype.kind == "i"
              else rng.random(port.shape, np.float32))
    labels = np.arange(arguments.batch) % 10
    result = measure(lambda: trainer.step(inputs, labels), arguments.steps)
    return {**result, "compile_seconds": seconds, "arena_mb": trainer.model.arena_bytes / 2**20}


def child(arguments, python, side, model, file):
    command = [python, __file__, "--side", side, "--model", model, "--file", file,
               "--batch", str(arguments.batch), "--steps", str(arguments.steps),
               "--threads", str(arguments.threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{side} of {model} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(sides):
    """Returns how many times as fast the step is as the faster of PyTorch's, and the share of the
    memory of that with less; empty where one side was not measured."""
    torch = [figures for side, figures in sides.items() if side.startswith("torch")]
    if not torch or "openatc" not in sides:
        return {}
    own = sides["openatc"]
    return {"speed": min(each["processor_ms"] for each in torch) / own["processor_ms"],
            "memory": own["peak_mb"] / min(each["peak_mb"] for each in torch)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch-python", default=sys.executable)
    parser.add_argument("--model", default="mobilenetv2,bert_tiny")
    parser.add_argument("--sides", default="openatc,torch,torch-compiled")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1,
                        help="measure all sides so often in turn, and take the best of each")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        result = run_openatc(arguments) if arguments.side == "openatc" else run_torch(arguments)
        print(json.dumps(result))
        return
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for model in arguments.model.split(","):
            file = os.path.join(folder, model + ".onnx")
            child(arguments, arguments.torch_python, "export", model, file)
            results[model] = {}
            for side in arguments.sides.split(",") * arguments.rounds:
                python = sys.executable if side == "openatc" else arguments.torch_python
                figures = child(arguments, python, side, model, file)
                known = results[model].setdefault(side, figures)
                results[model][side] = {key: min(known[key], figures[key]) for key in figures}
                if not arguments.json:
                    text = ", ".join(f"{key} {value:.1f}" for key, value in figures.items())
                    print(f"{model:12} {side:15} {text}", flush=True)
            results[model]["openatc_to_torch"] = compare(results[model])
            if not arguments.json:
                text = ", ".join(f"{key} {value:.2f}"
                                 for key, value in results[model]["openatc_to_torch"].items())
                print(f"{model:12} {'x torch':15} {text}", flush=True)
    if arguments.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
