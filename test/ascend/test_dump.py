# Tensors that executions write: "dump" in the file of aclInit, aclmdlSetDump, settings. Run with
# `pytest test/ascend`.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import pathlib
import sys

import numpy as np
import pytest

from test_msprof import BUILD, ROOT, model, run  # noqa: F401 a fixture

sys.path.append(str(ROOT / "test/common"))

PICTURE = ROOT / "examples/digits/pictures/digit_7.npy"
# Executes a model `times` with a picture; prints the codes of what comes before.
PROGRAM = """
import sys
import numpy as np
import acl
from acl._library import load
path, config, later, picture, times = sys.argv[1:]
print(acl.init(config))
if later:
    lib = load("libascendcl.so")
    print(lib.aclmdlInitDump(), lib.aclmdlSetDump(later.encode()))
acl.rt.set_device(0)
model, ret = acl.mdl.load_from_file(path)
desc = acl.mdl.create_desc()
acl.mdl.get_desc(desc, model)
sets = []
image = np.load(picture).astype(np.float32)
for i, size in enumerate((image.nbytes, acl.mdl.get_output_size_by_index(desc, 0))):
    data, ret = acl.rt.malloc(size, 0)
    if i == 0:
        assert acl.rt.memcpy(data, size, acl.util.bytes_to_ptr(image.tobytes()), size, 1) == 0
    sets.append(acl.mdl.create_dataset())
    acl.mdl.add_dataset_buffer(sets[-1], acl.create_data_buffer(data, size))
for i in range(int(times)):
    assert acl.mdl.execute(model, *sets) == 0
acl.rt.reset_device(0)
acl.finalize()
"""


def program(folder, path, config, later=None, times=1):
    (folder / "program.py").write_text(PROGRAM)
    (folder / "acl.json").write_text(json.dumps(config))
    (folder / "later.json").write_text(json.dumps(later))
    done = run(sys.executable, folder / "program.py", path, folder / "acl.json",
               folder / "later.json" if later else "", PICTURE, times)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split()


def test_outputs_are_those_of_om_run(model, tmp_path):  # noqa: F811
    path, _ = model
    dump = {"dump_path": str(tmp_path / "dump"), "dump_list": [{"model_name": "digits"}], "dump_mode": "output"}
    assert program(tmp_path, path, {"dump": dump}) == ["0"]
    files = list((tmp_path / "dump").glob("*/0/digits/*/0/*.npy"))
    done = run(BUILD / "bin/om-run", path, "--input", PICTURE, "--dump", tmp_path / "reference")
    assert done.returncode == 0, done.stderr
    wanted = {file.stem: np.load(file) for file in (tmp_path / "reference").glob("*.npy")}
    assert files and len(files) == len(wanted)
    for file in files:
        kernel, name, task, stream, time, side, index, ending = file.name.split(".")
        assert (stream, side, ending) == ("0", "output", "npy") and int(task) > 0 and int(time) > 0 and kernel and name
        got = np.load(file)
        assert any(got.shape == want.shape and np.array_equal(got, want) for want in wanted.values()), file


def test_a_model_has_the_name_of_its_file(model, tmp_path):  # noqa: F811
    """The vendor's programs name models so; the graph in the file has a name of its own."""
    path = tmp_path / "numbers.om"
    path.write_bytes(pathlib.Path(model[0]).read_bytes())
    dump = {"dump_path": str(tmp_path / "dump"), "dump_list": [{"model_name": "numbers"}]}
    assert program(tmp_path, path, {"dump": dump}) == ["0"]
    assert list((tmp_path / "dump").glob("*/0/numbers/*/0/*.npy"))


def test_a_later_dump_of_some_steps(model, tmp_path):  # noqa: F811
    dump = {"dump": {"dump_path": str(tmp_path / "dump"), "dump_list": [{}], "dump_mode": "all", "dump_step": "1|3-4"}}
    assert program(tmp_path, model[0], {}, later=dump, times=6) == ["0", "0", "0"]
    steps = sorted(folder.name for folder in (tmp_path / "dump").glob("*/0/digits/*/*"))
    assert steps == ["1", "3", "4"]
    (first,) = (tmp_path / "dump").glob("*/0/digits/*/1")
    picture = np.load(PICTURE).astype(np.float32).reshape(-1)
    assert any(np.array_equal(np.load(file).reshape(-1), picture) for file in first.glob("*.input.0.npy"))


