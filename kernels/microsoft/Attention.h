//===-- Attention.h - shared by the attentions of com.microsoft -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_MICROSOFT_ATTENTION_H
#define OPENATC_KERNELS_MICROSOFT_ATTENTION_H

#include "kernels/core/Floats.h"

namespace atc::kernels {

/// The input attention_bias: [batch or 1, heads or 1, queries, keys].
struct ScoreBias {
  const float *data = nullptr;
  int64_t batch = 0, head = 0, row = 0;

  /// Reads the input, which may be omitted. Returns false and fails the call where its dims do not
  /// fit or memory could not be allocated.
  bool read(Context &c, Tensor bias, int64_t batches, int64_t heads, int64_t queries,
            int64_t keys) {
    if (!bias)
      return true;
    if (bias.rank() != 4 || (bias.dim(0) != 1 && bias.dim(0) != batches) ||
        (bias.dim(1) != 1 && bias.dim(1) != heads) || bias.dim(2) != queries ||
        bias.dim(3) < keys) {
      c.fail("attention_bias does not fit % batches, % heads, % queries, % keys", batches, heads,
             queries, keys);
      return false;
    }
    row = bias.dim(3);
    head = bias.dim(1) == 1 ? 0 : queries * row;
    batch = bias.dim(0) == 1 ? 0 : bias.dim(1) * queries * row;
    return (data = floatsOf(c, bias)) != nullptr;
  }
  float operator()(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return data ? data[b * batch + h * head + i * row + j] : 0;
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_MICROSOFT_ATTENTION_H
