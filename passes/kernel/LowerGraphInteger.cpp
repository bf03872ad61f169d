//===-- LowerGraphInteger.cpp - integer convolutions and products ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/graph/ops/QuantOps.h"
#include "dialects/graph/ops/StructureOps.h"
#include "passes/kernel/LowerGraph.h"

#include "dialects/graph/ConstantData.h"
#include "mlir/IR/IRMapping.h"
#include "passes/kernel/pack/PackSteps.h"
#include "passes/kernel/pack/PackWeights.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::kernel {

namespace {

constexpr int64_t kBlock = 16;

/// Lowers the common parts of a convolution and a matrix product.
template <typename OpT> class SumLowering {
public:
  SumLowering(GraphLowering &lowering, OpT op) : lowering(lowering), op(op) {
    isSigned = tensorType(op.getInput()).getElementType().isSignlessInteger();
  }

  LogicalResult readWeights() {
    std::optional<IntegerWeights> read =
        IntegerWeights::read(op.getFilter(), op.getFilterZeroPoints());
    if (!read)
      return failure();
    weights = std::move(*read);
    return success();
  }

  int64_t paddedChannels() { return llvm::alignTo(weights.outputs, kBlock); }

  /// Returns the bias for products with the bytes as they are stored.
  FailureOr<Value> bias() {
    return bias({weights.sums(op.getZeroPoint(), paddedChannels())}, {paddedChannels()});
  }

  /// Returns the chunks of steps with adjacent bytes, where tile registers multiply them: those
  /// have 64 bytes per row, a quarter of which should be used.
  IntegerAttr adjacentSteps(const PackedSteps &packed) {
    constexpr int64_t kMinAdjacent = 4;
    if (!lowering.getTarget().hasTileRegisters() || packed.adjacent < kMinAdjacent)
      return nullptr;
    return lowering.builder.getI64IntegerAttr(packed.adjacent);
  }

  /// Returns the bias for the steps of a kernel; behind it that for tile registers, to whose signed
  /// bytes no 128 is added.
  FailureOr<Value> bias(const PackedSteps &packed) {
    int64_t zeroPoint = op.getZeroPoint();
    int64_t plain = isSigned ? zeroPoint + 128 : zeroPoint;
    int64_t byMagnitude = isSigned ? zeroPoint : zeroPoint - 128;
    std::vector<int64_t> excess, excessOfTiles;
    for (const ChannelSums &sums : packed.sums) {
      excess.push_back(plain * sums.plain + byMagnitude * sums.byMagnitude + sums.inverted);
      excessOfTiles.push_back(zeroPoint * sums.plain);
    }
    const auto channels = static_cast<int64_t>(excess.size());
    if (isSigned && adjacentSteps(packed))
      return bias({excess, excessOfTiles}, {2, channels});
    return bias({excess}, {channels});
  }

  /// Returns the bias minus each of `excesses`, by which accumulators of a channel exceed the
  /// products of the model, one row after the other in a buffer of the given shape.
  FailureOr<Value> bias(std::initializer_list<std::vector<int64_t>> excesses,
                        ArrayRef<int64_t> shape) {
    std::vector<int32_t> ofModel, values;
    if (Value bias = op.getBias()) {
      std::optional<std::vector<int32_t>> read = readNumbers<int32_t>(bias);
      if (!read)
        return failure();
      ofModel = std::move(*read);
    }
    for (const std::vector<int64_t> &excess : excesses)
      llvm::append_range(values, sumBias(ofModel, excess));
    auto type = RankedTensorType::get(shape, IntegerType::get(op.getContext(), 32));
    return lowering.weight(graph::makeConstant(type, ArrayRef<int32_t>(values), "bias"));
  }

  /// Returns a vector with one value per channel, padded to whole blocks.
  FailureOr<Value> channelVector(Value input) {
    Storage storage = lowering.storageOf(input);
    int64_t count = tensorType(input).getNumElements();
    if (isKnown(input)) {
      FailureOr<ElementsAttr> value = lowering.constantOf(input);
      if (failed(value))
        return failure();
      value = reinterpret(*value, count);
      if (failed(value) || count == 1)
        return failed(value) ? FailureOr<Value>() : lowering.weight(*value);
      FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(*value);
      if (failed(bytes))
        return failure();
      ArrayRef<char> all = bytes->expanded();
      std::vector<char> padded(all.begin(), all.end());
      padded.resize(paddedChannels() * graph::getElementBytes(storage.element), 0);
      auto type = RankedTensorType::get(paddedChannels(), storage.element);
      return lowering.weight(graph::makeConstant(type, std::move(padded), "channels"));
    }
    Storage vector = lowering.reshaped(storage, {count});
    if (count == 1 || count == paddedChannels())
      return lowering.buffer(vector);
    Storage padded = lowering.temporary({paddedChannels()}, storage.element);
    lowering.fill(padded, 0.0);
    lowering.copy(vector, padded.slice(0, 0, count));
    return lowering.buffer(padded);
  }

  void copyBody(Region &body) {
    if (op.getBody().empty())
      return;
    IRMapping mapping;
    op.getBody().cloneInto(&body, mapping);
    auto yield = cast<graph::YieldOp>(body.front().getTerminator());
    OpBuilder::InsertionGuard guard(lowering.builder);
    lowering.builder.setInsertionPoint(yield);
    cpu::IntegerYieldOp::create(lowering.builder, yield.getLoc(), yield.getValue());
    yield.erase();
  }

  GraphLowering &lowering;
  OpT op;
  IntegerWeights weights;
  bool isSigned;
};

/// Quads for the bytes [0, size) from `offset` on, four at a time. The last four
/// overlap the ones before, where that keeps them inside. `column` of byte i.
void addRun(std::vector<Quad> &quads, int64_t offset, int64_t size, bool mayReadOn,
            function_ref<int64_t(int64_t)> column) {
  for (int64_t first = 0; first < size; first += 4) {
    int64_t from = first + 4 <= size || mayReadOn ? first : size - 4;
    Quad quad{offset + from, {-1, -1, -1, -1}};
    for (int64_t lane = 0; lane < 4; ++lane)
      if (from + lane >= first && from + lane < size)
        quad.column[lane] = column(from + lane);
    quads.push_back(quad);
  }
}

/// Returns whether the fours of bytes of each row of a window stay in that row of the input, whose
/// pixels are adjacent.
bool foursFitRow(graph::IntegerConvOp op, const Storage &input, int64_t rowBytes) {
  const int64_t last = (tensorType(op.getResult()).getDimSize(3) - 1) * op.getStrides()[1];
  return input.offset % input.strides[2] + last * input.strides[3] +
             static_cast<int64_t>(llvm::alignTo(rowBytes, 4)) <=
         input.strides[2];
}

/// The bytes that a window reads, from its first pixel in block 0.
std::vector<Quad> windowQuads(graph::IntegerConvOp op, const Storage &input) {
  int64_t channels = tensorType(op.getInput()).getDimSize(1), block = blockOf(op.getInput());
  ArrayRef<int64_t> kernel = tensorType(op.getFilter()).getShape().drop_front(2);
  int64_t taps = kernel[0] * kernel[1];
  std::vector<Quad> quads;
  // All channels of a pixel are adjacent, as are the pixels of a row: its bytes are one run.
  if (block == kBlock && input.strides[1] == block && channels > block) {
    const int64_t padded = llvm::alignTo(channels, block);
    for (int64_t kh = 0; kh < kernel[0]; ++kh)
      for (int64_t kw = 0; kw < kernel[1]; ++kw)
        addRun(quads,
               kh * op.getDilations()[0] * input.strides[2] +
                   kw * op.getDilations()[1] * input.strides[3],
               padded, /*mayReadOn=*/true,
               [&](int64_t i) { return i < channels ? i * taps + kh * kernel[1] + kw : -1; });
    return quads;
  }
  for (int64_t first = 0; first < channels; first += block)
    for (int64_t kh = 0; kh < kernel[0]; ++kh) {
      int64_t row = first / block * input.strides[1] + kh * op.getDilations()[0] * input.strides[2];
      // The pixels of few channels are adjacent.
      if (block < kBlock && op.getDilations()[1] == 1 && input.strides[3] == block) {
        const int64_t rowBytes = kernel[1] * block;
        addRun(quads, row, rowBytes, foursFitRow(op, input, rowBytes), [&](int64_t i) {
          return i % block < channels ? (i % block * kernel[0] + kh) * kernel[1] + i / block : -1;
        });
        continue;
      }
      for (int64_t kw = 0; kw < kernel[1]; ++kw)
        addRun(quads, row + kw * op.getDilations()[1] * input.strides[3],
               std::min(block, channels - first), /*mayReadOn=*/block == kBlock,
               [&](int64_t i) { return (first + i) * taps + kh * kernel[1] + kw; });
    }
  return quads;
}

using ConvSums = SumLowering<graph::IntegerConvOp>;

bool isDepthwise(graph::IntegerConvOp op) {
  int64_t groups = op.getGroups();
  return groups > 1 && groups == tensorType(op.getFilter()).getDimSize(0) &&
         groups == tensorType(op.getInput()).getDimSize(1);
}

/// Returns whether tiles take fewer cycles than dot products of bytes, of which a core of 512-bit
/// registers makes 128 products per cycle, and of 16-bit integers half as many. Transforms of a
/// tile cost cycles per block of channels, and weights of eight times the size are read from beyond
/// L2 while products go on. Measured on Sapphire Rapids: 0.81 of the direct time for 64 channels on
/// 56 x 56 pixels, 0.71 for 128 on 28 x 28, 1.2 for 256 on 14 x 14.
bool isFasterThanDots(cpu::Winograd form, ArrayRef<int64_t> out, int64_t inputs) {
  constexpr double kDirectProducts = 128, kTileProducts = 61;
  constexpr double kInputCycles = 132, kOutputCycles = 152, kCyclesPerByte = 0.08, kMinGain = 0.95;
  const double filter = double(inputs) * out[1], tiles = form.tilesOf(out[2], out[3]);
  const double direct = 9 * filter * out[2] * out[3] / kDirectProducts;
  const double perTile = form.points() * filter / kTileProducts +
                         (kInputCycles * inputs + kOutputCycles * out[1]) / kBlock;
  const double weightBytes = 2 * form.points() * filter;
  return out[0] * tiles * perTile + weightBytes * kCyclesPerByte < kMinGain * out[0] * direct;
}

/// Returns the form of 16-bit products on tiles that is faster than the products of bytes, if any:
/// there are 2.25 or 4 times fewer of them. Exact dot products of bytes are twice as fast as those
/// of 16-bit integers, and tile registers are faster than both.
std::optional<cpu::Winograd> winogradForm(const ConvSums &sums, const GraphLowering &lowering) {
  graph::IntegerConvOp op = sums.op;
  auto all = [](ArrayRef<int64_t> list, int64_t value) {
    return llvm::all_of(list, [&](int64_t number) { return number == value; });
  };
  ArrayRef<int64_t> out = tensorType(op.getResult()).getShape(),
                    filter = tensorType(op.getFilter()).getShape();
  const bool exactDot = lowering.getTarget().hasExactDot();
  if (lowering.getTarget().hasTileRegisters() || op.getGroups() != 1 || filter.size() != 4 ||
      filter[2] != 3 || filter[3] != 3 || !all(op.getStrides(), 1) || !all(op.getDilations(), 1) ||
      blockOf(op.getInput()) != kBlock || filter[1] % kBlock)
    return std::nullopt;
  // Few channels do not pay for the way there and back.
  if (filter[1] < 2 * kBlock || filter[0] < kBlock)
    return std::nullopt;
  // Below this number of outputs, weights of 3.6 and 8 times the size do not pay; clamped tiles
  // also compute outputs that do not exist.
  constexpr int64_t kMinOutputs = 144;
  std::optional<cpu::Winograd> best;
  int64_t fewest = 0, largestSum = sums.weights.largestSum(sums.isSigned);
  for (auto [points, minUsed] : {std::pair(16, 0.9), {36, 0.7}}) {
    cpu::Winograd form = *cpu::Winograd::ofPoints(points);
    int64_t tiles = form.tilesOf(out[2], out[3]), outputs = form.outputs * form.outputs * tiles;
    int64_t products = form.points() * tiles;
    if (exactDot && !isFasterThanDots(form, out, filter[1]))
      continue;
    if (largestSum > form.largestSum() || outputs < kMinOutputs ||
        out[2] * out[3] < minUsed * outputs || (best && products >= fewest))
      continue;
    best = form;
    fewest = products;
  }
  return best;
}

LogicalResult lowerWinograd(GraphLowering &lowering, ConvSums &sums, cpu::Winograd form,
                            Value input, ArrayRef<Value> inputs, Value target) {
  graph::IntegerConvOp op = sums.op;
  Storage output = lowering.storageOf(op.getResult());
  ArrayRef<int64_t> out = tensorType(op.getResult()).getShape();
  FailureOr<Value> bias = sums.bias();
  if (failed(bias))
    return failure();
  int64_t channels = tensorType(op.getFilter()).getDimSize(1);
  Storage points = lowering.temporary(
      {out[0], form.points(), form.storedTilesOf(out[2], out[3], channels), channels},
      IntegerType::get(op.getContext(), 16));
  Value buffer = lowering.buffer(points);
  lowering.kernel<cpu::WinogradInputOp>(Value(), points, input, buffer, sums.isSigned);
  auto conv = lowering.kernel<cpu::WinogradConv2DOp>(
      op.getResult(), output, buffer,
      lowering.weight(packWinograd(sums.weights, form, op.getContext())), *bias, inputs, target,
      cpu::TileAttr());
  sums.copyBody(conv.getBody());
  return success();
}

} // namespace

