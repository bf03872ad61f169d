//===-- Attention.h - shared by the attentions of com.microsoft -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_MICROSOFT_ATTENTION_H
#define OPENATC_KERNELS_MICROSOFT_ATTENTION_H

#include "kernels/core/Floats.h"
#include "kernels/core/Math.h"

namespace atc::kernels {

/// Vectors of [batch, heads, positions]; strides count floats, vectors are contiguous.
struct HeadVectors {
  const float *data = nullptr;
  int64_t batch = 0, head = 0, position = 0;
  /// Returns the vector of position `s`.
  const float *at(int64_t b, int64_t h, int64_t s) const {
    return data + b * batch + h * head + s * position;
  }
};

/// Computes softmax(q k^T * scale + bias) v. The heads of keys are shared by groups of query heads.
struct Attend {
  int64_t batch, heads, keyHeads, queries, keys, size, valueSize;
  HeadVectors q, k, v;
  double scale, softcap = 0;
  float *out; ///< [batch, queries, heads, valueSize]

  /// Adds bias(b, h, i, j) to the score of query i and key j; -inf masks the key. sink(h) is the
  /// score of an additional key without value, -inf for none. Returns false where memory could not
  /// be allocated.
  template <typename Bias, typename Sink> bool run(Context &c, Bias &&bias, Sink &&sink) const {
    const int64_t tasks = batch * heads * queries;
    float *scores = c.scratch<float>(tasks * keys + 1);
    if (!scores)
      return false;
    c.parallel(tasks, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t i = task % queries, h = task / queries % heads, b = task / queries / heads;
        const int64_t shared = h / (heads / keyHeads);
        float *row = scores + task * keys;
        const float none = -__builtin_inff(), extra = sink(h);
        float largest = extra;
        for (int64_t j = 0; j < keys; ++j) {
          const float added = bias(b, h, i, j);
          if (added == none) {
            row[j] = none;
            continue;
          }
          float score = float(scale) * dotProduct(q.at(b, h, i), k.at(b, shared, j), size);
          if (softcap > 0)
            score = float(softcap * math::tanh(score / softcap));
          row[j] = score + added;
          largest = maximum(largest, row[j]);
        }
        float *to = out + ((b * queries + i) * heads + h) * valueSize;
        for (int64_t d = 0; d < valueSize; ++d)
          to[d] = 0;
        if (largest == none)
          continue;
        double sum = extra == none ? 0 : math::exp(extra - largest);
        for (int64_t j = 0; j < keys; ++j) {
          row[j] = row[j] == none ? 0 : float(math::exp(row[j] - largest));
          sum += row[j];
        }
        for (int64_t j = 0; j < keys; ++j) {
          const float weight = float(row[j] / sum), *value = v.at(b, shared, j);
          if (weight != 0)
            for (int64_t d = 0; d < valueSize; ++d)
              to[d] += weight * value[d];
        }
      }
    });
    return true;
  }
  /// Computes the attention without a sink.
  template <typename Bias> bool run(Context &c, Bias &&bias) const {
    return run(c, bias, [](int64_t) { return -__builtin_inff(); });
  }
};

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
