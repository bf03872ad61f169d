# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The older command `benchmark.x86_64 -model_type=vision -om_path=x.om ...`."""

import argparse
import pathlib
import sys
import time

import numpy as np

from openatc_toolkit import reason, write_file

from . import files
from .command import _count, _flag, _positive, _say
from .files import InputError
from .interface import InferSession


def _parser():
    parser = argparse.ArgumentParser(prog="benchmark", allow_abbrev=False,
                                     description="Runs an .om file and reports times.")

    def add(name, **settings):
        parser.add_argument(f"-{name}", f"--{name}", **settings)

    add("model_type", choices=("vision", "nmt", "widedeep", "nlp", "yolocaffe", "bert", "bert_large",
                               "deepfm", "dlrm"), default="vision", help="vision, bert, nlp ...; all are the same here")
    add("om_path", required=True, help="the .om file")
    add("batch_size", type=_positive, default=1, help="samples of a run")
    add("device_id", type=_count, default=0)
    add("input_text_path", help="lines of an index and the files of a sample; without: times with zeros")
    add("input_width", type=_positive)
    add("input_height", type=_positive)
    add("useDvpp", type=_flag, default=False, help="JPEG files: not supported")
    add("output_binary", type=_flag, default=False, help="True: .bin files, False: .txt")
    add("round", type=_positive, default=20, help="runs without -input_text_path")
    for name in ("cpu_count", "input_imgFolder_path", "yolo_dir", "imgType"):
        add(name, help="has no meaning here")
    return parser


def _samples(path, count):
    """Returns the lines of a list: (name of the first file, files, one per input)."""
    try:
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"-input_text_path: {path} cannot be read: {error}") from None
    samples = []
    for number, line in enumerate(filter(str.strip, lines), 1):
        words = line.split()
        if len(words) < 1 + count:
            raise InputError(f"{path}:{number}: '{line.strip()}' must be an index and {count} "
                             "files, one per input")
        given = [pathlib.Path(word) for word in words[1:1 + count]]
        for file in given:
            if not file.is_file():
                raise InputError(f"{path}:{number}: {file} does not exist")
        samples.append((given[0].stem, given))
    if not samples:
        raise InputError(f"{path} names no files")
    return samples


def _batch(port, group, batch):
    """Returns one input of a run: samples side by side, the last repeated to fill it."""
    pieces = [np.frombuffer(files.read(file).tobytes(), np.uint8) for file in group]
    pieces += [pieces[-1]] * (batch - len(pieces))
    data = np.concatenate(pieces)
    if data.nbytes != port.realsize:
        raise InputError(f"{group[0]} has {pieces[0].nbytes} bytes; input '{port.name}' takes "
                         f"{port.realsize // batch} per sample ({port.datatype} {port.shape}, -batch_size={batch})")
    return data


def _run(options):
    if options.useDvpp:
        raise InputError("-useDvpp=true: pictures are not decoded here; give files of the model's inputs, and "
                         "-useDvpp=false")
    session = InferSession(options.device_id, options.om_path)
    ports, batch = session.get_inputs(), options.batch_size
    folder = pathlib.Path("result")
    folder.mkdir(exist_ok=True)
    if not options.input_text_path:
        zeros = [np.zeros(port.realsize, np.uint8) for port in ports]
        session.run(zeros)
        session.reset_summaryinfo()
        start = time.perf_counter()
        for _ in range(options.round):
            session.run(zeros)
        rate = batch * options.round / (time.perf_counter() - start)
        times = session.summary().exec_time_list
        write_file(
            folder / f"PureInfer_perf_of_{pathlib.Path(options.om_path).stem}_in_device_{options.device_id}.txt",
            f"ave_throughputRate = {rate:.6g} samples/s\nave_inferTime = {sum(times) / len(times):.6g} ms\n")
        _say(f"PureInfer result saved in ./{folder}")
        print("-----------------PureInfer Performance Summary------------------")
        print(f"[INFO] ave_throughputRate: {rate:.6g} samples/s, ave_latency: {sum(times) / len(times) / batch:.6g} ms")
        print("----------------------------------------------------------------")
        return
    samples = _samples(options.input_text_path, len(ports))
    target = folder / f"dumpOutput_device{options.device_id}"
    target.mkdir(exist_ok=True)
    start = time.perf_counter()
    for first in range(0, len(samples), batch):
        group = samples[first:first + batch]
        outputs = session.run([_batch(port, [given[i] for _, given in group], batch)
                               for i, port in enumerate(ports)])
        for row, (stem, _) in enumerate(group):
            for i, output in enumerate(outputs):
                share = output if output.ndim == 0 or output.shape[0] % batch else \
                    output[row * (output.shape[0] // batch):(row + 1) * (output.shape[0] // batch)]
                path = target / f"{stem}_{i + 1}"
                if options.output_binary:
                    write_file(path.with_name(path.name + ".bin"), np.ascontiguousarray(share).tobytes())
                else:
                    flat = share.reshape(-1)
                    write_file(
                        path.with_name(path.name + ".txt"),
                        " ".join(f"{value:.8g}" if flat.dtype.kind == "f" else str(value) for value in flat) + " \n")
    rate = len(samples) / (time.perf_counter() - start)
    times = session.summary().exec_time_list
    mean = sum(times) / len(times)
    line = f"throughputRate: {rate:.6g}, latency: {1000 * len(samples) / rate:.6g}"
    text = (f"[e2e] {line}\n[data read] throughputRate: {rate:.6g}, moduleLatency: {1000 / rate:.6g}\n"
            f"[infer] throughputRate: {1000 * batch / mean:.6g}, moduleLatency: {mean:.6g}\n")
    write_file(folder / f"perf_{options.model_type}_batchsize_{batch}_device_{options.device_id}.txt", text)
    print("-----------------Performance Summary------------------")
    print(text + "-----------------------------------------------------------")


def main(arguments=None):
    """Runs the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except (InputError, RuntimeError, ValueError, OSError) as error:
        print(f"[ERROR] {reason(error)}", file=sys.stderr)
        return 1
    InferSession.finalize()
    return 0
