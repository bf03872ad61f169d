//===-- PackSteps.cpp - packs 8-bit weights as lists of steps -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction that adds products of unsigned and signed bytes in pairs saturates at 16 bits.
// With bytes up to 255, a sum of products fits if its positive weights add up to at most 128 and
// the negative ones to at least -128. With bytes in -128..127 whose signs are combined with those
// of the weights, it fits if the magnitudes add up to at most 256. The weights are known here, so
// steps are built to satisfy that: the excess of a quad goes to another step on the same bytes, and
// steps that fit together are added before they are widened.
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/pack/PackSteps.h"

#include "dialects/graph/ConstantData.h"
#include "passes/kernel/pack/OutputBlock.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace atc::kernel {

namespace {

/// The form of an instruction that multiplies bytes with weights.
struct Form {
  bool byMagnitude;
  int limit;
  /// Returns the side of the range that weights of this sign use up together.
  int side(int weight) const { return !byMagnitude && weight < 0; }
};

/// 255 * 128 is the largest multiple of 255 in 16 bits; -128 * 256 the smallest of
/// -128.
constexpr Form kPlain{false, 128}, kByMagnitude{true, 256};
/// Where nothing saturates, the size of a byte limits a weight.
constexpr Form kExact{false, 4 * 128};

/// Weights for four bytes and 16 outputs, and what pairs of them can add up to.
struct Step {
  int32_t offset = 0;
  std::array<int8_t, kOutputBlock * 4> weights{};
  std::array<uint16_t, kOutputBlock * 4> full{};
  uint16_t fullest = 0;
};

/// A list of steps with the same accumulators.
struct Group {
  std::vector<const Step *> steps;
  std::array<uint16_t, kOutputBlock * 4> full{};

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
bool takeStep(std::array<int, kOutputBlock * 4> &rest, Form form, Step &step) {
  bool any = false;
  for (int64_t i = 0; i < kOutputBlock * 4; ++i) {
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

std::vector<Step> stepsOf(int64_t offset, std::array<int, kOutputBlock * 4> rest, Form form) {
  std::vector<Step> steps(1);
  while (takeStep(rest, form, steps.back()))
    steps.emplace_back();
  steps.pop_back();
  for (Step &step : steps) {
    step.offset = static_cast<int32_t>(offset);
    step.fullest = *llvm::max_element(step.full);
  }
  return steps;
}

/// The steps of a block, by form.
struct BlockSteps {
  std::vector<Step> plain, byMagnitude;
};

/// Computes the steps of a block. With two forms, a quad is by magnitude where it would need
/// several plain steps.
BlockSteps blockSteps(const IntegerWeights &weights, ArrayRef<Quad> quads, int64_t groups,
                      int64_t firstOutput, ArrayRef<Form> forms, bool keepsZeros) {
  BlockSteps block;
  int64_t groupOutputs = weights.outputs / groups;
  for (const Quad &quad : quads) {
    std::array<int, kOutputBlock * 4> rest{};
    for (int64_t i = 0; i < kOutputBlock && firstOutput + i < weights.outputs; ++i) {
      int64_t output = firstOutput + i, shift = output / groupOutputs * weights.columns;
      for (int64_t lane = 0; lane < 4; ++lane) {
        int64_t column = quad.column[lane] - shift;
        if (quad.column[lane] >= 0 && column >= 0 && column < weights.columns)
          rest[i * 4 + lane] = weights.row(output)[column];
      }
    }
    for (Form form : forms) {
      std::vector<Step> steps = stepsOf(quad.offset, rest, form);
      if (keepsZeros && steps.empty())
        steps.emplace_back().offset = static_cast<int32_t>(quad.offset);
      if (steps.size() > 1 && form.byMagnitude != forms.back().byMagnitude)
        continue;
      llvm::append_range(form.byMagnitude ? block.byMagnitude : block.plain, steps);
      break;
    }
  }
  return block;
}

/// Distributes steps among as few groups as possible: those that are hardest to fit come first,
/// each into the first group with room.
std::vector<Group> groupsOf(const std::vector<Step> &steps, size_t size, int limit) {
  // Time grows with the square of it; more steps would not make groups fuller.
  constexpr size_t kTogether = 128;
  std::vector<Group> groups;
  if (size == 1) {
    for (const Step &step : steps)
      groups.emplace_back().add(step);
    return groups;
  }
  for (size_t first = 0; first < steps.size(); first += kTogether) {
    std::vector<const Step *> order;
    for (size_t i = first; i < std::min(first + kTogether, steps.size()); ++i)
      order.push_back(&steps[i]);
    llvm::sort(order, [](const Step *a, const Step *b) {
      return std::pair(b->fullest, a) < std::pair(a->fullest, b);
    });
    std::vector<Group> open;
    for (const Step *step : order) {
      auto group = llvm::find_if(open, [&](Group &group) { return group.fits(*step, limit); });
      if (group == open.end())
        group = open.emplace(open.end());
      group->add(*step);
      if (group->steps.size() == size) {
        groups.push_back(std::move(*group));
        open.erase(group);
      }
    }
    llvm::append_range(groups, open);
  }
  // Sorts bytes approximately by offset.
  llvm::sort(groups, [](const Group &a, const Group &b) {
    return *llvm::min_element(a.steps) < *llvm::min_element(b.steps);
  });
  return groups;
}

/// Steps of one form that are added in groups of one size.
struct Run {
  bool byMagnitude;
  size_t group;
};

/// Returns the measured cost of a group of a run: of plain steps alone, and of plain steps with all
/// their channels together or one after the other, as steps by magnitude require.
double runCost(const Run &run, bool inTurns) {
  static constexpr double kStepCosts[3][4] = {
      {1.0, 0.84, 0.77, 0.80}, {1.05, 0.89, 0.86, 0.83}, {1.27, 1.16, 1.14, 1.13}};
  return run.group * kStepCosts[run.byMagnitude ? 2 : inTurns][run.group - 1];
}
/// To begin and end the loop of a run.
constexpr double kRunCost = 3;

/// Returns the last run whose groups can have `count` steps, which are at most as many as those of
/// the first run.
const Run *runOf(ArrayRef<Run> runs, size_t count) {
  assert(count <= runs.front().group && "no run has groups of that many steps");
  return llvm::find_if(llvm::reverse(runs), [&](Run run) { return run.group >= count; }).base() - 1;
}

/// The lists of all blocks.
struct Lists {
  std::vector<BlockSteps> steps;
  std::vector<Run> runs;
  /// The groups per block and run.
  std::vector<std::vector<Group>> groups;
  double cost = 0;
};

/// Adds the cheapest runs for the steps of one form.
void addRuns(Lists &lists, Form form, bool inTurns, ArrayRef<size_t> sizes) {
  using Groups = std::vector<std::vector<Group>>; // Indexed by block.
  std::vector<Run> bestRuns;
  Groups best;
  double bestCost = 0;
  for (size_t largest : sizes) {
    Groups all;
    std::array<int64_t, 5> filled{}; // Number of groups with that many steps.
    for (const BlockSteps &steps : lists.steps) {
      all.push_back(
          groupsOf(form.byMagnitude ? steps.byMagnitude : steps.plain, largest, form.limit));
      for (const Group &group : all.back())
        ++filled[group.steps.size()];
    }
    // Tries runs with and without smaller groups: one bit per size.
    bool isBest = false;
    for (size_t smaller = 0; smaller < size_t(1) << (largest - 1); ++smaller) {
      std::vector<Run> runs{{form.byMagnitude, largest}};
      for (size_t size = largest - 1; size > 0; --size)
        if (smaller >> (size - 1) & 1)
          runs.push_back({form.byMagnitude, size});
      double cost = kRunCost * runs.size() * all.size();
      for (size_t count = 1; count <= largest; ++count)
        cost += filled[count] * runCost(*runOf(runs, count), inTurns);
      if (bestRuns.empty() || cost < bestCost) {
        bestCost = cost;
        bestRuns = runs;
        isBest = true;
      }
    }
    if (isBest)
      best = std::move(all);
    // More do not fit together where two often do not.
    if (largest == 2 && filled[1] > filled[2])
      break;
  }
  // Runs of each block stay side by side.
  Groups before = std::move(lists.groups);
  lists.groups.clear();
  for (auto [block, groups] : llvm::enumerate(best)) {
    size_t count = lists.runs.size();
    for (size_t run = 0; run < count; ++run)
      lists.groups.push_back(std::move(before[block * count + run]));
    size_t first = lists.groups.size();
    lists.groups.resize(first + bestRuns.size());
    for (Group &group : groups)
      lists.groups[first + (runOf(bestRuns, group.steps.size()) - bestRuns.data())].push_back(
          std::move(group));
  }
  llvm::append_range(lists.runs, bestRuns);
  lists.cost += bestCost;
}

Lists listsOf(const IntegerWeights &weights, ArrayRef<Quad> quads, int64_t groups,
              ArrayRef<Form> forms, ArrayRef<size_t> sizes, bool keepsZeros = false) {
  Lists lists;
  for (int64_t first = 0; first < weights.outputs; first += kOutputBlock)
    lists.steps.push_back(blockSteps(weights, quads, groups, first, forms, keepsZeros));
  for (Form form : forms)
    addRuns(lists, form, forms.back().byMagnitude, sizes);
  return lists;
}

/// Returns the largest size, up to that of a tile register, of equal chunks of a list whose steps
/// read adjacent bytes.
int64_t adjacentSteps(ArrayRef<int32_t> offsets) {
  for (size_t size = std::min<size_t>(16, offsets.size()); size > 1; --size)
    if (offsets.size() % size == 0 && llvm::all_of(llvm::seq(offsets.size()), [&](size_t step) {
          return step % size == 0 || offsets[step] == offsets[step - 1] + 4;
        }))
      return size;
  return offsets.empty() ? 0 : 1;
}

} // namespace

PackedSteps packSteps(const IntegerWeights &weights, ArrayRef<Quad> quads, int64_t groups,
                      bool exactDot, MLIRContext *context) {
  Lists lists;
  // Each quad is a step of every block, also where a block has no weights for it: so all of them
  // have the same list, unless weights are too large for a byte.
  const bool keepsZeros = exactDot && groups == 1;
  if (exactDot) {
    lists = listsOf(weights, quads, groups, kExact, {1}, keepsZeros);
  } else {
    constexpr size_t kSizes[] = {1, 2, 3, 4};
    lists = listsOf(weights, quads, groups, kPlain, kSizes);
    constexpr Form kForms[] = {kPlain, kByMagnitude};
    for (size_t dropped : {0, 1}) {
      Lists others = listsOf(weights, quads, groups, ArrayRef(kForms).drop_front(dropped), kSizes);
      if (others.cost < lists.cost)
        lists = std::move(others);
    }
  }

  PackedSteps packed;
  for (const Run &run : lists.runs) {
    packed.groups.push_back(run.group);
    packed.byMagnitude.push_back(run.byMagnitude);
  }
  packed.sums.resize(llvm::alignTo(weights.outputs, kOutputBlock));
  std::vector<char> filter;
  std::vector<int32_t> offsets, starts;
  for (auto [index, list] : llvm::enumerate(lists.groups)) {
    const Run &run = lists.runs[index % lists.runs.size()];
    ChannelSums *sums = &packed.sums[index / lists.runs.size() * kOutputBlock];
    starts.push_back(offsets.size());
    for (const Group &group : list) {
      for (const Step *step : group.steps) {
        offsets.push_back(step->offset);
        llvm::append_range(filter, step->weights);
        for (auto [i, weight] : llvm::enumerate(step->weights)) {
          ChannelSums &sum = sums[i / 4];
          (run.byMagnitude ? sum.byMagnitude : sum.plain) += weight;
          if (run.byMagnitude)
            sum.inverted += std::min<int64_t>(weight, 0);
        }
      }
      // Weights of zero, of bytes that are read anyway.
      offsets.resize(llvm::alignTo(offsets.size() - starts.back(), run.group) + starts.back(),
                     offsets.back());
      filter.resize(offsets.size() * kOutputBlock * 4, 0);
    }
  }
  starts.push_back(offsets.size());
  const int64_t count = offsets.size(), perBlock = count / lists.groups.size();
  const bool isExact =
      lists.runs.size() == 1 && lists.runs.front().group == 1 && !lists.runs.front().byMagnitude;
  packed.sharesList =
      lists.groups.size() > 1 && isExact &&
      llvm::all_of(llvm::seq<size_t>(1, starts.size()), [&](size_t block) {
        return ArrayRef(offsets).slice(starts[block - 1], starts[block] - starts[block - 1]) ==
               ArrayRef(offsets).take_front(perBlock);
      });
  if (packed.sharesList)
    offsets.resize(perBlock);
  if (packed.sharesList || (isExact && lists.groups.size() == 1))
    packed.adjacent = adjacentSteps(offsets);
  Type i8 = IntegerType::get(context, 8), i32 = IntegerType::get(context, 32);
  auto numbers = [&](ArrayRef<int32_t> values, StringRef name) {
    return graph::makeConstant(RankedTensorType::get(values.size(), i32), values, name);
  };
  packed.filter = graph::makeConstant(RankedTensorType::get({count, kOutputBlock, 4}, i8),
                                      std::move(filter), "packed");
  packed.steps = numbers(offsets, "steps");
  packed.starts = numbers(starts, "starts");
  return packed;
}

} // namespace atc::kernel
