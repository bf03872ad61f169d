//===-- IntegerOps.cpp - verifiers and cost of the integer convolutions ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/cpu/Cpu.h"
#include "dialects/cpu/Winograd.h"
#include "dialects/kernel/VerifyBuffers.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace atc::cpu;

/// Bias, inputs, body and output of all. The bias has two rows where `hasTwoBiases`.
template <typename OpT>
static LogicalResult verifyIntegerEpilogue(OpT op, int64_t channelBlocks, int64_t block,
                                           bool hasTwoBiases = false) {
  if (failed(verifyRank(op, op.getOutput(), 5, "output")))
    return failure();
  MemRefType output = typeOf(op.getOutput()), bias = typeOf(op.getBias());
  if (output.getDimSize(1) != channelBlocks || output.getDimSize(4) > block ||
      (channelBlocks > 1 && output.getDimSize(4) != block))
    return op.emitOpError() << "filter makes " << channelBlocks << " blocks of " << block
                            << " channels, but the output is " << output;
  SmallVector<int64_t> biasShape{channelBlocks * block};
  if (hasTwoBiases)
    biasShape.insert(biasShape.begin(), 2);
  if (bias.getShape() != ArrayRef(biasShape) || !bias.getElementType().isInteger(32))
    return op.emitOpError() << "bias must be " << (hasTwoBiases ? "2 x " : "")
                            << channelBlocks * block << " i32, but is " << bias;
  for (Value value : op.getInputs()) {
    MemRefType type = typeOf(value);
    bool isVector = type.getRank() == 1 &&
                    (type.getDimSize(0) == 1 || type.getDimSize(0) == channelBlocks * block);
    if (!isVector && type.getShape() != output.getShape())
      return op.emitOpError() << "input " << type << " neither is like the output nor a vector of "
                              << "its channels";
  }
  Type result = IntegerType::get(op.getContext(), 32);
  if (!op.getBody().empty()) {
    Block &body = op.getBody().front();
    auto yield = body.empty() ? IntegerYieldOp() : dyn_cast<IntegerYieldOp>(body.back());
    if (!yield || body.getNumArguments() != op.getInputs().size() + 1)
      return op.emitOpError("has a body that does not fit its inputs");
    result = yield.getValue().getType();
  }
  if (output.getElementType() != result)
    return op.emitOpError() << "writes " << result << ", but the output is " << output;
  return success();
}

/// Checks the input of an integer contraction.
static LogicalResult verifyBytes(Operation *op, Value input) {
  if (failed(verifyRank(op, input, 5, "input")))
    return failure();
  if (!typeOf(input).getElementType().isInteger(8))
    return op->emitOpError() << "input must be bytes, but is " << typeOf(input);
  return success();
}

/// Returns whether an input may share the output's buffer: it is read at the positions that are
/// written, and before that.
template <typename OpT> static bool canRunOver(OpT op, unsigned operand) {
  Value value = op->getOperand(operand);
  return llvm::is_contained(op.getInputs(), value) && value != op.getInput() &&
         value.getType() == op.getOutput().getType();
}

LogicalResult IntegerConv2DOp::verify() {
  if (failed(verifyBytes(*this, getInput())) ||
      failed(verifyLength(*this, getStrides(), 2, "strides")) ||
      failed(verifyRank(*this, getFilter(), 3, "filter")) ||
      failed(verifyRank(*this, getSteps(), 1, "steps")) ||
      failed(verifyRank(*this, getStarts(), 1, "starts")))
    return failure();
  MemRefType filter = typeOf(getFilter()), steps = typeOf(getSteps()), starts = typeOf(getStarts());
  // All blocks may share one list.
  const int64_t lists = typeOf(getOutput()).getRank() == 5 ? typeOf(getOutput()).getDimSize(1) : 1;
  const int64_t count = steps.getDimSize(0);
  if (!filter.getElementType().isInteger(8) || filter.getDimSize(2) != 4 ||
      !steps.getElementType().isInteger(32) ||
      (count != filter.getDimSize(0) && count * lists != filter.getDimSize(0)))
    return emitOpError() << "filter must be bytes in fours with one step of i32 for each, or for "
                            "those of each block, but is "
                         << filter << " and steps are " << steps;
  int64_t runs = getGroups().size();
  if (runs == 0 || runs != int64_t(getByMagnitude().size()) ||
      llvm::any_of(getGroups(), [](int64_t group) { return group < 1; }))
    return emitOpError() << "each run needs a positive group and its by_magnitude, but groups are ["
                         << getGroups() << "] and there are " << getByMagnitude().size()
                         << " by_magnitude";
  if (!starts.getElementType().isInteger(32) || starts.getDimSize(0) < 1 ||
      (starts.getDimSize(0) - 1) % runs != 0)
    return emitOpError() << "starts must be i32, one for each of " << runs
                         << " runs of every block and one for the end, but are " << starts;
  if (std::optional<int64_t> adjacent = getAdjacent()) {
    const bool oneList = count * lists == filter.getDimSize(0) && runs == 1 &&
                         getGroups()[0] == 1 && !getByMagnitude()[0];
    if (*adjacent < 1 || *adjacent > 16 || count % *adjacent || !oneList)
      return emitOpError() << "adjacent bytes need one list of single steps, a multiple of 1 to "
                              "16 of them, but "
                           << *adjacent << " of " << steps << " are adjacent";
  }
  return verifyIntegerEpilogue(*this, (starts.getDimSize(0) - 1) / runs, filter.getDimSize(1),
                               /*hasTwoBiases=*/getSignedInput() && getAdjacent().has_value());
}

