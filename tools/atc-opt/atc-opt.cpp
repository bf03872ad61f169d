//===-- atc-opt.cpp - runs passes by name on .mlir files ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  atc::driver::registerAllDialects(registry);
  atc::driver::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "OpenATC pass driver\n", registry));
}
