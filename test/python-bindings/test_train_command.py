# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""atc --train: a training step as one file, which om-run runs, is that of openatc.train."""

import json
import re
import subprocess

import numpy as np
import openatc
import pytest

from conftest import BUILD, DIGITS

BATCH = 8


def call(program, *arguments):
    return subprocess.run([BUILD / "bin" / program, *map(str, arguments)], capture_output=True,
                          text=True, check=False)


def atc(folder, settings, *flags, model=DIGITS / "digits.onnx",
        shape=f"image:{BATCH},1,28,28"):
    (folder / "train.json").write_text(settings if isinstance(settings, str)
                                       else json.dumps(settings))
    return call("atc", f"--model={model}", "--framework=5", f"--output={folder}/step",
                f"--train={folder}/train.json", f"--input_shape={shape}", *flags)


@pytest.fixture(scope="module")
def batch():
    data = np.load(DIGITS / "heldout.npz")
    images = data["images"][:BATCH].astype(np.float32)[:, None] / np.float32(255)
    return images, data["labels"][:BATCH].astype(np.int64)


@pytest.mark.parametrize("settings, options", [
    ({"optimizer": "adamw", "learning_rate": {"kind": "cosine", "peak": 4e-3, "steps": 6, "warmup": 2}},
     {"optimizer": "adamw", "learning_rate": openatc.schedules.cosine(4e-3, 6, warmup=2)}),
    ({"optimizer": {"kind": "sgd", "momentum": 0.9}, "loss_scale": "dynamic", "clip_norm": 0.5,
      "learning_rate": {"kind": "steps", "peak": 1e-2, "milestones": [1, 3], "factor": 0.5}},
     {"optimizer": {"kind": "sgd", "momentum": 0.9}, "loss_scale": "dynamic", "clip_norm": 0.5,
      "learning_rate": openatc.schedules.steps(1e-2, [1, 3], factor=0.5)}),
])
def test_a_step_of_the_command_line_is_that_of_python(tmp_path, batch, settings, options):
    done = atc(tmp_path, settings, "--target=cpu")
    assert done.returncode == 0, done.stdout
    np.save(tmp_path / "images.npy", batch[0])
    np.save(tmp_path / "labels.npy", batch[1])
    inputs = f"image={tmp_path}/images.npy,target={tmp_path}/labels.npy"
    # Four runs, and from their weights one more.
    done = call("om-run", tmp_path / "step.om", "--state", "--loop=3", "-i", inputs,
                "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    trainer = openatc.train(DIGITS / "digits.onnx", input_shapes={"image": (BATCH, 1, 28, 28)},
                            threads=1, **options)
    losses = [trainer.step(*batch) for _ in range(4)]
    written = {name: np.load(tmp_path / "out" / f"{name}.next.npy")
               for name in ("train.step", *trainer.parameters)}
    assert written["train.step"] == 4
    for name in trainer.parameters:
        np.testing.assert_allclose(written[name], trainer.state_dict()[name], rtol=0, atol=2e-6)
    assert np.load(tmp_path / "out" / "loss.npy") == pytest.approx(losses[-1], rel=1e-4)

    trainer.load_state_dict({**trainer.state_dict(), "train.step": np.zeros(())})
    states = ",".join(f"{name}={tmp_path}/out/{name}.next.npy" for name in trainer.parameters)
    done = call("om-run", tmp_path / "step.om", "--state", "-i", f"{inputs},{states}",
                "-o", tmp_path / "more")
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "more" / "train.step.next.npy") == 1
    assert np.load(tmp_path / "more" / "loss.npy") == pytest.approx(trainer.step(*batch), rel=1e-4)


def test_without_a_learning_rate_it_is_an_input_and_stages_can_be_seen(tmp_path):
    done = atc(tmp_path, {"loss": "mse", "optimizer": "adam"}, "--target=cpu", "--stop_after=import")
    assert done.returncode == 0, done.stdout
    text = (tmp_path / "step.mlir").read_text()
    assert 'om.name = "learning_rate"' in text and "train.states" in text


