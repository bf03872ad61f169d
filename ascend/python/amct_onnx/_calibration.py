# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A calibration: samples that are kept beside the record file, and what `amct` makes of them."""

import json
import pathlib
import shutil

from openatc_toolkit import new_file, write_file

from ._config import batch_num_of
from ._model import read_layers, read_metadata, with_metadata
from ._tool import prefixed, run_tool

METADATA = "openatc.amct"
RESULTS = ("deploy_model.onnx", "fake_quant_model.onnx", "record.txt", "quant.json", "report.json")


class Calibration:
    """The files of one call of quantize_model, in a folder beside the record file."""

    def __init__(self, facts):
        self.model = facts["model"]
        self.config = facts["config"]
        self.record = pathlib.Path(facts["record"])
        self.wanted = facts["batches"]
        self.folder = self.record.with_name(f".{self.record.name}.calibration")

    def facts(self):
        return {"model": self.model, "config": self.config, "record": str(self.record),
                "batches": self.wanted}

    def begin(self):
        """Forgets samples and results of an earlier call."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def inputs(self):
        """Returns the folders of the inputs' samples, in the order of the model."""
        return sorted(self.folder.glob("input_*"))

    def samples(self):
        folders = self.inputs()
        return len(list(folders[0].glob("*.npy"))) if folders else 0

    def add(self, arrays):
        """Keeps one batch, until there are as many as the configuration wants; then calibrates."""
        import numpy as np
        number = self.samples()
        if number >= self.wanted or self.result("record.txt").exists():
            return
        for index, array in enumerate(arrays):
            folder = self.folder / f"input_{index:03}"
            folder.mkdir(exist_ok=True)
            with new_file(folder / f"{number:06}.npy") as file:
                np.save(file, np.ascontiguousarray(array))
        if number + 1 == self.wanted:
            self.finish()

    def result(self, name, attempt="result"):
        return pathlib.Path(prefixed(self.folder / attempt, name))

    def finish(self, config=None, attempt="result"):
        """Calibrates with the samples and writes the record file."""
        if self.samples() == 0:
            raise RuntimeError(
                f"no sample was seen: run inference with the modified model, {self.wanted} times, "
                "in an onnxruntime session that is made after amct_onnx is imported")
        folders = ";".join(map(str, self.inputs()))
        run_tool("calibrate", "--model", self.model, "--data", folders, "--config",
                 config or self.config, "--save_path", self.folder / attempt)
        self.record.parent.mkdir(parents=True, exist_ok=True)
        write_file(self.record, self.result("record.txt", attempt).read_bytes())

    def save(self, save_path, attempt="result"):
        """Copies the models of an attempt to where the user wants them."""
        pathlib.Path(prefixed(save_path, "x")).parent.mkdir(parents=True, exist_ok=True)
        for name in ("deploy_model.onnx", "fake_quant_model.onnx"):
            with open(self.result(name, attempt), "rb") as made, new_file(prefixed(save_path, name)) as file:
                shutil.copyfileobj(made, file)


def calibration_of(modified_onnx_file):
    """Returns the calibration of a modified model."""
    facts = read_metadata(modified_onnx_file, METADATA)
    if facts is None:
        raise ValueError(f"'{modified_onnx_file}' was not written by quantize_model")
    return Calibration(json.loads(facts))


def quantize_model(config_file, model_file, modified_onnx_file, record_file):
    """Writes the modified model, whose inference with samples calibrates: after as many runs as
    the configuration's batch_num the record file is written. No scale is known before."""
    if not read_layers(model_file):
        raise ValueError(f"'{model_file}' has no convolution or matrix product with constant "
                         "weights")
    calibration = Calibration({
        "model": str(pathlib.Path(model_file).resolve()),
        "config": str(pathlib.Path(config_file).resolve()),
        "record": str(pathlib.Path(record_file).resolve()), "batches": batch_num_of(config_file)})
    calibration.begin()
    target = pathlib.Path(modified_onnx_file)
    target.parent.mkdir(parents=True, exist_ok=True)
    data = pathlib.Path(model_file).read_bytes()
    write_file(target, with_metadata(data, METADATA, json.dumps(calibration.facts())))


def quantize_preprocess(config_file, model_file, modified_onnx_file, record_file):
    """Writes the model whose inference would balance channels before quantize_model. Calibration
    balances them itself (setting `balance`), so that this is quantize_model."""
    quantize_model(config_file, model_file, modified_onnx_file, record_file)


def save_model(modified_onnx_file, record_file, save_path):
    """Writes `<save_path>_deploy_model.onnx`, which `atc` compiles, and
    `<save_path>_fake_quant_model.onnx`, which any ONNX runtime runs."""
    calibration = calibration_of(modified_onnx_file)
    if pathlib.Path(record_file).resolve() != calibration.record:
        raise ValueError(f"the record file of '{modified_onnx_file}' is '{calibration.record}', "
                         f"not '{record_file}'")
    if not calibration.result("record.txt").exists():
        calibration.finish()
    calibration.save(save_path)