std::string IntegerConv2DOp::kernelName() { return "integer_conv2d"; }
int64_t IntegerConv2DOp::flops() { return 2 * getProducts(); }
bool IntegerConv2DOp::canRunInPlace(unsigned operand) { return canRunOver(*this, operand); }

LogicalResult IntegerDepthwiseOp::verify() {
  if (failed(verifyBytes(*this, getInput())) ||
      failed(verifyLength(*this, getStrides(), 2, "strides")) ||
      failed(verifyRank(*this, getFilter(), 4, "filter")) ||
      failed(verifyLength(*this, getDilations(), 2, "dilations")))
    return failure();
  MemRefType filter = typeOf(getFilter());
  if (!filter.getElementType().isInteger(16))
    return emitOpError() << "filter must be i16, but is " << filter;
  return verifyIntegerEpilogue(*this, filter.getDimSize(0), filter.getDimSize(3));
}

std::string IntegerDepthwiseOp::kernelName() {
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape();
  return windowName("integer_depthwise", filter[1], filter[2]);
}
int64_t IntegerDepthwiseOp::flops() {
  ArrayRef<int64_t> filter = typeOf(getFilter()).getShape();
  return 2 * elements(getOutput()) * filter[1] * filter[2];
}
bool IntegerDepthwiseOp::canRunInPlace(unsigned operand) { return canRunOver(*this, operand); }

LogicalResult WinogradInputOp::verify() {
  if (failed(verifyBytes(*this, getInput())) || failed(verifyRank(*this, getOutput(), 4, "output")))
    return failure();
  ArrayRef<int64_t> in = typeOf(getInput()).getShape();
  MemRefType output = typeOf(getOutput());
  if (in[2] < 3 || in[3] < 3 || in[4] != 16)
    return emitOpError() << "input must have 3x3 pixels of 16 channels at least, but is "
                         << typeOf(getInput());
  std::optional<Winograd> form = Winograd::ofPoints(output.getDimSize(1));
  if (!form)
    return emitOpError() << "output must have 16 or 36 points, but is " << output;
  const int64_t channels = in[1] * in[4];
  SmallVector<int64_t> wanted{in[0], form->points(),
                              form->storedTilesOf(in[2] - 2, in[3] - 2, channels), channels};
  if (output.getShape() != ArrayRef<int64_t>(wanted) || !output.getElementType().isInteger(16))
    return emitOpError() << "output must be "
                         << MemRefType::get(wanted, IntegerType::get(getContext(), 16))
                         << ", but is " << output;
  return success();
}

std::string WinogradInputOp::kernelName() { return "winograd_input"; }
/// Estimates about two additions per position.
int64_t WinogradInputOp::flops() { return 2 * elements(getOutput()); }

LogicalResult WinogradConv2DOp::verify() {
  if (failed(verifyRank(*this, getInput(), 4, "input")) ||
      failed(verifyRank(*this, getFilter(), 5, "filter")) ||
      failed(verifyRank(*this, getOutput(), 5, "output")))
    return failure();
  MemRefType input = typeOf(getInput()), filter = typeOf(getFilter());
  ArrayRef<int64_t> out = typeOf(getOutput()).getShape(), weights = filter.getShape();
  std::optional<Winograd> form = Winograd::ofPoints(input.getDimSize(1));
  if (!form)
    return emitOpError() << "input must have 16 or 36 points, but is " << input;
  const int64_t tiles = form->storedTilesOf(out[2], out[3], input.getDimSize(3));
  if (!input.getElementType().isInteger(16) || input.getDimSize(0) != out[0] ||
      input.getDimSize(2) != tiles)
    return emitOpError() << "input must be i16 for " << form->points() << " points of the " << tiles
                         << " stored tiles of the output, but is " << input;
  if (!filter.getElementType().isInteger(16) || weights[1] != form->points() || weights[4] != 2 ||
      2 * weights[2] != input.getDimSize(3))
    return emitOpError() << "filter must be i16 for " << form->points() << " points of "
                         << input.getDimSize(3) << " channels in pairs, but is " << filter;
  return verifyIntegerEpilogue(*this, weights[0], weights[3]);
}

std::string WinogradConv2DOp::kernelName() { return "winograd_conv2d"; }
/// Counts the operations of the direct form: nine products per output and channel.
int64_t WinogradConv2DOp::flops() {
  return 2 * 9 * elements(getOutput()) * typeOf(getInput()).getDimSize(3);
}
bool WinogradConv2DOp::canRunInPlace(unsigned operand) { return canRunOver(*this, operand); }

LogicalResult LookupOp::verify() {
  if (getTable().size() != 256)
    return emitOpError() << "table must have 256 bytes, but has " << getTable().size();
  return success();
}
