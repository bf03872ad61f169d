"""Models that are split over ranks: every split computes what one rank computes, the weights are
divided, the traffic is that of the formulas, and what fails ends with a sentence."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto as T, helper as H, numpy_helper as NH  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_tools import BUILD, tool  # noqa: E402

MPI = shutil.which("mpirun") and (BUILD / "lib" / "libopenatc_mpi.so").exists()
needs_mpi = pytest.mark.skipif(not MPI, reason="MPI is not installed (libopenmpi-dev)")


def call(command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=300)


class Net:
    """A transformer of two layers whose weights are seeded."""

    def __init__(self, seed=5):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def weight(self, *shape):
        value = self.rng.standard_normal(shape) / max(1, shape[0]) ** 0.5
        return self.constant(value.astype(np.float32))

    def constant(self, value):
        self.weights.append(NH.from_array(np.array(value), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def op(self, kind, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(H.make_node(kind, list(inputs), [name], name=f"n{len(self.nodes)}",
                                      **attributes))
        return name

    def linear(self, x, rows, columns):
        return self.op("Add", self.op("MatMul", x, self.weight(rows, columns)),
                       self.weight(columns))

    def norm(self, x, width):
        return self.op("LayerNormalization", x, self.weight(width), self.weight(width), axis=-1)

    def reshape(self, x, *shape):
        return self.op("Reshape", x, self.constant(np.array(shape, np.int64)))

    def attention(self, x, mask, batch, tokens, width, heads):
        size = width // heads
        parts = [self.reshape(self.linear(x, width, width), batch, tokens, heads, size)
                 for _ in range(3)]
        q, k, v = (self.op("Transpose", part, perm=perm)
                   for part, perm in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
        scores = self.op("Add", self.op("MatMul", q, k), mask)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        joined = self.reshape(self.op("Transpose", mixed, perm=[0, 2, 1, 3]), batch, tokens, width)
        return self.linear(joined, width, width)


def transformer(path, heads=4, batch=2, tokens=8, width=64, words=96, seed=5):
    net = Net(seed)
    x = net.op("Gather", net.weight(words, width), "ids")
    mask = net.op("Unsqueeze", "mask", net.constant(np.array([1, 2], np.int64)))
    for _ in range(2):
        x = net.norm(net.op("Add", x, net.attention(x, mask, batch, tokens, width, heads)), width)
        inner = net.op("Relu", net.linear(x, width, 4 * width))
        x = net.norm(net.op("Add", x, net.linear(inner, 4 * width, width)), width)
    net.nodes[-1].output[0] = "hidden"
    logits = net.op("MatMul", "hidden", net.weight(width, words))
    net.nodes[-1].output[0] = "logits"
    assert logits
    graph = H.make_graph(
        net.nodes, "transformer",
        [H.make_tensor_value_info("ids", T.INT64, [batch, tokens]),
         H.make_tensor_value_info("mask", T.FLOAT, [batch, tokens])],
        [H.make_tensor_value_info("hidden", T.FLOAT, [batch, tokens, width]),
         H.make_tensor_value_info("logits", T.FLOAT, [batch, tokens, words])], net.weights)
    model = H.make_model(graph, opset_imports=[H.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(path))
    return path


def atc(model, output, *flags):
    return call([tool("atc"), f"--model={model}", "--framework=5", "--target=cpu",
                 f"--output={output}", *flags])


def run(model, folder, inputs, *flags, mpi=0):
    command = [tool("om-run"), str(model), "--input", inputs, "--output", str(folder), *flags]
    if mpi:
        command = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-np", str(mpi), *command]
    return call(command)


def compile_parallel(model, output, parallel, *flags):
    result = atc(model, output, f"--parallel={parallel}", *flags)
    assert result.returncode == 0, result.stdout
    return f"{output}.manifest"


def assert_equal(folder, reference):
    names = sorted(path.name for path in reference.iterdir())
    assert names == sorted(path.name for path in folder.iterdir())
    for name in names:
        want, got = np.load(reference / name), np.load(folder / name)
        assert np.abs(want - got).max() <= 1e-4 * (want.max() - want.min()), name


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    """The model, the --input of its files, and a folder of what one rank computes."""
    folder = tmp_path_factory.mktemp("net")
    model = transformer(folder / "net.onnx")
    rng = np.random.default_rng(1)
    np.save(folder / "ids.npy", rng.integers(0, 96, (2, 8)))
    np.save(folder / "mask.npy", np.where(rng.random((2, 8)) < 0.2, -100, 0).astype(np.float32))
    inputs = f"ids={folder}/ids.npy,mask={folder}/mask.npy"
    assert atc(model, folder / "one").returncode == 0
    assert run(folder / "one.om", folder / "reference", inputs).returncode == 0
    return model, inputs, folder / "reference", folder / "one.om"


@pytest.mark.parametrize("parallel", ["tp:2", "tp:4", "pp:2", "pp:3", "dp:2", "tp:2,pp:2",
                                      "tp:2,pp:2,dp:2"])
def test_every_split_computes_what_one_rank_computes(net, tmp_path, parallel):
    model, inputs, reference, _ = net
    manifest = compile_parallel(model, tmp_path / "net", parallel)
    result = run(manifest, tmp_path / "out", inputs)
    assert result.returncode == 0, result.stderr
    assert_equal(tmp_path / "out", reference)


@needs_mpi
@pytest.mark.parametrize("parallel,count,suffix", [("tp:2", 2, ""), ("tp:2,pp:2", 4, ".om")])
def test_ranks_under_mpirun_compute_the_same(net, tmp_path, parallel, count, suffix):
    model, inputs, reference, _ = net
    manifest = compile_parallel(model, tmp_path / "net", parallel)
    # Without its suffix, and by the name that the model would have as one file.
    name = manifest[:-len(".manifest")] + suffix
    result = run(name, tmp_path / "out", inputs, "--loop", "3", mpi=count)
    assert result.returncode == 0, result.stderr
    assert f"{count} ranks over MPI" in result.stdout
    assert_equal(tmp_path / "out", reference)


def test_each_of_two_ranks_has_about_half_of_the_weights(net, tmp_path):
    model, _, _, one = net
    for parallel in ("tp:2", "pp:2"):
        manifest = json.loads(Path(compile_parallel(model, tmp_path / "net", parallel)).read_text())
        whole = json.loads(call([tool("om-dump"), str(one), "--json"]).stdout)
        weights = sum(segment["size"] for segment in whole["segments"]
                      if segment["kind"] == "weights")
        for rank in manifest["ranks"]:
            assert rank["weights_bytes"] <= 0.6 * weights


def expected_bytes(steps, rank):
    """What a rank sends: rings of n ranks, of elements that n need not divide."""
    sent = {}
    for step in steps:
        n, element = len(step.get("ranks", [])), 4
        elements = step.get("elements", 0)
        if step["kind"] == "all_reduce":
            own = step["ranks"].index(rank)
            size = [elements * (i + 1) // n - elements * i // n for i in range(n)]
            count = sum(size[(own - s) % n] for s in range(n - 1))
            count += sum(size[(own + 1 - s) % n] for s in range(n - 1))
        elif step["kind"] == "all_gather":
            count = (n - 1) * elements
        elif step["kind"] == "send":
            count = elements
        else:
            continue
        sent[step["kind"]] = sent.get(step["kind"], 0) + count * element
    return sent


@pytest.mark.parametrize("parallel", ["tp:2", "tp:4", "tp:2,pp:2"])
def test_traffic_is_that_of_the_formulas(net, tmp_path, parallel):
    model, inputs, _, _ = net
    manifest = compile_parallel(model, tmp_path / "net", parallel)
    figures = json.loads(run(manifest, tmp_path / "out", inputs, "--json").stdout)
    assert sum("all_reduce" in rank["traffic"] for rank in figures["ranks"]) >= 2
    for rank in figures["ranks"]:
        file = tmp_path / f"net.rank{rank['rank']}.om"
        program = json.loads(call([tool("om-dump"), str(file), "--json"]).stdout)["host"]
        steps = [step for block in program["blocks"] for step in block]
        want = expected_bytes(steps, rank["rank"])
        assert want == {kind: traffic["sent_bytes"] for kind, traffic in rank["traffic"].items()
                        if kind in want}
        # Of elements that n divides: 2 (n - 1) / n of the bytes.
        for step in steps:
            if step["kind"] == "all_reduce":
                n = len(step["ranks"])
                assert step["elements"] % n == 0
        reduced = sum(4 * step["elements"] for step in steps if step["kind"] == "all_reduce")
        n = 4 if parallel == "tp:4" else 2
        assert want["all_reduce"] == 2 * (n - 1) * reduced // n


def test_heads_that_cannot_be_divided(tmp_path):
    model = transformer(tmp_path / "odd.onnx", heads=3, width=48)
    np.save(tmp_path / "ids.npy", np.arange(16).reshape(2, 8))
    inputs = f"ids={tmp_path}/ids.npy"
    assert atc(model, tmp_path / "one").returncode == 0
    assert run(tmp_path / "one.om", tmp_path / "reference", inputs).returncode == 0
    manifest = compile_parallel(model, tmp_path / "odd", "tp:2")
    assert run(manifest, tmp_path / "out", inputs).returncode == 0
    assert_equal(tmp_path / "out", tmp_path / "reference")


def test_experts_are_divided(tmp_path):
    """A layer of four experts, all computed and weighted by a gate: each rank has two of them."""
    experts, tokens, width, inner = 4, 6, 32, 64
    net = Net()
    weights = {"w1": (experts, width, inner), "b1": (experts, 1, inner),
               "w2": (experts, inner, width), "b2": (experts, 1, width)}
    names = {name: net.constant((net.rng.standard_normal(shape) / 8).astype(np.float32))
             for name, shape in weights.items()}
    zero, last = net.constant(np.array([0])), net.constant(np.array([2]))
    gate = net.op("Softmax", net.op("MatMul", "x", net.weight(width, experts)), axis=-1)
    gate = net.op("Unsqueeze", net.op("Transpose", gate, perm=[1, 0]), last)
    hidden = net.op("Relu", net.op("Add", net.op("MatMul", "x", names["w1"]), names["b1"]))
    each = net.op("Add", net.op("MatMul", hidden, names["w2"]), names["b2"])
    net.op("ReduceSum", net.op("Mul", each, gate), zero, keepdims=0)
    net.nodes[-1].output[0] = "y"
    graph = H.make_graph(net.nodes, "experts",
                         [H.make_tensor_value_info("x", T.FLOAT, [tokens, width])],
                         [H.make_tensor_value_info("y", T.FLOAT, [tokens, width])], net.weights)
    model = H.make_model(graph, opset_imports=[H.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(tmp_path / "experts.onnx"))
    np.save(tmp_path / "x.npy", net.rng.standard_normal((tokens, width)).astype(np.float32))
    assert atc(tmp_path / "experts.onnx", tmp_path / "one").returncode == 0
    inputs = f"x={tmp_path}/x.npy"
    assert run(tmp_path / "one.om", tmp_path / "reference", inputs).returncode == 0
    manifest = compile_parallel(tmp_path / "experts.onnx", tmp_path / "two", "tp:2")
    ranks = json.loads(Path(manifest).read_text())["ranks"]
    stacks = sum(4 * np.prod(shape) for shape in weights.values())
    assert all(rank["weights_bytes"] < 0.5 * stacks + 4096 for rank in ranks)
    figures = json.loads(run(manifest, tmp_path / "out", inputs, "--json").stdout)
    assert_equal(tmp_path / "out", tmp_path / "reference")
    for rank in figures["ranks"]:
        assert {kind: traffic["calls"] for kind, traffic in rank["traffic"].items()} == {
            "all_reduce": 1}


def test_the_user_divides_tensors(net, tmp_path):
    model, inputs, reference, _ = net
    (tmp_path / "tensors.json").write_text('{"w0": 1, "w2": -1}')
    manifest = compile_parallel(model, tmp_path / "net", "tp:2",
                                f"--shard_tensors={tmp_path}/tensors.json")
    assert run(manifest, tmp_path / "out", inputs).returncode == 0
    assert_equal(tmp_path / "out", reference)


def test_a_cluster_chooses(net, tmp_path):
    model, inputs, reference, _ = net
    (tmp_path / "cluster.json").write_text('{"servers": 2, "devices_per_server": 2}')
    manifest = compile_parallel(model, tmp_path / "net", "auto",
                                f"--cluster={tmp_path}/cluster.json")
    content = json.loads(Path(manifest).read_text())
    assert len(content["ranks"]) == 4
    chosen = [plan for plan in content["plans"] if plan["outcome"] == "chosen"]
    parallel = ",".join(f"{axis}:{content['parallel'][axis]}" for axis in ("tp", "pp", "dp"))
    assert [plan["parallel"] for plan in chosen] == [parallel]
    # Plans are tried in the order of their times.
    times = [plan["milliseconds"] for plan in content["plans"]]
    assert times == sorted(times)
    assert run(manifest, tmp_path / "out", inputs).returncode == 0
    assert_equal(tmp_path / "out", reference)


def test_a_cluster_with_little_memory_divides_the_weights(net, tmp_path):
    model, inputs, reference, _ = net
    whole = json.loads(Path(compile_parallel(model, tmp_path / "one", "dp:2")).read_text())
    weights = whole["ranks"][0]["weights_bytes"]
    cluster = {"servers": 1, "devices_per_server": 2, "memory_bytes": 0.8 * weights}
    (tmp_path / "cluster.json").write_text(json.dumps(cluster))
    manifest = compile_parallel(model, tmp_path / "net", "auto",
                                f"--cluster={tmp_path}/cluster.json")
    content = json.loads(Path(manifest).read_text())
    assert content["parallel"]["dp"] == 1
    assert all(rank["weights_bytes"] < 0.8 * weights for rank in content["ranks"])
    assert run(manifest, tmp_path / "out", inputs).returncode == 0
    assert_equal(tmp_path / "out", reference)
    (tmp_path / "cluster.json").write_text(json.dumps({**cluster, "memory_bytes": 1000}))
    result = atc(model, tmp_path / "net", "--parallel=auto", f"--cluster={tmp_path}/cluster.json")
    assert result.returncode == 1
    assert "E10061: the model does not fit onto the cluster" in result.stdout + result.stderr


@pytest.mark.parametrize("flags,code,text", [
    (["--parallel=tp:x"], "E10001", "write auto, or a list such as tp:2,pp:2,dp:1"),
    (["--parallel=ep:2"], "E10001", "write auto"),
    (["--parallel=tp:5000"], "E10001", "numbers from 1 to 4096"),
    (["--parallel=auto"], "E10057", "needs --cluster"),
    (["--cluster=net.json"], "E10057", "--cluster needs --parallel"),
    (["--parallel=dp:3"], "E10061", "no batch of an input is a multiple of 3"),
    (["--parallel=tp:7"], "E10061", "has a dim that is a multiple of 7"),
    (["--parallel=tp:2", "--shard_tensors=bad.json"], "E13018", "'w0' needs the number of a dim"),
    (["--parallel=tp:2", "--shard_tensors=unknown.json"], "E10061", "names 'none'"),
    (["--parallel=tp:2", "--shard_tensors=odd.json"], "E10061", "cannot be divided along dim 5"),
    (["--parallel=tp:2", "--shard_tensors=deep.json"], "E13018", "nested deeper than 64 levels"),
    (["--parallel=tp:2", "--cluster=deep.json"], "E13018", "nested deeper than 64 levels"),
    (["--parallel=tp:2", "--cluster=field.json"], "E13018", "'server' is no field"),
    (["--parallel=tp:4", "--cluster=small.json"], "E10061", "has 2 devices"),
    (["--parallel=tp:2", "--stop_after=graph"], "E10055", "--save_temps"),
])
def test_errors_of_the_compiler(net, tmp_path, monkeypatch, flags, code, text):
    for name, content in (("net", "{}"), ("bad", '{"w0": "x"}'), ("unknown", '{"none": 0}'),
                          ("odd", '{"w0": 5}'), ("deep", "[" * 200000), ("field", '{"server": 1}'),
                          ("small", '{"devices_per_server": 2}')):
        (tmp_path / f"{name}.json").write_text(content)
    monkeypatch.chdir(tmp_path)
    result = atc(net[0], tmp_path / "net", *flags)
    assert result.returncode == 1
    assert code in result.stdout and text in result.stdout, result.stdout
    assert not list(tmp_path.glob("*.manifest"))


def test_one_rank_alone_is_refused(net, tmp_path):
    compile_parallel(net[0], tmp_path / "net", "tp:2")
    result = call([tool("om-run"), str(tmp_path / "net.rank1.om")])
    assert result.returncode == 1
    assert "rank 1 of 2" in result.stderr and "om-run with the manifest" in result.stderr


def test_a_missing_rank_ends_the_run(net, tmp_path):
    manifest = compile_parallel(net[0], tmp_path / "net", "tp:2,pp:2")
    (tmp_path / "net.rank2.om").unlink()
    result = call([tool("om-run"), manifest])
    assert result.returncode == 1
    assert "E10410" in result.stderr and "of rank 2 does not exist" in result.stderr


def test_a_rank_of_another_model_ends_the_run(net, tmp_path):
    manifest = compile_parallel(net[0], tmp_path / "net", "tp:2")
    shutil.copy(tmp_path / "net.rank0.om", tmp_path / "net.rank1.om")
    result = call([tool("om-run"), manifest])
    assert result.returncode == 1
    assert "the model is the program of rank 0 of 2, but this is rank 1 of 2" in result.stderr


def test_ranks_of_two_models_of_equal_sizes_are_told_apart(net, tmp_path):
    """Only their weights differ: every message has the size that the other side expects."""
    compile_parallel(net[0], tmp_path / "net", "tp:2")
    shutil.copy(tmp_path / "net.rank1.om", tmp_path / "older.om")
    other = transformer(tmp_path / "other.onnx", seed=6)
    manifest = compile_parallel(other, tmp_path / "net", "tp:2")
    assert call([tool("om-run"), manifest]).returncode == 0
    if (BUILD / "bin/om-sign").exists():
        for command in (["keygen", tmp_path / "key"],
                        ["sign", tmp_path / "net.rank0.om", "--key", tmp_path / "key"]):
            signed = call([tool("om-sign"), *command])
            assert signed.returncode == 0, signed.stderr
        assert call([tool("om-run"), manifest]).returncode == 0  # a signature changes no result
    shutil.copy(tmp_path / "older.om", tmp_path / "net.rank1.om")
    result = call([tool("om-run"), manifest])
    assert result.returncode == 1 and result.stderr.startswith("E13005"), result.stderr
    assert "net.rank1.om' is not the file of rank 1" in result.stderr


def test_files_of_all_ranks_appear_together_or_not_at_all(net, tmp_path):
    def content():
        return {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    failed = atc(net[0], tmp_path / "net", "--parallel=tp:2", "--json=/dev/full")
    assert failed.returncode == 1 and "E13004" in failed.stdout, failed.stdout
    assert content() == {}
    compile_parallel(net[0], tmp_path / "net", "tp:2")
    before = content()
    assert len(before) == 3
    other = transformer(tmp_path.parent / "another.onnx", seed=6)
    assert atc(other, tmp_path / "net", "--parallel=tp:2", "--json=/dev/full").returncode == 1
    assert content() == before


def test_a_manifest_of_very_many_ranks(net, tmp_path):
    """Each would be a thread, or several."""
    manifest = Path(compile_parallel(net[0], tmp_path / "net", "tp:2"))
    whole = json.loads(manifest.read_text())
    whole["ranks"] *= 100000
    manifest.write_text(json.dumps(whole))
    result = call([tool("om-run"), str(manifest)])
    assert result.returncode == 1 and result.stderr.startswith("E13005"), result.stderr[:500]
    assert "more than 4096 ranks" in result.stderr


@pytest.mark.parametrize("content", ["", "{}", '{"format": "openatc-ranks", "version": 2}',
                                     '{"format": "openatc-ranks", "version": 1, "model": 3}'])
def test_bad_manifests(tmp_path, content):
    (tmp_path / "bad.manifest").write_text(content)
    result = call([tool("om-run"), str(tmp_path / "bad.manifest")])
    assert result.returncode == 1 and result.stderr.startswith("E13005"), result.stderr


@needs_mpi
def test_mpirun_with_another_number_of_ranks(net, tmp_path):
    manifest = compile_parallel(net[0], tmp_path / "net", "tp:2")
    result = run(manifest, tmp_path / "out", net[1], mpi=3)
    assert result.returncode != 0
    assert "use mpirun -np 2" in result.stderr


def children_of(process):
    """The processes that any thread of a process has made, oldest first."""
    lists = [path.read_text().split() for path in Path(f"/proc/{process}/task").glob("*/children")]
    return sorted(int(child) for listing in lists for child in listing)


@needs_mpi
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_rank_that_dies_or_hangs_ends_the_run(net, tmp_path, number):
    manifest = compile_parallel(net[0], tmp_path / "net", "tp:2")
    process = subprocess.Popen(
        ["mpirun", "--oversubscribe", "--allow-run-as-root", "-np", "2", tool("om-run"), manifest,
         "--loop", "100000000", "--rank_timeout", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.time() + 20
    while time.time() < end and len(children_of(process.pid)) < 2:
        time.sleep(0.1)
    ranks = children_of(process.pid)
    assert len(ranks) == 2
    time.sleep(1.5)
    os.kill(ranks[1], number)
    text, _ = process.communicate(timeout=30)
    assert process.returncode != 0
    if number == signal.SIGSTOP:
        assert "rank 0 has waited 2 s" in text and "for rank 1" in text
    else:
        assert "rank 1" in text
