//===-- OrderedRouting.cpp - aclnn functions that sort tokens by expert ---*- C++ -*-===//
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

/// How rows become int8.
struct RowQuantization {
  float scale, offset;
};

/// Sorts tokens by the numbers of their experts, and quantizes them where `quantization` says how.
aclnnStatus sortTokens(const char *name, const aclTensor *x, const aclTensor *rowIdx,
                       const aclTensor *expertIdx, int64_t activeNum,
                       const std::optional<RowQuantization> &quantization,
                       const aclTensor *expandedXOut, const aclTensor *expandedRowIdxOut,
                       const aclTensor *expandedExpertIdxOut, uint64_t *size,
                       aclOpExecutor **executor) {
  Plan plan(name);
  const View tokens = IN(x), rows = IN(rowIdx), experts = IN(expertIdx),
             expanded = plan.output(expandedXOut, "expandedXOut"),
             positions = plan.output(expandedRowIdxOut, "expandedRowIdxOut"),
             sorted = plan.output(expandedExpertIdxOut, "expandedExpertIdxOut");
  if (plan.isGood() &&
      (tokens.dims.size() != 2 || rows.dims.size() != 2 || rows.type != ACL_INT32 ||
       experts.type != ACL_INT32 || rows.dims != experts.dims || rows.dims[0] != tokens.dims[0] ||
       (quantization && !isFloat(tokens.type)) || activeNum < 0))
    plan.reject("x must have 2 dims%s, rowIdx and expertIdx be int32 with the rows of x, and "
                "activeNum not be negative",
                quantization ? " and be of floats" : "");
  if (!plan.isGood())
    return plan.finish(size, executor);
  const int64_t all = countOf(rows.dims), count = tokens.dims[0], width = tokens.dims[1],
                kept = std::min(count, activeNum) * rows.dims[1];
  const aclDataType type = quantization ? ACL_FLOAT : tokens.type;
  const View given = plan.dense(tokens, type), moved = plan.make(type, {kept, width}),
             order = plan.make(ACL_INT32, {all}), named = plan.make(ACL_INT32, {all}),
             bytes = quantization ? plan.make(ACL_INT8, {kept, width}) : moved;
  if (!plan.isGood())
    return plan.finish(size, executor);
  const size_t bytesOfRow = size_t(width) * bitsOf(type) / 8;
  plan.onHost({given, plan.dense(rows, ACL_INT32), plan.dense(experts, ACL_INT32), moved, order,
               named, bytes},
              [=](const std::vector<char *> &at) -> aclError {
                auto *row = reinterpret_cast<const int32_t *>(at[1]),
                     *expert = reinterpret_cast<const int32_t *>(at[2]);
                auto *to = reinterpret_cast<int32_t *>(at[4]),
                     *each = reinterpret_cast<int32_t *>(at[5]);
                std::vector<int64_t> by(static_cast<size_t>(all));
                std::iota(by.begin(), by.end(), 0);
                std::stable_sort(by.begin(), by.end(),
                                 [&](int64_t a, int64_t b) { return expert[a] < expert[b]; });
                for (int64_t i = 0; i < all; ++i) {
                  const int64_t from = row[by[size_t(i)]];
                  if (from < 0 || from >= all)
                    return ACL_ERROR_INVALID_PARAM;
                  to[from] = int32_t(i);
                  each[i] = expert[by[size_t(i)]];
                  if (i < kept)
                    memcpy(at[3] + bytesOfRow * size_t(i),
                           at[0] + bytesOfRow * size_t(from % count), bytesOfRow);
                }
                for (int64_t i = 0; quantization && i < kept * width; ++i) {
                  const float value =
                      reinterpret_cast<const float *>(at[3])[i] * quantization->scale +
                      quantization->offset;
                  at[6][i] = std::isnan(value)
                                 ? 0
                                 : char(int8_t(std::clamp(std::nearbyint(value), -128.f, 127.f)));
                }
                return ACL_SUCCESS;
              });
  plan.write(bytes, expanded);
  plan.write(order, positions);
  plan.write(named, sorted);
  return plan.finish(size, executor);
}

} // namespace

aclnnStatus aclnnMoeInitRoutingGetWorkspaceSize(const aclTensor *x, const aclTensor *rowIdx,
                                                const aclTensor *expertIdx, int64_t activeNum,
                                                const aclTensor *expandedXOut,
                                                const aclTensor *expandedRowIdxOut,
                                                const aclTensor *expandedExpertIdxOut,
                                                uint64_t *size, aclOpExecutor **executor) {
  return sortTokens(__func__, x, rowIdx, expertIdx, activeNum, std::nullopt, expandedXOut,
                    expandedRowIdxOut, expandedExpertIdxOut, size, executor);
}
ACLNN_RUN(MoeInitRouting)

aclnnStatus aclnnMoeInitRoutingQuantGetWorkspaceSize(
    const aclTensor *x, const aclTensor *rowIdx, const aclTensor *expertIdx, int64_t activeNum,
    double scale, double offset, const aclTensor *expandedXOut, const aclTensor *expandedRowIdxOut,
    const aclTensor *expandedExpertIdxOut, uint64_t *size, aclOpExecutor **executor) {
  return sortTokens(__func__, x, rowIdx, expertIdx, activeNum,
                    RowQuantization{float(scale), float(offset)}, expandedXOut, expandedRowIdxOut,
                    expandedExpertIdxOut, size, executor);
}
ACLNN_RUN(MoeInitRoutingQuant)
