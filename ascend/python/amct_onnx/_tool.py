# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tool `amct`."""

import os
import pathlib
import shutil
import subprocess

from openatc_toolkit import write_file

_log_level = "info"


def find_tool():
    """Returns the path of `amct`: what OPENATC_AMCT says, that of the same tree, that of PATH."""
    chosen = os.environ.get("OPENATC_AMCT")
    if chosen:
        return chosen
    for folder in pathlib.Path(__file__).resolve().parents:
        if os.access(folder / "bin" / "amct", os.X_OK):
            return str(folder / "bin" / "amct")
    found = shutil.which("amct")
    if not found:
        raise RuntimeError("the program amct is not found; set OPENATC_AMCT to its path")
    return found


def run_tool(*arguments):
    """Runs `amct` with arguments and returns what it prints; RuntimeError with its errors."""
    result = subprocess.run([find_tool(), *map(str, arguments)], capture_output=True, text=True,
                            check=False)
    errors = [line for line in result.stderr.splitlines() if line[:1] in "EW" and ": " in line[:12]]
    if result.returncode != 0:
        raise RuntimeError("\n".join(errors) or result.stderr or "amct ended with an error")
    if _log_level in ("debug", "info"):
        for line in errors:
            print(line)
    return result.stdout


def convert_qat_model(model_file, save_path, record_file=None):
    """Writes `<save_path>_deploy_model.onnx` and `<save_path>_fake_quant_model.onnx` of a model that
    was trained with QuantizeLinear and DequantizeLinear. `record_file` gets the scales."""
    run_tool("convert", "--model", model_file, "--save_path", save_path)
    if record_file:
        write_file(record_file, pathlib.Path(prefixed(save_path, "record.txt")).read_bytes())


def prefixed(save_path, name):
    """Returns the path of a result file: `<save_path>_<name>`, in a folder `<save_path><name>`."""
    path = str(save_path)
    return path + name if path.endswith("/") or not path else f"{path}_{name}"


def set_logging_level(print_level="info", save_level="info"):
    """Sets from which level messages are printed: debug, info, warning or error. Nothing is
    written to log files, so `save_level` is only checked."""
    global _log_level
    for name, level in (("print_level", print_level), ("save_level", save_level)):
        if str(level).lower() not in ("debug", "info", "warning", "error"):
            raise ValueError(f"{name} is '{level}'; give debug, info, warning or error")
    _log_level = str(print_level).lower()
