# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of README.md and docs/ work as they are written.

The tour runs from its first line to its last. Every other command of the compiler's tools runs in a folder with
the models that the pages name, which examples/models/make.py and the lines below make; commands of a
page run in its order. That takes a minute: with OPENATC_ALL_COMMANDS=1 only.
"""
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("OPENATC_BUILD_DIR", ROOT / "build")).resolve()
sys.path += [str(ROOT / "test" / "tools"), str(ROOT / "test" / "common")]
EVERYTHING = os.environ.get("OPENATC_ALL_COMMANDS") == "1"
TOOL = re.compile(r"(?:build/bin/)?(aoe|atc|amct|npu-cluster|npu-sim|npu-sweep|om-run|om-dump|om-sign|atc-opt|atc-translate)\s")

# What cannot run here, with the reason.
NOT_RUN = {
    "atc ... --target_cpu=x86-64-v3,aarch64": "an ellipsis stands for the line above",
    "--load_pass_plugin=build-plugin/CountOps.so": "built and run by test/embedding/test_out_of_tree.py",
    "/usr/share/openatc": "run by scripts/package.sh --check",
    "aoe ": "searches for minutes; test/tools/test_aoe.py runs it for seconds",
}
# Commands that are shown because they fail; what they print is on the page.
FAILS = ["atc --framework=5 --model=resnet50.onnx --target=cpu"]


def pages():
    docs = ROOT / "docs"
    return {"README.md": ROOT / "README.md",
            **{str(page.relative_to(docs)): page for page in sorted(docs.rglob("*.md"))}}


def commands(page):
    """The tools' command lines of a page, and those that print a file for them, in their order."""
    found, fenced, lines = [], False, iter(page.read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line.startswith("```"):
            fenced = not fenced
        elif (fenced or line.startswith("    ")) and (TOOL.match(line.strip()) or line.startswith("printf ")):
            command = line.strip()
            while command.endswith("\\"):
                command = command[:-1] + next(lines).strip()
            found.append(re.sub(r"\s+#.*", "", command).replace("build/bin/", ""))
    return found


def shell(folder, script, **environment):
    result = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, text=True,
                            capture_output=True, timeout=300,
                            env={**os.environ, "PATH": f"{BUILD / 'bin'}:/usr/bin:{os.environ['PATH']}",
                                 "PYTHONPATH": str(BUILD / "python"), **environment})
    return result.returncode, result.stdout + result.stderr


