//===-- RangedRouting.cpp - aclnnMoeInitRoutingV3 -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens go to the experts of a range, as what they are or as int8. It works on this machine: which
// row goes where depends on values.
#include "ascend/aclnn/Steps.h"

#include "aclnnop/aclnn_ops.h"

#include <cmath>
#include <cstring>

using namespace atc::ascend;

namespace {

enum Quantization : int64_t { None = -1, Static = 0, Dynamic = 1 };
enum Numbers : int64_t { Sums = 0, Counts = 1, Pairs = 2 };

/// Holds what becomes of tokens.
struct Ranges {
  int64_t all = 0, choices = 1; ///< choices of all tokens, and of one
  int64_t start = 0, end = 0;   ///< experts that take tokens
  int64_t capacity = 0;         ///< rows of an expert; 0: the rows of all lie close together
  int64_t kept = 0, width = 0;  ///< rows of the result, elements of a row
  size_t bytes = 0;             ///< of a row that is copied
  Numbers numbers = Counts;     ///< what is said of each expert
  Quantization quantization = None;
  bool namesSources = false; ///< positions hold the choice of each row, not the row of each choice
  bool hasScale = false, hasOneScale = false;
};

/// The rows of the result and the addresses of the step below.
enum Part { Token, Row, Expert, Scale, Offset, Moved, Position, Number, RowScale };

/// Writes a row of int8 and, of a dynamic quantization, its scale.
void quantizeRow(const Ranges &ranges, const std::vector<char *> &at, int64_t from, int64_t expert,
                 int64_t to) {
  const double *row = reinterpret_cast<double *>(at[Row]) + from / ranges.choices * ranges.width;
  const double *scale = reinterpret_cast<double *>(at[Scale]);
  std::vector<double> values(row, row + ranges.width);
  double unit = 1;
  if (ranges.quantization == Static) {
    for (double &value : values)
      value = value * scale[0] + *reinterpret_cast<double *>(at[Offset]);
  } else {
    if (ranges.hasScale)
      for (int64_t i = 0; i < ranges.width; ++i)
        values[size_t(i)] *=
            scale[(ranges.hasOneScale ? 0 : expert - ranges.start) * ranges.width + i];
    double max = 0;
    for (double value : values)
      max = std::max(max, std::abs(value));
    unit = max / 127;
    reinterpret_cast<double *>(at[RowScale])[to] = unit;
  }
  auto *moved = reinterpret_cast<int8_t *>(at[Moved]) + to * ranges.width;
  for (int64_t i = 0; i < ranges.width; ++i) {
    const double value = unit > 0 ? std::nearbyint(values[size_t(i)] / unit) : 0;
    moved[i] = int8_t(std::isnan(value) ? 0 : std::clamp(value, -128.0, 127.0));
  }
}

aclError route(const Ranges &ranges, const std::vector<char *> &at) {
  auto *expert = reinterpret_cast<const int32_t *>(at[Expert]);
  auto *position = reinterpret_cast<int32_t *>(at[Position]);
  auto *number = reinterpret_cast<int64_t *>(at[Number]);
  std::vector<int64_t> order, seen(size_t(ranges.end - ranges.start));
  for (int64_t i = 0; i < ranges.all; ++i)
    if (expert[i] >= ranges.start && expert[i] < ranges.end)
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return expert[a] < expert[b]; });
  std::fill(position, position + ranges.all, -1);
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t from = order[i], own = expert[from], count = seen[size_t(own - ranges.start)]++;
    const int64_t to = ranges.capacity == 0      ? int64_t(i)
                       : count < ranges.capacity ? own * ranges.capacity + count
                                                 : -1;
    if (ranges.namesSources)
      position[i] = int32_t(from);
    else
      position[from] = int32_t(to);
    if (to < 0 || to >= ranges.kept)
      continue;
    if (ranges.quantization != None) {
      quantizeRow(ranges, at, from, own, to);
      continue;
    }
    memcpy(at[Moved] + ranges.bytes * size_t(to),
           at[Token] + ranges.bytes * size_t(from / ranges.choices), ranges.bytes);
    if (ranges.hasScale)
      reinterpret_cast<double *>(at[RowScale])[to] =
          reinterpret_cast<double *>(at[Scale])[from / ranges.choices];
  }
  int64_t sum = 0;
  for (size_t i = 0; i < seen.size(); ++i)
    if (ranges.numbers != Pairs) {
      sum += seen[i];
      number[i] = ranges.numbers == Sums ? sum : seen[i];
    } else if (seen[i] > 0) {
      *number++ = ranges.start + int64_t(i);
      *number++ = seen[i];
    }
  return ACL_SUCCESS;
}

