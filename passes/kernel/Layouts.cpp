//===-- Layouts.cpp - how tensors are stored ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/Layouts.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ConvOps.h"
#include "dialects/graph/ops/QuantOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::kernel {

static graph::LayoutAttr layoutOf(Type type) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  return ranked ? dyn_cast_or_null<graph::LayoutAttr>(ranked.getEncoding()) : nullptr;
}

int64_t blockOf(Type type) {
  graph::LayoutAttr layout = layoutOf(type);
  return layout ? layout.getBlock() : 0;
}

Halo haloOf(Type type) {
  Halo halo{};
  if (graph::LayoutAttr layout = layoutOf(type))
    llvm::copy(layout.getHalo(), halo.begin());
  return halo;
}

int64_t haloFillOf(Type type) {
  graph::LayoutAttr layout = layoutOf(type);
  return layout ? layout.getFill() : 0;
}

RankedTensorType withLayout(RankedTensorType type, int64_t block, Halo halo, int64_t fill) {
  Attribute encoding;
  if (block)
    encoding = graph::LayoutAttr::get(type.getContext(), block, halo, fill);
  return RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
}

SmallVector<int64_t> storedShape(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  if (int64_t block = blockOf(type)) {
    shape[1] = llvm::divideCeil(shape[1], block);
    shape.push_back(block);
  }
  return shape;
}

int64_t storedBytes(RankedTensorType type, int64_t block) {
  RankedTensorType stored = withLayout(type, block);
  int64_t bytes = graph::getElementBytes(type.getElementType());
  for (int64_t size : storedShape(stored))
    bytes *= size;
  return bytes;
}

bool isSameMemory(RankedTensorType type, int64_t block) {
  ArrayRef<int64_t> shape = type.getShape();
  bool onePixel = shape[2] == 1 && shape[3] == 1;
  return block <= 1 || (onePixel && shape[1] % block == 0);
}

template <typename OpT> static Window windowOfConv(OpT conv, unsigned dim) {
  return {tensorType(conv.getFilter()).getDimSize(2 + dim),
          conv.getStrides()[dim],
          conv.getDilations()[dim],
          conv.getPads()[dim],
          tensorType(conv.getInput()).getDimSize(2 + dim),
          tensorType(conv.getResult()).getDimSize(2 + dim)};
}

Window windowOf(graph::ConvOp conv, unsigned dim) { return windowOfConv(conv, dim); }
Window windowOf(graph::IntegerConvOp conv, unsigned dim) { return windowOfConv(conv, dim); }

} // namespace atc::kernel
