#!/usr/bin/python3
#===-- tf_graphs.py - runs a folder of TensorFlow op graphs ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs frozen graphs with stored predictions through atc and the runtime.

A graph is a folder with frozen_model.pb and <output>.prediction.csv/.shape. Constants named in_*
become inputs; inputs may have a <input>.placeholder.csv/.shape. Every graph is compiled and run
in processes of its own.

    tf_graphs.py [--json FILE] [--match TEXT] [FOLDER or .tar.xz]
"""
import argparse
import collections
import concurrent.futures
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

try:
    import numpy as np
    from google.protobuf import json_format  # noqa: F401  (tells whether protobuf is there)
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common"))
from openatc_runtime import Session  # noqa: E402
from openatc_tools import BUILD, ROOT, RUNTIME, SHARED, call, tool  # noqa: E402

TYPES = {1: "f4", 2: "f8", 3: "i4", 4: "u1", 5: "i2", 6: "i1", 9: "i8", 10: "?", 17: "u2",
         19: "f2", 22: "u4", 23: "u8"}
LISTS = {"f4": "float_val", "f8": "double_val", "i8": "int64_val", "?": "bool_val",
         "u4": "uint32_val", "u8": "uint64_val"}
RANDOM = re.compile("Random|Multinomial|TruncatedNormal|StatelessRandom")


def schema():
    folder = BUILD / "test/conformance"
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["protoc", f"-I{ROOT}", f"--python_out={folder}",
                    str(ROOT / "frontends/tf/schema/tensorflow.proto")], check=True)
    sys.path.insert(0, str(folder / "frontends/tf/schema"))


def value_of(tensor):
    kind = TYPES[tensor.dtype]
    shape = [dim.size for dim in tensor.tensor_shape.dim]
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, kind).reshape(shape)
    values = list(getattr(tensor, "half_val" if kind == "f2" else LISTS.get(kind, "int_val")))
    values = np.array(values, "u2").view("f2") if kind == "f2" else np.array(values, kind)
    count = int(np.prod(shape))
    if len(values) < count:
        values = np.append(values, [values[-1] if len(values) else 0] * (count - len(values)))
    return values.astype(kind).reshape(shape)


def stored_input(folder, node):
    """The value that the collection stores for a Placeholder; None where it has none."""
    file = folder / (node.name.replace("/", "____") + ".placeholder.csv")
    kind = TYPES.get(node.attr["dtype"].type)
    if not file.exists() or kind is None:
        return None
    shape = file.with_suffix(".shape")
    dims = [int(float(word)) for word in shape.read_text().split()] if shape.exists() else []
    words = file.read_text().split()
    if dims == [0] and len(words) == 1:
        dims = []  # how the collection writes a scalar's shape
    values = np.array([{"true": "1", "false": "0"}.get(w.lower(), w) for w in words], "f8")
    return values.reshape(dims).astype(kind) if len(words) == int(np.prod(dims)) else None


def has_open_order(graph):
    """Whether several largest elements are asked for in no order: then any order is right."""
    constants = {node.name: node.attr["value"].tensor for node in graph.node if node.op == "Const"}
    return any(node.op == "TopKV2" and "sorted" in node.attr and not node.attr["sorted"].b
               and not (node.input[1] in constants and value_of(constants[node.input[1]]) == 1)
               for node in graph.node)


def one(folder, only_floats=False):
    """Compiles and runs one graph; returns result and text. Numbers that decide
    shapes have to stay constants: then only floating-point inputs are fed."""
    import tensorflow_pb2 as pb
    graph = pb.GraphDef.FromString((folder / "frozen_model.pb").read_bytes())
    random = sorted({node.op for node in graph.node if RANDOM.search(node.op)})
    if random:
        return "skipped", "random: " + ", ".join(random)
    if has_open_order(graph):
        return "skipped", "the order of TopKV2 with sorted=false is open"
    names = {node.name for node in graph.node}
    feeds = {}
    for node in graph.node:
        stored = stored_input(folder, node) if node.op == "Placeholder" else None
        if stored is not None:
            feeds[node.name] = stored
            node.attr["shape"].shape.CopyFrom(
                pb.TensorShapeProto(dim=[{"size": dim} for dim in stored.shape]))
        if node.op == "Const" and re.fullmatch(r"in_\d+", node.name):
            tensor = node.attr["value"].tensor
            if tensor.dtype not in TYPES or (
                    only_floats and not np.issubdtype(value_of(tensor).dtype, np.floating)):
                continue
            feeds[node.name] = value_of(tensor)
            shape = pb.TensorShapeProto()
            shape.CopyFrom(tensor.tensor_shape)
            node.op = "Placeholder"
            del node.attr["value"]
            node.attr["shape"].shape.CopyFrom(shape)
    expected = []
    for file in sorted(folder.rglob("*.prediction.csv")):
        if any((parent / "frozen_model.pb").exists() for parent in file.parents
               if folder in parent.parents):
            continue
        name = str(file.relative_to(folder))[:-len(".prediction.csv")].replace("____", "/")
        index = 0
        if name not in names and re.search(r"\.\d+$", name):
            name, index = name.rsplit(".", 1)
        shape = Path(str(file)[:-4] + ".shape")
        dims = [int(float(word)) for word in shape.read_text().split()] if shape.exists() else []
        words = file.read_text().split()
        if dims == [0] and len(words) == 1:
            dims = []  # how the collection writes a scalar's shape
        if len(words) != int(np.prod(dims)):
            return "skipped", f"the prediction {file.name} does not fit its shape {dims}"
        expected.append((f"{name}:{index}", dims, words))
    if not expected:
        return "skipped", "no prediction"
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch) / "model.pb"
        model.write_bytes(graph.SerializeToString())
        code, out, err = call(tool("atc"), f"--model={model}", "--framework=3", "--target=cpu",
                              f"--output={scratch}/model",
                              "--out_nodes=" + ";".join(name for name, _, _ in expected),
                              timeout=60)
        if code < 0:
            return "crash", f"atc ended by signal {-code}"
        if code:
            lines = [line for line in (out + err).splitlines() if re.match(r"E\d+", line)]
            if not only_floats and any("must be known" in line or "shape is not fixed" in line
                                       for line in lines):
                return one(folder, only_floats=True)
            internal = any(line.startswith("E19999") for line in lines) or not lines
            return "crash" if internal else "unsupported", "\n".join(lines) or out + err
        session = Session(RUNTIME, f"{scratch}/model.om")
        given = {}
        for info in session.input_infos:
            name = info.name.decode()
            key = name.split(":")[0]
            if key not in feeds:
                return "skipped", f"input '{name}' has no stored value"
            given[name] = feeds[key]
        outputs = session.run_values(given).values()
        for (name, dims, words), array in zip(expected, outputs):
            want = np.array([{"true": "1", "false": "0"}.get(w.lower(), w) for w in words],
                            "f8").reshape(dims)
            got = array.astype("f8")
            if got.shape != want.shape:
                return "wrong", f"{name}: shape {got.shape}, expected {want.shape}"
            if not np.allclose(got, want, rtol=1e-3, atol=1e-5, equal_nan=True):
                return "wrong", f"{name}: largest error {np.max(np.abs(got - want))}"
    return "pass", ""


def isolated(folder):
    try:
        done = subprocess.run([sys.executable, __file__, "--one", str(folder)], text=True,
                              capture_output=True, timeout=90)
    except subprocess.TimeoutExpired:
        return "crash", "no answer in 90 seconds"
    if done.returncode < 0:
        return "crash", f"the run ended by signal {-done.returncode}"
    if done.returncode:
        return "crash", "the runner failed: " + done.stderr.strip()[-300:]
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("graphs", nargs="?", default=SHARED / "tf-graphs/tf-graphs-dev.tar.xz")
    parser.add_argument("--json")
    parser.add_argument("--match", default="")
    parser.add_argument("--one")
    options = parser.parse_args()
    if options.one:
        sys.path.insert(0, str(BUILD / "test/conformance/frontends/tf/schema"))
        print(json.dumps(one(Path(options.one))))
        return 0
    root = Path(options.graphs)
    if not root.exists():
        print("skipped: no folder 'shared/tf-graphs' beside the checkout")
        return 77
    schema()
    if root.is_file():
        cache = BUILD / "test/conformance/tf-graphs"
        if not cache.exists():
            with tarfile.open(root) as tar:
                members = [m for m in tar.getmembers() if m.isfile() and not m.name.startswith("/")
                           and ".." not in Path(m.name).parts]
                tar.extractall(cache, members)
        root = cache
    folders = [f.parent for f in sorted(root.rglob("frozen_model.pb")) if options.match in str(f)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(isolated, folders))
    table = {str(f.relative_to(root)): r for f, r in zip(folders, results)}
    for name, (result, text) in table.items():
        if result != "pass":
            print(f"{result.upper() if result == 'crash' else result:12}{name}: {text[:200]}")
    print(dict(collections.Counter(result for result, _ in results)))
    if options.json:
        Path(options.json).write_text(json.dumps(table, indent=1))
    return int(any(result in ("crash", "wrong") for result, _ in results))


if __name__ == "__main__":
    sys.exit(main())