@pytest.mark.parametrize("settings, flags, message", [
    ("[]", [], "E15006: the file of --train is not a JSON object"),
    # The parser calls itself for each bracket.
    pytest.param("[" * 200000, [], "E15006: the file of --train is nested deeper than 64 levels",
                 id="brackets"),
    ({"optimiser": "adam"}, [], "E15006: the file of --train has no setting 'optimiser'; did you mean"),
    ({"optimizer": 3}, [], "E15006: the file of --train: 'optimizer' must be a name or an object"),
    ({"learning_rate": 0}, [], "'learning_rate' must be a number above 0 or an object"),
    ({"learning_rate": {"kind": "cosine", "steps": 9}}, [], "has no 'peak'"),
    ({"learning_rate": {"kind": "cosine", "peak": 1}}, [], "E15006: .*cosine needs 'steps'"),
    ({"loss_scale": "high"}, [], "'loss_scale' must be a number of at least 0 or \"dynamic\""),
    ({"offload": "weights"}, [], "'offload' must be \"optimizer\""),
    ({"ranks": 2}, [], "E10055: 'ranks' is not supported with --train"),
    ({"seed": 1 << 24}, [], "E15006: .*'seed' must be an integer of at most 16777215"),
    ({}, ["--parallel=dp:2"], "E10047: --train and --parallel exclude each other"),
    ({}, ["--state=a=b"], "E10047: --train and --state exclude each other"),
    ({}, ["--input_shape=image:-1,1,28,28"], "E10055: dynamic dims are not supported with --train"),
])
def test_what_cannot_be_is_one_error(tmp_path, settings, flags, message):
    shape = "image:8,1,28,28"
    for flag in flags:
        if flag.startswith("--input_shape="):
            shape = flag.partition("=")[2]
    done = atc(tmp_path, settings, "--target=cpu",
               *(flag for flag in flags if not flag.startswith("--input_shape=")), shape=shape)
    assert done.returncode == 1
    assert not (tmp_path / "step.om").exists()
    assert re.search(message, done.stdout), done.stdout


def test_the_host_keeps_the_state_of_an_offloaded_optimizer(tmp_path, batch):
    """Of a step on an NPU; the update is that of the CPU."""
    settings = {"optimizer": "adam", "learning_rate": 1e-3}
    npu = ["--soc_version=Ascend310P3", "--precision_mode=cube_fp16in_fp32out",
           f"--json={tmp_path}/summary.json"]
    assert atc(tmp_path, settings, *npu).returncode == 0
    assert json.loads((tmp_path / "summary.json").read_text()).get("host_state_bytes", 0) < 100
    done = atc(tmp_path, {**settings, "offload": "optimizer"}, *npu)
    assert done.returncode == 0, done.stdout
    trainer = openatc.train(DIGITS / "digits.onnx", input_shapes={"image": (BATCH, 1, 28, 28)},
                            optimizer="adam", learning_rate=1e-3, threads=1)
    parameters = [trainer.state_dict()[name] for name in trainer.parameters]
    # Two moments per parameter, and a few numbers.
    moments = 2 * sum(array.nbytes for array in parameters)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert moments <= summary["host_state_bytes"] < moments + 100
    np.save(tmp_path / "images.npy", batch[0])
    np.save(tmp_path / "labels.npy", batch[1])
    done = call("om-run", tmp_path / "step.om", "--state", "-i",
                f"image={tmp_path}/images.npy,target={tmp_path}/labels.npy", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "out" / "loss.npy") == pytest.approx(trainer.step(*batch), rel=1e-2)
    for name, before in zip(trainer.parameters, parameters):
        moved = np.load(tmp_path / "out" / f"{name}.next.npy") - before
        assert 0 < np.abs(moved).max() < 1.1e-3  # a first step of Adam moves by the learning rate
