# Code and a runtime for AArch64, made here and run under qemu-user. Run with
# `pytest test/embedding`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import subprocess
import sys

import numpy as np
import pytest

from conftest import (BUILD, DIGITS, PICTURES, ROOT, build_example, build_runtime, check_answers,
                      compile_digits, need, run)

TOOLCHAIN = "-DCMAKE_TOOLCHAIN_FILE=" + str(ROOT / "cmake/toolchains/aarch64-linux-gnu.cmake")
EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]


@pytest.fixture(scope="session")
def arm_program(tmp_path_factory):
    need("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64")
    folder = tmp_path_factory.mktemp("aarch64")
    tree = build_runtime(folder, TOOLCHAIN)
    return build_example("embed-c", tree, folder / "example", TOOLCHAIN)


def images(model):
    return {image["level"]: image
            for image in json.loads(run(BUILD / "bin" / "om-dump", model, "--json"))["images"]}


@pytest.mark.parametrize("name, level, features", [
    ("aarch64", "armv8-a", {"fp-armv8", "neon"}),
    ("armv8.2-a", "armv8.2-a", {"fp-armv8", "neon", "fullfp16", "dotprod"})])
def test_level_in_the_file(tmp_path, name, level, features):
    found = images(compile_digits(tmp_path / "digits.om", name))
    assert list(found) == [level]
    assert found[level]["arch"] == "aarch64" and set(found[level]["features"]) == features


@pytest.mark.parametrize("level", ["aarch64", "armv8.2-a", "armv8.2-a,x86-64-v2,aarch64"])
def test_digits_give_the_x86_answers(arm_program, digits_om, tmp_path, level):
    model = compile_digits(tmp_path / "digits.om", level)
    scores = check_answers(arm_program, model, emulator=EMULATOR)
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


@pytest.mark.parametrize("network", [convolutions, recurrence])
@pytest.mark.parametrize("level", ["armv8-a", "armv8.2-a"])
def test_generated_code_gives_the_x86_answers(arm_program, tmp_path, network, level):
    sys.path.insert(0, str(BUILD / "python"))
    from openatc import builder
    graph = builder.Graph("net")
    y = network(graph, graph.input("image", "float32", [1, 1, 28, 28]), np.random.default_rng(5))
    graph.output("scores", graph.op("Reshape", y, np.array([1, 10])))
    (tmp_path / "net.onnx").write_bytes(graph.to_onnx())
    for name, cpu in (("here", "host"), ("arm", level)):
        run(BUILD / "bin" / "atc", f"--model={tmp_path / 'net.onnx'}", "--framework=5",
            f"--output={tmp_path / name}", "--target=cpu", f"--target_cpu={cpu}")
    here = run_here(tmp_path / "here.om", PICTURES[3])
    answer = run(*EMULATOR, arm_program, tmp_path / "arm.om", PICTURES[3]).splitlines()[1]
    there = np.array([float(word) for word in answer.split()])
    assert np.abs(there - here).max() <= 1e-4 * np.ptp(here)


def run_here(model, picture):
    """This machine's answer, by om-run."""
    folder = model.parent / "answers"
    run(BUILD / "bin" / "om-run", model, "--input", picture, "--output", folder)
    return np.load(next(folder.glob("*.npy"))).ravel()


def test_code_for_the_other_machine_is_refused(arm_program, digits_om, tmp_path):
    text = run(*EMULATOR, arm_program, digits_om, PICTURES[0], fails=True)
    assert "compiled for x86-64 processors, but this is aarch64" in text
    assert "--target_cpu" in text
    model = compile_digits(tmp_path / "digits.om", "aarch64")
    result = subprocess.run([BUILD / "bin" / "om-run", model], capture_output=True, text=True)
    assert result.returncode != 0
    assert "compiled for aarch64 processors, but this is x86-64" in result.stdout + result.stderr


def test_missing_feature_is_named(arm_program, tmp_path):
    """Of two architectures in a file the message is about the one at hand."""
    model = compile_digits(tmp_path / "digits.om", "x86-64-v2,armv8.2-a")
    text = run(EMULATOR[0], "-cpu", "cortex-a53", *EMULATOR[1:], arm_program, model, PICTURES[0],
               fails=True)
    assert "lacks fullfp16, dotprod" in text and "armv8.2-a" in text


def test_both_architectures_share_the_weights(tmp_path):
    both = compile_digits(tmp_path / "both.om", "x86-64-v3,aarch64")
    found = images(both)
    assert {image["arch"] for image in found.values()} == {"x86-64", "aarch64"}
    one = compile_digits(tmp_path / "one.om", "aarch64")
    weights = (DIGITS / "digits.onnx").stat().st_size
    assert both.stat().st_size - one.stat().st_size < weights
