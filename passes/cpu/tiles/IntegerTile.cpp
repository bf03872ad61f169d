//===-- IntegerTile.cpp - 32-bit accumulators in registers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/IntegerTile.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {

bool sharesSteps(IntegerConv2DOp op) {
  const int64_t blocks = shapeOf(op.getOutput())[1];
  return blocks > 1 && op.getGroups() == ArrayRef<int64_t>{1} && !op.getByMagnitude()[0] &&
         shapeOf(op.getSteps())[0] * blocks == shapeOf(op.getFilter())[0];
}

IntegerTile::IntegerTile(KernelBuilder &builder, int64_t pixels, int64_t blocks)
    : b(builder), count(pixels), blockCount(blocks),
      width(std::min(kSumBlock, builder.level().getLanes())), sums(pixels * blocks * vectors()) {}

void IntegerTile::start(Value bias, Value channel) {
  for (int64_t j = 0; j < blockCount; ++j)
    for (int64_t v = 0; v < vectors(); ++v) {
      Value first = vector::LoadOp::create(b, vectorType(b.getI32Type()), bias,
                                           ValueRange{b.add(channel, j * kSumBlock + v * width)});
      for (int64_t p = 0; p < count; ++p)
        ofPixel(p, j)[v] = first;
    }
}

void IntegerEpilogue::addInput(Value buffer) {
  Input input{LaneBuffer(b, buffer), std::nullopt};
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() != 1)
    input.grid.emplace(buffer, ArrayRef<int64_t>{1, 1});
  else
    input.isScalar = type.getDimSize(0) == 1;
  inputs.push_back(std::move(input));
}

/// Applies the body to all lanes at once, or lane by lane where it cannot be vectorized.
Value IntegerEpilogue::apply(ArrayRef<Value> args) {
  if (!body)
    return args.front();
  if (body->canVectorize())
    return body->clone(args, kSumBlock);
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < kSumBlock; ++lane) {
    SmallVector<Value> scalars;
    for (Value arg : args)
      scalars.push_back(laneOf(b, arg, lane));
    lanes.push_back(body->clone(scalars, 1));
  }
  auto type = VectorType::get({kSumBlock}, lanes.front().getType());
  return vector::FromElementsOp::create(b, type, lanes);
}

/// The vectors of a block as one.
static Value joined(KernelBuilder &b, ArrayRef<Value> parts) {
  SmallVector<Value> values(parts);
  while (values.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i < values.size(); i += 2) {
      int64_t size = cast<VectorType>(values[i].getType()).getNumElements();
      SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, 2 * size));
      next.push_back(vector::ShuffleOp::create(b, values[i], values[i + 1], all));
    }
    values = next;
  }
  return values.front();
}

void IntegerEpilogue::finish(IntegerTile &tile, const PixelTile &pixels, Value image, Value block) {
  for (int64_t j = 0; j < tile.blocks(); ++j)
    finishBlock(tile, j, pixels, image, b.add(block, j));
}

void IntegerEpilogue::finishBlock(IntegerTile &tile, int64_t which, const PixelTile &pixels,
                                  Value image, Value block) {
  int64_t valid = output.shape()[4];
  auto addressesIn = [&](const PixelGrid &grid) {
    return grid.addresses(b, pixels, b.mulAdd(image, grid.stride(0), b.mul(block, grid.stride(1))));
  };
  // Numbers of channels serve all pixels.
  Value channel = b.mul(block, kSumBlock);
  SmallVector<SmallVector<Address>> inputsAt(inputs.size());
  SmallVector<Value> shared(inputs.size());
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (input.grid)
      inputsAt[i] = addressesIn(*input.grid);
    else if (input.isScalar)
      shared[i] = input.buffer.splat(b.index(0), kSumBlock);
    else
      shared[i] = input.buffer.load(channel, kSumBlock);
  }
  SmallVector<Address> outputAt = addressesIn(output);
  for (int64_t p = 0; p < tile.pixels(); ++p) {
    SmallVector<Value> args{joined(b, tile.ofPixel(p, which))};
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (shared[i]) {
        args.push_back(shared[i]);
        continue;
      }
      Address at = inputsAt[i][p];
      args.push_back(inputs[i].buffer.load(b.add(at.base, at.offset), kSumBlock, valid));
    }
    written.store(apply(args), b.add(outputAt[p].base, outputAt[p].offset), valid);
  }
}

} // namespace atc::cpu
