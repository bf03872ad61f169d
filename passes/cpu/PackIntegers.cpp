//===-- PackIntegers.cpp - weights of 8-bit integers as lists of steps ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction that adds products of unsigned and signed bytes in pairs cuts
// sums that leave 16 bits. With bytes up to 255 a sum of products fits while the
// positive weights in it add up to 128 at most, and the negative ones to -128.
// That is known here, so steps are made that keep to it: what a quad has too much
// goes to another step on the same bytes, and steps that fit together are summed
// before they are widened.
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PackIntegers.h"

#include "dialects/graph/ConstantData.h"
#include "dialects/graph/interpreter/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::cpu {

namespace {

constexpr int64_t kBlock = 16;
/// 255 * 128 is the largest multiple of 255 in 16 bits.
constexpr int kLimit = 128;

/// Weights for four bytes and 16 outputs, and what pairs of them can add up to.
struct Step {
  int32_t offset = 0;
  std::array<int8_t, kBlock * 4> weights{};
  std::array<uint8_t, kBlock * 2> above{}, below{};
};

/// A list of steps on the same sums.
struct Group {
  std::vector<const Step *> steps;
  std::array<uint8_t, kBlock * 2> above{}, below{};

  bool fits(const Step &step) const {
    bool good = true;
    for (int64_t i = 0; i < kBlock * 2; ++i)
      good &= above[i] + step.above[i] <= kLimit && below[i] + step.below[i] <= kLimit;
    return good;
  }
  void add(const Step &step) {
    steps.push_back(&step);
    for (int64_t i = 0; i < kBlock * 2; ++i) {
      above[i] += step.above[i];
      below[i] += step.below[i];
    }
  }
};

/// Takes from the weights in `rest` what one step can have; false when nothing
/// is left.
bool takeStep(std::array<int, kBlock * 4> &rest, Step &step) {
  bool any = false;
  for (int64_t pair = 0; pair < kBlock * 2; ++pair) {
    int room[2] = {kLimit, kLimit};
    for (int64_t i = 2 * pair; i < 2 * pair + 2; ++i) {
      int &side = room[rest[i] < 0];
      int taken = std::clamp(rest[i], -std::min(side, 128), std::min(side, 127));
      side -= std::abs(taken);
      step.weights[i] = static_cast<int8_t>(taken);
      any |= taken != 0;
      rest[i] -= taken;
    }
    step.above[pair] = kLimit - room[0];
    step.below[pair] = kLimit - room[1];
  }
  return any;
}

std::vector<Step> stepsOf(const IntegerWeights &weights, ArrayRef<Quad> quads, int64_t groups,
                          int64_t firstOutput) {
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
    while (takeStep(rest, step)) {
      steps.push_back(step);
      step = Step();
      step.offset = static_cast<int32_t>(quad.offset);
    }
  }
  return steps;
}

/// Puts every step into the first group that it fits; only the last groups are
/// looked at, so that the order of the bytes stays about the same.
std::vector<Group> groupsOf(const std::vector<Step> &steps, size_t size) {
  constexpr size_t kOpen = 48;
  std::vector<Group> groups;
  std::vector<size_t> open;
  for (const Step &step : steps) {
    auto place = llvm::find_if(open, [&](size_t index) { return groups[index].fits(step); });
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

std::optional<IntegerWeights> IntegerWeights::read(ElementsAttr filter,
                                                   ArrayRef<int64_t> zeroPoints) {
  FailureOr<graph::Tensor> tensor = graph::Tensor::fromAttribute(filter);
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
                      MLIRContext *context) {
  int64_t blocks = llvm::divideCeil(weights.outputs, kBlock);
  std::vector<std::vector<Step>> steps;
  for (int64_t block = 0; block < blocks; ++block)
    steps.push_back(stepsOf(weights, quads, groups, block * kBlock));

  // What a step costs in groups of 1, 2 and 4, as measured.
  struct Choice {
    int64_t size;
    double cost;
  };
  double best = 0;
  int64_t length = 0, group = 1;
  std::vector<std::vector<Group>> chosen;
  for (Choice choice : {Choice{1, 1.0}, {2, 0.86}, {4, 0.82}}) {
    std::vector<std::vector<Group>> lists;
    size_t most = 1;
    for (const std::vector<Step> &list : steps) {
      lists.push_back(groupsOf(list, choice.size));
      most = std::max(most, lists.back().size());
    }
    double cost = most * choice.size * choice.cost;
    if (best != 0 && cost >= best)
      continue;
    best = cost;
    group = choice.size;
    length = most * choice.size;
    chosen = std::move(lists);
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
          group};
}

ElementsAttr packSumBias(const IntegerWeights &weights, ArrayRef<int32_t> bias, int64_t zeroPoint,
                         int64_t size, MLIRContext *context) {
  std::vector<int32_t> sums(size, 0);
  for (int64_t output = 0; output < weights.outputs; ++output) {
    int64_t sum = 0;
    for (int64_t column = 0; column < weights.columns; ++column)
      sum += weights.row(output)[column];
    int64_t first = bias.empty() ? 0 : bias[output];
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
