//===-- ReductionOps.cpp - verifier and cost of cpu.map_reduce ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Reduction.h"
#include "dialects/cpu/VerifyEpilogue.h" // IWYU pragma: keep

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace atc::cpu;

SmallVector<int64_t> MapReduceOp::iterationShape() {
  SmallVector<int64_t> shape(typeOf(getOutput()).getShape().drop_front());
  for (Value input : getInputs())
    for (auto [dim, size] : llvm::enumerate(typeOf(input).getShape()))
      shape[dim] = std::max(shape[dim], size);
  return shape;
}

LogicalResult MapReduceOp::verify() {
  MemRefType out = typeOf(getOutput());
  Block &block = getBody().front();
  if (getInputs().empty() || out.getRank() < 2)
    return emitOpError("needs inputs, and an output of their rank and one dim more");
  for (Value input : getInputs())
    if (failed(verifyRank(*this, input, out.getRank() - 1, "an input")))
      return failure();
  const SmallVector<int64_t> shape = iterationShape();
  SmallVector<Type> elements;
  for (Value input : getInputs()) {
    MemRefType in = typeOf(input);
    for (auto [size, whole] : llvm::zip_equal(in.getShape(), shape))
      if (size != whole && size != 1)
        return emitOpError() << "input " << in << " does not broadcast to " << shape;
    elements.push_back(in.getElementType());
  }
  if (!llvm::equal(block.getArgumentTypes(), elements))
    return emitOpError() << "needs a body with arguments of types " << elements;
  auto yield = dyn_cast<ReductionYieldOp>(block.getTerminator());
  if (!yield || yield.getValues().empty() ||
      static_cast<int64_t>(yield.getValues().size()) != out.getDimSize(0) ||
      !out.getElementType().isF32())
    return emitOpError() << "the body must yield a value of f32 per row of the output " << out;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    const int64_t expected = llvm::is_contained(getAxes(), int64_t(dim)) ? 1 : size;
    if (out.getDimSize(dim + 1) != expected)
      return emitOpError() << "output dim " << dim + 1 << " must be " << expected << ", but is "
                           << out.getDimSize(dim + 1);
  }
  return success();
}

std::string MapReduceOp::kernelName() { return getMean() ? "map_mean" : "map_sum"; }

int64_t MapReduceOp::flops() {
  int64_t ops = 0;
  for (Operation &op : getBody().front())
    // A transcendental function takes about twenty instructions.
    ops += op.getNumOperands() * (op.getName().getDialectNamespace() == "math" ? 20 : 1);
  return ShapedType::getNumElements(iterationShape()) * std::max<int64_t>(ops, 1);
}

#define GET_OP_CLASSES
#include "dialects/cpu/ReductionOps.cpp.inc"
