//===-- Storage.cpp - the location of a tensor in memory ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/Storage.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/ops/ShapeOps.h"
#include "passes/kernel/LayoutRules.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::kernel {

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = int64_t(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

Storage Storage::whole(Value base, Type element, ArrayRef<int64_t> shape) {
  return {base, element, 0, SmallVector<int64_t>(shape), rowMajor(shape)};
}

Storage Storage::inside(Halo border) const {
  if (rank() < 4)
    return *this;
  Storage inner = *this;
  inner.offset += border[0] * strides[2] + border[1] * strides[3];
  inner.shape[2] -= border[0] + border[2];
  inner.shape[3] -= border[1] + border[3];
  inner.halo = border;
  return inner;
}

bool Storage::isContiguous() const { return type().getLayout().isIdentity(); }

int64_t Storage::byteOffset() const {
  return llvm::is_contained(shape, 0) ? 0 : offset * graph::getElementBytes(element);
}

MemRefType Storage::type() const {
  SmallVector<int64_t> canonical(strides);
  for (int64_t i = rank() - 1; i >= 0; --i)
    if (shape[i] == 1)
      canonical[i] = i + 1 < rank() ? canonical[i + 1] * shape[i + 1] : 1;
  if (canonical == rowMajor(shape))
    return MemRefType::get(shape, element);
  auto layout = StridedLayoutAttr::get(element.getContext(), 0, canonical);
  return MemRefType::get(shape, element, layout);
}

Storage Storage::slice(int64_t dim, int64_t start, int64_t size, int64_t step) const {
  Storage part = *this;
  if (size != shape[dim] && (dim == 2 || dim == 3))
    part.halo = {};
  part.offset += start * strides[dim];
  part.shape[dim] = size;
  part.strides[dim] *= step;
  return part;
}

Storage Storage::permuted(ArrayRef<int64_t> order) const {
  Storage result{base, element, offset, {}, {}};
  for (int64_t dim : order) {
    result.shape.push_back(shape[dim]);
    result.strides.push_back(strides[dim]);
  }
  return result;
}

Storage Storage::withDim(int64_t dim, int64_t size, int64_t stride) const {
  Storage result = *this;
  result.halo = {};
  result.shape.insert(result.shape.begin() + dim, size);
  result.strides.insert(result.strides.begin() + dim, stride);
  return result;
}

Storage Storage::split(int64_t dim, int64_t inner) const {
  Storage result = withDim(dim, shape[dim] / inner, strides[dim] * inner);
  result.shape[dim + 1] = inner;
  return result;
}

Storage Storage::lanes(int64_t channels) const {
  return permuted({0, 4, 2, 3}).slice(1, 0, channels);
}

std::optional<Storage> Storage::reshaped(ArrayRef<int64_t> to) const {
  // Runs of dims that are one dim in memory, the outermost first.
  struct Run {
    int64_t size, stride;
  };
  SmallVector<Run> runs;
  for (int64_t i = 0; i < rank(); ++i) {
    if (shape[i] == 1)
      continue;
    if (!runs.empty() && runs.back().stride == strides[i] * shape[i])
      runs.back() = {runs.back().size * shape[i], strides[i]};
    else
      runs.push_back({shape[i], strides[i]});
  }
  Storage result{base, element, offset, SmallVector<int64_t>(to),
                 SmallVector<int64_t>(to.size(), 1)};
  int64_t run = int64_t(runs.size()) - 1;
  int64_t used = 1;
  for (int64_t i = int64_t(to.size()) - 1; i >= 0; --i) {
    if (to[i] == 1)
      continue;
    if (run < 0 || runs[run].size % (used * to[i]) != 0)
      return std::nullopt;
    result.strides[i] = runs[run].stride * used;
    used *= to[i];
    if (used == runs[run].size) {
      --run;
      used = 1;
    }
  }
  if (run >= 0)
    return std::nullopt;
  return result;
}

std::optional<Storage> relayoutView(const Storage &from, RankedTensorType fromType,
                                    RankedTensorType toType) {
  int64_t fromBlock = blockOf(fromType), toBlock = blockOf(toType);
  int64_t channels = fromType.getDimSize(1);
  bool onePixel = fromType.getDimSize(2) == 1 && fromType.getDimSize(3) == 1;
  if (fromBlock == toBlock)
    return from;
  if (fromBlock == 0 && toBlock == 1)
    return from.withDim(4, 1, 1);
  if (fromBlock == 1 && toBlock == 0)
    return from.permuted({0, 1, 2, 3});
  // Lane 0 of the block is all of one channel.
  if (channels == 1 && fromBlock != 0 && toBlock == 1)
    return from.slice(4, 0, 1);
  if (!onePixel)
    return std::nullopt;
  if (fromBlock == 0 && channels % toBlock == 0 && from.strides[1] == 1)
    return from.split(1, toBlock).permuted({0, 1, 3, 4, 2});
  if (toBlock == 0 && channels % fromBlock == 0 &&
      (from.shape[1] == 1 || from.strides[1] == fromBlock * from.strides[4])) {
    Storage view = from.permuted({0, 1, 2, 3});
    view.shape[1] = channels;
    view.strides[1] = from.strides[4];
    return view;
  }
  return std::nullopt;
}

bool hasHaloFor(const Storage &storage, RankedTensorType type) {
  Halo needed = haloOf(type);
  for (auto [has, needs] : llvm::zip(storage.halo, needed))
    if (has < needs)
      return false;
  return needed == Halo{} || storage.haloFill == haloFillOf(type);
}

std::optional<Storage> sliceView(const Storage &source, graph::SliceOp slice) {
  RankedTensorType result = tensorType(slice.getResult());
  int64_t block = blockOf(result);
  if (blockOf(slice.getInput()) != block || !isSliceView(slice, block))
    return std::nullopt;
  Storage view = source;
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    int64_t start = slice.getStarts()[dim], size = result.getDimSize(dim);
    if (dim == 1 && block)
      view = view.slice(1, start / block, llvm::divideCeil(size, block));
    else
      view = view.slice(dim, start, size, slice.getSteps()[dim]);
  }
  return view;
}

SmallVector<int64_t> concatStarts(graph::ConcatOp concat) {
  SmallVector<int64_t> starts;
  int64_t start = 0;
  for (Value part : concat.getInputs()) {
    starts.push_back(start);
    start += tensorType(part).getDimSize(concat.getAxis());
  }
  return starts;
}

std::optional<Storage> concatView(const Storage &result, graph::ConcatOp concat, unsigned index,
                                  int64_t start) {
  int64_t axis = concat.getAxis(), block = blockOf(concat.getResult());
  RankedTensorType part = tensorType(concat.getInputs()[index]);
  if (blockOf(part) != block)
    return std::nullopt;
  int64_t size = part.getDimSize(axis);
  if (axis == 1 && block) {
    if (start % block != 0)
      return std::nullopt;
    start /= block;
    size = llvm::divideCeil(size, block);
  }
  return result.slice(axis, start, size);
}

} // namespace atc::kernel
