# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a user writes to measure a model."""


class AutoCalibrationEvaluatorBase:
    """Measures models for accuracy_based_auto_calibration; users derive from it."""

    def calibration(self, model_file):
        """Runs inference of a modified model with samples, at least batch_num times."""
        raise NotImplementedError("write calibration(self, model_file) of your evaluator")

    def evaluate(self, model_file):
        """Returns the metric of an ONNX model, such as its accuracy."""
        raise NotImplementedError("write evaluate(self, model_file) of your evaluator")

    def metric_eval(self, original_metric, new_metric):
        """Returns whether the metric of the quantized model is good enough, and the loss."""
        raise NotImplementedError("write metric_eval(self, original_metric, new_metric) of your "
                                  "evaluator")
