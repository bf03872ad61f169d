//===-- LowerGraphBuffers.cpp - buffers, views and copies -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/kernel/LowerGraph.h"

#include "dialects/om/Om.h"

using namespace mlir;

namespace atc::kernel {

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value GraphLowering::memoryOf(Value base) {
  if (isa<MemRefType>(base.getType()))
    return base;
  if (Value known = memory.lookup(base))
    return known;
  Value result;
  if (std::optional<unsigned> index = storage.resultOf(base)) {
    Block &body = main.getBody().front();
    unsigned first = body.getNumArguments() - main.getFunctionType().getNumResults();
    result = body.getArgument(first + *index);
  } else if (isKnown(base)) {
    // Constants are readable: whyUnsupported saw them.
    result = weight(*constantOf(base));
  } else {
    result = allocate(base);
  }
  memory[base] = result;
  return result;
}

/// Allocates the memory of a tensor with its halo, which is filled once.
Value GraphLowering::allocate(Value tensor) {
  RankedTensorType type = tensorType(tensor);
  Halo halo = haloOf(type);
  SmallVector<int64_t> shape = storedShape(type);
  if (blockOf(type)) {
    shape[2] += halo[0] + halo[2];
    shape[3] += halo[1] + halo[3];
  } else if (!shape.empty()) {
    shape.back() += storage.rowPaddingOf(tensor);
  }
  const Type element = graph::getScalarType(type.getElementType());
  Storage whole = storage.joinsChannels(tensor)
                      ? Storage::joined(temporary(Storage::joinedShape(shape), element))
                      : temporary(shape, element);
  if (halo != Halo{})
    fill(whole, static_cast<double>(haloFillOf(type)), halo);
  return whole.base;
}

Value GraphLowering::buffer(const Storage &storage) {
  Value source = memoryOf(storage.base);
  MemRefType type = storage.type();
  if (source.getType() == type && storage.offset == 0)
    return source;
  Value &view = views[{source, storage.offset, type}];
  if (!view)
    view = om::ViewOp::create(builder, location, type, source, storage.byteOffset());
  return view;
}

Storage GraphLowering::temporary(ArrayRef<int64_t> shape, Type element) {
  auto alloc = om::AllocOp::create(builder, location, MemRefType::get(shape, element),
                                   /*offset=*/IntegerAttr());
  return Storage::whole(alloc.getResult(), element, shape);
}

Storage GraphLowering::contiguous(const Storage &storage) {
  if (storage.isContiguous())
    return storage;
  Storage result = temporary(storage.shape, storage.element);
  copy(storage, result);
  return result;
}

Storage GraphLowering::reshaped(const Storage &storage, ArrayRef<int64_t> shape) {
  return *contiguous(storage).reshaped(shape);
}

Storage GraphLowering::constantStorage(ElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getShapedType());
  return Storage::whole(weight(value), type.getElementType(), type.getShape());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Records the tensor that a kernel writes: the result of the graph where the strides of the buffer
/// determine the positions of its elements (or it is row-major). A border, a part of a tensor or a
/// copy that is not in the graph is none: dumps and comparisons would mistake it for the tensor of
/// its op.
void GraphLowering::describe(Operation *op, Value result, const Storage &output) {
  if (!result)
    return;
  auto buffer = cast<MemRefType>(op->getOperands().back().getType());
  RankedTensorType logical = tensorType(result);
  bool sameDims = ArrayRef(storedShape(logical)) == buffer.getShape();
  // A transposed view of the same dims would be mistaken for the tensor itself.
  if (sameDims ? buffer == output.type() : !blockOf(logical) && output.isContiguous())
    op->setAttr(kTensorAttr, TypeAttr::get(logical));
}

void GraphLowering::copy(const Storage &from, const Storage &to) {
  // Pads may crop all of their input.
  if (llvm::is_contained(from.shape, 0))
    return;
  auto withDims = [](Storage storage) { return storage.rank() ? storage : storage.withDim(0); };
  Storage source = withDims(from), target = withDims(to);
  kernel<CopyOp>(Value(), target, buffer(source), buffer(target));
}

void GraphLowering::fill(const Storage &storage, double value, std::optional<Halo> border) {
  DenseI64ArrayAttr sides = border ? builder.getDenseI64ArrayAttr(*border) : nullptr;
  kernel<FillOp>(Value(), storage, buffer(storage), APFloat(value), sides);
}

void GraphLowering::copyChannels(Channels from, Channels to, int64_t count) {
  // A chunk has as many channels as are contiguous on both sides.
  struct Piece {
    int64_t from, to, lanes, fromLane, toLane;
  };
  auto laneOf = [](const Channels &side, int64_t channel) {
    return side.block ? (side.first + channel) % side.block : 0;
  };
  auto room = [&](const Channels &side, int64_t channel) {
    return side.block ? side.block - laneOf(side, channel) : INT64_MAX;
  };
  auto offsetOf = [&](const Channels &side, int64_t channel) {
    const Storage &storage = side.storage;
    if (!side.block)
      return (side.first + channel) * storage.strides[1];
    return (side.first + channel) / side.block * storage.strides[1] +
           laneOf(side, channel) * storage.strides[4];
  };
  SmallVector<Piece> pieces;
  for (int64_t channel = 0; channel < count;) {
    int64_t lanes = std::min({room(from, channel), room(to, channel), count - channel});
    pieces.push_back({offsetOf(from, channel), offsetOf(to, channel), lanes, laneOf(from, channel),
                      laneOf(to, channel)});
    channel += lanes;
  }
  auto view = [](const Channels &side, int64_t first, int64_t step, int64_t number, int64_t lanes) {
    Storage result = side.storage.permuted({0, 1, 2, 3});
    result.offset += first;
    result.shape[1] = number;
    result.strides[1] = step;
    return result.withDim(4, lanes, side.storage.strides[side.block ? 4 : 1]);
  };
  // Pieces of the same lanes, one in each block, are one copy.
  while (!pieces.empty()) {
    Piece first = pieces.front(), last = first;
    int64_t number = 0, fromStep = 0, toStep = 0;
    llvm::erase_if(pieces, [&](const Piece &piece) {
      if (piece.lanes != first.lanes || piece.fromLane != first.fromLane ||
          piece.toLane != first.toLane)
        return false;
      fromStep = piece.from - last.from;
      toStep = piece.to - last.to;
      last = piece;
      ++number;
      return true;
    });
    copy(view(from, first.from, fromStep, number, first.lanes),
         view(to, first.to, toStep, number, first.lanes));
  }
}

} // namespace atc::kernel
