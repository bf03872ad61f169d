#===-- test_reproducible.py - one command makes one file ----------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and quantizes on machines that differ in what must not matter: number of processors,
folder, day, environment and where memory lies. shim.c makes the other machines.
"""

import hashlib
import shutil
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="needs numpy")
pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from models import net  # noqa: E402
from shim import run  # noqa: E402
from tools import BUILD, ROOT, available, call  # noqa: E402

pytestmark = pytest.mark.skipif(not available(), reason=f"atc, om-run, om-dump not in {BUILD}/bin")
# Enough kernels for the parts that they are compiled in to matter.
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
TARGETS = {"cpu": ["--target=cpu"], "npu": ["--soc_version=Ascend310P3"], "host": ["--target=cpu"]}
# One machine each; the first is the one that the others are compared with.
MACHINES = [{"cpus": 2}, {"cpus": 1}, {"cpus": 64}, {"cpus": 2, "days": 400}]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make_model(kind, folder):
    path = folder / "model.onnx"
    if kind == "host":
        made = net()
        made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
        path.write_bytes(made.SerializeToString())
    else:
        shutil.copy(DIGITS, path)
    return path


def compiled(folder, kind, *, model="model.onnx", output="out", flags=(), **machine):
    status, out, err, _ = run(folder, "atc", f"--model={model}", "--framework=5",
                              *TARGETS[kind], f"--output={output}", *flags, **machine)
    assert status == 0, out + err
    return digest(folder / f"{output}.om")


@pytest.mark.parametrize("kind", TARGETS)
def test_machines(kind, tmp_path):
    make_model(kind, tmp_path)
    digests = [compiled(tmp_path, kind, **machine) for machine in MACHINES]
    assert set(digests) == {digests[0]}, list(zip(MACHINES, digests))


@pytest.mark.parametrize("kind", TARGETS)
def test_the_same_machine_again(kind, tmp_path):
    """Memory lies elsewhere in each run."""
    make_model(kind, tmp_path)
    assert len({compiled(tmp_path, kind) for _ in range(3)}) == 1


@pytest.mark.parametrize("kind", TARGETS)
def test_folders(kind, tmp_path, monkeypatch):
    folders = [tmp_path / "a", tmp_path / "another one" / "\u5377"]
    for folder in folders:
        folder.mkdir(parents=True)
        make_model(kind, folder)
    first = compiled(folders[0], kind)
    assert compiled(folders[1], kind) == first
    # A whole path, another name of the result, and what only prints or keeps more.
    absolute = compiled(folders[1], kind, model=folders[1] / "model.onnx", output="other",
                        flags=["--verbose", "--json=summary", "--save_temps=temps"])
    assert absolute == first
    monkeypatch.setenv("LANG", "tr_TR.UTF-8")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert compiled(folders[0], kind) == first


def test_flags_in_another_order_and_spelling(tmp_path):
    make_model("cpu", tmp_path)
    first = compiled(tmp_path, "cpu")
    status, out, _ = call("atc", "-output", "b", "--target", "cpu", "--frame", "5", "--model",
                          "./model.onnx", cwd=tmp_path)
    assert status == 0, out
    assert digest(tmp_path / "b.om") == first


def test_what_is_recorded(tmp_path):
    make_model("cpu", tmp_path)
    compiled(tmp_path, "cpu", model=tmp_path / "model.onnx", flags=["--verbose"])
    _, out, _ = call("om-dump", "out.om", cwd=tmp_path)
    assert "atc --framework=5 --model=model.onnx --target=cpu\n" in out
    assert str(tmp_path).encode() not in (tmp_path / "out.om").read_bytes()


def test_another_option_makes_another_file(tmp_path):
    """The comparison can fail."""
    make_model("cpu", tmp_path)
    assert compiled(tmp_path, "cpu") != compiled(tmp_path, "cpu",
                                                 flags=["--disable_passes=graph-fuse-elementwise"])


def test_quantization(tmp_path):
    results = []
    for i, machine in enumerate(MACHINES):
        folder = tmp_path / str(i)
        folder.mkdir()
        (folder / "m.onnx").write_bytes(net().SerializeToString())
        data = folder / "data"
        data.mkdir()
        for sample in range(3):
            np.save(data / f"{sample}.npy",
                    np.random.default_rng(sample).random((1, 3, 8, 8), np.float32))
        status, out, err, _ = run(folder, "amct", "calibrate", "--model", "m.onnx", "--data", "data",
                                  "--output", "q", **machine)
        assert status == 0, out + err
        results.append({path.name: digest(path) for path in folder.glob("q_*")})
    assert len(results[0]) == 7
    assert all(each == results[0] for each in results)


def test_signatures(tmp_path):
    if not (BUILD / "bin" / "om-sign").exists():
        pytest.skip("om-sign is not built")
    make_model("cpu", tmp_path)
    compiled(tmp_path, "cpu")
    assert call("om-sign", "keygen", "key", cwd=tmp_path)[0] == 0
    signed = set()
    for name in ("a.om", "b.om"):
        assert call("om-sign", "sign", "out.om", "--key", "key", "-o", name, cwd=tmp_path)[0] == 0
        signed.add(digest(tmp_path / name))
    assert len(signed) == 1
