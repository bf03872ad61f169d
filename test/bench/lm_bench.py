#!/usr/bin/env python3
"""Speed of language models: prefill and decode, beside ONNX Runtime, interleaved in one run.

  lm_bench.py [--threads 1,2] [--prompt 512] [--tokens 16] [--rounds 3] [--clock processor]
              [--expected tokens.json] [--json] model.onnx ...

The models have a cache (docs/language-models.md); test/lm/make_models.py makes them. Reported are
medians over the rounds: seconds of the prefill, tokens per second of the decode behind it, the
bytes that a token must read (weights of the products, and the cache), the bandwidth of memory as
measured in the same rounds by maxima over a large array, and the share of it that the decode
reaches. The last line per model and number of threads compares with ONNX Runtime. --expected takes
the file of the same name of test/lm/make_models.py, and reports how many of the tokens that
`transformers` generates greedily are equal, by the name of the model's file.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
sys.path.insert(0, str(BUILD / "python"))
import openatc  # noqa: E402
import openatc.lm  # noqa: E402


CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


class Bandwidth:
    """Reads a large array with so many threads."""

    def __init__(self, clock, threads, megabytes=512):
        self.clock = clock
        self.array = np.ones((threads, megabytes * 2**20 // 8 // threads), np.float64)

    def measure(self):
        """Returns bytes per second; with the clock of the processor those per second of a
        thread."""
        workers = [threading.Thread(target=row.max) for row in self.array]
        begin = self.clock()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return self.array.nbytes / (self.clock() - begin)


class Ours:
    def __init__(self, path, threads):
        self.model = openatc.lm.load(path, threads=threads)

    def start(self, prompt):
        self.model.reset()
        return self.model.logits(prompt)[:, -1]

    def step(self, token):
        return self.model.logits(token)[:, -1]


class OnnxRuntime:
    def __init__(self, path, threads):
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        self.session = ort.InferenceSession(str(path), options,
                                            providers=["CPUExecutionProvider"])
        self.inputs = {port.name: port for port in self.session.get_inputs()}
        self.outputs = [port.name for port in self.session.get_outputs()]

    def run(self, tokens):
        length = self.length + tokens.shape[1]
        feed = {"input_ids": tokens, "attention_mask": np.ones((1, length), np.int64),
                "position_ids": np.arange(self.length, length)[None], **self.past}
        out = dict(zip(self.outputs, self.session.run(
            None, {name: feed[name] for name in self.inputs})))
        self.length = length
        self.past = {name: out[name.replace("past_key_values", "present")] for name in self.past}
        return out["logits"][:, -1]

    def start(self, prompt):
        self.length = 0
        self.past = {name: np.zeros((1, port.shape[1], 0, port.shape[3]),
                                    np.float16 if "16" in port.type else np.float32)
                     for name, port in self.inputs.items() if name.startswith("past")}
        return self.run(prompt)

    def step(self, token):
        return self.run(token)


def bytes_per_token(path, positions):
    """Returns the bytes of weights of products, and of the cache at so many positions."""
    import onnx
    model = onnx.load(str(path), load_external_data=False)
    products = {name for node in model.graph.node if node.op_type in ("MatMul", "Gemm",
                                                                      "MatMulNBits")
                for name in node.input}
    size = {onnx.TensorProto.FLOAT: 4, onnx.TensorProto.FLOAT16: 2, onnx.TensorProto.UINT8: 1}
    weights = sum(int(np.prod(each.dims)) * size.get(each.data_type, 0)
                  for each in model.graph.initializer if each.name in products)
    cache = sum(4 * positions * port.type.tensor_type.shape.dim[1].dim_value
                * port.type.tensor_type.shape.dim[3].dim_value
                for port in model.graph.input if port.name.startswith("past_key_values"))
    return weights, cache


def equal_tokens(model, expected, kind):
    """Returns [equal, all]: greedy tokens up to the first one that differs from the expected."""
    rows = expected.get(kind)
    if rows is None:
        return None
    equal = 0
    for prompt, want in zip(expected["prompts"], rows):
        got = model.generate(prompt, max_new_tokens=len(want), stop_tokens=[])
        same = [a == b for a, b in zip(got, want)]
        equal += same.index(False) if False in same else len(same)
    return [equal, sum(map(len, rows))]


def measure(clock, engines, memory, prompt, tokens, rounds):
    """Returns seconds of prefill and seconds per token of each engine, and bytes per second of
    memory, in medians."""
    times = {name: ([], []) for name in engines}
    speeds = []
    for _ in range(rounds):
        for name, engine in engines.items():
            speeds.append(memory.measure())
            begin = clock()
            last = engine.start(prompt)
            times[name][0].append(clock() - begin)
            for _ in range(tokens):
                token = np.array([[int(last[0].argmax())]])
                begin = clock()
                last = engine.step(token)
                times[name][1].append(clock() - begin)
    return ({name: tuple(map(statistics.median, pair)) for name, pair in times.items()},
            statistics.median(speeds))


def compare(rows):
    """Adds to our rows how many times as fast as ONNX Runtime we are."""
    others = {(row["model"], row["threads"]): row for row in rows if row["engine"] != "openatc"}
    for row in rows:
        other = others.get((row["model"], row["threads"]))
        if row["engine"] == "openatc" and other:
            row["prefill_speedup"] = other["prefill_seconds"] / row["prefill_seconds"]
            row["decode_speedup"] = row["tokens_per_second"] / other["tokens_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall",
                        help="processor: time of all threads, where others compute, too")
    parser.add_argument("--expected", type=argparse.FileType(), help="tokens of transformers")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    expected = json.load(args.expected) if args.expected else {}
    clock = CLOCKS[args.clock]
    rows = []
    for path in args.models:
        with tempfile.TemporaryDirectory() as folder:
            output = f"{folder}/model.om"
            begin = time.perf_counter()
            subprocess.run([BUILD / "bin/atc", f"--model={path}", "--framework=5", "--target=cpu",
                            f"--output={output[:-3]}"], check=True, stdout=subprocess.DEVNULL)
            compiled = time.perf_counter() - begin
            for threads in map(int, args.threads.split(",")):
                engines = {"openatc": Ours(output, threads)}
                try:
                    engines["onnxruntime"] = OnnxRuntime(path, threads)
                except ImportError:
                    pass
                equal = equal_tokens(engines["openatc"].model, expected, pathlib.Path(path).stem)
                prompt = np.random.default_rng(1).integers(3, 40, (1, args.prompt))
                weights, cache = bytes_per_token(path, args.prompt)
                times, memory = measure(clock, engines, Bandwidth(clock, threads), prompt,
                                        args.tokens, args.rounds)
                for name, (prefill, token) in times.items():
                    rows.append({
                        "model": pathlib.Path(path).name, "threads": threads, "engine": name,
                        "compile_seconds": round(compiled, 2), "prefill_seconds": prefill,
                        "tokens_per_second": 1 / token, "bytes_per_token": weights + cache,
                        "bandwidth_gb_per_second": memory / 1e9,
                        "share_of_bandwidth": (weights + cache) / token / memory})
                    if name == "openatc" and equal:
                        rows[-1]["equal_tokens"] = equal
    compare(rows)
    if args.json:
        print(json.dumps(rows, indent=1))
        return
    for row in rows:
        print(f"{row['model']:16} {row['threads']} threads {row['engine']:12} "
              f"prefill {row['prefill_seconds']:.3f} s, {row['tokens_per_second']:.1f} tokens/s, "
              f"{row['share_of_bandwidth']:.0%} of {row['bandwidth_gb_per_second']:.1f} GB/s")
    for row in rows:
        if "equal_tokens" in row:
            equal, count = row["equal_tokens"]
            print(f"{row['model']:16} {row['threads']} threads: {equal} of {count} tokens equal")
        if "decode_speedup" in row:
            print(f"{row['model']:16} {row['threads']} threads: "
                  f"prefill {row['prefill_speedup']:.2f} x, "
                  f"decode {row['decode_speedup']:.2f} x ONNX Runtime")


if __name__ == "__main__":
    main()
