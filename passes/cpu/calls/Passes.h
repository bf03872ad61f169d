//===-- Passes.h - passes that generate code for host calls ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_PASSES_CPU_CALLS_PASSES_H
#define OPENATC_PASSES_CPU_CALLS_PASSES_H

#include "dialects/cpu/Cpu.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace atc::cpu {
#define GEN_PASS_DECL
#include "passes/cpu/calls/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/cpu/calls/Passes.h.inc"
} // namespace atc::cpu

#endif // OPENATC_PASSES_CPU_CALLS_PASSES_H
