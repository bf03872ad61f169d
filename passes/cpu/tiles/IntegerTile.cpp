//===-- IntegerTile.cpp - 32-bit accumulators in registers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/cpu/tiles/IntegerTile.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace atc::cpu {

void forBlocksOfTask(KernelBuilder &b, Value task, int64_t perTask, int64_t total, int64_t together,
                     function_ref<void(Value, int64_t)> body) {
  const int64_t rest = total % together;
  Value first = b.mul(task, perTask), end = b.add(first, perTask);
  if (total % perTask)
    end = arith::MinUIOp::create(b, end, b.index(total));
  // Tasks begin at a multiple of `together`; only the last one may end within it.
  Value endWhole = rest ? b.mul(arith::DivUIOp::create(b, end, b.index(together)), together) : end;
  b.loop(first, endWhole, together, [&](Value block) { body(block, together); });
  if (rest)
    b.loop(endWhole, end, rest, [&](Value block) { body(block, rest); });
}

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
Value IntegerEpilogue::apply(ArrayRef<Value> args, int64_t width) {
  if (!body)
    return args.front();
  if (body->canVectorize())
    return body->clone(args, width);
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < width; ++lane) {
    SmallVector<Value> scalars;
    for (Value arg : args)
      scalars.push_back(laneOf(b, arg, lane));
    lanes.push_back(body->clone(scalars, 1));
  }
  auto type = VectorType::get({width}, lanes.front().getType());
  return vector::FromElementsOp::create(b, type, lanes);
}

/// Returns vectors, a power of two of them, as one.
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

IntegerEpilogue::BlockAt IntegerEpilogue::locate(const PixelTile &pixels, Value image,
                                                 Value block) {
  auto addressesIn = [&](const PixelGrid &grid) {
    return grid.addresses(b, pixels, b.mulAdd(image, grid.stride(0), b.mul(block, grid.stride(1))));
  };
  // Numbers of channels serve all pixels.
  Value channel = b.mul(block, kSumBlock);
  BlockAt at{
      SmallVector<SmallVector<Address>>(inputs.size()), SmallVector<Value>(inputs.size()), {}};
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (input.grid)
      at.inputs[i] = addressesIn(*input.grid);
    else if (input.isScalar)
      at.shared[i] = input.buffer.splat(b.index(0), kSumBlock);
    else
      at.shared[i] = input.buffer.load(channel, kSumBlock);
  }
  at.output = addressesIn(output);
  return at;
}

int64_t IntegerEpilogue::vectorsTogether() const {
  if (!body || !body->canVectorize())
    return 1;
  const int64_t lanes = b.level().getLanes();
  if (body->looksUp())
    return std::max<int64_t>(4 * lanes / kSumBlock, 1);
  return lanes >= kSumBlock && written.element().isInteger(8) ? 4 : 1;
}

void IntegerEpilogue::finish(IntegerTile &tile, const PixelTile &pixels, Value image, Value block) {
  const int64_t valid = output.shape()[4];
  SmallVector<BlockAt> blocks;
  for (int64_t j = 0; j < tile.blocks(); ++j)
    blocks.push_back(locate(pixels, image, b.add(block, j)));
  // The blocks of a pixel follow each other, as they may do in memory.
  SmallVector<std::pair<int64_t, int64_t>> all;
  for (int64_t p = 0; p < tile.pixels(); ++p)
    for (int64_t j = 0; j < tile.blocks(); ++j)
      all.push_back({p, j});
  const bool isJoined = tile.blocks() == 2 && output.stride(1) == kSumBlock && valid == kSumBlock;
  for (ArrayRef<std::pair<int64_t, int64_t>> rest = all; !rest.empty();) {
    const int64_t count =
        llvm::bit_floor(std::min<uint64_t>(rest.size(), uint64_t(vectorsTogether())));
    ArrayRef<std::pair<int64_t, int64_t>> now = rest.take_front(count);
    rest = rest.drop_front(count);
    SmallVector<Value> args;
    args.push_back(joined(b, llvm::map_to_vector(now, [&](auto at) {
                            return joined(b, tile.ofPixel(at.first, at.second));
                          })));
    for (size_t i = 0; i < inputs.size(); ++i)
      args.push_back(joined(b, llvm::map_to_vector(now, [&](auto at) -> Value {
                              const BlockAt &from = blocks[at.second];
                              if (from.shared[i])
                                return from.shared[i];
                              Address first = from.inputs[i][at.first];
                              return inputs[i].buffer.load(b.add(first.base, first.offset),
                                                           kSumBlock, valid);
                            })));
    Value results = apply(args, count * kSumBlock);
    const int64_t perStore = isJoined && count > 1 ? 2 : 1;
    for (int64_t i = 0; i < count; i += perStore) {
      Value part = results;
      if (perStore < count)
        part = vector::ExtractStridedSliceOp::create(b, results, ArrayRef<int64_t>{i * kSumBlock},
                                                     ArrayRef<int64_t>{perStore * kSumBlock},
                                                     ArrayRef<int64_t>{1});
      Address at = blocks[now[i].second].output[now[i].first];
      written.store(part, b.add(at.base, at.offset), perStore > 1 ? perStore * kSumBlock : valid);
    }
  }
}

} // namespace atc::cpu
