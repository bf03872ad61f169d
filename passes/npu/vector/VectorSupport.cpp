//===-- VectorSupport.cpp - which kernels the vector queue can run -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/npu/vector/VectorSupport.h"

#include "passes/npu/vector/ArgReduce.h"
#include "passes/npu/vector/Gather.h"
#include "passes/npu/vector/VectorKernels.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace atc::npu {

std::string whyUnsupportedVectorKernel(Operation *op, const SocTable &soc) {
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || !type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)) ||
        llvm::is_contained(strides, ShapedType::kDynamic))
      return "sizes or strides that are not known";
    if (type.getNumElements() == 0)
      return "a buffer without elements";
    if (llvm::any_of(strides, [](int64_t stride) { return stride < 0; }))
      return "strides below 0";
  }
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<kernel::MapOp>([&](auto map) { return whyUnsupportedMap(map, soc); })
      .Case<kernel::CopyOp, kernel::PackOp, kernel::UnpackOp, kernel::FillOp, kernel::PadOp>(
          [&](Operation *copy) { return whyUnsupportedCopy(copy, soc); })
      .Case<kernel::PoolOp>([&](auto pool) { return whyUnsupportedPool(pool, soc); })
      .Case<kernel::ArgReduceOp>([&](auto arg) { return whyUnsupportedArgReduce(arg, soc); })
      .Case<kernel::GatherOp>([&](auto gather) { return whyUnsupportedGather(gather, soc); })
      .Case<kernel::ReduceOp>([&](auto reduce) { return whyUnsupportedReduce(reduce, soc); })
      .Case<kernel::SoftmaxOp>([&](auto softmax) { return whyUnsupportedSoftmax(softmax, soc); })
      .Case<ir::LayerNormOp>([&](auto norm) { return whyUnsupportedLayerNorm(norm, soc); })
      .Case<kernel::ResizeOp>([&](auto resize) { return whyUnsupportedResize(resize, soc); })
      .Default(
          [](Operation *op) { return "no program for " + op->getName().getStringRef().str(); });
}

} // namespace atc::npu
