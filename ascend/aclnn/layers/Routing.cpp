//===-- Routing.cpp - aclnn functions that send tokens to experts and back -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They work on this machine: which row goes where depends on values.
#include "ascend/aclnn/Steps.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace atc::ascend;

namespace {

/// Returns the order in which numbers are sorted; equal ones keep theirs.
std::vector<int64_t> sortedOrder(const int32_t *numbers, int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return numbers[a] < numbers[b]; });
  return order;
}

size_t bytesOfRow(const View &rows) { return size_t(rows.dims.back()) * bitsOf(rows.type) / 8; }

/// Checks tokens [rows, width] and the experts of each, [rows, choices] or [rows].
bool areTokens(Plan &plan, const View &tokens, const View &experts, const char *name) {
  if (plan.isGood() &&
      (tokens.dims.size() != 2 || experts.dims.empty() || experts.dims.size() > 2 ||
       isFloat(experts.type) || experts.dims[0] != tokens.dims[0] || countOf(experts.dims) == 0))
    plan.reject("tokens %s must have 2 dims, and %s %s be whole numbers, one or more for each of "
                "their rows",
                textOf(tokens.dims).c_str(), name, textOf(experts.dims).c_str());
  return plan.isGood();
}

/// Holds what becomes of tokens: how many experts there are, and how many rows each takes where
/// `capacity` is not 0.
struct Routes {
  int64_t all = 0, choices = 0, experts = 0, capacity = 0, kept = 0;
  size_t bytes = 0;
  bool isCumulative = false;
};

/// Copies tokens to their experts: at[0] tokens, at[1] experts, at[2] moved rows, at[3] where each
/// token went, at[4] how many an expert has, at[5] the same before some were dropped.
aclError route(const Routes &routes, const std::vector<char *> &at) {
  auto *expert = reinterpret_cast<const int32_t *>(at[1]);
  auto *location = reinterpret_cast<int32_t *>(at[3]), *counts = reinterpret_cast<int32_t *>(at[4]),
       *before = reinterpret_cast<int32_t *>(at[5]);
  std::vector<int32_t> seen(size_t(std::max<int64_t>(routes.experts, 1)), 0);
  memset(at[2], 0, routes.bytes * size_t(routes.kept));
  const std::vector<int64_t> order = sortedOrder(expert, routes.all);
  for (int64_t i = 0; i < routes.all; ++i) {
    const int64_t from = order[size_t(i)], name = expert[from];
    int64_t to = i;
    if (routes.experts > 0) {
      if (name < 0 || name >= routes.experts)
        return ACL_ERROR_INVALID_PARAM;
      const int32_t number = seen[size_t(name)]++;
      if (routes.capacity > 0)
        to = number < routes.capacity ? name * routes.capacity + number : -1;
    }
    location[from] = int32_t(to);
    if (to >= 0 && to < routes.kept)
      memcpy(at[2] + routes.bytes * size_t(to),
             at[0] + routes.bytes * size_t(from / routes.choices), routes.bytes);
  }
  for (int64_t i = 0; i < routes.experts; ++i) {
    before[i] = seen[size_t(i)];
    counts[i] = seen[size_t(i)] + (routes.isCumulative && i > 0 ? counts[i - 1] : 0);
  }
  return ACL_SUCCESS;
}

/// The arguments of MoeInitRoutingV2, with quantized rows as well, on which rows are kept.
struct RoutingArguments {
  int64_t activeNum, capacity, experts, dropPadMode, countsFlag;

  bool isPadded() const { return dropPadMode == 1; }
  bool areGood() const {
    return dropPadMode >= 0 && dropPadMode <= 1 && countsFlag >= 0 && countsFlag <= 2 &&
           activeNum >= 0 && experts >= 0 && !((isPadded() || countsFlag) && experts < 1) &&
           !(isPadded() && capacity < 1);
  }
  /// Returns the routes of tokens whose `choices` are all their experts, and sets the dims of the
  /// rows that are moved.
  Routes routes(Plan &plan, int64_t choices, int64_t width, Dims &dims) const {
    Routes result;
    result.experts = experts;
    result.isCumulative = countsFlag == 1;
    dims = {choices, width};
    if (isPadded()) {
      result.capacity = capacity;
      plan.checkCount(capacity, "expertCapacity");
      dims = {experts, capacity, width};
    } else if (activeNum > 0) {
      dims[0] = std::min(dims[0], activeNum);
    }
    return result;
  }
};

