# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""amct weights: weights of products in 4 and 8 bits, and the model that results."""

import json
import lzma
import os
import subprocess
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="needs numpy (Debian: python3-numpy)")

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")) / "bin"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "gpt2.onnx"
    path.write_bytes(lzma.decompress((ROOT / "test/lm/models/gpt2.onnx.xz").read_bytes()))
    return path


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


def logits(model, folder):
    """Of a prompt without a past, as om-run writes them."""
    done = run(BIN / "atc", f"--model={model}", "--framework=5", "--target=cpu",
               f"--output={folder}/model")
    assert done.returncode == 0, done.stdout + done.stderr
    np.save(folder / "ids.npy", np.array([[5, 17, 3, 42, 8, 9]]))
    np.save(folder / "mask.npy", np.ones((1, 6), np.int64))
    np.save(folder / "positions.npy", np.arange(6)[None])
    done = run(BIN / "om-run", folder / "model.om", "--state", "-o", folder, "-i",
               ",".join(f"{name}={folder}/{file}.npy" for name, file in
                        (("input_ids", "ids"), ("attention_mask", "mask"),
                         ("position_ids", "positions"))))
    assert done.returncode == 0, done.stderr
    return np.load(folder / "logits.npy")


@pytest.mark.parametrize("form, similar", [("int4", 0.99), ("int8", 0.9999)])
def test_weights_by_groups(model, tmp_path, form, similar):
    target = tmp_path / "small.onnx"
    done = run(BIN / "amct", "weights", f"--model={model}", f"--output={target}",
               f"--weight_only={form}", "--group_size=32", "--json")
    assert done.returncode == 0, done.stderr
    layers = json.loads(done.stdout)
    # The products of both feed-forward networks; the others have less than 4096 weights.
    assert sorted((layer["rows"], layer["columns"]) for layer in layers) == [
        (32, 128), (32, 128), (128, 32), (128, 32)]
    assert all(similar < layer["cosine"] <= 1 for layer in layers)
    assert target.stat().st_size < model.stat().st_size
    ours, right = (logits(each, tmp_path).ravel() for each in (target, model))
    cosine = ours @ right / np.linalg.norm(ours) / np.linalg.norm(right)
    assert similar < cosine < 1


def test_samples_make_products_exact(model, tmp_path):
    np.save(tmp_path / "text.npy", np.random.default_rng(0).integers(3, 48, (4, 512)))
    errors = {}
    for method in ("awq", "gptq"):
        done = run(BIN / "amct", "weights", f"--model={model}", f"--output={tmp_path}/small.onnx",
                   "--weight_only=int4", f"--method={method}", f"--tokens={tmp_path}/text.npy",
                   "--sequence=64", "--json")
        assert done.returncode == 0, done.stderr
        layers = json.loads(done.stdout)
        assert len(layers) == 4 and all(0 < layer["error"] < 0.12 for layer in layers)
        errors[method] = sum(layer["error"] for layer in layers)
        ours, right = (logits(each, tmp_path).ravel() for each in (tmp_path / "small.onnx", model))
        assert ours @ right / np.linalg.norm(ours) / np.linalg.norm(right) > 0.99
    # The inputs of the second products, behind an activation, depend on each other.
    assert errors["gptq"] < 0.95 * errors["awq"]


def test_tokens_are_for_language_models(tmp_path):
    np.save(tmp_path / "text.npy", np.arange(64))
    done = run(BIN / "amct", "weights", f"--model={ROOT}/examples/digits/digits.onnx",
               f"--output={tmp_path}/out.onnx", "--weight_only=int4", "--method=gptq",
               f"--tokens={tmp_path}/text.npy")
    assert done.returncode == 1 and "has no input 'input_ids'" in done.stderr
    np.save(tmp_path / "text.npy", np.zeros(64, np.float32))
    done = run(BIN / "amct", "weights", f"--model={ROOT}/examples/digits/digits.onnx",
               f"--output={tmp_path}/out.onnx", "--weight_only=int4", "--method=gptq",
               f"--tokens={tmp_path}/text.npy")
    assert done.returncode == 1 and "no .npy file of int64 or int32" in done.stderr


@pytest.mark.parametrize("flags, message", [
    (["--weight_only=int3"], 'E10001: the value "int3" of --weight_only is invalid'),
    (["--weight_only=int4", "--group_size=24"], 'E10001: the value "24" of --group_size'),
    (["--weight_only=int4", "--model=/no/such.onnx"], "E10410"),
])
def test_mistakes_have_codes(model, tmp_path, flags, message):
    if not any(flag.startswith("--model") for flag in flags):
        flags = [f"--model={model}", *flags]
    done = run(BIN / "amct", "weights", f"--output={tmp_path}/out.onnx", *flags)
    assert done.returncode == 1 and message in done.stderr
    assert not (tmp_path / "out.onnx").exists()


def test_a_model_without_such_weights(tmp_path):
    done = run(BIN / "amct", "weights", f"--model={ROOT}/examples/digits/digits.onnx",
               f"--output={tmp_path}/out.onnx", "--weight_only=int4")
    assert done.returncode == 1
    assert "E10055" in done.stderr and "no MatMul or Gemm with a constant matrix" in done.stderr
    assert not (tmp_path / "out.onnx").exists()
