#===-- test_printed_names.py - no name reaches the terminal as it is -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models whose names hold control characters, marks that turn text around and bytes that are no
UTF-8, through every tool: what is printed or written for people holds none of them, and names
that can be read stay as they are.
"""

import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="needs numpy")
onnx = pytest.importorskip("onnx", reason="needs the onnx package (Debian: python3-onnx)")
sys.path.insert(0, str(Path(__file__).resolve().parent))

from models import model, net, node, tensor, weights  # noqa: E402
from tools import BUILD, ROOT, available  # noqa: E402
import openatc_tools  # noqa: E402

pytestmark = pytest.mark.skipif(not available(), reason=f"atc, om-run, om-dump not in {BUILD}/bin")

READABLE = "\u5377\u79ef/\u0441\u043b\u043e\u0439\u00e9"
EVIL = ("|\u202e\x1b[31m\x07\n\r\tE10001: forged\x7f\u0085\u009b\u2028\u2029\u200b\u200e\u200f"
        "\u061c\u2066\u2069\ufeff\u00ad\U000e0041")
# A name that protobuf takes, in which the marker is then replaced by bytes that are no text.
MARK, BROKEN = "ZQZQ", b"\xff\xc0\xe5\x8d"
NAME = EVIL + READABLE
FORGED = re.compile(r"(?m)^E10001: forged")


def spoil(made):
    """The file of a model, with the marker replaced."""
    return made.SerializeToString().replace(MARK.encode(), BROKEN)


def evil_net():
    """net() with evil names for all nodes and tensors."""
    made = net()
    named = {}
    for i, each in enumerate(made.graph.node):
        each.name = f"{NAME}{MARK}n{i}"
        for names in (each.input, each.output):
            for j, name in enumerate(names):
                names[j] = named.setdefault(name, f"{NAME}{MARK}{name}")
    for each in (*made.graph.input, *made.graph.output, *made.graph.initializer):
        each.name = named[each.name]
    made.graph.name = NAME
    made.producer_name = NAME
    return made


def assert_clean(data, where="", readable=None):
    """`data` is text for people: UTF-8, lines, nothing that is obeyed or not shown."""
    text = data.decode() if isinstance(data, bytes) else data
    for i, c in enumerate(text):
        hidden = unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")
        assert c == "\n" or not hidden, (where, hex(ord(c)), text[max(0, i - 60):i + 20])
    assert not FORGED.search(text), (where, text)
    if readable:
        assert READABLE in text, (where, text)
    return text


def use(folder, tool, *args, status=0, readable=None):
    """Runs a tool; what it prints must be clean."""
    done = subprocess.run([openatc_tools.tool(tool), *args], cwd=folder, capture_output=True,
                          check=False, timeout=120)
    where = (tool, args)
    assert done.returncode == status, (where, done)
    assert_clean(done.stdout + done.stderr, where, readable)
    return done.stdout.decode(), done.stderr.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with evil models, compiled for all targets."""
    place = tmp_path_factory.mktemp("evil")
    made = evil_net()
    (place / "m.onnx").write_bytes(spoil(made))
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = NAME
    (place / "d.onnx").write_bytes(spoil(made))
    for name, source, *flags in (("cpu", "m", "--target=cpu"), ("host", "d", "--target=cpu"),
                                 ("npu", "m", "--soc_version=Ascend310P3")):
        use(place, "atc", f"--model={source}.onnx", "--framework=5", f"--output={name}",
            "--verbose", "--json=-", *flags)
    return place


KINDS = ("cpu", "npu", "host")


@pytest.mark.parametrize("kind", KINDS)
def test_dumps(kind, folder):
    for flags in ([], ["--tensors"], ["--disassemble"]):
        text, _ = use(folder, "om-dump", f"{kind}.om", *flags, readable=True)
        assert "\\u202E" in text and "\\x1B" in text and "\\n" in text and "\\xFF" in text
    use(folder, "atc", "--mode=6", f"--om={kind}.om", readable=True)


