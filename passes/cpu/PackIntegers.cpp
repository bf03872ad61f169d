//===-- PackIntegers.cpp - weights of 8-bit integers as lists of steps ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction that adds products of unsigned and signed bytes in pairs cuts
// sums that leave 16 bits. With bytes up to 255 a sum of products fits while the
// positive weights in it add up to 128 at most, and the negative ones to -128.
// With bytes in -128..127 and their signs changed with the weights', it fits while
// the magnitudes add up to 256. That is known here, so steps are made that keep to
// it: what a quad has too much goes to another step on the same bytes, and steps
// that fit together are summed before they are widened.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PackIntegers.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/interpreter/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::cpu {

namespace {

constexpr int64_t kBlock = 16;

/// How bytes meet weights, and what that costs.
struct Form {
  bool byMagnitude;
  int limit;
  /// Of weights of this sign, what is full together.
  int side(int weight) const { return !byMagnitude && weight < 0; }
};

/// 255 * 128 is the largest multiple of 255 in 16 bits; -128 * 256 the smallest of
/// -128.
constexpr Form kPlain{false, 128}, kByMagnitude{true, 256};
/// Where nothing is cut a byte is what limits a weight.
constexpr Form kExact{false, 4 * 128};

/// Weights for four bytes and 16 outputs, and what pairs of them can add up to.
struct Step {
  int32_t offset = 0;
  std::array<int8_t, kBlock * 4> weights{};
  std::array<uint16_t, kBlock * 4> full{};
};

/// A list of steps on the same sums.
struct Group {
  std::vector<const Step *> steps;
  std::array<uint16_t, kBlock * 4> full{};

  bool fits(const Step &step, int limit) const {
    bool good = true;
    for (auto [mine, more] : llvm::zip_equal(full, step.full))
      good &= mine + more <= limit;
    return good;
  }
  void add(const Step &step) {
    steps.push_back(&step);
    for (auto [mine, more] : llvm::zip_equal(full, step.full))
      mine += more;
  }
};

/// Takes from the weights in `rest` what one step can have; false when nothing
/// is left.
bool takeStep(std::array<int, kBlock * 4> &rest, Form form, Step &step) {
  bool any = false;
  for (int64_t i = 0; i < kBlock * 4; ++i) {
    uint16_t &full = step.full[i / 2 * 2 + form.side(rest[i])];
    int room = form.limit - full;
    int taken = std::clamp(rest[i], -std::min(room, 128), std::min(room, 127));
    full += std::abs(taken);
    step.weights[i] = static_cast<int8_t>(taken);
    any |= taken != 0;
    rest[i] -= taken;
  }
  return any;
}

std::vector<Step> stepsOf(const IntegerWeights &weights, ArrayRef<Quad> quads, int64_t groups,
                          int64_t firstOutput, Form form) {
  std::vector<Step> steps;
  int64_t groupOutputs = weights.outputs / groups;
  for (const Quad &quad : quads) {
    std::array<int, kBlock * 4> rest{};
    for (int64_t i = 0; i < kBlock && firstOutput + i < weights.outputs; ++i) {
      int64_t output = firstOutput + i, shift = output / groupOutputs * weights.columns;
      for (int64_t lane = 0; lane < 4; ++lane) {
        int64_t column = quad.column[lane] - shift;
        if (quad.column[lane] >= 0 && column >= 0 && column < weights.columns)
          rest[i * 4 + lane] = weights.row(output)[column];
      }
    }
    Step step;
    step.offset = static_cast<int32_t>(quad.offset);
    while (takeStep(rest, form, step)) {
      steps.push_back(step);
      step = Step();
      step.offset = static_cast<int32_t>(quad.offset);
    }
  }
  return steps;
}

/// Puts every step into the first group that it fits; only the last groups are
/// looked at, so that the order of the bytes stays about the same.
std::vector<Group> groupsOf(const std::vector<Step> &steps, size_t size, int limit) {
  constexpr size_t kOpen = 48;
  std::vector<Group> groups;
  std::vector<size_t> open;
  for (const Step &step : steps) {
    auto place = llvm::find_if(open, [&](size_t index) { return groups[index].fits(step, limit); });
    if (place == open.end()) {
      groups.emplace_back();
      open.push_back(groups.size() - 1);
      place = open.end() - 1;
      if (open.size() > kOpen) {
        open.erase(open.begin());
        place = open.end() - 1;
      }
    }
    Group &group = groups[*place];
    group.add(step);
    if (group.steps.size() == size)
      open.erase(place);
  }
  return groups;
}

} // namespace

