//===-- RoutingMaps.cpp - aclnn functions of maps from tokens to experts ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They work on this machine: which row goes where depends on values.
#include "ascend/aclnn/Steps.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

#include <cstring>
#include <numeric>

using namespace atc::ascend;

namespace {

/// Holds which tokens the experts take, and how many rows there are behind them.
struct TokenMap {
  int64_t tokens = 0, experts = 0, rows = 0, width = 0;
  size_t bytes = 0;
  bool isPadded = false;
  int64_t capacity() const { return experts > 0 ? rows / experts : 0; }
  int64_t choices() const { return tokens > 0 ? rows / tokens : 0; }
};

/// Returns the token of each row, in the order of experts, and writes the experts; nothing where
/// tokens do not have as many experts as each other.
std::vector<int32_t> tokensOfRows(const TokenMap &map, const int8_t *taken,
                                  std::vector<int32_t> &experts) {
  std::vector<int32_t> tokens;
  for (int64_t e = 0; e < map.experts; ++e) {
    int64_t left = map.isPadded ? map.capacity() : map.tokens;
    // Tokens that an expert does not take fill it up behind those that it does.
    for (int pass = 0; pass < (map.isPadded ? 2 : 1); ++pass)
      for (int64_t t = 0; t < map.tokens && left > 0; ++t)
        if ((taken[t * map.experts + e] != 0) == (pass == 0)) {
          tokens.push_back(int32_t(t));
          experts.push_back(int32_t(e));
          --left;
        }
  }
  if (!map.isPadded) {
    std::vector<int64_t> counts(size_t(map.tokens), 0);
    for (int32_t token : tokens)
      ++counts[size_t(token)];
    if (std::any_of(counts.begin(), counts.end(),
                    [&](int64_t count) { return count != map.choices(); }))
      return {};
  }
  return tokens;
}

/// Returns the positions of numbers in their order; equal ones keep theirs.
std::vector<int32_t> orderOf(const int32_t *numbers, size_t count) {
  std::vector<int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return numbers[a] < numbers[b]; });
  return order;
}

/// at[0] tokens, at[1] the map, at[2] shares, at[3] rows, at[4] their shares, at[5] where they are.
aclError permute(const TokenMap &map, bool hasShares, const std::vector<char *> &at) {
  std::vector<int32_t> experts;
  const auto tokens = tokensOfRows(map, reinterpret_cast<const int8_t *>(at[1]), experts);
  if (int64_t(tokens.size()) != map.rows)
    return ACL_ERROR_INVALID_PARAM;
  auto *location = reinterpret_cast<int32_t *>(at[5]);
  auto *share = reinterpret_cast<const double *>(at[2]);
  for (size_t i = 0; i < tokens.size(); ++i) {
    memcpy(at[3] + i * map.bytes, at[0] + size_t(tokens[i]) * map.bytes, map.bytes);
    if (hasShares)
      reinterpret_cast<double *>(at[4])[i] = share[tokens[i] * map.experts + experts[i]];
  }
  const auto locations = map.isPadded ? tokens : orderOf(tokens.data(), tokens.size());
  std::copy(locations.begin(), locations.end(), location);
  return ACL_SUCCESS;
}

