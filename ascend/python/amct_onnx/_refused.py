# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Documented functions that do nothing here, each with its reason and a way round."""


def _refuse(name, reason):
    def refused(*_, **__):
        raise NotImplementedError(f"amct_onnx.{name}: {reason}")

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = f"Raises NotImplementedError: {reason}"
    return refused


convert_model = _refuse(
    "convert_model", "scales from a record file of another tool are not read; quantize_model and "
    "save_model choose them, and convert_qat_model reads those of a trained model")
_TRAINING = ("a model in ONNX is not retrained; train with QuantizeLinear and DequantizeLinear and "
             "use convert_qat_model")
create_quant_retrain_config = _refuse("create_quant_retrain_config", _TRAINING)
create_quant_retrain_model = _refuse("create_quant_retrain_model", _TRAINING)
save_quant_retrain_model = _refuse("save_quant_retrain_model", _TRAINING)
_PRUNING = ("a model in ONNX is not retrained; `amct prune` removes channels or weights and lets the "
            "rest absorb it")
create_prune_retrain_model = _refuse("create_prune_retrain_model", _PRUNING)
save_prune_retrain_model = _refuse("save_prune_retrain_model", _PRUNING)