/// The results of the steps that move tokens.
struct Routed {
  Routes routes;
  View rows, order, sums, whole;
};

/// Adds the steps that move tokens.
Routed routed(Plan &plan, Routes routes, const View &tokens, const View &experts,
              const Dims &dims) {
  if (!plan.isGood())
    return {};
  plan.checkCount(routes.experts, "the number of experts");
  routes.all = countOf(experts.dims);
  routes.choices = routes.all / tokens.dims[0];
  routes.kept = countOf(dims) / std::max<int64_t>(tokens.dims[1], 1);
  routes.bytes = bytesOfRow(tokens);
  const Dims perExpert{std::max<int64_t>(routes.experts, 1)};
  const View rows = plan.make(tokens.type, dims), order = plan.make(ACL_INT32, {routes.all}),
             sums = plan.make(ACL_INT32, perExpert), whole = plan.make(ACL_INT32, perExpert);
  if (!plan.isGood())
    return {};
  plan.onHost(
      {plan.dense(tokens, tokens.type), plan.dense(experts, ACL_INT32), rows, order, sums, whole},
      [routes](const std::vector<char *> &at) { return route(routes, at); });
  return {routes, rows, order, sums, whole};
}

/// Moves tokens to outputs, of which the last two may be missing.
void addRoutes(Plan &plan, const Routes &routes, const View &tokens, const View &experts,
               const Dims &dims, const View &moved, const View &locations, const View &counts,
               const View &before) {
  const Routed made = routed(plan, routes, tokens, experts, dims);
  if (!plan.isGood())
    return;
  plan.write(made.rows, moved);
  writeOptional(plan, made.order, locations);
  writeOptional(plan, made.sums, counts);
  writeOptional(plan, made.whole, before);
}

/// Quantizes moved rows: at[0] rows, at[1] experts, at[2] where each token went, at[3] scales,
/// at[4] offsets, at[5] results, at[6] scales of the rows. `scales` is how many rows of scales
/// there are.
aclError quantize(const Routes &routes, int64_t width, int64_t scales, bool isDynamic,
                  const std::vector<char *> &at) {
  auto *row = reinterpret_cast<const float *>(at[0]),
       *scale = reinterpret_cast<const float *>(at[3]),
       *offset = reinterpret_cast<const float *>(at[4]);
  auto *expert = reinterpret_cast<const int32_t *>(at[1]),
       *location = reinterpret_cast<const int32_t *>(at[2]);
  auto *to = reinterpret_cast<int8_t *>(at[5]);
  auto *ofRow = reinterpret_cast<float *>(at[6]);
  std::vector<int64_t> experts(size_t(routes.kept), 0);
  std::vector<bool> isFilled(size_t(routes.kept), false);
  for (int64_t i = 0; i < routes.all; ++i)
    if (location[i] >= 0 && location[i] < routes.kept) {
      experts[size_t(location[i])] = expert[i];
      isFilled[size_t(location[i])] = true;
    }
  std::vector<float> values(static_cast<size_t>(width));
  for (int64_t i = 0; i < routes.kept; ++i) {
    if (!isFilled[size_t(i)]) { // no offset is added where there is no token
      std::fill(to + i * width, to + (i + 1) * width, int8_t(0));
      ofRow[i] = 0;
      continue;
    }
    const int64_t e = experts[size_t(i)];
    if (scales > 1 && (e < 0 || e >= scales))
      return ACL_ERROR_INVALID_PARAM;
    float max = 0;
    for (int64_t j = 0; j < width; ++j) {
      float &value = values[size_t(j)];
      value = row[i * width + j];
      if (!isDynamic)
        value = value * scale[0] + offset[0];
      else if (scales > 0)
        value *= scale[(scales > 1 ? e : 0) * width + j];
      max = std::max(max, std::fabs(value));
    }
    ofRow[i] = max / 127;
    for (int64_t j = 0; j < width; ++j) {
      const float value = values[size_t(j)] / (isDynamic && max > 0 ? ofRow[i] : 1);
      to[i * width + j] = int8_t(std::clamp(std::nearbyint(value), -128.f, 127.f));
    }
  }
  return ACL_SUCCESS;
}

