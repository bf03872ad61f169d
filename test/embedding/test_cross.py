# Code and runtimes for other architectures, made here and run under qemu-user. Run with
# `pytest test/embedding`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from conftest import (BUILD, DIGITS, PICTURES, SYSTEM, build_example, check_answers, compile_digits,
                      emulator, run, toolchain)

ARCHITECTURES = ["aarch64", "riscv64", "armv7"]
BASE_LEVEL = {"aarch64": "armv8-a", "riscv64": "rv64gc", "armv7": "armv7-a"}
# Code for the first level of an architecture runs on the oldest processor that qemu has for it.
PROCESSOR = {"armv7-a": ["-cpu", "cortex-a8"], "armv7-a-vfpv4": ["-cpu", "cortex-a7"]}


@pytest.fixture(scope="session")
def programs(cross_trees, tmp_path_factory):
    """{architecture: the C example for it}, made when it is asked for."""
    made = {}

    def make(arch):
        if arch == "riscv64" and not os.environ.get("OPENATC_NIGHTLY"):
            pytest.skip("a runtime for it takes a minute: OPENATC_NIGHTLY=1 makes it, and test_bare.py runs its code")
        if arch not in made:
            tree = cross_trees(arch)
            made[arch] = build_example("embed-c", tree, tmp_path_factory.mktemp(arch) / "example", toolchain(arch))
        return made[arch]
    return make


def images(model):
    return {image["level"]: image
            for image in json.loads(run(BUILD / "bin" / "om-dump", model, "--json"))["images"]}


@pytest.mark.parametrize("name, arch, level, features", [
    ("aarch64", "aarch64", "armv8-a", {"fp-armv8", "neon"}),
    ("armv8.2-a", "aarch64", "armv8.2-a", {"fp-armv8", "neon", "fullfp16", "dotprod"}),
    ("riscv64", "riscv64", "rv64gc", set("mafdc")),
    ("rv64gcv", "riscv64", "rv64gcv", set("mafdcv")),
    ("armv7", "armv7", "armv7-a", {"neon"}),
    ("armv7-a-vfpv4", "armv7", "armv7-a-vfpv4", {"neon", "vfp4"})])
def test_level_in_the_file(tmp_path, name, arch, level, features):
    found = images(compile_digits(tmp_path / "digits.om", name))
    assert list(found) == [level]
    assert found[level]["arch"] == arch and set(found[level]["features"]) == features


@pytest.mark.parametrize("arch, level", [
    ("aarch64", "aarch64"), ("aarch64", "armv8.2-a"), ("aarch64", "armv8.2-a,x86-64-v2,aarch64"),
    ("riscv64", "riscv64"), ("riscv64", "rv64gcv,aarch64,rv64gc"),
    ("armv7", "armv7"), ("armv7", "armv7-a-vfpv4,x86-64-v2,armv7")])
def test_digits_give_the_x86_answers(programs, digits_om, tmp_path, arch, level):
    program = programs(arch)
    model = compile_digits(tmp_path / "digits.om", level)
    scores = check_answers(program, model, emulator=emulator(arch))
    here = np.array([[float(word) for word in run_here(digits_om, picture)]
                     for picture in PICTURES])
    assert np.abs(scores - here).max() <= 1e-4 * np.ptp(here)


def convolutions(graph, image, rng):
    """3x3 convolutions whose channels are whole blocks: Winograd's form."""
    def weights(*shape):
        return rng.standard_normal(shape).astype(np.float32) / np.sqrt(np.prod(shape[1:]))
    y = graph.op("Conv", image, weights(32, 1, 3, 3), pads=[1, 1, 1, 1])
    for channels in (32, 64):
        y = graph.op("Conv", y, weights(channels, 32, 3, 3), pads=[1, 1, 1, 1])
        y = y if channels == 64 else graph.op("Relu", y)
    return graph.op("MatMul", graph.op("ReduceMean", y, [2, 3], keepdims=0), weights(64, 10))


def recurrence(graph, image, rng):
    """The lines of the picture as the steps of an LSTM, in both directions."""
    def weights(*shape):
        return (0.3 * rng.standard_normal(shape)).astype(np.float32)
    steps = graph.op("Reshape", image, np.array([28, 1, 28]))
    y = graph.op("LSTM", steps, weights(2, 192, 28), weights(2, 192, 48), hidden_size=48,
                 direction="bidirectional")
    return graph.op("MatMul", graph.op("ReduceMean", y, [0, 1], keepdims=0),
                    weights(1, 48, 10)[0])


