//===-- atc-opt.cpp - runs passes by name on .mlir files ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Cpu.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/npu/Npu.h"
#include "dialects/om/Om.h"
#include "driver/Registration.h"
#include "tools/common/PrintableDiagnostics.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

/// Registers the handler as soon as one of our dialects is loaded: MLIR's driver creates the
/// context and registers its own handler first, which is therefore called later.
template <typename Dialect> static void printSafely(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, Dialect *) {
    atc::tools::makeDiagnosticsPrintable(*context);
  });
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  atc::driver::registerAllDialects(registry);
  printSafely<atc::graph::GraphDialect>(registry);
  printSafely<atc::kernel::KernelDialect>(registry);
  printSafely<atc::cpu::CpuDialect>(registry);
  printSafely<atc::npu::ir::NpuDialect>(registry);
  printSafely<atc::om::OmDialect>(registry);
  atc::driver::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "OpenATC pass driver\n", registry));
}
