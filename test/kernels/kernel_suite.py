#!/usr/bin/python3
# ===-- kernel_suite.py - ONNX's single-node tests on host kernels --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tests of the ONNX backend suite that are one node through the host kernels alone.

    kernel_suite.py                    the tests of Debian's libonnx-testdata
    kernel_suite.py --filter topk      those whose name matches

A test whose operator has no kernel is left out. Kernels follow the newest opset; what an older one
had as attributes is not brought into that form here, so such tests may fail: the importer does it.
Needs numpy and the onnx package.
"""

import argparse
import collections
import re
import sys
from pathlib import Path

try:
    import numpy as np
    import onnx
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import host_kernels
from host_kernels import call
from onnx_values import difference, load_value, tensor_value  # noqa: E402

DEBIAN = Path("/usr/share/libonnx-testdata/data")


def attribute_value(attribute):
    A = onnx.AttributeProto
    kinds = {A.INT: lambda a: a.i, A.FLOAT: lambda a: float(a.f), A.STRING: lambda a: a.s,
             A.INTS: lambda a: list(a.ints), A.FLOATS: lambda a: [float(f) for f in a.floats],
             A.STRINGS: lambda a: list(a.strings), A.TENSOR: lambda a: tensor_value(a.t)}
    return kinds[attribute.type](attribute) if attribute.type in kinds else None


def near(got, want, rtol):
    if want.dtype.kind in "fc":
        return np.isclose(got, want, rtol=rtol, atol=1e-7, equal_nan=True)
    return got == want


def run_test(folder):
    """None: not for this runner; "" for a pass; else what is wrong."""
    model = onnx.load(str(folder / "model.onnx"))
    if len(model.graph.node) != 1:
        return None
    node = model.graph.node[0]
    attributes = {a.name: attribute_value(a) for a in node.attribute}
    if any(value is None for value in attributes.values()):
        return None
    stored = {t.name: tensor_value(t) for t in model.graph.initializer}
    given = [v for v in model.graph.input if v.name not in stored]
    for data_set in sorted(folder.glob("test_data_set_*")):
        values = dict(stored)
        for i, value in enumerate(given):
            values[value.name] = load_value(data_set / f"input_{i}.pb", value.type)
        inputs = [values.get(name) for name in node.input]
        left_out = [i for i, name in enumerate(node.input) if not name]
        try:
            results = call(node.op_type, *inputs, outputs=len(node.output), missing=left_out,
                           **attributes)
        except host_kernels.KernelError as error:
            return None if "there is no kernel" in str(error) else str(error)
        named = dict(zip(node.output, results))
        for i, value in enumerate(model.graph.output):
            want = load_value(data_set / f"output_{i}.pb", value.type)
            if text := difference(named[value.name], want, near):
                return f"{value.name} {text}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DEBIAN)
    parser.add_argument("--filter", default="")
    parser.add_argument("--names", action="store_true", help="list the tests that pass")
    options = parser.parse_args()
    if not options.folder.is_dir():
        print(f"skipped: there is no folder {options.folder}")
        return 77
    counts = collections.Counter()
    for path in sorted(options.folder.rglob("model.onnx")):
        name = path.parent.name
        if not re.search(options.filter, name):
            continue
        try:
            result = run_test(path.parent)
        except FileNotFoundError:
            continue
        if result is None:
            continue
        counts["wrong" if result else "pass"] += 1
        if result or options.names:
            print(f"{'WRONG' if result else 'pass'}: {name} {result}", flush=True)
    print(f"{counts['pass']} pass, {counts['wrong']} wrong")
    return int(counts["wrong"] > 0 or not counts)


if __name__ == "__main__":
    sys.exit(main())