@pytest.mark.parametrize("kind", KINDS)
def test_json_has_the_names_as_they_are(kind, folder):
    """Escaped in the text, the same to a program that reads it."""
    text, _ = use(folder, "om-dump", "--json", f"{kind}.om", readable=True)
    dumped = json.loads(text)
    names = [each["name"] for each in (dumped["host"]["inputs"] if kind == "host"
                                       else dumped["tensors"])]
    assert any(name.startswith(NAME) for name in names)
    use(folder, "atc", "--mode=1", f"--om={kind}.om", "--json=mode1")
    written = assert_clean((folder / "mode1").read_bytes(), readable=True)
    assert json.loads(written)["inputs"][0]["name"].startswith(NAME)


@pytest.mark.parametrize("kind", KINDS)
def test_om_run(kind, folder, tmp_path):
    os.symlink(folder, tmp_path / "in")
    om = f"in/{kind}.om"
    np.save(tmp_path / "x.npy", np.ones((1, 3, 8, 8), np.float32))
    given = ["--input", "x.npy"]
    use(tmp_path, "om-run", om, *given, readable=True)
    use(tmp_path, "om-run", om, *given, "--profile", readable=True)
    text, _ = use(tmp_path, "om-run", om, *given, "--profile", "--json", readable=True)
    assert json.loads(text)["outputs"][0]["name"].startswith(NAME)
    use(tmp_path, "om-run", om, *given, "--output", "out", "--loop", "2")
    for path in (tmp_path / "out").iterdir():
        assert_clean(path.name, "file name")
        assert np.load(path).shape == (1, 10)
    # The message names what the model has.
    use(tmp_path, "om-run", om, "--input", f"{EVIL}=x.npy", status=1, readable=True)
    np.save(tmp_path / "wrong.npy", np.ones((1, 3, 8), np.float32))
    use(tmp_path, "om-run", om, "--input", "wrong.npy", status=1, readable=True)
    if kind != "npu":  # without code for the CPU there is no level to choose
        use(tmp_path, "om-run", om, "--cpu-level", EVIL, status=1)


@pytest.mark.parametrize("kind", ("cpu", "npu"))
def test_om_run_tensors(kind, folder, tmp_path):
    os.symlink(folder, tmp_path / "in")
    om = f"in/{kind}.om"
    use(tmp_path, "om-run", om, "--dump", "dump")
    names = sorted(path.name for path in (tmp_path / "dump").iterdir())
    assert names
    for name in names:
        assert_clean(name, "file name")
    for flags in ([], ["--json"]):
        use(tmp_path, "om-run", om, "--compare", "in/m.onnx", "--tolerance", "1", *flags, readable=True)
        # A line that says how far they are apart.
        use(tmp_path, "om-run", om, "--compare", "in/m.onnx", "--tolerance", "0", *flags, status=1,
            readable=True)
        use(tmp_path, "om-run", om, "--compare", "dump", *flags, readable=True)
    use(tmp_path, "om-run", om, "--compare", EVIL, status=1)


def test_npu_reports(folder, tmp_path):
    os.symlink(folder, tmp_path / "in")
    use(tmp_path, "om-run", "in/npu.om", "--timeline", "t.json", "--report", "r.html",
        "--check-hazards", readable=True)
    timeline = assert_clean((tmp_path / "t.json").read_bytes(), readable=True)
    assert any(each.get("name", "").startswith(NAME)
               for each in json.loads(timeline)["traceEvents"])
    page = assert_clean((tmp_path / "r.html").read_bytes(), readable=True)
    # The names that the page draws are text that is safe to see.
    data = re.search(r"const data = (\{.*?\});\n", page, re.DOTALL)[1]
    for _, name, _ in json.loads(data)["launches"]:
        assert_clean(name, "page")
    table = tmp_path / EVIL.replace("\n", "")
    table.write_text(f"base = Ascend310P3\n{EVIL} = {EVIL}\n")
    use(tmp_path, "om-run", "in/npu.om", "--soc_file", table, status=1)
    use(tmp_path, "atc", "--model=in/m.onnx", "--framework=5", f"--soc_file={table}",
        "--output=x", status=1)