/// Checks the scale and offset that a quantization takes.
void checkScales(Plan &plan, Ranges &ranges, const View &tokens, const View &scale,
                 const View &offset) {
  const int64_t experts = ranges.end - ranges.start;
  ranges.hasScale = scale.memory != nullptr;
  ranges.hasOneScale = scale.dims == Dims{1, ranges.width};
  if (!plan.isGood())
    return;
  if (ranges.quantization != None && !isFloat(tokens.type))
    plan.reject("x of int8 cannot be quantized: quantMode must be -1");
  else if (ranges.quantization == Static ? countOf(scale.dims) != 1 || !scale.memory ||
                                               countOf(offset.dims) != 1 || !offset.memory
           : ranges.quantization == Dynamic
               ? scale.memory && !ranges.hasOneScale && scale.dims != Dims{experts, ranges.width}
               : scale.memory && countOf(scale.dims) != tokens.dims[0])
    plan.reject("scale %s and offset %s must be one number each with quantMode 0, scale %lld x "
                "%lld or none with 1, and one number for each row of x or none with -1",
                textOf(scale.dims).c_str(), textOf(offset.dims).c_str(), (long long)experts,
                (long long)ranges.width);
}

} // namespace

aclnnStatus aclnnMoeInitRoutingV3GetWorkspaceSize(
    const aclTensor *x, const aclTensor *expertIdx, const aclTensor *scaleOptional,
    const aclTensor *offsetOptional, int64_t activeNum, int64_t expertCapacity, int64_t expertNum,
    int64_t dropPadMode, int64_t expertTokensNumType, bool expertTokensNumFlag, int64_t quantMode,
    const aclIntArray *activeExpertRangeOptional, int64_t rowIdxType, const aclTensor *expandedXOut,
    const aclTensor *expandedRowIdxOut, const aclTensor *expertTokensCountOrCumsumOut,
    const aclTensor *expandedScaleOut, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const bool isPadded = dropPadMode == 1;
  const View tokens = IN(x), experts = plan.input(expertIdx, "expertIdx"),
             scale = plan.input(scaleOptional, "scale", true),
             offset = plan.input(offsetOptional, "offset", true),
             moved = plan.output(expandedXOut, "expandedXOut"),
             positions = plan.output(expandedRowIdxOut, "expandedRowIdxOut");
  if (dropPadMode < 0 || dropPadMode > 1 || expertTokensNumType < 0 || expertTokensNumType > 2 ||
      rowIdxType < 0 || rowIdxType > 1 || activeNum < 0 || expertNum < 1 ||
      (isPadded && (expertCapacity < 1 || rowIdxType || expertTokensNumType != Counts)))
    plan.reject("dropPadMode %lld and rowIdxType %lld must be 0 or 1, expertTokensNumType %lld 0 "
                "to 2, expertNum positive and activeNum not negative; with dropPadMode 1 "
                "expertCapacity is positive, rowIdxType 0 and expertTokensNumType 1",
                (long long)dropPadMode, (long long)rowIdxType, (long long)expertTokensNumType);
  if (quantMode < None || quantMode > Dynamic)
    plan.reject("quantMode is %lld; give -1 (none), 0 (static) or 1 (dynamic)",
                (long long)quantMode);
  plan.checkCount(expertNum, "expertNum");
  const Dims range = activeExpertRangeOptional
                         ? plan.numbers(activeExpertRangeOptional, "activeExpertRange")
                         : Dims{0, expertNum};
  if (plan.isGood() && (range.size() != 2 || range[0] < 0 || range[1] <= range[0] ||
                        range[1] > expertNum || (isPadded && range != Dims{0, expertNum})))
    plan.reject("activeExpertRange %s must be the first of %lld experts and the one behind the "
                "last, and all of them with dropPadMode 1",
                textOf(range).c_str(), (long long)expertNum);
  if (plan.isGood() &&
      (tokens.dims.size() != 2 || experts.dims.size() != 2 || isFloat(experts.type) ||
       experts.dims[0] != tokens.dims[0] || countOf(experts.dims) == 0))
    plan.reject("x %s must have 2 dims, and expertIdx %s be whole numbers, a row for each of its "
                "rows",
                textOf(tokens.dims).c_str(), textOf(experts.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  Ranges ranges;
  ranges.all = countOf(experts.dims);
  ranges.choices = experts.dims[1];
  ranges.start = range[0];
  ranges.end = range[1];
  ranges.width = tokens.dims[1];
  ranges.bytes = size_t(ranges.width) * bitsOf(tokens.type) / 8;
  ranges.numbers = Numbers(expertTokensNumType);
  ranges.quantization = Quantization(quantMode);
  ranges.namesSources = rowIdxType == 1;
  Dims dims{activeNum > 0 ? std::min(activeNum, ranges.all) : ranges.all, ranges.width};
  if (isPadded) {
    ranges.capacity = expertCapacity;
    plan.checkCount(expertCapacity, "expertCapacity");
    dims = {expertNum, expertCapacity, ranges.width};
  }
  ranges.kept = isPadded ? expertNum * expertCapacity : dims[0];
  checkScales(plan, ranges, tokens, scale, offset);
  const bool isQuantized = quantMode != None,
             hasRowScales = quantMode == Dynamic || (!isQuantized && ranges.hasScale);
  const View counts = expertTokensNumFlag ? plan.output(expertTokensCountOrCumsumOut,
                                                        "expertTokensCountOrCumsumOut")
                                          : View(),
             rowScales = hasRowScales ? plan.output(expandedScaleOut, "expandedScaleOut") : View();
  if (!plan.isGood())
    return plan.finish(size, executor);
  auto zeros = [&](aclDataType type, const Dims &sizes) {
    return plan.dense(plan.broadcast(plan.constant(0, type), sizes), type);
  };
  auto orOne = [&](const View &view) {
    return view.memory ? plan.dense(view, ACL_DOUBLE) : zeros(ACL_DOUBLE, {1});
  };
  // Rows that no token takes are 0.
  const View rows = zeros(isQuantized ? ACL_INT8 : tokens.type, dims),
             order = zeros(ACL_INT32, {ranges.all}),
             numbers = zeros(ACL_INT64, ranges.numbers == Pairs ? Dims{expertNum, 2}
                                                                : Dims{ranges.end - ranges.start}),
             units = zeros(ACL_DOUBLE, {std::max<int64_t>(ranges.kept, 1)});
  if (!plan.isGood())
    return plan.finish(size, executor);
  plan.onHost({plan.dense(tokens, tokens.type),
               isQuantized ? orOne(tokens) : zeros(ACL_DOUBLE, {1}), plan.dense(experts, ACL_INT32),
               orOne(scale), orOne(offset), rows, order, numbers, units},
              [ranges](const std::vector<char *> &at) { return route(ranges, at); });
  plan.write(rows, moved);
  plan.write(order, positions);
  writeOptional(plan, numbers, counts);
  writeOptional(plan, units, rowScales);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeInitRoutingV3)

aclnnStatus aclnnMoeReRoutingGetWorkspaceSize(
    const aclTensor *tokens, const aclTensor *expertTokenNumPerRank,
    const aclTensor *perTokenScalesOptional, int64_t expertTokenNumType, int64_t idxType,
    const aclTensor *permuteTokensOut, const aclTensor *permutePerTokenScalesOut,
    const aclTensor *permuteTokenIdxOut, const aclTensor *expertTokenNumOut, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(tokens), counts = IN(expertTokenNumPerRank),
             scales = plan.input(perTokenScalesOptional, "perTokenScales", true),
             moved = plan.output(permuteTokensOut, "permuteTokensOut"),
             movedScales =
                 plan.output(permutePerTokenScalesOut, "permutePerTokenScalesOut", !scales.memory),
             positions = plan.output(permuteTokenIdxOut, "permuteTokenIdxOut"),
             numbers = plan.output(expertTokenNumOut, "expertTokenNumOut");
  if (expertTokenNumType < 0 || expertTokenNumType > 1 || idxType < 0 || idxType > 1)
    plan.reject("expertTokenNumType %lld and idxType %lld must be 0 or 1",
                (long long)expertTokenNumType, (long long)idxType);
  if (plan.isGood() &&
      (given.dims.size() != 2 || counts.dims.size() != 2 || isFloat(counts.type) ||
       moved.dims != given.dims || moved.type != given.type ||
       (scales.memory && countOf(scales.dims) != given.dims[0]) ||
       positions.dims != Dims{given.dims[0]} || numbers.dims != Dims{counts.dims[1]}))
    plan.reject("tokens %s and permuteTokensOut must have 2 dims, expertTokenNumPerRank %s be "
                "whole numbers [ranks, experts], permuteTokenIdxOut and perTokenScales have a "
                "number for each token, and expertTokenNumOut for each expert",
                textOf(given.dims).c_str(), textOf(counts.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const int64_t rows = given.dims[0], ranks = counts.dims[0], experts = counts.dims[1];
  const size_t bytes = size_t(given.dims[1]) * bitsOf(given.type) / 8;
  const View result = plan.make(given.type, given.dims), from = plan.make(ACL_INT64, {rows}),
             sums = plan.make(ACL_INT64, {experts}), units = plan.make(ACL_FLOAT, {rows});
  plan.onHost({plan.dense(counts, ACL_INT64), plan.dense(given, given.type),
               scales.memory ? plan.dense(scales, ACL_FLOAT) : plan.make(ACL_FLOAT, {rows}), result,
               units, from, sums},
              [=](const std::vector<char *> &at) -> aclError {
                auto *count = reinterpret_cast<const int64_t *>(at[0]);
                auto *index = reinterpret_cast<int64_t *>(at[5]),
                     *sum = reinterpret_cast<int64_t *>(at[6]);
                // Where the tokens of a rank for an expert begin.
                std::vector<int64_t> begins(static_cast<size_t>(ranks * experts));
                int64_t all = 0;
                for (int64_t i = 0; i < ranks * experts; ++i) {
                  begins[size_t(i)] = all;
                  if (count[i] < 0 || count[i] > rows - all)
                    return ACL_ERROR_INVALID_PARAM;
                  all += count[i];
                }
                if (all != rows)
                  return ACL_ERROR_INVALID_PARAM;
                int64_t to = 0;
                for (int64_t expert = 0; expert < experts; ++expert) {
                  const int64_t begin = to;
                  for (int64_t rank = 0; rank < ranks; ++rank)
                    for (int64_t i = 0; i < count[rank * experts + expert]; ++i, ++to) {
                      const int64_t source = begins[size_t(rank * experts + expert)] + i;
                      memcpy(at[3] + size_t(to) * bytes, at[1] + size_t(source) * bytes, bytes);
                      reinterpret_cast<float *>(at[4])[to] =
                          reinterpret_cast<float *>(at[2])[source];
                      index[idxType ? source : to] = idxType ? to : source;
                    }
                  sum[expert] = expertTokenNumType == 0 ? to : to - begin;
                }
                return ACL_SUCCESS;
              });
  plan.write(result, moved);
  if (scales.memory)
    writeOptional(plan, units, movedScales);
  plan.write(from, positions);
  plan.write(sums, numbers);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeReRouting)