def dense_graph(pb):
    """A frozen TensorFlow graph that can be quantized: a product with constant weights, and a Relu."""
    def shape(*dims):
        return b"".join(pb._field(2, b"\x08" + pb._varint(dim)) for dim in dims)
    kind = b"\x30\x01"  # DT_FLOAT
    weights = np.random.default_rng(0).standard_normal((64, 32)).astype("<f4")
    tensor = b"\x08\x01" + pb._field(2, shape(64, 32)) + pb._field(4, weights.tobytes())
    nodes = [pb._node("image", "Placeholder", [], [("dtype", kind), ("shape", pb._field(7, shape(1, 64)))]),
             pb._node("weights", "Const", [], [("dtype", kind), ("value", pb._field(8, tensor))]),
             pb._node("dense", "MatMul", ["image", "weights"], [("T", kind)]),
             pb._node("relu", "Relu", ["dense"], [("T", kind)])]
    return b"".join(pb._field(1, node) for node in nodes)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with what the pages name."""
    if not EVERYTHING:
        pytest.skip("runs with OPENATC_ALL_COMMANDS=1")
    onnx = pytest.importorskip("onnx")
    import caffe_nets
    import command_lines
    import images
    folder = tmp_path_factory.mktemp("models")
    subprocess.run([sys.executable, ROOT / "examples" / "models" / "make.py", "--width", "0.125", folder], check=True)
    shutil.copy(folder / "resnet50.onnx", folder / "model.onnx")
    for name in ("picture.npy", "x.npy"):
        shutil.copy(folder / "input.npy", folder / name)
    (folder / "model.pb").write_bytes(dense_graph(command_lines))
    (folder / "cat.jpg").write_bytes(images.jpeg(np.arange(64).reshape(8, 8) * 4, 64, 64))
    (folder / "imagenet.txt").write_text("".join(f"class {i}\n" for i in range(1000)))
    command_lines.tf_model(folder / "espcn.pb", "image", (-1, -1, -1, 1))
    command_lines.tf_model(folder / "keywords.pb", "Mfcc", (-1, 49, 10))
    for name in ("x.mlir", "model.mlir"):
        (folder / name).write_text("func.func @main(%x: tensor<1x8xf32> {om.name = \"x\"}) -> (tensor<1x8xf32> {om.name = \"y\"}) {\n"
                                   "  %y = graph.relu %x : (tensor<1x8xf32>) -> tensor<1x8xf32>\n  return %y : tensor<1x8xf32>\n}\n")
    program = re.search(r"<!-- file by-hand.mlir -->\n```mlir\n(.*?)^```",
                        (ROOT / "docs" / "npu-programs.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
    program = program.replace("  npu.move %y", "  npu.set_flag v to mte3 id 0\n  npu.wait_flag v to mte3 id 0\n  npu.move %y")
    for name in ("program.mlir", "a.mlir", "b.mlir"):
        (folder / name).write_text(program)
    (folder / "aipp.cfg").write_text("aipp_op {\n  aipp_mode: static\n  input_format: RGB888_U8\n  src_image_size_w: 224\n  src_image_size_h: 224\n"
                                     "  var_reci_chn_0: 0.0039\n  var_reci_chn_1: 0.0039\n  var_reci_chn_2: 0.0039\n}\n")
    (folder / "compress.cfg").write_text('calibration: {\n  input_data_dir: "samples/"\n}\n')
    # Stand-ins for networks that the pages name, with their inputs.
    (folder / "llama.onnx").write_bytes(lzma.decompress((ROOT / "test/lm/models/gpt2.onnx.xz").read_bytes()))
    np.save(folder / "ids.npy", np.arange(128, dtype=np.int64)[None] % 100)
    np.save(folder / "text.npy", np.arange(3, 48).repeat(6))
    network = onnx.load(folder / "resnet50.onnx")
    network.graph.node[0].input[0] = network.graph.input[0].name = "input"
    onnx.save(network, folder / "vgg16.onnx")
    with tarfile.open(ROOT / "test" / "frontends" / "tflite" / "models.tar.xz") as archive:
        (folder / "mobilenet.tflite").write_bytes(archive.extractfile("conv_SAME.tflite").read())
    (folder / "samples").mkdir()
    np.save(folder / "samples" / "0.npy", np.linspace(-1, 1, 64, dtype=np.float32)[None])
    page = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    (folder / "step.json").write_text(re.search(r"```json\n(\{\"loss\".*?)```", page, re.DOTALL)[1])
    np.save(folder / "images.npy", np.linspace(0, 1, 64 * 28 * 28, dtype=np.float32).reshape(64, 1, 28, 28))
    np.save(folder / "labels.npy", np.arange(64) % 10)
    page = (ROOT / "docs" / "atc.md").read_text(encoding="utf-8")
    (folder / "op_list.json").write_text(re.search(r"```json\n(\[\{.*?)```", page, re.DOTALL)[1])
    shutil.copy(ROOT / "test" / "fuzz" / "corpus-air" / "built.air", folder / "resnet50.air")
    net = caffe_nets.Net(data=(1, 3, 32, 32))
    net.conv("conv1", 8, 3, 3)
    for path in net.save(folder):
        path.rename(folder / f"resnet50{path.suffix}")
    (folder / "examples").symlink_to(ROOT / "examples")
    run_first = "atc --model=resnet50.onnx --framework=5 --target=cpu --output=net"
    assert shell(folder, run_first)[0] == 0
    return folder


@pytest.mark.parametrize("name", [name for name in pages() if name != "tour.md" and commands(pages()[name])])
def test_commands_of_a_page(models, tmp_path, name):
    folder = tmp_path / "work"
    shutil.copytree(models, folder, copy_function=os.link, symlinks=True)
    if name == "npu.md":  # the command of its first line is that of another page
        shell(folder, commands(pages()[name])[0])
    if name == "tuning.md":  # a model as aoe leaves it
        shell(folder, "atc --model=resnet50.onnx --framework=5 --soc_version=Ascend910B1 --output=yolov5n")
    if name == "npu-programs.md":  # the programs of a model that was compiled for the NPU
        shell(folder, "atc --model=resnet50.onnx --framework=5 --soc_version=Ascend310P3 --output=network")
    for command in commands(pages()[name]):
        if any(part in command for part in NOT_RUN):
            continue
        # A page about running shows files that another page has made.
        for om in re.findall(r"(\w+)\.om\b", command):
            if not (folder / f"{om}.om").exists():
                os.link(models / "net.om", folder / f"{om}.om")
        code, text = shell(folder, command)
        assert (code != 0) == (command in FAILS), f"{name}: {command}\n{text}"


def test_there_are_commands():
    assert sum(len(commands(page)) for page in pages().values()) >= 45


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The runtime as packages install it, for the programs of the tour."""
    cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    cmake = re.search(r"^CMAKE_COMMAND:INTERNAL=(.*)$", cache, re.MULTILINE)[1]
    prefix = tmp_path_factory.mktemp("tree")
    for component in ("runtime", "dev"):
        subprocess.run([cmake, "--install", BUILD, "--component", component, "--prefix", prefix], check=True, capture_output=True)
    return prefix


def test_tour(tree, tmp_path):
    for program in ("cc", "pkg-config"):
        if not shutil.which(program):
            pytest.skip("not installed: " + program)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    page = ROOT / "docs" / "tour.md"
    script = "\n".join(blocks(page, "sh"))
    code, text = shell(tmp_path, script, PKG_CONFIG_PATH=str(tree / "lib" / "pkgconfig"), LD_LIBRARY_PATH=str(tree / "lib"))
    assert code == 0, text
    assert text.count("\na 7\n") == 1 and "\na 7 7\n" in text
    assert "all" in text and "tensors agree" in text
    assert (tmp_path / "report.html").exists()
    export, use = blocks(page, "python")
    code, text = shell(tmp_path, f"/usr/bin/python3 - <<'PY'\n{use}\nPY")
    assert code == 0 and text.split() == ["7", "7"], text
    assert "torch.onnx.export" in export


def test_export_of_the_tour(tmp_path):
    """Needs PyTorch with ONNX, which OPENATC_TORCH_PYTHON has or this Python."""
    python = os.environ.get("OPENATC_TORCH_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import torch, onnx"], capture_output=True).returncode:
        pytest.skip("not installed: torch and onnx")
    export, _ = blocks(ROOT / "docs" / "tour.md", "python")
    subprocess.run([python, "-c", export], cwd=tmp_path, check=True)
    code, text = shell(tmp_path, "atc --model=model.onnx --framework=5 --target=cpu --output=model && om-run model.om")
    assert code == 0, text