/// Holds how rows come back: token i has sum over k of scale[i, k] * (row + bias of its expert).
struct Return {
  int64_t rows = 0, choices = 0, width = 0, given = 0, experts = 0;
  bool isByColumn = false; ///< location of choice k of token i: i + k * rows, else i * choices + k
};

/// at[0] rows, at[1] locations, at[2] scales, at[3] biases, at[4] experts, at[5] sums.
aclError collect(const Return &back, const std::vector<char *> &at) {
  auto *row = reinterpret_cast<const double *>(at[0]),
       *scale = reinterpret_cast<const double *>(at[2]),
       *bias = reinterpret_cast<const double *>(at[3]);
  auto *location = reinterpret_cast<const int32_t *>(at[1]),
       *expert = reinterpret_cast<const int32_t *>(at[4]);
  auto *sum = reinterpret_cast<double *>(at[5]);
  std::fill(sum, sum + back.rows * back.width, 0);
  for (int64_t i = 0; i < back.rows; ++i)
    for (int64_t k = 0; k < back.choices; ++k) {
      const int64_t own = i * back.choices + k,
                    from = location[back.isByColumn ? i + k * back.rows : own];
      if (back.experts > 0 && (expert[own] < 0 || expert[own] >= back.experts))
        return ACL_ERROR_INVALID_PARAM;
      for (int64_t j = 0; j < back.width; ++j) {
        // A token that was dropped has no row.
        const double value = from < 0 || from >= back.given ? 0 : row[from * back.width + j];
        sum[i * back.width + j] +=
            scale[own] * (value + (back.experts > 0 ? bias[expert[own] * back.width + j] : 0));
      }
    }
  return ACL_SUCCESS;
}

View collected(Plan &plan, Return back, const View &rows, const View &locations, const View &scales,
               const View &biases, const View &experts) {
  if (!plan.isGood())
    return {};
  auto orOne = [&](const View &view, aclDataType type, int64_t count, double value) {
    if (view.memory)
      return plan.dense(view, type);
    return plan.dense(plan.broadcast(plan.constant(value, type), {count}), type);
  };
  const View result = plan.make(ACL_DOUBLE, {back.rows, back.width});
  const View scale = orOne(scales, ACL_DOUBLE, back.rows * back.choices, 1),
             bias = orOne(biases, ACL_DOUBLE, 1, 0), names = orOne(experts, ACL_INT32, 1, 0);
  if (!plan.isGood())
    return {};
  plan.onHost(
      {plan.dense(rows, ACL_DOUBLE), plan.dense(locations, ACL_INT32), scale, bias, names, result},
      [back](const std::vector<char *> &at) { return collect(back, at); });
  return result;
}

/// Holds how the experts of a token are chosen.
struct Gate {
  int64_t rows = 0, experts = 0, k = 0, groups = 1, keptGroups = 1;
  bool sumsTwo = false, isSigmoid = false, isDivided = false, hasBias = false;
  double factor = 1, eps = 0;
};

/// Keeps the positions of the `count` largest values; of equal ones, the first. What is no number
/// is larger than all numbers, as in PyTorch.
std::vector<int64_t> largest(std::vector<int64_t> positions, const std::vector<double> &values,
                             int64_t count) {
  std::stable_sort(positions.begin(), positions.end(), [&](int64_t a, int64_t b) {
    const double left = values[size_t(a)], right = values[size_t(b)];
    return std::isnan(left) ? !std::isnan(right) : left > right;
  });
  positions.resize(std::min(positions.size(), size_t(count)));
  return positions;
}

/// Returns `count` positions from `start` on.
std::vector<int64_t> positions(int64_t start, int64_t count) {
  std::vector<int64_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), start);
  return all;
}