/// at[0] rows, at[1] where they are, at[2] the map, at[3] shares, at[4] sums, at[5] rows and at[6]
/// tokens of the sums, at[7] shares of the rows.
aclError unpermute(const TokenMap &map, bool hasShares, const std::vector<char *> &at) {
  auto *row = reinterpret_cast<const double *>(at[0]),
       *share = reinterpret_cast<const double *>(at[3]);
  auto *location = reinterpret_cast<const int32_t *>(at[1]);
  auto *sum = reinterpret_cast<double *>(at[4]), *ofRow = reinterpret_cast<double *>(at[7]);
  auto *index = reinterpret_cast<int32_t *>(at[5]), *token = reinterpret_cast<int32_t *>(at[6]);
  std::fill(ofRow, ofRow + map.rows, 1.);
  std::fill(sum, sum + map.tokens * map.width, 0.);
  const int64_t limit = map.isPadded ? map.tokens : map.rows;
  if (std::any_of(location, location + map.rows, [&](int32_t i) { return i < 0 || i >= limit; }))
    return ACL_ERROR_INVALID_PARAM;
  if (map.isPadded) {
    const auto order = orderOf(location, size_t(map.rows));
    for (int64_t i = 0; i < map.rows; ++i) {
      index[i] = order[size_t(i)];
      token[i] = location[index[i]];
      if (hasShares)
        ofRow[i] = share[location[i] * map.experts + i / map.capacity()];
    }
  } else {
    for (int64_t i = 0; i < map.rows; ++i) {
      index[i] = location[i];
      token[i] = int32_t(i / map.choices());
    }
    if (hasShares) {
      std::vector<int32_t> experts;
      const auto tokens = tokensOfRows(map, reinterpret_cast<const int8_t *>(at[2]), experts);
      if (int64_t(tokens.size()) != map.rows)
        return ACL_ERROR_INVALID_PARAM;
      for (size_t i = 0; i < tokens.size(); ++i)
        ofRow[i] = share[tokens[i] * map.experts + experts[i]];
    }
  }
  for (int64_t i = 0; i < map.rows; ++i)
    for (int64_t j = 0; j < map.width; ++j)
      sum[token[i] * map.width + j] += row[index[i] * map.width + j] * ofRow[index[i]];
  return ACL_SUCCESS;
}

/// Holds a product of groups of rows whose results are added up by rows of the output. Elements of
/// x are `shift` less where biases hold the rest.
struct GroupedRows {
  int64_t rows = 0, depth = 0, width = 0, groups = 0, out = 0, shared = 0, sharedOffset = 0;
  double sharedWeight = 0;
  bool areCounts = false;
  int32_t shift = 0;
};

/// at[0] x, at[1] matrices, at[2] scales, at[3] scales of rows, at[4] biases, at[5] groups, at[6]
/// the shared input, at[7] factors of rows, at[8] their locations, at[9] sums, at[10] scaled
/// offsets of weights.
aclError addGroups(const GroupedRows &all, const std::vector<char *> &at) {
  auto *x = reinterpret_cast<const int8_t *>(at[0]),
       *matrices = reinterpret_cast<const int8_t *>(at[1]);
  auto *scale = reinterpret_cast<const float *>(at[2]),
       *ofRow = reinterpret_cast<const float *>(at[3]),
       *bias = reinterpret_cast<const float *>(at[4]),
       *shared = reinterpret_cast<const float *>(at[6]),
       *factor = reinterpret_cast<const float *>(at[7]),
       *offset = reinterpret_cast<const float *>(at[10]);
  auto *group = reinterpret_cast<const int64_t *>(at[5]),
       *location = reinterpret_cast<const int64_t *>(at[8]);
  auto *sum = reinterpret_cast<double *>(at[9]);
  std::fill(sum, sum + all.out * all.width, 0.);
  for (int64_t i = 0; i < all.shared * all.width; ++i)
    sum[all.sharedOffset * all.width + i] = all.sharedWeight * shared[i];
  int64_t start = 0;
  std::vector<int64_t> sums(size_t(all.width));
  for (int64_t g = 0; g < all.groups; ++g) {
    // A count that is too large must not overflow.
    if (group[g] < 0 || group[g] > all.rows)
      return ACL_ERROR_INVALID_PARAM;
    const int64_t end = all.areCounts ? start + group[g] : group[g];
    if (end < start || end > all.rows)
      return ACL_ERROR_INVALID_PARAM;
    const int8_t *matrix = matrices + g * all.depth * all.width;
    for (int64_t row = start; row < end; ++row) {
      if (location[row] < 0 || location[row] >= all.out)
        return ACL_ERROR_INVALID_PARAM;
      std::fill(sums.begin(), sums.end(), int64_t{0});
      int64_t total = 0;
      for (int64_t k = 0; k < all.depth; ++k) {
        const int32_t value = x[row * all.depth + k];
        total += value;
        for (int64_t j = 0; j < all.width; ++j)
          sums[size_t(j)] += (value - all.shift) * matrix[k * all.width + j];
      }
      for (int64_t j = 0; j < all.width; ++j) {
        const int64_t column = g * all.width + j;
        double value = double(sums[size_t(j)]) * scale[column];
        if (all.shift)
          value += bias[column];
        value = (value + double(total) * offset[column]) * ofRow[row];
        sum[location[row] * all.width + j] +=
            factor[row] * (all.shift ? value : value + bias[column]);
      }
    }
    start = end;
  }
  return ACL_SUCCESS;
}