def test_pages_keep_tags_of_names_out(tmp_path):
    made = net()
    tag = "<script>alert('\u202e')</script>\"&"
    for each in made.graph.node:
        each.name = each.name + tag
    # What the pool makes is in both reports.
    made.graph.node[2].output[0] = made.graph.node[3].input[0] = tag
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    use(tmp_path, "atc", "--model=m.onnx", "--framework=5", "--output=m",
        "--soc_version=Ascend310P3")
    use(tmp_path, "om-run", "m.om", "--report", "r.html")
    np.save(tmp_path / "x.npy", np.ones((1, 3, 8, 8), np.float32))
    (tmp_path / "data").mkdir()
    (tmp_path / "x.npy").rename(tmp_path / "data" / "x.npy")
    use(tmp_path, "amct", "calibrate", "--model", "m.onnx", "--data", "data", "--output", "q")
    for name in ("r.html", "q_report.html"):
        page = assert_clean((tmp_path / name).read_bytes(), name)
        assert "<script>alert" not in page and "alert(" in page


# What is refused.

def op(kind, **attributes):
    return model([node(kind, ["x"], ["y"], NAME + MARK, **attributes)])


BROKEN_MODELS = {
    "op-type": lambda: op(NAME + MARK),
    "attribute": lambda: op("Relu", **{EVIL: NAME}),
    "string-attribute": lambda: model([node("Conv", ["x", "w"], ["y"], NAME, auto_pad=NAME)],
                                      initializers=[weights("w", 4, 3, 3, 3)]),
    "domain": lambda: model([onnx.helper.make_node("Foo", ["x"], ["y"], NAME, domain=NAME)]),
    "missing-input": lambda: model([node("Add", ["x", NAME + MARK], ["y"], NAME)]),
    "twice": lambda: model([node("Relu", ["x"], [NAME], NAME), node("Relu", ["x"], [NAME], NAME)]),
    "shape": lambda: model([node("Add", ["x", NAME], ["y"], NAME)],
                           inputs=[tensor("x", [1, 3, 8, 8]), tensor(NAME, [7, 7])]),
    "external": lambda: external(),
}


def external():
    made = model([node("Conv", ["x", "w"], ["y"], NAME)])
    each = made.graph.initializer.add()
    each.name, each.data_type, each.data_location = "w", 1, onnx.TensorProto.EXTERNAL
    each.dims.extend([4, 3, 3, 3])
    each.external_data.add(key="location", value=NAME.replace("/", ""))
    return made