LogicalResult lowerIntegerConv(GraphLowering &lowering, graph::IntegerConvOp op) {
  ConvSums sums(lowering, op);
  if (failed(sums.readWeights()))
    return failure();
  Value result = op.getResult();
  Storage output = lowering.storageOf(result), view = windowInput(lowering, op);
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    bool isImage = blockOf(input) != 0;
    FailureOr<Value> buffer =
        isImage ? FailureOr<Value>(lowering.buffer(input)) : sums.channelVector(input);
    if (failed(buffer))
      return failure();
    inputs.push_back(*buffer);
  }
  Value input = lowering.buffer(view), target = lowering.buffer(output);
  ArrayRef<int64_t> kernel = tensorType(op.getFilter()).getShape().drop_front(2);
  if (isDepthwise(op)) {
    FailureOr<Value> bias = sums.bias();
    if (failed(bias))
      return failure();
    Value filter =
        lowering.weight(packIntegerDepthwise(sums.weights, kernel[0], kernel[1], op.getContext()));
    auto depthwise = lowering.kernel<cpu::IntegerDepthwiseOp>(
        result, output, input, filter, *bias, inputs, target, op.getStrides(), op.getDilations(),
        sums.isSigned, cpu::TileAttr());
    sums.copyBody(depthwise.getBody());
    return success();
  }
  if (std::optional<cpu::Winograd> form = winogradForm(sums, lowering))
    return lowerWinograd(lowering, sums, *form, input, inputs, target);
  PackedSteps packed = packSteps(sums.weights, windowQuads(op, view), op.getGroups(),
                                 lowering.getTarget().hasExactDot(), op.getContext());
  FailureOr<Value> bias = sums.bias(packed);
  if (failed(bias))
    return failure();
  int64_t products = tensorType(result).getNumElements() * sums.weights.columns;
  auto conv = lowering.kernel<cpu::IntegerConv2DOp>(
      result, output, input, lowering.weight(packed.filter), lowering.weight(packed.steps),
      lowering.weight(packed.starts), *bias, inputs, target, op.getStrides(), packed.groups,
      packed.byMagnitude, sums.isSigned, products, sums.adjacentSteps(packed), cpu::TileAttr());
  sums.copyBody(conv.getBody());
  return success();
}