/// Operands of the newer versions of the product, which have weights of int4.
struct NewerOperands {
  bool areThere = false;
  const aclTensor *offset = nullptr, *antiquantScale = nullptr, *antiquantOffset = nullptr;
};

bool tensorOf4Bits(const aclTensor *handle) {
  const auto tensor = tensors().find(handle);
  return tensor && tensor->type == ACL_INT4;
}

/// Returns the 8 weights of 4 bits in each word of 32 bits, the lowest first.
View wordsAsInt4(Plan &plan, const View &words) {
  Dims dims = words.dims;
  if (!dims.empty())
    dims.back() *= 8;
  const View given = plan.dense(words, ACL_INT32), weights = plan.make(ACL_INT8, dims);
  if (plan.isGood())
    plan.onHost({given, weights},
                [count = countOf(words.dims)](const std::vector<char *> &at) -> aclError {
                  for (int64_t i = 0; i < 8 * count; ++i) {
                    const uint32_t word = reinterpret_cast<const uint32_t *>(at[0])[i / 8];
                    at[1][i] = char(int8_t(int32_t(word << (28 - i % 8 * 4)) >> 28));
                  }
                  return ACL_SUCCESS;
                });
  return weights;
}

aclnnStatus finalizedProduct(const char *name, const aclTensor *x1, const aclTensor *x2,
                             const aclTensor *scale, const aclTensor *bias,
                             const aclTensor *pertokenScale, const aclTensor *groupList,
                             const aclTensor *sharedInput, const aclTensor *logit,
                             const aclTensor *rowIndex, int64_t dtype, float sharedInputWeight,
                             int64_t sharedInputOffset, bool transposeX1, bool transposeX2,
                             int64_t groupListType, const aclTensor *out, uint64_t *size,
                             aclOpExecutor **executor, const NewerOperands &newer = {}) {
  Plan plan(name);
  const View x = IN(x1), scales = IN(scale), biases = plan.input(bias, "bias", true),
             offsets = plan.input(newer.offset, "offset", true),
             ofRows = plan.input(pertokenScale, "pertokenScale", true), groups = IN(groupList),
             shared = plan.input(sharedInput, "sharedInput", true),
             factors = plan.input(logit, "logit", true), locations = IN(rowIndex),
             y = plan.output(out, "out");
  View matrices = IN(x2);
  const bool isInt4 = newer.areThere && (tensorOf4Bits(x2) || matrices.type == ACL_INT32);
  if (newer.antiquantScale || newer.antiquantOffset)
    plan.reject("antiquantScale and antiquantOffset must be NULL");
  if (plan.isGood() && isInt4 && matrices.type == ACL_INT32)
    matrices = wordsAsInt4(plan, matrices);
  if (transposeX1 || dtype < 0 || dtype > 2 || groupListType < 0 || groupListType > 1)
    plan.reject("transposeX1 must be false, dtype %lld 0 to 2, and groupListType %lld 0 (ends of "
                "groups) or 1 (counts)",
                (long long)dtype, (long long)groupListType);
  const aclDataType types[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  if (plan.isGood() && y.type != types[dtype])
    plan.reject("dtype %lld is not the type of out; give 0 for float, 1 for float16, 2 for "
                "bfloat16",
                (long long)dtype);
  if (plan.isGood() &&
      (x.type != ACL_INT8 || matrices.type != ACL_INT8 || x.dims.size() != 2 ||
       matrices.dims.size() != 3 || y.dims.size() != 2 ||
       matrices.dims[transposeX2 ? 2 : 1] != x.dims[1] ||
       matrices.dims[transposeX2 ? 1 : 2] != y.dims[1] || countOf(groups.dims) != matrices.dims[0]))
    plan.reject(
        "x1 %s must be int8 [rows, depth], x2 %s int8 [groups, depth, width], out %s [rows, "
        "width], and groupList %s have a number per group",
        textOf(x.dims).c_str(), textOf(matrices.dims).c_str(), textOf(y.dims).c_str(),
        textOf(groups.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  GroupedRows all{x.dims[0], x.dims[1],         y.dims[1],         matrices.dims[0],  y.dims[0],
                  0,         sharedInputOffset, sharedInputWeight, groupListType == 1};
  if (shared.memory && shared.dims.size() == 2 && shared.dims[1] == all.width)
    all.shared = shared.dims[0];
  if (shared.memory && (shared.dims.size() != 2 || all.shared != shared.dims[0] ||
                        sharedInputOffset < 0 || sharedInputOffset > all.out - all.shared))
    plan.reject("sharedInput %s must be [rows, %lld], and lie in out from row %lld on",
                textOf(shared.dims).c_str(), (long long)all.width, (long long)sharedInputOffset);
  auto orOne = [&](const View &view, const char *role, int64_t count, double value) {
    if (plan.isGood() && view.memory && countOf(view.dims) != count)
      plan.reject("%s %s must have %lld elements", role, textOf(view.dims).c_str(),
                  (long long)count);
    if (!plan.isGood())
      return View();
    return view.memory
               ? plan.dense(view, ACL_FLOAT)
               : plan.dense(plan.broadcast(plan.constant(value, ACL_FLOAT), {count}), ACL_FLOAT);
  };
  // Weights of int4 are multiplied with halves of bytes, of which the lower one is 8 less: biases
  // hold 8 * the sum of the weights of a column, scaled.
  all.shift = isInt4 && biases.memory ? 8 : 0;
  const View perColumn = orOne(floatScales(plan, scales), "scale", all.groups * all.width, 1),
             ofWeights = orOne(offsets, "offset", all.groups * all.width, 0),
             added = orOne(biases, "bias", all.groups * all.width, 0),
             perRow = orOne(ofRows, "pertokenScale", all.rows, 1),
             weights = orOne(factors, "logit", all.rows, 1);
  if (plan.isGood() && countOf(locations.dims) != all.rows)
    plan.reject("rowIndex %s must have %lld elements", textOf(locations.dims).c_str(),
                (long long)all.rows);
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View sums = plan.make(ACL_DOUBLE, y.dims);
  plan.onHost({plan.dense(x, ACL_INT8),
               plan.dense(transposeX2 ? permuted(matrices, {0, 2, 1}) : matrices, ACL_INT8),
               perColumn, perRow, added, plan.dense(groups, ACL_INT64),
               shared.memory ? plan.dense(shared, ACL_FLOAT) : perRow, weights,
               plan.dense(locations, ACL_INT64), sums, ofWeights},
              [all](const std::vector<char *> &at) { return addGroups(all, at); });
  plan.write(sums, y);
  return plan.finish(size, executor);
}

} // namespace

aclnnStatus aclnnMoeTokenPermuteWithRoutingMapGetWorkspaceSize(
    const aclTensor *tokens, const aclTensor *routingMap, const aclTensor *probsOptional,
    int64_t numOutTokens, bool dropAndPad, aclTensor *permuteTokensOut,
    aclTensor *permuteProbsOutOptional, aclTensor *sortedIndicesOut, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  const View given = IN(tokens), taken = IN(routingMap),
             shares = plan.input(probsOptional, "probs", true),
             moved = plan.output(permuteTokensOut, "permuteTokensOut"),
             sharesOut = plan.output(permuteProbsOutOptional, "permuteProbsOut", !shares.memory),
             locations = plan.output(sortedIndicesOut, "sortedIndicesOut");
  if (plan.isGood() &&
      (given.dims.size() != 2 || taken.dims.size() != 2 || taken.dims[0] != given.dims[0] ||
       taken.dims[1] == 0 || (shares.memory && shares.dims != taken.dims) || numOutTokens < 0 ||
       numOutTokens > countOf(taken.dims)))
    plan.reject("tokens %s must have 2 dims, routingMap %s and probs be [tokens, experts], and "
                "numOutTokens %lld be 0 to the elements of routingMap",
                textOf(given.dims).c_str(), textOf(taken.dims).c_str(), (long long)numOutTokens);
  if (!plan.isGood())
    return plan.finish(size, executor);
  TokenMap map{given.dims[0],
               taken.dims[1],
               0,
               given.dims[1],
               size_t(given.dims[1]) * bitsOf(given.type) / 8,
               dropAndPad};
  const int64_t unit = dropAndPad ? map.experts : std::max<int64_t>(map.tokens, 1);
  map.rows = numOutTokens / unit * unit;
  const View rows = plan.make(given.type, {map.rows, map.width}),
             order = plan.make(ACL_INT32, {map.rows}),
             ofRows = plan.make(ACL_DOUBLE, {std::max<int64_t>(map.rows, 1)});
  plan.onHost({plan.dense(given, given.type), plan.dense(taken, ACL_INT8),
               shares.memory ? plan.dense(shares, ACL_DOUBLE) : ofRows, rows, ofRows, order},
              [map, hasShares = bool(shares.memory)](const std::vector<char *> &at) {
                return permute(map, hasShares, at);
              });
  plan.write(rows, moved);
  plan.write(order, locations);
  if (shares.memory && map.rows > 0)
    plan.write(ofRows, sharesOut);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeTokenPermuteWithRoutingMap)

aclnnStatus aclnnMoeTokenUnpermuteWithRoutingMapGetWorkspaceSize(
    const aclTensor *permutedTokens, const aclTensor *sortedIndices,
    const aclTensor *routingMapOptional, const aclTensor *probsOptional, bool paddedMode,
    const aclIntArray *restoreShapeOptional, aclTensor *unpermutedTokens, aclTensor *outIndex,
    aclTensor *permuteTokenId, aclTensor *permuteProbs, uint64_t *size, aclOpExecutor **executor) {
  Plan plan(__func__);
  const View rows = IN(permutedTokens), locations = IN(sortedIndices),
             taken = plan.input(routingMapOptional, "routingMap", paddedMode || !probsOptional),
             shares = plan.input(probsOptional, "probs", true),
             y = plan.output(unpermutedTokens, "unpermutedTokens"),
             index = plan.output(outIndex, "outIndex"),
             token = plan.output(permuteTokenId, "permuteTokenId"),
             ofRows = plan.output(permuteProbs, "permuteProbs", true);
  const bool hasShares = bool(shares.memory);
  if (restoreShapeOptional)
    if (const Dims dims = plan.numbers(restoreShapeOptional, "restoreShape");
        plan.isGood() && dims != y.dims)
      plan.reject("restoreShape %s must be the dims of unpermutedTokens, %s", textOf(dims).c_str(),
                  textOf(y.dims).c_str());
  if (plan.isGood() &&
      (rows.dims.size() != 2 || y.dims.size() != 2 || rows.dims[1] != y.dims[1] ||
       countOf(locations.dims) != rows.dims[0] || rows.dims[1] == 0 ||
       (y.dims[0] == 0 && rows.dims[0] != 0) ||
       (hasShares && (shares.dims.size() != 2 || shares.dims[0] != y.dims[0] ||
                      shares.dims[1] == 0 || (!paddedMode && taken.dims != shares.dims))) ||
       (paddedMode ? hasShares && rows.dims[0] % shares.dims[1]
                   : rows.dims[0] % std::max<int64_t>(y.dims[0], 1))))
    plan.reject(
        "permutedTokens %s must have rows of unpermutedTokens %s, sortedIndices %s a number "
        "for each, and probs %s and routingMap be [tokens, experts]",
        textOf(rows.dims).c_str(), textOf(y.dims).c_str(), textOf(locations.dims).c_str(),
        textOf(shares.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const TokenMap map{y.dims[0], hasShares ? shares.dims[1] : 1, rows.dims[0], y.dims[1], 0,
                     paddedMode};
  const View sums = plan.make(ACL_DOUBLE, y.dims), from = plan.make(ACL_INT32, {map.rows}),
             to = plan.make(ACL_INT32, {map.rows}), each = plan.make(ACL_DOUBLE, {map.rows});
  plan.onHost(
      {plan.dense(rows, ACL_DOUBLE), plan.dense(locations, ACL_INT32),
       taken.memory ? plan.dense(taken, ACL_INT8) : each,
       hasShares ? plan.dense(shares, ACL_DOUBLE) : each, sums, from, to, each},
      [map, hasShares](const std::vector<char *> &at) { return unpermute(map, hasShares, at); });
  plan.write(sums, y);
  plan.write(from, index);
  plan.write(to, token);
  if (hasShares)
    writeOptional(plan, each, ofRows);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeTokenUnpermuteWithRoutingMap)

#define ACLNN_FINALIZED_PRODUCT(name)                                                              \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *x1, aclTensor *x2, const aclTensor *scale, const aclTensor *bias,           \
      const aclTensor *pertokenScaleOptional, const aclTensor *groupList,                          \
      const aclTensor *sharedInput, const aclTensor *logit, const aclTensor *rowIndex,             \
      int64_t dtype, float sharedInputWeight, int64_t sharedInputOffset, bool transposeX1,         \
      bool transposeX2, int64_t groupListType, aclTensor *out, uint64_t *size,                     \
      aclOpExecutor **executor) {                                                                  \
    return finalizedProduct(__func__, x1, x2, scale, bias, pertokenScaleOptional, groupList,       \
                            sharedInput, logit, rowIndex, dtype, sharedInputWeight,                \
                            sharedInputOffset, transposeX1, transposeX2, groupListType, out, size, \
                            executor);                                                             \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_FINALIZED_PRODUCT(GroupedMatmulFinalizeRouting)
ACLNN_FINALIZED_PRODUCT(GroupedMatmulFinalizeRoutingWeightNz)

#define ACLNN_NEWER_PRODUCT(name, ...)                                                             \
  aclnnStatus aclnn##name##GetWorkspaceSize(                                                       \
      const aclTensor *x1, aclTensor *x2, const aclTensor *scaleOptional,                          \
      const aclTensor *biasOptional, const aclTensor *offsetOptional,                              \
      const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional,           \
      const aclTensor *pertokenScaleOptional, const aclTensor *groupListOptional,                  \
      const aclTensor *sharedInputOptional, const aclTensor *logitOptional,                        \
      const aclTensor *rowIndexOptional, int64_t dtype, float sharedInputWeight,                   \
      int64_t sharedInputOffset, bool transposeX1, bool transposeX2, int64_t groupListType,        \
      __VA_ARGS__ aclTensor *out, uint64_t *size, aclOpExecutor **executor) {                      \
    return finalizedProduct(                                                                       \
        __func__, x1, x2, scaleOptional, biasOptional, pertokenScaleOptional, groupListOptional,   \
        sharedInputOptional, logitOptional, rowIndexOptional, dtype, sharedInputWeight,            \
        sharedInputOffset, transposeX1, transposeX2, groupListType, out, size, executor,           \
        {true, offsetOptional, antiquantScaleOptional, antiquantOffsetOptional});                  \
  }                                                                                                \
  ACLNN_RUN(name)
ACLNN_NEWER_PRODUCT(GroupedMatmulFinalizeRoutingV2)
ACLNN_NEWER_PRODUCT(GroupedMatmulFinalizeRoutingV3, const aclIntArray *, )
ACLNN_NEWER_PRODUCT(GroupedMatmulFinalizeRoutingWeightNzV2, const aclIntArray *, )

aclnnStatus aclnnAdvanceStepGetWorkspaceSize(const aclTensor *inputTokens,
                                             const aclTensor *sampledTokenIds,
                                             const aclTensor *inputPositions,
                                             const aclTensor *seqLens, const aclTensor *slotMapping,
                                             const aclTensor *blockTables, int64_t numSeqs,
                                             int64_t numQueries, int64_t blockSize, uint64_t *size,
                                             aclOpExecutor **executor) {
  Plan plan(__func__);
  const View sampled = IN(sampledTokenIds), blocks = IN(blockTables), lengths = IN(seqLens),
             tokens = plan.output(inputTokens, "inputTokens"),
             positions = plan.output(inputPositions, "inputPositions"),
             newLengths = plan.output(seqLens, "seqLens"),
             slots = plan.output(slotMapping, "slotMapping");
  if (numSeqs < 1 || numQueries < 1 || numQueries > numSeqs || blockSize < 1)
    plan.reject("numQueries %lld must be 1 to numSeqs %lld, and blockSize %lld positive",
                (long long)numQueries, (long long)numSeqs, (long long)blockSize);
  if (plan.isGood())
    for (const View *each : {&sampled, &lengths, &tokens, &positions, &slots})
      if (plan.isGood() && countOf(each->dims) < (each == &sampled ? numQueries : numSeqs))
        plan.reject("%s is too small for %lld sequences", textOf(each->dims).c_str(),
                    (long long)numSeqs);
  if (plan.isGood() && (blocks.dims.size() != 2 || blocks.dims[0] < numQueries))
    plan.reject("blockTables %s must be [sequences, blocks]", textOf(blocks.dims).c_str());
  if (!plan.isGood())
    return plan.finish(size, executor);
  const View nextTokens = plan.make(ACL_INT64, tokens.dims),
             nextPositions = plan.make(ACL_INT64, positions.dims),
             nextLengths = plan.make(ACL_INT64, newLengths.dims),
             nextSlots = plan.make(ACL_INT64, slots.dims);
  // What belongs to no query stays as it is.
  plan.copy(tokens, nextTokens);
  plan.copy(positions, nextPositions);
  plan.copy(lengths, nextLengths);
  plan.copy(slots, nextSlots);
  plan.onHost({plan.dense(sampled, ACL_INT64), plan.dense(blocks, ACL_INT64), nextTokens,
               nextPositions, nextLengths, nextSlots},
              [numQueries, blockSize, width = blocks.dims[1]](const std::vector<char *> &at) {
                auto word = [&](size_t i) { return reinterpret_cast<int64_t *>(at[i]); };
                for (int64_t i = 0; i < numQueries; ++i) {
                  const int64_t position = word(4)[i];
                  if (position < 0 || position / blockSize >= width)
                    return ACL_ERROR_INVALID_PARAM;
                  word(2)[i] = word(0)[i];
                  word(3)[i] = position;
                  word(4)[i] = position + 1;
                  word(5)[i] = int64_t(uint64_t(word(1)[i * width + position / blockSize]) *
                                           uint64_t(blockSize) +
                                       uint64_t(position % blockSize));
                }
                return ACL_SUCCESS;
              });
  plan.write(nextTokens, tokens);
  plan.write(nextPositions, positions);
  plan.write(nextLengths, newLengths);
  plan.write(nextSlots, slots);
  return plan.finish(size, executor);
}
ACLNN_RUN(AdvanceStep)