@pytest.mark.parametrize("name", BROKEN_MODELS)
def test_refused_models(name, tmp_path):
    (tmp_path / "m.onnx").write_bytes(spoil(BROKEN_MODELS[name]()))
    given = ["--model=m.onnx", "--framework=5"]
    done = subprocess.run([BUILD / "bin" / "atc", *given, "--target=cpu", "--output=m"],
                          cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert_clean(done.stdout + done.stderr, name)
    assert done.returncode in (0, 1)
    subprocess.run([BUILD / "bin" / "atc", *given, "--mode=3", "--check_report=report"],
                   cwd=tmp_path, capture_output=True, check=False, timeout=60)
    report = json.loads(assert_clean((tmp_path / "report").read_bytes(), name))
    for message in report["messages"]:
        assert_clean(message["text"], name)
    for tool, *args in (("atc-translate", "--import-onnx", "m.onnx"),
                        ("atc-translate", "--import-onnx", "m.onnx", "--locations"),
                        ("atc-translate", "--interpret", "m.onnx"),
                        ("amct", "calibrate", "--model", "m.onnx", "--data", ".", "--output", "q")):
        done = subprocess.run([openatc_tools.tool(tool), *args], cwd=tmp_path, capture_output=True,
                              check=False, timeout=60)
        assert done.returncode in (0, 1), (tool, args, done)
        assert_clean(done.stdout + done.stderr, (name, tool))


@pytest.mark.parametrize("tool, args", [
    ("atc", [f"--model={EVIL}", "--framework=5", "--target=cpu", "--output=m"]),
    ("atc", [f"--{EVIL}=1"]), ("atc", [EVIL]), ("atc", [f"--mode={EVIL}"]),
    ("atc", [f"--output=none/{EVIL}/x", "--model=m.onnx", "--framework=5", "--target=cpu"]),
    ("atc", ["--mode=6", f"--om={EVIL}"]),
    ("om-dump", [EVIL]), ("om-run", [EVIL]), ("om-run", ["x", f"--{EVIL}"]),
    ("om-sign", ["verify", EVIL, "--key", EVIL]), ("om-sign", [EVIL]),
    ("om-sign", ["keygen", f"none/{EVIL}"]),
    ("amct", ["calibrate", "--model", EVIL, "--data", EVIL, "--output", "q"]), ("amct", [EVIL]),
    ("atc-translate", ["--import-onnx", EVIL]), ("atc-translate", [f"--{EVIL}"]),
    ("atc-translate", ["--interpret", f"{EVIL}.mlir"]),
])
def test_command_lines(tool, args, tmp_path):
    if not (BUILD / "bin" / tool).exists():
        pytest.skip(f"{tool} is not built")
    _, errors = use(tmp_path, tool, *args, status=1)


def test_paths(folder, tmp_path):
    """Files whose own names are evil, which is no error."""
    name = EVIL
    (tmp_path / f"{name}.onnx").write_bytes((folder / "m.onnx").read_bytes())
    use(tmp_path, "atc", f"--model={name}.onnx", "--framework=5", "--target=cpu", f"--output={name}")
    use(tmp_path, "om-dump", f"{name}.om")
    use(tmp_path, "om-run", f"{name}.om", "--json")
    if (BUILD / "bin" / "om-sign").exists():
        use(tmp_path, "om-sign", "keygen", name)
        use(tmp_path, "om-sign", "sign", f"{name}.om", "--key", name)
        use(tmp_path, "om-sign", "verify", f"{name}.om", "--key", f"{name}.pub")


def test_amct(folder, tmp_path):
    os.symlink(folder, tmp_path / "in")
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "data" / "x.npy", np.ones((1, 3, 8, 8), np.float32))
    given = ["--model", "in/m.onnx", "--data", "data"]
    use(tmp_path, "amct", "calibrate", *given, "--output", "q")
    for path in sorted(tmp_path.glob("q_*")):
        if path.suffix != ".onnx":
            # Tables of text leave the middle of long names out.
            assert_clean(path.read_bytes(), path.name, readable=path.suffix != ".txt")
    table = json.loads((tmp_path / "q_quant.json").read_text())
    assert all(each["node"].startswith(NAME) for each in table["layers"])
    compared = ["--quantized_model", "q_fake_quant_model.onnx"]
    use(tmp_path, "amct", "compare", *given, *compared)
    use(tmp_path, "amct", "compare", *given, *compared, "--json", readable=True)
    # Settings that name layers which are not there.
    (tmp_path / "c.json").write_text(json.dumps({"layers": {EVIL: {"method": EVIL}}}))
    use(tmp_path, "amct", "calibrate", *given, "--output", "r", "--config", "c.json", status=1)


