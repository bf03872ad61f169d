# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sessions of onnxruntime that keep the inputs of modified models."""

import functools
import json

from ._calibration import METADATA, Calibration

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

AMCT_SO = None
"""Options for sessions of modified models; None where onnxruntime is not installed."""


def _calibration(session):
    """Returns the calibration of a session's model; None of others. Found once per session."""
    known = getattr(session, "_openatc_calibration", False)
    if known is False:
        facts = session.get_modelmeta().custom_metadata_map.get(METADATA)
        known = Calibration(json.loads(facts)) if facts else None
        session._openatc_calibration = known
    return known


def _keep(run):
    @functools.wraps(run)
    def keeping(self, output_names, input_feed, *others, **named):
        results = run(self, output_names, input_feed, *others, **named)
        calibration = _calibration(self)
        if calibration is not None:
            calibration.add([input_feed[each.name] for each in self.get_inputs()])
        return results

    keeping.keeps_samples = True
    return keeping


if onnxruntime is not None:
    AMCT_SO = onnxruntime.SessionOptions()
    if not getattr(onnxruntime.InferenceSession.run, "keeps_samples", False):
        onnxruntime.InferenceSession.run = _keep(onnxruntime.InferenceSession.run)