/// at[0] scores, at[1] biases, at[2] shares, at[3] experts, at[4] all shares.
aclError choose(const Gate &gate, const std::vector<char *> &at) {
  auto *score = reinterpret_cast<const double *>(at[0]),
       *bias = reinterpret_cast<const double *>(at[1]);
  auto *share = reinterpret_cast<double *>(at[2]), *norm = reinterpret_cast<double *>(at[4]);
  auto *expert = reinterpret_cast<int32_t *>(at[3]);
  const int64_t n = gate.experts, width = n / gate.groups;
  for (int64_t row = 0; row < gate.rows; ++row) {
    const double *x = score + row * n;
    double *all = norm + row * n, total = 0;
    const double max = *std::max_element(x, x + n);
    for (int64_t i = 0; i < n; ++i)
      total += all[i] = gate.isSigmoid ? 1 / (1 + std::exp(-x[i])) : std::exp(x[i] - max);
    std::vector<double> by(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      if (!gate.isSigmoid)
        all[i] /= total;
      by[size_t(i)] = all[i] + (gate.hasBias ? bias[i] : 0);
    }
    std::vector<double> ofGroups;
    for (int64_t g = 0; g < gate.groups; ++g) {
      double size = 0;
      for (int64_t i : largest(positions(g * width, width), by, gate.sumsTwo ? 2 : 1))
        size += by[size_t(i)];
      ofGroups.push_back(size);
    }
    // Experts of the other groups are no candidates, however small the kept ones are.
    std::vector<int64_t> candidates;
    std::vector<int64_t> kept = largest(positions(0, gate.groups), ofGroups, gate.keptGroups);
    std::sort(kept.begin(), kept.end());
    for (int64_t g : kept)
      for (int64_t i : positions(g * width, width))
        candidates.push_back(i);
    double sum = 0;
    const std::vector<int64_t> best = largest(std::move(candidates), by, gate.k);
    for (int64_t i : best)
      sum += all[i];
    for (size_t i = 0; i < best.size(); ++i) {
      expert[row * gate.k + int64_t(i)] = int32_t(best[i]);
      share[row * gate.k + int64_t(i)] =
          (gate.isDivided ? all[best[i]] / (sum + gate.eps) : all[best[i]]) * gate.factor;
    }
  }
  return ACL_SUCCESS;
}

} // namespace