def test_atc_opt(tmp_path):
    """The messages of our passes, which the driver of MLIR prints."""
    text = "".join(f"\\{byte:02X}" for byte in EVIL.encode())
    (tmp_path / "m.mlir").write_text(
        'func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n'
        f'  %y = graph.host_call "{text}"(%x) : (tensor<2xf32>) -> tensor<2xf32>\n'
        '  return %y : tensor<2xf32>\n}\n')
    for passes in (["--graph-pipeline"], ["--host-pipeline"], ["--cpu-pipeline"]):
        done = subprocess.run([BUILD / "bin" / "atc-opt", "m.mlir", *passes], cwd=tmp_path,
                              capture_output=True, check=False, timeout=60)
        assert done.returncode in (0, 1)
        assert_clean(done.stdout + done.stderr, passes)


PYTHON = """
import sys, openatc
for call in (lambda: openatc.load("bad.onnx"), lambda: openatc.load(sys.argv[1]),
             lambda: openatc.Model(sys.argv[1]),
             lambda: openatc.interpret("m.onnx", {sys.argv[1]: None}),
             lambda: openatc.Session(openatc.Model("cpu.om")).run({sys.argv[1]: None}),
             lambda: openatc.load("m.onnx", input_shapes={sys.argv[1]: (0,)})):
    try:
        call()
        print("no error")
    except openatc.Error as error:
        print(error, *error.messages, sep="\\n")
model = openatc.Model("cpu.om")
print(model, repr(model.inputs), repr(model.tensors), repr(model.launches))
module = openatc.load("m.onnx")
print(repr(module))
import numpy
print(openatc.compare(model, module, [numpy.ones((1, 3, 8, 8), numpy.float32)]))
assert module.inputs[0].name == model.inputs[0].name and chr(0x202e) in model.inputs[0].name
"""


def test_python(folder, tmp_path):
    package = BUILD / "python"
    if not (package / "openatc").is_dir():
        pytest.skip("the Python package is not built")
    for name in ("m.onnx", "cpu.om"):
        os.symlink(folder / name, tmp_path / name)
    (tmp_path / "bad.onnx").write_bytes(spoil(op(NAME + MARK)))
    done = subprocess.run([sys.executable, "-c", PYTHON, EVIL], cwd=tmp_path, capture_output=True,
                          env={**os.environ, "PYTHONPATH": str(package), "PYTHONUTF8": "1"},
                          check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    text = assert_clean(done.stdout + done.stderr, "python", readable=True)
    assert "no error" not in text


# By construction.

def test_tools_print_by_one_way():
    """No file of a tool prints with anything but tools/common/Print.h or, where it holds lines
    that are printable already, llvm::outs()."""
    others = re.compile(r"std::(printf|fprintf|puts|fputs|cout|cerr)\b|[^a-z:]f?printf\(")
    found = []
    for path in sorted((ROOT / "tools").rglob("*")):
        # npu-isa-doc prints a page of the sources; no model comes near it.
        if path.suffix in (".h", ".cpp") and path.name != "Print.h" and "npu-isa-doc" not in str(path):
            found += [f"{path.name}: {line.strip()}" for line in path.read_text().splitlines()
                      if others.search(line)]
    assert found == []


def test_files_are_written_by_one_way():
    """No product file opens a file for writing but support/OutputFile.cpp."""
    others = re.compile(r"std::ofstream|raw_fd_ostream|ToolOutputFile|mkostemp|mkstemp\(|"
                        r"O_CREAT|fopen\([^)]*\"[wa]")
    found = []
    for folder in ("backends", "dialects", "frontends", "kernels", "passes", "python-bindings/src",
                   "quantize", "runtime-lite", "support", "tools"):
        for path in sorted((ROOT / folder).rglob("*")):
            # PrintOds.cpp is a program of the build, whose output is sources.
            if path.suffix in (".h", ".cpp") and path.name not in ("OutputFile.cpp", "PrintOds.cpp"):
                found += [f"{path.name}: {line.strip()}" for line in path.read_text().splitlines()
                          if others.search(line)]
    assert found == []
