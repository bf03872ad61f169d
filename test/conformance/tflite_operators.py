#!/usr/bin/env python3
#===-- tflite_operators.py - the share of TensorFlow Lite's operators that are right ----------===//
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes models of one operator, compiles them, and compares what they compute to TensorFlow Lite's
interpreter. Needs tensorflow; the models are those of test/frontends/tflite/make_models.py. Prints
as JSON how many of them are right, refused and wrong, and the same by operator of the format.

    tflite_operators.py [--json FILE] [NAME...]
"""
import argparse
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/common"), str(ROOT / "test/frontends/tflite")]
try:
    import make_models
    import numpy as np
    from tensorflow.lite.python import schema_py_generated as schema
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from openatc_runtime import Session  # noqa: E402
from openatc_tools import RUNTIME, tool  # noqa: E402

BUILTIN = {value: name for name, value in vars(schema.BuiltinOperator).items()
           if isinstance(value, int)}
# What stands for no operator of its own.
NO_OPERATORS = {"CUSTOM", "DELEGATE", "CALL", "PLACEHOLDER_FOR_GREATER_OP_CODES"}


def operators(model):
    """The names of the operators of all subgraphs."""
    parsed = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0))
    codes = [max(code.builtinCode, code.deprecatedBuiltinCode) for code in parsed.operatorCodes]
    return {BUILTIN[codes[op.opcodeIndex]] for graph in parsed.subgraphs
            for op in graph.operators or []}


def difference(expected, got, scale, tolerance):
    if got is None or got.shape != expected.shape or got.dtype != expected.dtype:
        shape = None if got is None else (got.dtype, got.shape)
        return f"{shape}, expected {expected.dtype}, {expected.shape}"
    if expected.size and scale:
        steps = int(np.abs(got.astype("i8") - expected.astype("i8")).max())
        return f"{steps} steps" if steps > 1 else ""
    if expected.dtype.kind == "f":
        limit = tolerance * max(1, np.abs(expected).max(initial=0))
        isRight = np.allclose(got, expected, rtol=0, atol=limit, equal_nan=True)
        return "" if isRight else f"error {np.abs(got - expected).max()}"
    return "" if np.array_equal(got, expected) else f"{got.reshape(-1)[:6]}"


def run(folder, model, values, tolerance):
    """Returns right, refused or wrong, and what is to be said about it."""
    path = folder / "model.tflite"
    path.write_bytes(model)
    done = subprocess.run([tool("atc"), f"--model={path}", "--framework=6", "--target=cpu",
                           f"--output={folder / 'out'}"], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        isCrash = done.returncode < 0 or "E19999" in done.stdout + done.stderr
        return "crash" if isCrash else "refused", (done.stdout + done.stderr).strip()
    session = Session(RUNTIME, str(folder / "out.om"))
    given = {key[3:]: value for key, value in values.items() if key.startswith("in:")}
    if len(given) < len(session.input_infos):  # states, which begin with what the model holds
        session.keep_state()
    results = {key: np.asarray(getattr(value, "array", value))
               for key, value in session.run_values(given).items()}
    named = [key for key in values if key.startswith("out:")]
    for position, key in enumerate(named):
        number, name = key[4:].split(":", 1)
        ordered = [value for other, value in results.items() if not other.endswith("/next")]
        got = results.get(name, ordered[position] if position < len(ordered) else None)
        text = difference(values[key], got, values[f"scale:{number}"], tolerance)
        if text:
            return "wrong", f"{name}: {text}"
    return "right", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json")
    options = parser.parse_args()
    make_models.add_all()
    counts, of_operator = collections.Counter(), collections.defaultdict(collections.Counter)
    notes = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, (function, inputs, form) in sorted(make_models.CASES.items()):
            if options.names and name not in options.names:
                continue
            try:
                model = make_models.convert(function, inputs, form)
                values = make_models.interpret(model, inputs)
            except (RuntimeError, ValueError) as error:
                print(f"{name}: left out, TensorFlow Lite cannot run it: {error}", file=sys.stderr)
                continue
            try:
                outcome, text = run(Path(scratch), model, values,
                                    make_models.tolerance_of(form))
            except RuntimeError as error:
                outcome, text = "wrong", str(error)
            counts[outcome] += 1
            for operator in operators(model) - NO_OPERATORS:
                of_operator[operator][outcome] += 1
            if text:
                notes[name] = f"{outcome}: {text}"
                print(f"{name}: {notes[name]}", file=sys.stderr)
    total = sum(counts.values())
    report = {"models": total, **counts, "share": round(counts["right"] / max(1, total), 4),
              "operators": len(of_operator),
              "operators_right": sum(set(counted) == {"right"} for counted in of_operator.values()),
              "operators_without_model": sorted(set(BUILTIN.values()) - NO_OPERATORS
                                                - set(of_operator)),
              "notes": notes}
    print(json.dumps(report, indent=1))
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1))
    return 0 if total and counts["right"] >= .95 * total else 1


if __name__ == "__main__":
    sys.exit(main())
