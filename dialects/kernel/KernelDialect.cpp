//===-- KernelDialect.cpp - the kernel dialect ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/kernel/Scatter.h" // IWYU pragma: keep

#include "mlir/IR/Builders.h" // IWYU pragma: keep
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace atc::kernel;

#include "dialects/kernel/KernelDialect.cpp.inc"
#include "dialects/kernel/KernelEnums.cpp.inc"
#include "dialects/kernel/KernelInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttrs.cpp.inc"

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/kernel/KernelAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/ScatterOps.cpp.inc"
      >();
}

void atc::kernel::registerKernelDialect(DialectRegistry &registry) {
  registry.insert<KernelDialect>();
}
