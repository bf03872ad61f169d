//===-- TransformerOps.cpp - verifiers and cost of attention and norms ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Transformer.h"
#include "dialects/cpu/VerifyEpilogue.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace atc::cpu;

namespace {

/// Emits an error unless the buffer `name` has `rank` dims of f32.
LogicalResult verifyFloats(Operation *op, Value value, int64_t rank, StringRef name) {
  if (failed(verifyRank(op, value, rank, name)))
    return failure();
  if (!typeOf(value).getElementType().isF32())
    return op->emitOpError() << name << " must be of f32, but is " << typeOf(value);
  return success();
}

/// Returns the stride of dim `dim` in elements; a dim of one element is dense.
int64_t strideOf(Value value, unsigned dim) {
  MemRefType type = typeOf(value);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (type.getDimSize(dim) == 1)
    return 1;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return 0;
  return strides[dim];
}

/// Emits an error unless each dim of `value` is that of `shape`; those below `broadcast` may be 1.
LogicalResult verifyShape(Operation *op, Value value, ArrayRef<int64_t> shape, unsigned broadcast,
                          StringRef name) {
  for (auto [dim, size] : llvm::enumerate(typeOf(value).getShape()))
    if (size != shape[dim] && !(dim < broadcast && size == 1))
      return op->emitOpError() << name << " must have shape " << shape << ", but is "
                               << typeOf(value);
  return success();
}

} // namespace

LogicalResult AttentionOp::verify() {
  for (auto [name, value] : {std::pair("query", getQuery()), std::pair("key", getKey()),
                             std::pair("value", getValue()), std::pair("output", getOutput())})
    if (failed(verifyFloats(*this, value, 4, name)))
      return failure();
  ArrayRef<int64_t> out = typeOf(getOutput()).getShape();
  const int64_t depth = typeOf(getQuery()).getDimSize(3), keys = typeOf(getKey()).getDimSize(3);
  if (failed(verifyShape(*this, getQuery(), {out[0], out[1], out[2], depth}, 2, "query")) ||
      failed(verifyShape(*this, getKey(), {out[0], out[1], depth, keys}, 2, "key")) ||
      failed(verifyShape(*this, getValue(), {out[0], out[1], keys, out[3]}, 2, "value")))
    return failure();
  for (Value input : getInputs())
    if (failed(verifyRank(*this, input, 4, "an input")) ||
        failed(verifyShape(*this, input, {out[0], out[1], out[2], keys}, 4, "an input")))
      return failure();
  if (strideOf(getValue(), 3) != 1 || strideOf(getOutput(), 3) != 1)
    return emitOpError("needs dense rows of value and output");
  if (strideOf(getKey(), 2) != 1 && strideOf(getKey(), 3) != 1)
    return emitOpError("needs one dense dim of key");
  if (getBody().empty())
    return getInputs().empty() ? success() : emitOpError("has inputs, but no body");
  SmallVector<Type> elements{typeOf(getOutput()).getElementType()};
  for (Value input : getInputs())
    elements.push_back(typeOf(input).getElementType());
  if (!llvm::equal(getBody().getArgumentTypes(), elements))
    return emitOpError() << "needs a body with arguments of types " << elements;
  return success();
}

std::string AttentionOp::kernelName() { return "attention"; }

int64_t AttentionOp::flops() {
  ArrayRef<int64_t> out = typeOf(getOutput()).getShape();
  MemRefType key = typeOf(getKey());
  return 2 * out[0] * out[1] * out[2] * key.getDimSize(3) * (key.getDimSize(2) + out[3]);
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyFloats(*this, getInput(), 2, "input")) ||
      failed(verifyFloats(*this, getOutput(), 2, "output")) ||
      failed(verifySameShape(*this, getInput(), "input", getOutput(), "output")))
    return failure();
  if (strideOf(getInput(), 1) != 1 || strideOf(getOutput(), 1) != 1)
    return emitOpError("needs dense rows");
  const int64_t columns = typeOf(getOutput()).getDimSize(1);
  if (failed(verifyPerChannel(*this, getGamma(), columns, "gamma")))
    return failure();
  return verifyPerChannel(*this, getBeta(), columns, "beta");
}

std::string LayerNormOp::kernelName() { return "layer_norm"; }

/// Counts two operations each for mean and variance, and four for the result.
int64_t LayerNormOp::flops() { return 8 * elements(getOutput()); }

/// Each element is read for the last time before its result is written.
bool LayerNormOp::canRunInPlace(unsigned operand) { return operand == 0; }

#define GET_OP_CLASSES
#include "dialects/cpu/TransformerOps.cpp.inc"