/// The constant as the graph has it: signs count here.
static ElementsAttr rawConstant(Value value) {
  Operation *producer = value.getDefiningOp();
  while (isa_and_nonnull<graph::ReshapeOp>(producer))
    producer = producer->getOperand(0).getDefiningOp();
  auto constant = dyn_cast_or_null<graph::ConstantOp>(producer);
  return constant ? constant.getValue() : ElementsAttr();
}

template <typename T> std::optional<std::vector<T>> readNumbers(Value value) {
  ElementsAttr constant = rawConstant(value);
  if (!constant)
    return std::nullopt;
  FailureOr<graph::ConstantBytes> bytes = graph::ConstantBytes::get(constant);
  if (failed(bytes))
    return std::nullopt;
  return std::vector<T>(bytes->expandedAs<T>().begin(), bytes->expandedAs<T>().end());
}
template std::optional<std::vector<int32_t>> readNumbers(Value);
template std::optional<std::vector<float>> readNumbers(Value);

std::optional<IntegerWeights> IntegerWeights::read(Value filter, ArrayRef<int64_t> zeroPoints) {
  ElementsAttr constant = rawConstant(filter);
  if (!constant)
    return std::nullopt;
  FailureOr<graph::Tensor> tensor = graph::Tensor::fromAttribute(constant);
  if (failed(tensor) || !tensor->getElementType().isInteger(8))
    return std::nullopt;
  IntegerWeights weights;
  weights.outputs = tensor->getShape()[0];
  weights.columns = tensor->getNumElements() / std::max<int64_t>(weights.outputs, 1);
  weights.values.resize(tensor->getNumElements());
  bool isUnsigned = tensor->getElementType().isUnsignedInteger();
  ArrayRef<char> bytes = tensor->bytes();
  for (int64_t output = 0, i = 0; output < weights.outputs; ++output) {
    int64_t zero = zeroPoints.empty() ? 0 : zeroPoints[output];
    for (int64_t column = 0; column < weights.columns; ++column, ++i)
      weights.values[i] =
          (isUnsigned ? static_cast<uint8_t>(bytes[i]) : static_cast<int8_t>(bytes[i])) - zero;
  }
  return weights;
}

PackedSteps packSteps(const IntegerWeights &weights, ArrayRef<Quad> quads, int64_t groups,
                      bool exactDot, MLIRContext *context) {
  int64_t blocks = llvm::divideCeil(weights.outputs, kBlock);
  // What a step costs in groups of 1, 2 and 4, as measured.
  struct Choice {
    int64_t size;
    double cost;
  };
  double best = 0;
  int64_t length = 0, group = 1;
  bool byMagnitude = false;
  std::vector<std::vector<Step>> steps;
  std::vector<std::vector<Group>> chosen;
  auto tryForm = [&](Form form, ArrayRef<Choice> choices) {
    std::vector<std::vector<Step>> candidate;
    for (int64_t block = 0; block < blocks; ++block)
      candidate.push_back(stepsOf(weights, quads, groups, block * kBlock, form));
    size_t longest = 1;
    for (const std::vector<Step> &list : candidate)
      longest = std::max(longest, list.size());
    bool isBest = false;
    for (Choice choice : choices) {
      // Groups that are all full.
      if (best != 0 && longest * choice.cost >= best)
        continue;
      std::vector<std::vector<Group>> lists;
      size_t most = 1;
      for (const std::vector<Step> &list : candidate) {
        lists.push_back(groupsOf(list, choice.size, form.limit));
        most = std::max(most, lists.back().size());
      }
      double cost = most * choice.size * choice.cost;
      if (best != 0 && cost >= best)
        continue;
      isBest = true;
      best = cost;
      group = choice.size;
      byMagnitude = form.byMagnitude;
      length = most * choice.size;
      chosen = std::move(lists);
    }
    // The groups point into the steps.
    if (isBest)
      steps = std::move(candidate);
  };
  if (exactDot) {
    tryForm(kExact, {{1, 1.0}});
  } else {
    tryForm(kPlain, {{1, 1.0}, {2, 0.86}, {4, 0.82}});
    tryForm(kByMagnitude, {{1, 1.27}, {2, 1.16}, {4, 1.13}});
  }

  std::vector<char> filter(blocks * length * kBlock * 4);
  std::vector<int32_t> offsets(blocks * length, quads.empty() ? 0 : quads.front().offset);
  for (int64_t block = 0; block < blocks; ++block)
    for (auto [index, list] : llvm::enumerate(chosen[block]))
      for (auto [position, step] : llvm::enumerate(list.steps)) {
        int64_t at = block * length + index * group + position;
        offsets[at] = step->offset;
        llvm::copy(step->weights, filter.begin() + at * kBlock * 4);
      }
  Type i8 = IntegerType::get(context, 8), i32 = IntegerType::get(context, 32);
  return {graph::makeConstant(RankedTensorType::get({blocks, length, kBlock, 4}, i8),
                              std::move(filter), "packed"),
          graph::makeConstant(RankedTensorType::get({blocks, length}, i32),
                              ArrayRef<int32_t>(offsets), "steps"),
          group, byMagnitude};
}

