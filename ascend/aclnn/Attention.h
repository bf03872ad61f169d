//===-- Attention.h - what the attention functions share --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASCEND_ACLNN_ATTENTION_H
#define ASCEND_ACLNN_ATTENTION_H

#include "ascend/aclnn/Plan.h"

#include <functional>

namespace atc::ascend {

/// Holds the arguments of an attention: softmax(query x key^T * scale + shift, without what is
/// hidden) x value.
struct Attention {
  std::string_view layout;
  std::string_view keyLayout;    ///< of key and value; empty: that of the query
  std::string_view outputLayout; ///< empty: that of the query
  int64_t heads = 0, keyHeads = 0;
  double scale = 1;
  int64_t before = 0, after = 0, sparseMode = 0;
  bool shiftsFirst = false; ///< the shift is added in front of the scaling
  /// A single row is a sequence as others are: the modes from 2 on hide keys from it, and their
  /// mask is not its own.
  bool hasModeOfOneRow = false;
  View query, key, value, shift, mask;
  Dims rows, lengths; ///< valid rows of query and of key per batch; none where all are
  /// Bits of the weights that dropout keeps, those of this attention from `dropBit` on, and the
  /// share of those; no dropout where that is 1.
  View dropMask;
  int64_t dropBit = 0;
  double keep = 1;
  View output;
  /// Largest score and sum of exponentials of each row, [batch, heads, rows, n], and their
  /// logarithm; views of nothing where they are not asked for.
  View largest, total, logarithm;
};

/// Returns a tensor as [batch, heads, sequence, width].
View headsOf(Plan &plan, const View &x, std::string_view layout, int64_t heads, const char *name);

/// Repeats heads that several heads of the query share.
View sharedHeads(Plan &plan, const View &x, int64_t heads);

/// Returns the scores of query and key, which have the form of headsOf: scaled, shifted, and low
/// where they are hidden.
View scoresOf(Plan &plan, const Attention &given, const View &q, const View &k);

/// Sets the dropout of an attention of a training.
void setDropout(Plan &plan, Attention &attention, const aclTensor *dropMask, double keepProb);

/// Returns weights, or gradients of them, behind dropout.
View dropped(Plan &plan, const Attention &given, const View &weights);

/// Adds the steps of an attention.
void attend(Plan &plan, const Attention &given);

/// Holds how integers of keys or values became what they are: (x + offset) * scale. Scales are one,
/// one for each element of the heads, or one for each token of a batch.
struct Antiquant {
  View scale, offset; ///< views of nothing where there are none
  int64_t mode = -1;  ///< 0: of elements, 1: of tokens, -1: as their number tells

  bool isGiven() const { return scale.memory || offset.memory; }
};

/// Holds keys and values that all batches have in front of their own.
struct Prefix {
  View key, value;     ///< views of nothing where there are none
  int64_t length = -1; ///< how many of them; -1: all
};

/// Replaces key and value by whole tensors of floats: blocks of caches are put together as a table
/// of [batch, blocks] says, those of the prefix come in front, and integers are scaled. Keys that
/// are `padding` rows in front of the end of their tensor are moved to its begin.
void completeKeys(Plan &plan, Attention &attention, const View &blockTable, int64_t blockSize,
                  const Antiquant &ofKey, const Antiquant &ofValue, const Prefix &prefix,
                  const View &padding);

/// Returns `x` with the elements of `rope` behind those of each head. `areJoined`: the last dim has
/// those of all heads.
View withRope(Plan &plan, const View &x, const View &rope, int64_t heads, bool areJoined,
              const char *name);

/// Rejects layouts that only functions without gradients have.
void checkTrainingLayout(Plan &plan, const Attention &attention);

/// The attention of one packed sequence, and the range of its tokens.
struct Sequence {
  Attention own;
  int64_t row = 0, rowsEnd = 0; ///< of the query and the output
  int64_t key = 0, keysEnd = 0; ///< of key and value
};

/// Returns elements `start` to `end` of the first dim, [1, heads, rows, width].
View sequenceOf(const View &tokens, int64_t start, int64_t end);

/// Checks an attention of such sequences, and visits each.
void forEachSequence(Plan &plan, const Attention &given,
                     const std::function<void(const Sequence &)> &visit);

/// Adds the steps of an attention of sequences that lie one behind the other, [tokens, heads,
/// width]; `rows` and `lengths` say where each ends.
void attendSequences(Plan &plan, const Attention &given);

/// Reads the numbers of heads, the layout and the mode of an attention, and checks them.
void describeAttention(Plan &plan, Attention &attention, const char *layout, int64_t heads,
                       int64_t keyHeads, int64_t sparseMode);

/// Returns the number of heads of keys, which follows from their size.
int64_t keyHeadsOf(Plan &plan, const Attention &attention, const char *layout, int64_t heads);

/// Returns x * cos + (x, rotated by a quarter of a turn) * sin.
View rotated(Plan &plan, const View &given, const View &cos, const View &sin, int64_t mode);

} // namespace atc::ascend

#endif