/// Rows are pixels of one row, columns the channels of blocks.
LogicalResult lowerIntegerProduct(GraphLowering &lowering, graph::IntegerFullyConnectedOp op) {
  SumLowering<graph::IntegerFullyConnectedOp> sums(lowering, op);
  if (failed(sums.readWeights()))
    return failure();
  Value result = op.getResult();
  int64_t depth = sums.weights.columns, columns = sums.weights.outputs;
  int64_t rows = tensorType(op.getInput()).getNumElements() / depth;
  Storage input = lowering.reshaped(lowering.storageOf(op.getInput()), {rows, depth});
  if (depth < 4) {
    Storage wide = lowering.temporary({rows, 4}, input.element);
    lowering.fill(wide, 0.0);
    lowering.copy(input, wide.slice(1, 0, depth));
    input = wide;
  }
  std::vector<Quad> quads;
  addRun(quads, 0, depth, /*mayReadOn=*/depth < 4, [](int64_t i) { return i; });
  PackedSteps packed = packSteps(sums.weights, quads, /*groups=*/1,
                                 lowering.getTarget().hasExactDot(), op.getContext());
  Storage image = input.withDim(0).withDim(0).withDim(0);

  FailureOr<Value> bias = sums.bias(packed);
  if (failed(bias))
    return failure();
  SmallVector<Value> vectors;
  for (Value value : op.getInputs()) {
    bool isFull = tensorType(value).getNumElements() == rows * columns && rows * columns != columns;
    FailureOr<Value> vector = isFull ? FailureOr<Value>(Value()) : sums.channelVector(value);
    if (failed(vector))
      return failure();
    vectors.push_back(*vector);
  }
  // Whole blocks of columns, and what is left of them.
  int64_t whole = columns / kBlock * kBlock;
  auto part = [&](const Storage &matrix, int64_t first, int64_t size) {
    int64_t lanes = std::min(size, kBlock);
    return matrix.slice(1, first, size).split(1, lanes).permuted({1, 0, 2}).withDim(0).withDim(2);
  };
  auto vectorPart = [&](Value vector, int64_t first, int64_t size) -> Value {
    auto type = cast<MemRefType>(vector.getType());
    if (type.getDimSize(0) == 1)
      return vector;
    Storage storage = Storage::whole(vector, type.getElementType(), type.getShape());
    const int64_t channelDim = type.getRank() - 1;
    return lowering.buffer(storage.slice(channelDim, first, llvm::alignTo(size, kBlock)));
  };
  Storage output = *lowering.storageOf(result).reshaped({rows, columns});
  for (auto [first, size] : {std::pair(int64_t(0), whole), {whole, columns - whole}}) {
    if (size == 0)
      continue;
    int64_t block = first / kBlock, blocks = llvm::divideCeil(size, kBlock);
    SmallVector<Value> inputs;
    for (auto [value, vector] : llvm::zip_equal(op.getInputs(), vectors)) {
      if (vector) {
        inputs.push_back(vectorPart(vector, first, size));
        continue;
      }
      Storage matrix = lowering.reshaped(lowering.storageOf(value), {rows, columns});
      inputs.push_back(lowering.buffer(part(matrix, first, size)));
    }
    int64_t runs = packed.groups.size(), firstStart = block * runs;
    Storage filter = lowering.constantStorage(packed.filter);
    // Blocks that share their list have the weights of as many steps each.
    if (packed.sharesList) {
      int64_t steps = packed.steps.getShapedType().getNumElements();
      filter = filter.slice(0, block * steps, blocks * steps);
      firstStart = 0;
    }
    Storage starts =
        lowering.constantStorage(packed.starts).slice(0, firstStart, blocks * runs + 1);
    Storage target = part(output, first, size);
    auto conv = lowering.kernel<cpu::IntegerConv2DOp>(
        size == columns ? result : Value(), target, lowering.buffer(image), lowering.buffer(filter),
        lowering.weight(packed.steps), lowering.buffer(starts), vectorPart(*bias, first, size),
        inputs, lowering.buffer(target), ArrayRef<int64_t>{1, 1}, packed.groups, packed.byMagnitude,
        sums.isSigned, rows * size * depth, sums.adjacentSteps(packed), cpu::TileAttr());
    sums.copyBody(conv.getBody());
  }
  return success();
}

} // namespace atc::kernel
