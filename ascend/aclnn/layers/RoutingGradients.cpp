//===-- RoutingGradients.cpp - gradients of tokens that went to experts -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They work on this machine: which row goes where depends on values.
#include "ascend/aclnn/Steps.h"
#include "ascend/src/Errors.h"

#include "acl/acl_rt.h"
#include "aclnnop/aclnn_ops.h"

using namespace atc::ascend;

namespace {

/// Where the rows of tokens are among those of experts: choice k of token i is row
/// position[i * choices + k], none where there is no such row.
struct Positions {
  int64_t tokens = 0, choices = 1, width = 0, rows = 0, experts = 0;
  bool hasScales = false;
};

bool isKept(const Positions &all, int64_t position) { return position >= 0 && position < all.rows; }

/// Checks rows of experts [..., width], positions, and tokens [tokens, width].
Positions positionsOf(Plan &plan, const View &rows, const View &positions, const View &tokens,
                      const char *rowsName, const char *tokensName) {
  Positions all;
  if (!plan.isGood())
    return all;
  all.tokens = tokens.dims.size() == 2 ? tokens.dims[0] : 0;
  all.width = tokens.dims.size() == 2 ? tokens.dims[1] : 0;
  const int64_t count = countOf(positions.dims);
  if (all.tokens < 1 || all.width < 1 || rows.dims.size() < 2 || rows.dims.back() != all.width ||
      isFloat(positions.type) || count < 1 || count % all.tokens) {
    plan.reject("%s %s must be rows of the width of %s %s, and the indices %s whole numbers, the "
                "same number for each token",
                rowsName, textOf(rows.dims).c_str(), tokensName, textOf(tokens.dims).c_str(),
                textOf(positions.dims).c_str());
    return all;
  }
  all.choices = count / all.tokens;
  all.rows = countOf(rows.dims) / all.width;
  return all;
}

/// Returns sums of the rows of each token.
View summedRows(Plan &plan, const Positions &all, const View &rows, const View &positions) {
  if (!plan.isGood())
    return {};
  const View sums = plan.make(ACL_DOUBLE, {all.tokens, all.width});
  plan.onHost({plan.dense(rows, ACL_DOUBLE), plan.dense(positions, ACL_INT64), sums},
              [all](const std::vector<char *> &at) -> aclError {
                auto *row = reinterpret_cast<const double *>(at[0]);
                auto *position = reinterpret_cast<const int64_t *>(at[1]);
                auto *sum = reinterpret_cast<double *>(at[2]);
                std::fill(sum, sum + all.tokens * all.width, 0);
                for (int64_t i = 0; i < all.tokens * all.choices; ++i)
                  for (int64_t j = 0; isKept(all, position[i]) && j < all.width; ++j)
                    sum[i / all.choices * all.width + j] += row[position[i] * all.width + j];
                return ACL_SUCCESS;
              });
  return sums;
}

/// Writes the gradients of rows and of their scales: at[0] gradients of tokens, at[1] positions,
/// at[2] scales, at[3] rows, at[4] biases, at[5] experts, at[6] gradients of rows, at[7] of scales.
aclError divide(const Positions &all, const std::vector<char *> &at) {
  auto number = [&](size_t i) { return reinterpret_cast<const double *>(at[i]); };
  auto *position = reinterpret_cast<const int64_t *>(at[1]),
       *expert = reinterpret_cast<const int64_t *>(at[5]);
  auto *ofRows = reinterpret_cast<double *>(at[6]), *ofScales = reinterpret_cast<double *>(at[7]);
  std::fill(ofRows, ofRows + all.rows * all.width, 0);
  for (int64_t i = 0; i < all.tokens * all.choices; ++i) {
    const double *gradient = number(0) + i / all.choices * all.width;
    if (all.experts > 0 && (expert[i] < 0 || expert[i] >= all.experts))
      return ACL_ERROR_INVALID_PARAM;
    double sum = 0;
    for (int64_t j = 0; j < all.width; ++j) {
      const double bias = all.experts > 0 ? number(4)[expert[i] * all.width + j] : 0;
      // A token that was dropped has no row, its scale a bias only.
      const double value =
          isKept(all, position[i]) && all.hasScales ? number(3)[position[i] * all.width + j] : 0;
      sum += (value + bias) * gradient[j];
      if (isKept(all, position[i]))
        ofRows[position[i] * all.width + j] += gradient[j] * (all.hasScales ? number(2)[i] : 1);
    }
    ofScales[i] = sum;
  }
  return ACL_SUCCESS;
}

struct Divided {
  View tokens, positions, scales, rows, biases, experts;
};

/// Writes the gradients of the rows of experts, and of scales where there are any.
void addDivided(Plan &plan, Positions all, const Divided &given, const View &ofRows,
                const View &ofScales) {
  if (plan.isGood() &&
      ((given.scales.memory && (countOf(given.scales.dims) != all.tokens * all.choices ||
                                !given.rows.memory || given.rows.dims != ofRows.dims)) ||
       (given.biases.memory &&
        (given.biases.dims.size() != 2 || given.biases.dims[1] != all.width ||
         !given.experts.memory || countOf(given.experts.dims) != all.tokens * all.choices))))
    plan.reject("scales %s must have a number for each index, with the rows %s that were "
                "scaled, and biases %s [experts, %lld], with an expert for each index",
                textOf(given.scales.dims).c_str(), textOf(ofRows.dims).c_str(),
                textOf(given.biases.dims).c_str(), (long long)all.width);
  if (!plan.isGood())
    return;
  all.hasScales = bool(given.scales.memory);
  all.experts = given.biases.memory ? given.biases.dims[0] : 0;
  auto orOne = [&](const View &view, aclDataType type) {
    return view.memory ? plan.dense(view, type) : plan.constant(1, type);
  };
  const View gradient = plan.make(ACL_DOUBLE, ofRows.dims),
             sums = plan.make(ACL_DOUBLE, {all.tokens * all.choices});
  plan.onHost({plan.dense(given.tokens, ACL_DOUBLE), plan.dense(given.positions, ACL_INT64),
               orOne(given.scales, ACL_DOUBLE), orOne(given.rows, ACL_DOUBLE),
               orOne(given.biases, ACL_DOUBLE), orOne(given.experts, ACL_INT64), gradient, sums},
              [all](const std::vector<char *> &at) { return divide(all, at); });
  plan.write(gradient, ofRows);
  if (all.hasScales)
    writeOptional(plan, sums, ofScales);
}

} // namespace

