//===-- CpuDialect.cpp - the cpu dialect ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/FloatWinograd.h" // IWYU pragma: keep
#include "dialects/cpu/Half.h"          // IWYU pragma: keep
#include "dialects/cpu/Reduction.h"     // IWYU pragma: keep
#include "dialects/cpu/Transformer.h"   // IWYU pragma: keep

#include "mlir/Dialect/LLVMIR/LLVMDialect.h" // IWYU pragma: keep
#include "mlir/IR/Builders.h"                // IWYU pragma: keep
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace atc::cpu;

#include "dialects/cpu/CpuDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/cpu/CpuAttrs.cpp.inc"

void CpuDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/cpu/CpuAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/cpu/CpuOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/cpu/FloatWinogradOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/cpu/HalfOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/cpu/ReductionOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/cpu/TransformerOps.cpp.inc"
      >();
}

void atc::cpu::registerCpuDialect(DialectRegistry &registry) { registry.insert<CpuDialect>(); }