aclnnStatus aclnnMoeInitRoutingV2GetWorkspaceSize(
    const aclTensor *x, const aclTensor *expertIdx, int64_t activeNumOptional,
    int64_t expertCapacityOptional, int64_t expertNumOptional, int64_t dropPadModeOptional,
    int64_t expertTokensCountOrCumsumFlagOptional, bool expertTokensBeforeCapacityFlagOptional,
    const aclTensor *expandedXOut, const aclTensor *expandedRowIdxOut,
    const aclTensor *expertTokensCountOrCumsumOutOptional,
    const aclTensor *expertTokensBeforeCapacityOutOptional, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  const int64_t flag = expertTokensCountOrCumsumFlagOptional;
  const RoutingArguments arguments{activeNumOptional, expertCapacityOptional, expertNumOptional,
                                   dropPadModeOptional, flag};
  const bool isPadded = arguments.isPadded();
  const View tokens = IN(x), experts = plan.input(expertIdx, "expertIdx"),
             moved = plan.output(expandedXOut, "expandedXOut"),
             locations = plan.output(expandedRowIdxOut, "expandedRowIdxOut");
  const View counts = flag && !isPadded ? plan.output(expertTokensCountOrCumsumOutOptional,
                                                      "expertTokensCountOrCumsumOut")
                                        : View();
  const View before =
      isPadded && expertTokensBeforeCapacityFlagOptional
          ? plan.output(expertTokensBeforeCapacityOutOptional, "expertTokensBeforeCapacityOut")
          : View();
  if (!arguments.areGood())
    plan.reject("dropPadMode %lld must be 0 or 1, expertTokensCountOrCumsumFlag %lld 0 to 2, and "
                "activeNum, expertNum and expertCapacity be positive where they are needed",
                (long long)dropPadModeOptional, (long long)flag);
  if (areTokens(plan, tokens, experts, "expertIdx")) {
    Dims dims;
    const Routes routes = arguments.routes(plan, countOf(experts.dims), tokens.dims[1], dims);
    addRoutes(plan, routes, tokens, experts, dims, moved, locations, counts, before);
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeInitRoutingV2)

aclnnStatus aclnnMoeInitRoutingQuantV2GetWorkspaceSize(
    const aclTensor *x, const aclTensor *expertIdx, const aclTensor *scaleOptional,
    const aclTensor *offsetOptional, int64_t activeNum, int64_t expertCapacity, int64_t expertNum,
    int64_t dropPadMode, int64_t expertTokensCountOrCumsumFlag, bool expertTokensBeforeCapacityFlag,
    int64_t quantMode, const aclTensor *expandedXOut, const aclTensor *expandedRowIdxOut,
    const aclTensor *expertTokensCountOrCumsumOutOptional,
    const aclTensor *expertTokensBeforeCapacityOutOptional,
    const aclTensor *dynamicQuantScaleOutOptional, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const int64_t flag = expertTokensCountOrCumsumFlag;
  const RoutingArguments arguments{activeNum, expertCapacity, expertNum, dropPadMode, flag};
  const bool isPadded = arguments.isPadded(), isDynamic = quantMode == 1;
  const View tokens = IN(x), experts = plan.input(expertIdx, "expertIdx"),
             scales = plan.input(scaleOptional, "scale", isDynamic),
             offsets = plan.input(offsetOptional, "offset", isDynamic),
             moved = plan.output(expandedXOut, "expandedXOut"),
             locations = plan.output(expandedRowIdxOut, "expandedRowIdxOut"),
             ofRows = plan.output(dynamicQuantScaleOutOptional, "dynamicQuantScaleOut", !isDynamic);
  const View counts = flag && !isPadded ? plan.output(expertTokensCountOrCumsumOutOptional,
                                                      "expertTokensCountOrCumsumOut")
                                        : View();
  const View before =
      isPadded && expertTokensBeforeCapacityFlag
          ? plan.output(expertTokensBeforeCapacityOutOptional, "expertTokensBeforeCapacityOut")
          : View();
  if (!arguments.areGood() || quantMode < 0 || quantMode > 1)
    plan.reject("dropPadMode %lld and quantMode %lld must be 0 or 1, expertTokensCountOrCumsumFlag "
                "%lld 0 to 2, and activeNum, expertNum and expertCapacity be positive where they "
                "are needed",
                (long long)dropPadMode, (long long)quantMode, (long long)flag);
  if (!areTokens(plan, tokens, experts, "expertIdx"))
    return plan.finish(size, executor);
  const int64_t width = tokens.dims[1], rowsOfScales = isDynamic && scales.memory && width > 0
                                                           ? countOf(scales.dims) / width
                                                           : 0;
  if (isDynamic ? scales.memory && (countOf(scales.dims) != rowsOfScales * width ||
                                    (rowsOfScales != 1 && rowsOfScales != expertNum))
                : countOf(scales.dims) != 1 || countOf(offsets.dims) != 1)
    plan.reject("scale %s and offset %s must have 1 element with quantMode 0, and scale be [1 or "
                "experts, %lld] with quantMode 1",
                textOf(scales.dims).c_str(), textOf(offsets.dims).c_str(), (long long)width);
  Dims dims;
  const Routes routes = arguments.routes(plan, countOf(experts.dims), width, dims);
  const Routed made = routed(plan, routes, tokens, experts, dims);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View bytes = plan.make(ACL_INT8, dims), each = plan.make(ACL_FLOAT, {made.routes.kept}),
             none = plan.constant(1, ACL_FLOAT);
  if (!plan.isGood())
    return plan.finish(size, executor);
  plan.onHost(
      {plan.dense(made.rows, ACL_FLOAT), plan.dense(experts, ACL_INT32), made.order,
       scales.memory ? plan.dense(scales, ACL_FLOAT) : none,
       offsets.memory ? plan.dense(offsets, ACL_FLOAT) : none, bytes, each},
      [routes = made.routes, width, rowsOfScales, isDynamic](const std::vector<char *> &at) {
        return quantize(routes, width, rowsOfScales, isDynamic, at);
      });
  plan.write(bytes, moved);
  plan.write(made.order, locations);
  writeOptional(plan, made.sums, counts);
  writeOptional(plan, made.whole, before);
  if (isDynamic)
    writeOptional(plan, each, ofRows);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeInitRoutingQuantV2)

aclnnStatus aclnnMoeTokenPermuteGetWorkspaceSize(const aclTensor *tokens, const aclTensor *indices,
                                                 int64_t numOutTokens, bool paddedMode,
                                                 const aclTensor *permuteTokensOut,
                                                 const aclTensor *sortedIndicesOut, uint64_t *size,
                                                 aclOpExecutor **executor) {
  Plan plan(__func__);
  const View rows = IN(tokens), experts = plan.input(indices, "indices"),
             moved = plan.output(permuteTokensOut, "permuteTokensOut"),
             locations = plan.output(sortedIndicesOut, "sortedIndicesOut");
  if (paddedMode)
    plan.reject("paddedMode must be false");
  if (areTokens(plan, rows, experts, "indices")) {
    // Negative numbers leave out that many rows.
    const int64_t all = countOf(experts.dims);
    const int64_t kept = numOutTokens > 0 ? std::min(numOutTokens, all) : all + numOutTokens;
    if (kept < 0)
      plan.reject("numOutTokens is %lld; there are %lld", (long long)numOutTokens, (long long)all);
    addRoutes(plan, {}, rows, experts, {kept, rows.dims[1]}, moved, locations, {}, {});
  }
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeTokenPermute)

aclnnStatus aclnnMoeTokenUnpermuteGetWorkspaceSize(const aclTensor *permutedTokens,
                                                   const aclTensor *sortedIndices,
                                                   const aclTensor *probsOptional, bool paddedMode,
                                                   const aclIntArray *, aclTensor *out,
                                                   uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View rows = IN(permutedTokens), locations = IN(sortedIndices),
             shares = plan.input(probsOptional, "probs", true), y = plan.output(out, "out");
  if (paddedMode)
    plan.reject("paddedMode must be false");
  const int64_t choices = shares.memory && shares.dims.size() == 2 ? shares.dims[1] : 1;
  if (plan.isGood() && (rows.dims.size() != 2 || isFloat(locations.type) || choices < 1 ||
                        countOf(locations.dims) % choices ||
                        (shares.memory && countOf(shares.dims) != countOf(locations.dims))))
    plan.reject("permutedTokens %s must have 2 dims, and probs %s as many elements as "
                "sortedIndices %s",
                textOf(rows.dims).c_str(), textOf(shares.dims).c_str(),
                textOf(locations.dims).c_str());
  if (plan.isGood())
    plan.write(collected(plan,
                         {countOf(locations.dims) / choices, choices, rows.dims[1], rows.dims[0]},
                         rows, locations, shares, {}, {}),
               y);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeTokenUnpermute)

aclnnStatus aclnnMoeFinalizeRoutingV2GetWorkspaceSize(
    const aclTensor *expandedX, const aclTensor *expandedRowIdx, const aclTensor *x1Optional,
    const aclTensor *x2Optional, const aclTensor *biasOptional, const aclTensor *scalesOptional,
    const aclTensor *expertIdxOptional, int64_t dropPadMode, const aclTensor *out, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(expandedX), locations = IN(expandedRowIdx),
             first = plan.input(x1Optional, "x1", true),
             second = plan.input(x2Optional, "x2", true),
             biases = plan.input(biasOptional, "bias", true),
             scales = plan.input(scalesOptional, "scales", true),
             experts = plan.input(expertIdxOptional, "expertIdx", true),
             y = plan.output(out, "out");
  if (dropPadMode < 0 || dropPadMode > 3)
    plan.reject("dropPadMode is %lld; give 0 to 3", (long long)dropPadMode);
  const int64_t width = given.dims.empty() ? 0 : given.dims.back(),
                rows = y.dims.empty() ? 0 : y.dims[0], all = countOf(locations.dims);
  if (plan.isGood() && (given.dims.size() < 2 || width < 1 || y.dims.size() != 2 ||
                        y.dims[1] != width || rows < 1 || all % rows || all == 0 ||
                        (scales.memory && countOf(scales.dims) != all) || isFloat(locations.type)))
    plan.reject("out %s must be [tokens, %lld], and expandedRowIdx %s and scales %s have the same "
                "multiple of tokens",
                textOf(y.dims).c_str(), (long long)width, textOf(locations.dims).c_str(),
                textOf(scales.dims).c_str());
  if (plan.isGood() && biases.memory &&
      (biases.dims.size() != 2 || biases.dims[1] != width || !experts.memory ||
       countOf(experts.dims) != all))
    plan.reject("bias %s must be [experts, %lld], and expertIdx %s have a number per row",
                textOf(biases.dims).c_str(), (long long)width, textOf(experts.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  Return back{rows,
              all / rows,
              width,
              countOf(given.dims) / width,
              biases.memory ? biases.dims[0] : 0,
              dropPadMode < 2};
  View result = collected(plan, back, given, locations, scales, biases, experts);
  for (const View &skip : {first, second})
    if (skip.memory)
      result = combined(plan, "Add", plan.isGood() ? plan.dense(result, ACL_FLOAT) : result, skip);
  plan.write(result, y);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeFinalizeRoutingV2)

aclnnStatus aclnnMoeGatingTopKGetWorkspaceSize(
    const aclTensor *x, const aclTensor *biasOptional, int64_t k, int64_t kGroup,
    int64_t groupCount, int64_t groupSelectMode, int64_t renorm, int64_t normType, bool outFlag,
    double routedScalingFactor, double eps, const aclTensor *yOut, const aclTensor *expertIdxOut,
    const aclTensor *outOut, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View scores = IN(x), bias = plan.input(biasOptional, "bias", true),
             shares = plan.output(yOut, "yOut"),
             experts = plan.output(expertIdxOut, "expertIdxOut"),
             all = plan.output(outOut, "outOut", !outFlag);
  const int64_t count = scores.dims.size() == 2 ? scores.dims[1] : 0;
  if (plan.isGood() && (count < 1 || groupCount < 1 || count % groupCount || kGroup < 1 ||
                        kGroup > groupCount || k < 1 || k > count / groupCount * kGroup))
    plan.reject("x %s must be [tokens, experts], groupCount %lld divide the experts, kGroup %lld "
                "be 1 to groupCount, and k %lld 1 to the experts of kGroup groups",
                textOf(scores.dims).c_str(), (long long)groupCount, (long long)kGroup,
                (long long)k);
  if (groupSelectMode < 0 || groupSelectMode > 1 || renorm < 0 || renorm > 1 || normType < 0 ||
      normType > 1)
    plan.reject("groupSelectMode is %lld, renorm %lld and normType %lld; each must be 0 or 1",
                (long long)groupSelectMode, (long long)renorm, (long long)normType);
  if (plan.isGood() && bias.memory && countOf(bias.dims) != count)
    plan.reject("bias %s must have %lld elements", textOf(bias.dims).c_str(), (long long)count);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const Gate gate{
      scores.dims[0], count, k, groupCount, kGroup, groupSelectMode == 1, normType == 1,
      // Shares of a sigmoid are always divided; those of a softmax where renorm says so.
      normType == 1 || renorm == 1, bool(bias.memory), routedScalingFactor, eps};
  const Dims dims{gate.rows, k};
  const View chosenShares = plan.make(ACL_DOUBLE, dims), names = plan.make(ACL_INT32, dims),
             norms = plan.make(ACL_DOUBLE, scores.dims);
  plan.onHost({plan.dense(scores, ACL_DOUBLE),
               bias.memory ? plan.dense(bias, ACL_DOUBLE) : plan.constant(0, ACL_DOUBLE),
               chosenShares, names, norms},
              [gate](const std::vector<char *> &at) { return choose(gate, at); });
  plan.write(chosenShares, shares);
  plan.write(names, experts);
  if (outFlag)
    plan.write(norms, all);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeGatingTopK)
