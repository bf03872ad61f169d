//===-- ToolMains.cpp - tools inside the wheel's module -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler is in the wheel once, as a Python module; its console scripts call these functions
// (python-bindings/openatc/__main__.py).

#include "tools/amct/RunAmct.h"
#include "tools/atc/RunAtc.h"

/// Runs atc on a command line; returns the exit code.
extern "C" __attribute__((visibility("default"))) int openatc_run_atc(int argc, char **argv) {
  return atc::tools::runAtc(argc, argv);
}

/// Runs amct on a command line; returns the exit code.
extern "C" __attribute__((visibility("default"))) int openatc_run_amct(int argc, char **argv) {
  return atc::tools::runAmct(argc, argv);
}