def determinant(graph, image, rng):
    """A host kernel: no target generates code for a determinant."""
    matrix = graph.op("Add", graph.op("Reshape", image, np.array([28, 28])), 8 * np.eye(28, dtype=np.float32))
    y = graph.op("Log", graph.op("Reshape", graph.op("Det", matrix), np.array([1, 1])))
    return graph.op("MatMul", y, rng.standard_normal((1, 10)).astype(np.float32))


def halves(graph, image, rng):
    """Half precision, which the first levels compute by conversion."""
    y = graph.op("Cast", graph.op("Reshape", image, np.array([1, 784])), to=10)
    y = graph.op("MatMul", y, (rng.standard_normal((784, 10)) / 28).astype(np.float16))
    return graph.op("Cast", graph.op("Tanh", y), to=1)


@pytest.mark.parametrize("network", [convolutions, recurrence, determinant, halves])
@pytest.mark.parametrize("arch, level", [("aarch64", "armv8-a"), ("aarch64", "armv8.2-a"), ("riscv64", "rv64gc"),
                                         ("armv7", "armv7-a"), ("armv7", "armv7-a-vfpv4")])
def test_code_gives_the_x86_answers(programs, tmp_path, network, arch, level):
    program = programs(arch)
    sys.path.insert(0, str(BUILD / "python"))
    from openatc import builder
    graph = builder.Graph("net")
    y = network(graph, graph.input("image", "float32", [1, 1, 28, 28]), np.random.default_rng(5))
    graph.output("scores", graph.op("Reshape", y, np.array([1, 10])))
    (tmp_path / "net.onnx").write_bytes(graph.to_onnx())
    for name, cpu in (("here", "host"), ("there", level)):
        said = subprocess.run([BUILD / "bin" / "atc", f"--model={tmp_path / 'net.onnx'}", "--framework=5", "--target=cpu",
                               f"--output={tmp_path / name}", f"--target_cpu={cpu}"], capture_output=True, text=True)
        assert said.returncode == 0 and not said.stderr, said.stderr
    here = run_here(tmp_path / "here.om", PICTURES[3])
    answer = run(*emulator(arch, *PROCESSOR.get(level, [])), program, tmp_path / "there.om", PICTURES[3]).splitlines()[1]
    there = np.array([float(word) for word in answer.split()])
    # Half precision has ten bits.
    assert np.abs(there - here).max() <= (2e-3 if network is halves else 1e-4) * np.ptp(here)


def run_here(model, picture):
    """This machine's answer, by om-run."""
    folder = model.parent / "answers"
    run(BUILD / "bin" / "om-run", model, "--input", picture, "--output", folder)
    return np.load(next(folder.glob("*.npy"))).ravel()


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_code_for_the_other_machine_is_refused(programs, digits_om, tmp_path, arch):
    text = run(*emulator(arch), programs(arch), digits_om, PICTURES[0], fails=True)
    assert f"compiled for x86-64 processors, but this is {arch}" in text
    assert "--target_cpu" in text
    model = compile_digits(tmp_path / "digits.om", BASE_LEVEL[arch])
    result = subprocess.run([BUILD / "bin" / "om-run", model], capture_output=True, text=True)
    assert result.returncode != 0
    assert f"compiled for {arch} processors, but this is x86-64" in result.stdout + result.stderr


@pytest.mark.parametrize("arch, level, cpu, missing", [
    ("aarch64", "armv8.2-a", "cortex-a53", "fullfp16, dotprod"), ("riscv64", "rv64gcv", "rv64,v=false", "v"),
    ("armv7", "armv7-a-vfpv4", "cortex-a9", "vfp4")])
def test_missing_feature_is_named(programs, tmp_path, arch, level, cpu, missing):
    """Of two architectures in a file the message is about the one at hand."""
    model = compile_digits(tmp_path / "digits.om", f"x86-64-v2,{level}")
    text = run(*emulator(arch, "-cpu", cpu), programs(arch), model, PICTURES[0], fails=True)
    assert f"lacks {missing}, which" in text and level in text


def test_both_architectures_share_the_weights(tmp_path):
    both = compile_digits(tmp_path / "both.om", "x86-64-v3,aarch64")
    found = images(both)
    assert {image["arch"] for image in found.values()} == {"x86-64", "aarch64"}
    one = compile_digits(tmp_path / "one.om", "aarch64")
    weights = (DIGITS / "digits.onnx").stat().st_size
    assert both.stat().st_size - one.stat().st_size < weights