ElementsAttr packWinograd(const IntegerWeights &weights, MLIRContext *context) {
  // Twice the G of F(2x2, 3x3), for rows and for columns.
  constexpr int kG[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
  int64_t blocks = llvm::divideCeil(weights.outputs, kBlock), channels = weights.columns / 9;
  std::vector<int16_t> packed(blocks * 16 * channels * kBlock, 0);
  for (int64_t output = 0; output < weights.outputs; ++output)
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int16_t *window = weights.row(output) + channel * 9;
      for (int64_t place = 0; place < 16; ++place) {
        int sum = 0;
        for (int64_t tap = 0; tap < 9; ++tap)
          sum += kG[place / 4][tap / 3] * kG[place % 4][tap % 3] * window[tap];
        int64_t pair = (output / kBlock * 16 + place) * (channels / 2) + channel / 2;
        packed[(pair * kBlock + output % kBlock) * 2 + channel % 2] = static_cast<int16_t>(sum);
      }
    }
  auto type =
      RankedTensorType::get({blocks, 16, channels / 2, kBlock, 2}, IntegerType::get(context, 16));
  return graph::makeConstant(type, ArrayRef<int16_t>(packed), "winograd");
}

ElementsAttr packSumBias(const IntegerWeights &weights, ArrayRef<int32_t> bias, int64_t zeroPoint,
                         int64_t size, MLIRContext *context, bool byMagnitude) {
  std::vector<int32_t> sums(size, 0);
  for (int64_t output = 0; output < weights.outputs; ++output) {
    int64_t sum = 0, below = 0;
    for (int64_t column = 0; column < weights.columns; ++column) {
      int64_t weight = weights.row(output)[column];
      sum += weight;
      below += std::min<int64_t>(weight, 0);
    }
    int64_t first = bias.empty() ? 0 : bias[output];
    // All bits inverted is -x - 1: a byte with a negative weight has one too little.
    if (byMagnitude)
      first -= below;
    sums[output] = static_cast<int32_t>(static_cast<uint32_t>(first - zeroPoint * sum));
  }
  auto type = RankedTensorType::get(size, IntegerType::get(context, 32));
  return graph::makeConstant(type, ArrayRef<int32_t>(sums), "bias");
}

ElementsAttr packIntegerDepthwise(const IntegerWeights &weights, int64_t height, int64_t width,
                                  MLIRContext *context) {
  int64_t blocks = llvm::divideCeil(weights.outputs, kBlock), taps = height * width;
  std::vector<int16_t> packed(blocks * taps * kBlock, 0);
  for (int64_t channel = 0; channel < weights.outputs; ++channel)
    for (int64_t tap = 0; tap < taps; ++tap)
      packed[(channel / kBlock * taps + tap) * kBlock + channel % kBlock] =
          weights.row(channel)[tap];
  auto type = RankedTensorType::get({blocks, height, width, kBlock}, IntegerType::get(context, 16));
  return graph::makeConstant(type, ArrayRef<int16_t>(packed), "packed");
}

} // namespace atc::cpu