aclnnStatus aclnnMoeTokenPermuteGradGetWorkspaceSize(const aclTensor *permutedOutputGrad,
                                                     const aclTensor *sortedIndices,
                                                     int64_t numTopk, bool paddedMode,
                                                     const aclTensor *out, uint64_t *size,
                                                     aclOpExecutor **executor) {
  Plan plan(__func__);
  const View rows = IN(permutedOutputGrad), positions = IN(sortedIndices),
             y = plan.output(out, "out");
  const Positions all = positionsOf(plan, rows, positions, y, "permutedOutputGrad", "out");
  if (paddedMode || (plan.isGood() && numTopk != all.choices))
    plan.reject("paddedMode must be false, and numTopk %lld the number of indices of a token",
                (long long)numTopk);
  plan.write(summedRows(plan, all, rows, positions), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeTokenPermuteGrad)

aclnnStatus aclnnMoeInitRoutingV2GradGetWorkspaceSize(const aclTensor *gradExpandedX,
                                                      const aclTensor *expandedRowIdx, int64_t topK,
                                                      int64_t dropPadMode, int64_t activeNum,
                                                      const aclTensor *out, uint64_t *size,
                                                      aclOpExecutor **executor) {
  Plan plan(__func__);
  const View rows = IN(gradExpandedX), positions = IN(expandedRowIdx), y = plan.output(out, "out");
  const Positions all = positionsOf(plan, rows, positions, y, "gradExpandedX", "out");
  if (dropPadMode < 0 || dropPadMode > 1 || activeNum < 0 || (plan.isGood() && topK != all.choices))
    plan.reject("dropPadMode must be 0 or 1, activeNum not negative, and topK %lld the number of "
                "indices of a token",
                (long long)topK);
  plan.write(summedRows(plan, all, rows, positions), y);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeInitRoutingV2Grad)

aclnnStatus aclnnMoeTokenUnpermuteGradGetWorkspaceSize(
    const aclTensor *permutedTokens, const aclTensor *unpermutedTokensGrad,
    const aclTensor *sortedIndices, const aclTensor *probsOptional, bool paddedMode,
    const aclIntArray *, aclTensor *permutedTokensGradOut, aclTensor *probsGradOut, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  const View rows = IN(permutedTokens), gradient = IN(unpermutedTokensGrad),
             positions = IN(sortedIndices), shares = plan.input(probsOptional, "probs", true),
             ofRows = plan.output(permutedTokensGradOut, "permutedTokensGradOut"),
             ofShares = plan.output(probsGradOut, "probsGradOut", !probsOptional);
  const Positions all = positionsOf(plan, ofRows, positions, gradient, "permutedTokensGradOut",
                                    "unpermutedTokensGrad");
  if (paddedMode)
    plan.reject("paddedMode must be false");
  addDivided(plan, all, {gradient, positions, shares, rows, {}, {}}, ofRows, ofShares);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeTokenUnpermuteGrad)

aclnnStatus aclnnMoeFinalizeRoutingV2GradGetWorkspaceSize(
    const aclTensor *gradY, const aclTensor *expandedRowIdx, const aclTensor *expandedXOptional,
    const aclTensor *scalesOptional, const aclTensor *expertIdxOptional,
    const aclTensor *biasOptional, int64_t dropPadMode, int64_t, int64_t, int64_t,
    const aclTensor *gradExpandedXOut, const aclTensor *gradScalesOut, uint64_t *size,
    aclOpExecutor **executor) {
  Plan plan(__func__);
  const View gradient = IN(gradY), positions = IN(expandedRowIdx),
             rows = plan.input(expandedXOptional, "expandedX", true),
             scales = plan.input(scalesOptional, "scales", true),
             experts = plan.input(expertIdxOptional, "expertIdx", true),
             biases = plan.input(biasOptional, "bias", true),
             ofRows = plan.output(gradExpandedXOut, "gradExpandedXOut"),
             ofScales = plan.output(gradScalesOut, "gradScalesOut", !scalesOptional);
  const Positions all = positionsOf(plan, ofRows, positions, gradient, "gradExpandedXOut", "gradY");
  if (dropPadMode < 0 || dropPadMode > 1)
    plan.reject("dropPadMode is %lld; give 0 or 1", (long long)dropPadMode);
  addDivided(plan, all, {gradient, positions, scales, rows, biases, experts}, ofRows, ofScales);
  return plan.finish(size, executor);
}
ACLNN_RUN(MoeFinalizeRoutingV2Grad)
