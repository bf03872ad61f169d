# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Searches the layers that must stay float."""

import json
import pathlib

from openatc_toolkit import write_file

from ..._calibration import calibration_of, quantize_model
from ..._config import with_skipped
from ..._tool import prefixed

_MEASURES = {"CosineSimilarity": "cosine", "MseSimilarity": "sqnr_db"}


def _ranking(calibration, measure):
    """Returns [(similarity, layer)], the layer whose input is least similar first. Errors
    accumulate along the graph, so that these are the layers that outputs depend on most."""
    report = json.loads(calibration.result("report.json").read_text())
    similarity = {row["tensor"]: float(row[measure]) for row in report["tensors"]}
    table = json.loads(calibration.result("quant.json").read_text())
    return sorted((similarity.get(layer["input"], 1.0), layer["node"] or layer["output"])
                  for layer in table["layers"])


def accuracy_based_auto_calibration(model_file, model_evaluator, config_file, record_file, save_dir,
                                    strategy="BinarySearch", sensitivity="CosineSimilarity"):
    """Quantizes a model so that `model_evaluator.metric_eval` is satisfied: all layers in int8, or
    as few layers in float as a search by halves finds. Writes the models and the record file as
    save_model does, and beside them how the search went. Raises RuntimeError where no layer can
    be int8."""
    if strategy != "BinarySearch":
        raise ValueError(f"strategy is {strategy!r}; give 'BinarySearch'")
    if sensitivity not in _MEASURES:
        raise ValueError(f"sensitivity is {sensitivity!r}; give one of "
                         + ", ".join(map(repr, _MEASURES)))
    original = model_evaluator.evaluate(str(model_file))
    modified = prefixed(save_dir, "modified_model.onnx")
    quantize_model(config_file, model_file, modified, record_file)
    calibration = calibration_of(modified)
    try:
        model_evaluator.calibration(modified)
        if not calibration.result("record.txt").exists():
            calibration.finish()
    finally:
        pathlib.Path(modified).unlink(missing_ok=True)

    history = []

    def satisfied(attempt, floats):
        model = str(calibration.result("fake_quant_model.onnx", attempt))
        metric = model_evaluator.evaluate(model)
        good, loss = model_evaluator.metric_eval(original, metric)
        history.append({"float_layers": floats, "metric": _plain(metric), "loss": _plain(loss),
                        "satisfied": bool(good)})
        return good

    best, skipped = "result", []
    if not satisfied("result", []):
        ranking = _ranking(calibration, _MEASURES[sensitivity])
        names = [name for _, name in ranking]
        write_file(prefixed(save_dir, "sensitivity_ranking.json"), json.dumps(
            [{"layer": name, sensitivity: value} for value, name in ranking], indent=2) + "\n")
        best, low, high = None, 1, len(names)
        while low < high:
            middle = (low + high) // 2
            config = calibration.folder / f"config_{middle}.json"
            with_skipped(config_file, names[:middle], config)
            calibration.finish(config, f"float_{middle}")
            if satisfied(f"float_{middle}", names[:middle]):
                best, skipped, high = f"float_{middle}", names[:middle], middle
            else:
                low = middle + 1
    record = {"original_metric": _plain(original), "attempts": history}
    write_file(
        prefixed(save_dir, "accuracy_based_auto_calibration_record.json"),
        json.dumps(record, indent=2) + "\n")
    if best is None:
        raise RuntimeError("the evaluator is satisfied with no model that has int8 layers: accept "
                           "a greater loss, or calibrate with more samples")
    if skipped:
        final = prefixed(save_dir, "accuracy_based_auto_calibration_final_config.json")
        with_skipped(config_file, skipped, final)
        write_file(calibration.record, calibration.result("record.txt", best).read_bytes())
    calibration.save(save_dir, best)


def _plain(value):
    """Returns a number as JSON can hold it, and other values as text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)
