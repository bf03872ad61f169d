//===-- VerifyEpilogue.h - checks of the epilogue of convolutions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_DIALECTS_CPU_VERIFYEPILOGUE_H
#define OPENATC_DIALECTS_CPU_VERIFYEPILOGUE_H

#include "dialects/cpu/Cpu.h"
#include "dialects/kernel/VerifyBuffers.h"

namespace atc::cpu {

/// Checks that bias and slope have one value per (padded) channel of the output.
inline mlir::LogicalResult verifyPerChannel(mlir::Operation *op, mlir::Value value,
                                            int64_t channels, llvm::StringRef name) {
  if (!value)
    return mlir::success();
  mlir::MemRefType type = typeOf(value);
  if (type.getRank() == 1 && type.getDimSize(0) == channels)
    return mlir::success();
  return op->emitOpError() << name << " must be memref<" << channels << "x..>, but is " << type;
}

/// Checks bias, residual, slope and activation of a convolution of f32 with one error at the op.
template <typename ConvOp> mlir::LogicalResult verifyEpilogue(ConvOp op) {
  mlir::MemRefType out = typeOf(op.getOutput());
  int64_t channels = out.getDimSize(1) * out.getDimSize(4);
  if (mlir::failed(verifyPerChannel(op, op.getBias(), channels, "bias")) ||
      mlir::failed(verifyPerChannel(op, op.getSlope(), channels, "slope")))
    return mlir::failure();
  if (op.getResidual() &&
      mlir::failed(verifySameShape(op, op.getResidual(), "residual", op.getOutput(), "output")))
    return mlir::failure();
  bool prelu =
      op.getActivation() && op.getActivation()->getKind() == atc::graph::ActivationKind::PRelu;
  if (prelu != bool(op.getSlope()))
    return op.emitOpError("a slope and a prelu activation come together");
  return mlir::success();
}

} // namespace atc::cpu

#endif // OPENATC_DIALECTS_CPU_VERIFYEPILOGUE_H
