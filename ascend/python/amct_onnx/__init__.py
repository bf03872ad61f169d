# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names of the vendor's quantization package for ONNX models, over the tool `amct`.

    amct.create_quant_config("config.json", "model.onnx", batch_num=2)
    amct.quantize_model("config.json", "model.onnx", "modified.onnx", "record.txt")
    session = onnxruntime.InferenceSession("modified.onnx", amct.AMCT_SO)
    session.run(...)                                 # batch_num times, with samples
    amct.save_model("modified.onnx", "record.txt", "out/model")

The modified model computes what the model does; importing this package makes onnxruntime's
sessions of modified models keep their inputs, which are the samples of the calibration."""

from ._calibration import quantize_model, quantize_preprocess, save_model
from ._config import create_quant_config
from ._prune import auto_channel_prune_search
from ._refused import convert_model, create_prune_retrain_model, create_quant_retrain_config, \
    create_quant_retrain_model, save_prune_retrain_model, save_quant_retrain_model
from ._sessions import AMCT_SO
from ._tool import convert_qat_model, set_logging_level
from .common.auto_calibration import AutoCalibrationEvaluatorBase, accuracy_based_auto_calibration

__all__ = [
    "AMCT_SO", "AutoCalibrationEvaluatorBase", "accuracy_based_auto_calibration",
    "auto_channel_prune_search", "convert_model", "convert_qat_model",
    "create_prune_retrain_model", "create_quant_config", "create_quant_retrain_config",
    "create_quant_retrain_model", "quantize_model", "quantize_preprocess", "save_model",
    "save_prune_retrain_model", "save_quant_retrain_model", "set_logging_level"]
