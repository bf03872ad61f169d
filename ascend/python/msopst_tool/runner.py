# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles operators, runs them, and compares the results with a reference."""
import importlib.util
import json
import math
import os
import pathlib
import shutil
import subprocess
import zlib

import numpy as np

from openatc_toolkit import new_file, write_file

from .cases import fail
from .values import TYPES, make_values


def find_tool(name):
    """Returns atc or om-run: of OPENATC_BIN, of this installation, or of PATH."""
    here = pathlib.Path(__file__).resolve().parent
    folders = [os.environ.get("OPENATC_BIN"), here.parents[1] / "bin", here.parents[4] / "bin"]
    for folder in filter(None, folders):
        if (pathlib.Path(folder) / name).is_file():
            return str(pathlib.Path(folder) / name)
    found = shutil.which(name)
    if not found:
        fail("E10410", f'the program "{name}" is not installed; OPENATC_BIN names its folder')
    return found


def shaped(case, tensor, values):
    """Returns the values in the shape of the tensor, of which they must have as many."""
    if values.size != math.prod(tensor.shape):
        fail("E10014", f'{case.name}: "value" has {values.size} elements, the shape {tensor.shape} has '
                       f"{math.prod(tensor.shape)}")
    return values.reshape(tensor.shape)


def make_inputs(case):
    """Returns the arrays of a case; a case has the same ones in every run."""
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    arrays = []
    for tensor in case.inputs:
        dtype = TYPES[tensor.type]
        if isinstance(tensor.value, str):  # a file with the bytes
            if not pathlib.Path(tensor.value).is_file():
                fail("E10410", f'{case.name}: "{tensor.value}" of "value" is no file')
            arrays.append(shaped(case, tensor, np.fromfile(tensor.value, dtype)))
        elif tensor.value is not None:
            try:
                values = np.array(tensor.value, dtype)
            except (TypeError, ValueError, OverflowError) as error:
                fail("E10027", f'{case.name}: "value" is no tensor of {tensor.type}: {error}')
            arrays.append(shaped(case, tensor, values))
        else:
            bounds = tensor.bounds
            arrays.append(make_values(rng, tensor.distribution, tensor.shape, bounds, dtype))
    return arrays


def describe(case, arrays, is_reference):
    """Returns a case as --singleop reads it; the reference computes floats in double precision."""
    def tensor(t, array=None):
        is_float = t.type in ("float16", "float")
        entry = {"format": t.format, "shape": t.shape, "type": "double" if is_reference and is_float else t.type}
        if t.is_const and array is not None:
            entry |= {"is_const": True, "const_value": array.reshape(-1).tolist()}
        return entry
    return {"op": case.op, "name": case.name,
            "input_desc": [tensor(t, a) for t, a in zip(case.inputs, arrays)],
            "output_desc": [tensor(t) for t in case.outputs], "attr": case.attributes}


class Runner:
    """Runs cases on the NPU `soc` and on the CPU; everything is kept in `folder`."""

    def __init__(self, soc, folder):
        self.soc, self.folder = soc, pathlib.Path(folder)
        self.atc, self.om_run = find_tool("atc"), find_tool("om-run")
        self.flags = {"npu": f"--soc_version={soc}", "cpu": "--target=cpu", "reference": "--target=cpu"}

    def compile(self, cases, arrays):
        """Compiles all cases for all targets. Returns {(target, case): the error} of those that fail."""
        errors = {}
        for target in self.flags:
            made = {c.name: describe(c, arrays[c.name], target == "reference") for c in cases
                    if target != "reference" or not c.expect_function}
            if not made or not self._compile(target, list(made.values())):
                continue
            for name, one in made.items():  # one at a time, to find those that fail
                if error := self._compile(target, [one]):
                    errors[target, name] = error
        return errors

    def _compile(self, target, ops):
        folder = self.folder / target
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / "ops.json", json.dumps(ops, indent=1))
        result = subprocess.run([self.atc, f"--singleop={folder / 'ops.json'}", f"--output={folder}",
                                 self.flags[target]], capture_output=True, text=True)
        return "" if result.returncode == 0 else result.stdout.strip().splitlines()[-1]

    def run(self, target, case, arrays):
        """Returns the outputs and what the run took; raises RuntimeError with the error."""
        folder = self.folder / target / case.name
        folder.mkdir(exist_ok=True)
        files = []
        for i, (tensor, array) in enumerate(zip(case.inputs, arrays)):
            if tensor.is_const:
                continue
            if target == "reference" and tensor.type in ("float16", "float"):
                array = array.astype(np.float64)
            with new_file(folder / f"x{i}.npy") as file:
                np.save(file, array)
            files.append(f"x{i}={folder / f'x{i}.npy'}")
        loop = [] if target == "npu" else ["--loop", "10"]
        result = subprocess.run([self.om_run, self.folder / target / f"{case.name}.om", "--json", *loop, "--output",
                                 folder, *(["--input", ",".join(files)] if files else [])],
                                capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError((result.stderr or result.stdout).strip().splitlines()[-1])
        figures = json.loads(result.stdout)
        outputs = [np.load(folder / f"y{i}.npy") for i in range(len(case.outputs))]
        took = {"time_us": figures["latency_ms"]["median"] * 1e3}
        npu = figures.get("npu", {})
        if target == "npu" and npu.get("launches"):
            took = {"time_us": npu["ms"] * 1e3, "cycles": npu["cycles"], "runs_on": "NPU"}
        elif target == "npu":
            took["runs_on"] = "CPU"  # the NPU has no program for the operator
        return outputs, took


def call_function(case, arrays):
    """Returns the results that the function of the case expects; it is called with a dictionary per
    tensor, as the vendor's tool does, whose "value" is the array."""
    path, _, name = case.expect_function.rpartition(":")
    if not pathlib.Path(path).is_file():
        fail("E10410", f'{case.name}: the file "{path}" of "calc_expect_func_file" does not exist')
    spec = importlib.util.spec_from_file_location("expect", path)
    if not spec:
        fail("E10001", f'{case.name}: "{path}" of "calc_expect_func_file" is no file of Python (.py)')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        fail("E10001", f'{case.name}: {path} has no function "{name}"')
    entries = [{"value": a, "shape": t.shape, "dtype": t.type, "format": t.format}
               for t, a in zip(case.inputs, arrays)]
    entries += [{"shape": t.shape, "dtype": t.type, "format": t.format} for t in case.outputs]
    result = getattr(module, name)(*entries, **{a["name"]: a["value"] for a in case.attributes})
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    return [np.asarray(r).reshape(t.shape) for r, t in zip(results, case.outputs)]


def compare(got, want, threshold):
    """Returns how much an output differs: errors are relative where the reference exceeds 1."""
    got, want = got.astype(np.float64).reshape(-1), want.astype(np.float64).reshape(-1)
    both = np.isnan(got) & np.isnan(want) | (got == want)
    with np.errstate(invalid="ignore"):
        error = np.where(both, 0, np.abs(got - want) / np.maximum(np.abs(want), 1))
    error = np.nan_to_num(error, nan=np.inf)
    share = float((error > threshold[0]).mean()) if error.size else 0.0
    finite = np.isfinite(got) & np.isfinite(want)
    a, b = got[finite], want[finite]
    norm = np.sqrt((a * a).sum() * (b * b).sum())
    return {"max_error": float(error.max(initial=0)), "share_beyond": share,
            "cosine": float((a * b).sum() / norm) if norm else 1.0, "pass": share <= threshold[1]}
