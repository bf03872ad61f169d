#===-- test_tf_networks.py - small TensorFlow networks against TensorFlow's answers ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keras layers, loops, conditions, lists and dynamic shapes: frozen graphs that
tf_networks/make_networks.py made, each with its inputs and TensorFlow's outputs."""
import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, SHARED, call, tool  # noqa: E402

FOLDER = Path(__file__).resolve().parent / "tf_networks"
NETWORKS = sorted(str(path.relative_to(FOLDER)).removesuffix(".pb.gz")
                  for path in FOLDER.rglob("*.pb.gz"))


def compile_graph(model, folder, *flags):
    code, out, err = call(tool("atc"), f"--model={model}", "--framework=3", "--target=cpu",
                          f"--output={folder}/model", *flags)
    assert code == 0, out + err
    return Session(RUNTIME, folder / "model.om")


def check_network(name, folder, opened):
    """Runs a network, with all dims of its inputs dynamic where `opened`."""
    model = folder / "model.pb"
    model.write_bytes(gzip.decompress((FOLDER / f"{name}.pb.gz").read_bytes()))
    with np.load(FOLDER / f"{name}.npz") as file:
        arrays = dict(file)
    inputs = {k: v for k, v in arrays.items() if k[0] == "x"}
    shapes = ";".join(f"{k}:" + ",".join("-1" for _ in v.shape)
                      for k, v in inputs.items() if v.ndim)
    session = compile_graph(model, folder, *([f"--input_shape={shapes}"] if opened else []))
    got = list(session.run_values(inputs).values())
    session.close()
    expected = [arrays[f"y{i}"] for i in range(sum(k[0] == "y" for k in arrays))]
    assert [g.shape for g in got] == [e.shape for e in expected]
    for output, answer in zip(got, expected):
        np.testing.assert_allclose(output, answer, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_network(name, tmp_path):
    check_network(name, tmp_path, opened=False)


# Patches of volumes and fused steps have a fixed shape. The number of classes of boxes and that of the channels of images with drawn
# boxes must be known; a transform of a length that is not known leaves rounding errors, not zeros, where a spectrum is
# real.
FIXED = ["operators/suppressed-boxes", "operators/angles-of-spectra", "matrices/drawn-boxes-dynamic",
         "matrices/colors-of-boxes-dynamic", "matrices/functions-and-bits-dynamic", "older/fused-steps"]


@pytest.mark.parametrize("name", [n for n in NETWORKS if n not in FIXED])
def test_network_of_dynamic_shapes(name, tmp_path):
    check_network(name, tmp_path, opened=True)


@pytest.mark.parametrize("name", ["layers/attention", "layers/grouped-convolutions"])
def test_an_open_batch_runs_in_tiles(name, tmp_path):
    (tmp_path / "model.pb").write_bytes(gzip.decompress((FOLDER / f"{name}.pb.gz").read_bytes()))
    with np.load(FOLDER / f"{name}.npz") as file:
        arrays = dict(file)
    x = arrays["x0"]
    session = compile_graph(tmp_path / "model.pb", tmp_path,
                            "--input_shape=x0:-1," + ",".join(map(str, x.shape[1:])))
    code, out, err = call(tool("om-dump"), tmp_path / "model.om")
    assert code == 0 and " = tiles(" in out, err
    for batch in (1, 2, 5):
        got = list(session.run_values({"x0": np.resize(x, (batch, *x.shape[1:]))}).values())
        for output, answer in zip(got, [arrays[f"y{i}"] for i in range(len(got))]):
            np.testing.assert_allclose(output, np.resize(answer, (batch, *answer.shape[1:])),
                                       rtol=1e-4, atol=1e-5)
    session.close()


def test_diagonals_of_another_length_than_the_matrix_fail(tmp_path):
    (tmp_path / "model.pb").write_bytes(gzip.decompress(
        (FOLDER / "operators/side-diagonals-dynamic.pb.gz").read_bytes()))
    with np.load(FOLDER / "operators/side-diagonals-dynamic.npz") as file:
        diagonal, matrix = file["x0"], file["x1"]
    session = compile_graph(tmp_path / "model.pb", tmp_path, "--input_shape=x0:-1,-1;x1:-1,-1,-1")
    session.run_values({"x0": diagonal, "x1": matrix})
    for wrong in (diagonal[:, :1], diagonal[:1]):
        with pytest.raises(RuntimeError, match="the diagonals do not have the outer dims"):
            session.run_values({"x0": wrong, "x1": matrix})
    session.close()


def test_sets_of_other_dims_and_colors_of_fewer_channels_fail(tmp_path):
    for name, shapes, change, message in [
            ("sets-of-rows-dynamic", "x0:-1,-1,-1;x1:-1,-1,-1",
             lambda x: {**x, "x1": x["x1"][:, :1]}, "different dims in front of the last one"),
            ("sets-by-indices-dynamic", "x0:-1,2;x1:-1",
             lambda x: {**x, "x0": x["x0"] + [[0, 2]]}, "an index of a sparse tensor is out of its shape"),
            ("sets-by-indices-dynamic", "x0:-1,2;x1:-1",
             lambda x: {**x, "x0": x["x0"] - [[1, 0]]}, "an index of a sparse tensor is out of its shape"),
            ("colors-of-boxes-dynamic", "x0:-1,-1,-1,4;x1:-1,-1,4;x2:-1,-1",
             lambda x: {**x, "x2": x["x2"][:, :1]}, "index")]:
        (tmp_path / "model.pb").write_bytes(gzip.decompress((FOLDER / f"matrices/{name}.pb.gz").read_bytes()))
        with np.load(FOLDER / f"matrices/{name}.npz") as file:
            inputs = {key: file[key] for key in file if key[0] == "x"}
        session = compile_graph(tmp_path / "model.pb", tmp_path, f"--input_shape={shapes}")
        session.run_values(inputs)
        with pytest.raises(RuntimeError, match=message):
            session.run_values(change(inputs))
        session.close()


def test_one_file_serves_all_sizes(tmp_path):
    """A trained network with every dim of its images open, against itself for fixed sizes."""
    model = SHARED / "models" / "tf-espcn-x3.pb"
    if not model.exists():
        pytest.skip("needs shared/models beside the checkout")
    dynamic = compile_graph(model, tmp_path, "--input_shape=IteratorGetNext:-1,-1,-1,1")
    for shape in [(1, 17, 23, 1), (2, 40, 30, 1), (1, 64, 48, 1)]:
        value = np.random.default_rng(1).random(shape, np.float32)
        (got,) = dynamic.run_values({"IteratorGetNext": value}).values()
        fixed = compile_graph(model, tmp_path, "--input_shape=IteratorGetNext:" +
                              ",".join(map(str, shape)))
        (expected,) = fixed.run_values({"IteratorGetNext": value}).values()
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)