def test_what_writes_nothing_says_so(model, tmp_path):  # noqa: F811
    for dump, message in (({"dump_path": str(tmp_path), "dump_debug": "on"}, '"dump_debug" writes nothing'),
                          ({"dump_debug": "yes"}, ""), ({"dump_scene": "lite_exception"}, '"dump_scene" writes nothing')):
        (tmp_path / "acl.json").write_text(json.dumps({"dump": dump}))
        (tmp_path / "program.py").write_text(PROGRAM)
        done = run(sys.executable, tmp_path / "program.py", model[0], tmp_path / "acl.json", "", PICTURE, 1)
        assert (done.returncode == 0) == bool(message) and message in done.stderr, done.stdout + done.stderr


def layers(folder, path, *names):
    """Dumps the layers; returns the names of the tensors in the order of the launches, and what the
    program says."""
    dump = {"dump_path": str(folder / "dump"), "dump_list": [{"model_name": "digits", "layer": names}]}
    (folder / "acl.json").write_text(json.dumps({"dump": dump}))
    (folder / "program.py").write_text(PROGRAM)
    done = run(sys.executable, folder / "program.py", path, folder / "acl.json", "", PICTURE, 2)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(file.name for file in (folder / "dump").glob("*/0/digits/*/0/*.npy")), done.stderr


def test_layers_of_joined_launches(tmp_path):
    done = run(BUILD / "bin/atc", "--model", ROOT / "examples/digits/digits.onnx", "--framework=5",
               f"--output={tmp_path / 'digits'}", "--soc_version=Ascend310P3")
    assert done.returncode == 0, done.stdout
    dumped = {}
    for names in (("pool_mean",), ("inverted_add", "depthwise_relu6"), ("scores", "no_such_layer")):
        folder = tmp_path / names[0]
        folder.mkdir()
        dumped[names[0]] = layers(folder, tmp_path / "digits.om", *names)
    # One launch computes what is in front of the second one, and writes four tensors.
    assert [len(written) for written, _ in dumped.values()] == [4, 2, 1]
    assert [said for _, said in dumped.values()][:2] == ["", ""]
    said = dumped["scores"][1]
    assert said.count("'no_such_layer' of the model 'digits' is not written") == 1, said
    assert "pool_mean (writes depthwise_relu6, inverted_add, head_relu, pool_mean); scores (writes scores)" in said


def test_layers_of_host_kernels(tmp_path):
    onnx = pytest.importorskip("onnx")
    from scale_models import model, value
    shape = np.load(PICTURE).shape
    nodes = [onnx.helper.make_node(kind, [x], [y], name=kind.lower())
             for kind, x, y in (("Relu", "x", "r"), ("Det", "r", "d"), ("Neg", "d", "y"))]
    onnx.save(model(nodes, [value("x", shape)], [value("y", shape[:2])]), str(tmp_path / "digits.onnx"))
    done = run(BUILD / "bin/atc", "--model", tmp_path / "digits.onnx", "--framework=5", "--target=cpu",
               f"--output={tmp_path / 'digits'}")
    assert done.returncode == 0, done.stdout
    written, said = layers(tmp_path, tmp_path / "digits.om", "det", "no_such_layer")
    assert len(written) == 1 and ".det." in written[0]
    assert "'det'" not in said and "det (writes d)" in said
    (file,) = (tmp_path / "dump").glob("*/0/digits/*/0/*.npy")
    np.testing.assert_allclose(np.load(file), np.linalg.det(np.maximum(np.load(PICTURE), 0)), 1e-5)


@pytest.mark.parametrize("dump", [
    {}, {"dump_list": []}, {"dump_op_switch": "off"}, {"dump_list": [{"model_name": "other"}], "dump_path": "."}])
def test_nothing_is_written(model, tmp_path, dump):  # noqa: F811
    if "dump_path" in dump:
        dump = dump | {"dump_path": str(tmp_path / "dump")}
    assert program(tmp_path, model[0], {"dump": dump}) == ["0"]
    assert not list(tmp_path.rglob("*.npy"))


@pytest.mark.parametrize("dump", [
    [], {"dump_list": 3}, {"dump_list": ["a"]}, {"dump_list": [{"model_name": 1}]}, {"dump_list": [{}]},
    {"dump_list": [{}], "dump_path": "/proc/none"}, {"dump_mode": "outputs"}, {"dump_level": "x"},
    {"dump_step": "1-"}, {"dump_step": "-5"}, {"dump_step": "1 "}, {"dump_step": "a"}, {"dump_op_switch": 1}, {"dump_data": "stats"},
    {"dump_list": [{"model_name": "a", "layer": [1]}]}])
def test_settings(tmp_path, dump):
    (tmp_path / "acl.json").write_text(json.dumps({"dump": dump}))
    done = run(sys.executable, "-c", f"import acl; print(acl.init('{tmp_path}/acl.json'), acl.get_recent_err_msg())")
    assert done.stdout.split()[0] == "100009", done.stdout + done.stderr
