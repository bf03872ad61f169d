//===-- ImportMove.cpp - shapes, concatenation, blocks --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "frontends/tflite/OpTable.h"

#include <numeric>

using llvm::Twine;

namespace atc::tflite {
namespace {

void importReshape(OpContext &c) {
  Dims result = c.outputDims();
  if (isComplex(c.inputTensor(0)))
    result.push_back(2); // the parts
  // The shape of the result says all, unless several dims are dynamic.
  if (llvm::count(result, -1) <= 1)
    return c.setOutput(c.reshape(c.moved(0), result));
  if (!c.hasInput(1))
    return c.fail("its shape is not known");
  Value shape = c.indices(1);
  if (isComplex(c.inputTensor(0)))
    shape = c.node("Concat", {shape, c.ints({2})}, {{"axis", int64_t(0)}});
  c.setOutput(c.node("Reshape", {c.moved(0), shape}));
}

void importTranspose(OpContext &c) {
  Dims permutation = c.requireInts(1, "permutation");
  const int64_t rank = c.rank(0);
  for (int64_t &axis : permutation)
    axis = c.axis(axis, rank);
  Dims sorted = permutation;
  llvm::sort(sorted);
  Dims all(rank);
  std::iota(all.begin(), all.end(), 0);
  if (!c.failed() && sorted != all)
    c.fail("its permutation does not name each dim once");
  if (!c.failed())
    c.setOutput(c.transpose(c.moved(0), permutation));
}

void importSqueeze(OpContext &c) {
  const auto *options = c.options<fb::SqueezeOptions>();
  const Dims dims = c.dims(0);
  const auto rank = static_cast<int64_t>(dims.size());
  Dims axes;
  if (options && options->squeeze_dims())
    for (int32_t axis : *options->squeeze_dims())
      axes.push_back(c.axis(axis, rank));
  if (axes.empty())
    for (int64_t i = 0; i < rank; ++i)
      if (dims[i] == 1)
        axes.push_back(i);
  Value x = c.moved(0);
  c.setOutput(axes.empty() ? x : c.squeeze(x, axes));
}

void importExpandDims(OpContext &c) {
  const Dims axes = c.requireInts(1, "axis");
  if (!c.failed() && axes.size() != 1)
    c.fail("its axis must be one number");
  if (!c.failed())
    c.setOutput(c.unsqueeze(c.moved(0), {c.axis(axes[0], c.rank(0) + 1)}));
}

/// Returns inputs whose integers mean the same as those of the result as they are; real values
/// where one of them does not.
std::vector<Value> alike(OpContext &c) {
  std::vector<Value> values;
  for (unsigned i = 0; i < c.numInputs(); ++i)
    values.push_back(c.moved(i));
  const bool isMixed = llvm::any_of(
      values, [&](const Value &value) { return value.isStored != values.front().isStored; });
  for (unsigned i = 0; isMixed && i < c.numInputs(); ++i)
    values[i] = c.in(i);
  return values;
}

void importConcatenation(OpContext &c) {
  const auto *p = c.options<fb::ConcatenationOptions>();
  if (!p || c.numInputs() == 0)
    return c.fail("has no parameters");
  std::vector<Value> values = alike(c);
  const int64_t axis = c.axis(p->axis(), c.rank(0));
  if (c.failed())
    return;
  if (p->activation() != fb::Activation::NONE)
    for (unsigned i = 0; i < c.numInputs(); ++i)
      values[i] = c.in(i);
  c.setOutput(c.activate(c.node("Concat", values, {{"axis", axis}}), p->activation()));
}

void importPack(OpContext &c) {
  const auto *p = c.options<fb::PackOptions>();
  if (!p || c.numInputs() == 0)
    return c.fail("has no parameters");
  const int64_t axis = c.axis(p->axis(), c.rank(0) + 1);
  std::vector<Value> values = alike(c);
  for (Value &value : values)
    value = c.unsqueeze(value, {axis});
  c.setOutput(c.node("Concat", values, {{"axis", axis}}));
}

/// Sets the outputs to the parts of an input along an axis.
void split(OpContext &c, unsigned input, int64_t axis, const std::optional<Value> &sizes,
           bool squeezes) {
  if (c.failed())
    return;
  const unsigned count = c.numOutputs();
  std::vector<Value> inputs = {c.moved(input)};
  OnnxAttributes attributes = {{"axis", axis}};
  if (sizes)
    inputs.push_back(*sizes);
  else
    attributes.push_back({"num_outputs", int64_t(count)});
  std::vector<Value> parts = c.nodes("Split", inputs, count, attributes);
  for (unsigned i = 0; i < count; ++i)
    c.setOutput(squeezes ? c.squeeze(parts[i], {axis}) : parts[i], i);
}

void importUnpack(OpContext &c) {
  const auto *p = c.options<fb::UnpackOptions>();
  if (!p)
    return c.fail("has no parameters");
  split(c, 0, c.axis(p->axis(), c.rank(0)), std::nullopt, true);
}

int64_t constantAxis(OpContext &c, unsigned index, unsigned input) {
  const Dims axes = c.requireInts(index, "axis");
  if (!c.failed() && axes.size() != 1)
    c.fail("its axis must be one number");
  return c.failed() ? 0 : c.axis(axes[0], c.rank(input));
}

void importSplit(OpContext &c) { split(c, 1, constantAxis(c, 0, 1), std::nullopt, false); }

void importSplitV(OpContext &c) {
  const int64_t axis = constantAxis(c, 2, 0);
  if (c.failed())
    return;
  Dims sizes;
  for (unsigned i = 0; i < c.numOutputs(); ++i) {
    const Dims dims = c.outputDims(i);
    sizes.push_back(static_cast<int64_t>(dims.size()) > axis ? dims[axis] : -1);
  }
  const bool isKnown = !llvm::is_contained(sizes, -1);
  split(c, 0, axis, isKnown ? c.ints(sizes) : c.indices(1), false);
}

//===--- Repetition -------------------------------------------------------===//

void importTile(OpContext &c) { c.setOutput(c.node("Tile", {c.moved(0), c.indices(1)})); }

void importBroadcastTo(OpContext &c) { c.setOutput(c.node("Expand", {c.moved(0), c.indices(1)})); }

/// Finds the shape to which two shapes broadcast, from tensors that have them.
void importBroadcastArgs(OpContext &c) {
  Value a = c.node("ConstantOfShape", {c.indices(0)}), b = c.indices(1);
  Value shape = c.node("Shape", {c.node("Expand", {a, b})});
  c.setOutput(c.cast(shape, onnxType(c.outputTensor(0).type())));
}

void importFill(OpContext &c) { c.setOutput(c.node("Expand", {c.moved(1), c.indices(0)})); }

void importZerosLike(OpContext &c) {
  Value shape = c.node("Shape", {c.raw(0)});
  shape.isStored = false;
  c.setOutput(c.node("Expand", {c.scalarLike(0, 0), shape}));
}

void importRange(OpContext &c) { c.setOutput(c.node("Range", {c.raw(0), c.raw(1), c.raw(2)})); }

void importShape(OpContext &c) {
  Value shape = c.node("Shape", {c.raw(0)});
  shape.isStored = false;
  c.setOutput(c.cast(shape, onnxType(c.outputTensor(0).type())));
}

void importRank(OpContext &c) {
  c.setOutput(c.cast(c.intScalar(c.rank(0)), onnxType(c.outputTensor(0).type())));
}

//===--- Blocks -----------------------------------------------------------===//

void importDepthToSpace(OpContext &c) {
  const auto *p = c.options<fb::DepthToSpaceOptions>();
  if (!p || p->block_size() < 1 || c.rank(0) != 4)
    return c.fail("its block size must be positive and its image have 4 dims");
  Value result = c.node("DepthToSpace", {c.channelsFirst(c.moved(0), 4)},
                        {{"blocksize", int64_t(p->block_size())}, {"mode", std::string("DCR")}});
  c.setOutput(c.channelsLast(result, 4));
}

void importSpaceToDepth(OpContext &c) {
  const auto *p = c.options<fb::SpaceToDepthOptions>();
  if (!p || p->block_size() < 1 || c.rank(0) != 4)
    return c.fail("its block size must be positive and its image have 4 dims");
  Value result = c.node("SpaceToDepth", {c.channelsFirst(c.moved(0), 4)},
                        {{"blocksize", int64_t(p->block_size())}});
  c.setOutput(c.channelsLast(result, 4));
}

/// Reads the blocks and the two numbers per dim of an operator between space and batch, whose batch
/// may be -1: any.
bool readBlocks(OpContext &c, Dims &dims, Dims &blocks, Dims &borders) {
  dims = c.knownDims(0, 1);
  blocks = c.requireInts(1, "block shape");
  borders = c.requireInts(2, "borders");
  if (c.failed())
    return false;
  if (blocks.size() + 1 > dims.size() || borders.size() != 2 * blocks.size())
    c.fail("its block shape and borders do not fit an input of " + Twine(dims.size()) + " dims");
  for (int64_t value : blocks)
    if (value < 1 || value > (1 << 20))
      c.fail("a block of " + Twine(value) + " is not allowed");
  for (int64_t value : borders)
    if (value < 0 || value > (1 << 20))
      c.fail("a border of " + Twine(value) + " is not allowed");
  return !c.failed();
}

void importSpaceToBatch(OpContext &c) {
  Dims dims, blocks, borders;
  if (!readBlocks(c, dims, blocks, borders))
    return;
  const size_t count = blocks.size(), rank = dims.size();
  Dims pads(2 * rank, 0);
  int64_t volume = 1;
  for (size_t i = 0; i < count; ++i) {
    pads[i + 1] = borders[2 * i];
    pads[rank + i + 1] = borders[2 * i + 1];
    dims[i + 1] += borders[2 * i] + borders[2 * i + 1];
    volume *= blocks[i];
    if (dims[i + 1] % blocks[i])
      return c.fail("dim " + Twine(i + 1) + " with its borders, " + Twine(dims[i + 1]) +
                    ", is no multiple of the block " + Twine(blocks[i]));
  }
  Value padded = c.node("Pad", {c.in(0), c.ints(pads), c.scalarLike(0, 0)});
  // [n, (h/b, b)..., rest] -> [b..., n, h/b..., rest]
  Dims split = {dims[0]}, order, result = {dims[0] < 0 ? -1 : dims[0] * volume};
  for (size_t i = 0; i < count; ++i) {
    split.append({dims[i + 1] / blocks[i], blocks[i]});
    order.push_back(2 + 2 * i);
    result.push_back(dims[i + 1] / blocks[i]);
  }
  order.push_back(0);
  for (size_t i = 0; i < count; ++i)
    order.push_back(1 + 2 * i);
  for (size_t i = count + 1; i < rank; ++i) {
    order.push_back(split.size());
    split.push_back(dims[i]);
    result.push_back(dims[i]);
  }
  c.setOutput(c.reshape(c.transpose(c.reshape(padded, split), order), result));
}

void importBatchToSpace(OpContext &c) {
  Dims dims, blocks, crops;
  if (!readBlocks(c, dims, blocks, crops))
    return;
  const size_t count = blocks.size(), rank = dims.size();
  int64_t volume = 1;
  for (int64_t block : blocks)
    volume *= block;
  const bool isOpen = dims[0] < 0;
  if (volume < 1 || (!isOpen && dims[0] % volume))
    return c.fail("its batch " + Twine(dims[0]) + " is no multiple of the block");
  // [b..., n, h..., rest] -> [n, (h, b)..., rest]
  const int64_t batch = isOpen ? -1 : dims[0] / volume;
  Dims split = blocks, order = {int64_t(count)}, result = {batch}, axes, starts, ends;
  split.push_back(batch);
  for (size_t i = 0; i < count; ++i) {
    order.append({int64_t(count + 1 + i), int64_t(i)});
    split.push_back(dims[i + 1]);
    result.push_back(dims[i + 1] * blocks[i]);
    axes.push_back(i + 1);
    starts.push_back(crops[2 * i]);
    ends.push_back(result.back() - crops[2 * i + 1]);
    if (ends.back() < starts.back())
      return c.fail("its crops leave nothing of dim " + Twine(i + 1));
  }
  for (size_t i = count + 1; i < rank; ++i) {
    order.push_back(split.size());
    split.push_back(dims[i]);
    result.push_back(dims[i]);
  }
  Value spread = c.reshape(c.transpose(c.reshape(c.moved(0), split), order), result);
  c.setOutput(c.node("Slice", {spread, c.ints(starts), c.ints(ends), c.ints(axes)}));
}

} // namespace

llvm::ArrayRef<OpRow> moveOps() {
  using enum fb::BuiltinOperator;
  static const OpRow rows[] = {{BATCH_TO_SPACE_ND, importBatchToSpace},
                               {BROADCAST_ARGS, importBroadcastArgs},
                               {BROADCAST_TO, importBroadcastTo},
                               {CONCATENATION, importConcatenation},
                               {DEPTH_TO_SPACE, importDepthToSpace},
                               {EXPAND_DIMS, importExpandDims},
                               {FILL, importFill},
                               {PACK, importPack},
                               {RANGE, importRange},
                               {RANK, importRank},
                               {RESHAPE, importReshape},
                               {SHAPE, importShape},
                               {SPACE_TO_BATCH_ND, importSpaceToBatch},
                               {SPACE_TO_DEPTH, importSpaceToDepth},
                               {SPLIT, importSplit},
                               {SPLIT_V, importSplitV},
                               {SQUEEZE, importSqueeze},
                               {TILE, importTile},
                               {TRANSPOSE, importTranspose},
                               {UNPACK, importUnpack},
                               {ZEROS_LIKE, importZerosLike}};
  return rows;
}

} // namespace atc::tflite
