# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python3 -m amct_onnx calibration --evaluator=x.py ...`: calibration with a measure in Python.
Other command lines are those of the tool `amct`."""

import argparse
import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import tempfile

from openatc_toolkit import end_on_signals, reason

from . import AutoCalibrationEvaluatorBase, accuracy_based_auto_calibration, create_quant_config
from ._calibration import calibration_of
from ._tool import find_tool


def fail(code, text):
    print(f"{code}: {text}", file=sys.stderr)
    sys.exit(1)


def load_evaluator(path):
    """Returns the evaluator of a Python file: its object or its class, which has no arguments."""
    if not os.path.isfile(path):
        fail("E10410", f"the file \"{path}\" of --evaluator does not exist")
    sys.path.insert(0, str(pathlib.Path(path).resolve().parent))
    # By its content, whatever the suffix of its name.
    loader = importlib.machinery.SourceFileLoader("amct_evaluator", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    try:
        loader.get_code(loader.name)
    except (SyntaxError, ValueError) as problem:
        fail("E13005", f"the file \"{path}\" of --evaluator is no Python source: {problem}")
    loader.exec_module(module)
    values = [value for value in vars(module).values() if value is not AutoCalibrationEvaluatorBase]
    for value in values:
        if isinstance(value, AutoCalibrationEvaluatorBase):
            return value
    for value in values:
        if isinstance(value, type) and issubclass(value, AutoCalibrationEvaluatorBase):
            return value()
    fail("E10001", f"the file \"{path}\" of --evaluator defines no class that is derived from "
                   "amct_onnx.common.auto_calibration.AutoCalibrationEvaluatorBase")


class FolderEvaluator(AutoCalibrationEvaluatorBase):
    """An evaluator whose samples are those of a folder."""

    def __init__(self, evaluator, folders):
        self.evaluator = evaluator
        self.folders = folders

    def calibration(self, model_file):
        calibration = calibration_of(model_file)
        for index, folder in enumerate(self.folders):
            if not os.path.isdir(folder):
                fail("E10410", f"the folder \"{folder}\" of --data_dir does not exist")
            os.symlink(os.path.abspath(folder), calibration.folder / f"input_{index:03}")

    def evaluate(self, model_file):
        return self.evaluator.evaluate(model_file)

    def metric_eval(self, original_metric, new_metric):
        return self.evaluator.metric_eval(original_metric, new_metric)


def main():
    parser = argparse.ArgumentParser(prog="amct_onnx", add_help=False)
    parser.add_argument("command", nargs="?")
    parser.add_argument("--evaluator")
    given, rest = parser.parse_known_args()
    if not given.evaluator or given.command not in ("calibrate", "calibration"):
        os.execv(find_tool(), ["amct", *sys.argv[1:]])
    parser.add_argument("--model", required=True)
    parser.add_argument("--save_path", "--output", required=True)
    parser.add_argument("--data", "--data_dir", default="")
    parser.add_argument("--config", "--calibration_config")
    parser.add_argument("--batch_num", type=int, default=1)
    parser.add_argument("--input_shape", "--data_type", "--data_types")
    given, unknown = parser.parse_known_args()
    if unknown:
        fail("E10014", f"'{unknown[0]}' is not used with --evaluator: put settings into --config")
    if not os.path.isfile(given.model):
        fail("E10410", f"the file \"{given.model}\" of --model does not exist")
    evaluator = load_evaluator(given.evaluator)
    if given.data:
        evaluator = FolderEvaluator(evaluator, given.data.split(";"))
    try:
        with tempfile.TemporaryDirectory(prefix="amct-") as folder:
            config = os.path.join(folder, "config.json")
            create_quant_config(config, given.model, batch_num=given.batch_num,
                                config_defination=given.config)
            accuracy_based_auto_calibration(given.model, evaluator, config,
                                            os.path.join(folder, "record.txt"), given.save_path)
    except (RuntimeError, ValueError, OSError) as error:
        text = reason(error)
        if text[:1] == "E" and text[1:6].isdigit():
            print(text, file=sys.stderr)
            sys.exit(1)
        fail("E13004" if isinstance(error, OSError) else "E10014", text)
    print(f"wrote {given.save_path}_deploy_model.onnx and {given.save_path}_fake_quant_model.onnx")


if __name__ == "__main__":
    end_on_signals("amct_onnx")
    main()
