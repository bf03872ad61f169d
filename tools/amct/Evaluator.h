//===-- Evaluator.h - calibration with a measure in Python -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_TOOLS_AMCT_EVALUATOR_H
#define OPENATC_TOOLS_AMCT_EVALUATOR_H

namespace atc::tools {

/// Runs `python3 -m amct_onnx` with the command line of `amct calibrate --evaluator=...`, in place
/// of this process. The package is looked for beside the program (lib/openatc/toolkit/python of an
/// installed tree, python of a build) and where Python looks itself. Returns 1 with a message on
/// the standard error where there is no python3.
int runEvaluator(int argc, char **argv);

} // namespace atc::tools

#endif // OPENATC_TOOLS_AMCT_EVALUATOR_H
