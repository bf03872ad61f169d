//===-- AttentionShapes.h - layouts of attention's operands ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_NN_ATTENTIONSHAPES_H
#define OPENATC_KERNELS_NN_ATTENTIONSHAPES_H

#include "kernels/core/Support.h"

namespace atc::kernels {

/// Queries, keys or values: [batch, heads, length, size], or [batch, length, heads * size], which
/// is [batch, length, heads, size], too.
struct Heads {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  bool packed = false; ///< the second form
  /// Reads the sizes of [batch, length, heads * size] or [batch, heads, length, size]. Reports an
  /// error and returns false for other ranks, and for a width that the heads do not divide.
  bool find(Context &c, Tensor x, const char *count) {
    if (x.rank() != 3 && x.rank() != 4)
      return c.fail("an input has rank %, not 3 or 4", x.rank()), false;
    packed = x.rank() == 3;
    batch = x.dim(0);
    heads = packed ? c.integer(count, 0) : x.dim(1);
    length = x.dim(packed ? 1 : 2);
    // Heads without elements could be of any number.
    if (heads < 1 || (packed && (x.dim(2) % heads || heads > maximum(x.dim(2), int64_t(1)))))
      return c.fail("% heads in % elements", heads, x.dim(x.rank() - 1)), false;
    size = packed ? x.dim(2) / heads : x.dim(3);
    return true;
  }
  /// Exchanges heads and length, which were read of [batch, length, heads, size] as if heads came
  /// first.
  void swapMiddle() {
    packed = true;
    const int64_t positions = heads;
    heads = length;
    length = positions;
  }
  /// Returns the elements between two positions of a head.
  int64_t row() const { return packed ? heads * size : size; }
  /// Returns the offset of a head in elements.
  int64_t head(int64_t b, int64_t h) const {
    return packed ? b * length * heads * size + h * size : (b * heads + h) * length * size;
  }
};

/// A mask that is broadcast to [batch, heads, queries, keys]; keys beyond its last column are
/// masked.
struct Mask {
  Tensor tensor;
  int64_t steps[3] = {};
  int64_t columns = 0;
  /// Reads input 3, which may be omitted and whose dims broadcast to `scores`; reports an error and
  /// returns false when they do not.
  bool find(Context &c, const Dims &scores) {
    tensor = c.in(3);
    if (!tensor)
      return true;
    const int64_t rank = tensor.rank();
    if (rank < 1 || rank > 4)
      return c.fail("a mask of rank %", rank), false;
    columns = tensor.dim(rank - 1);
    if (columns > scores[3])
      return c.fail("a mask for % of % keys", columns, scores[3]), false;
    int64_t step = columns;
    for (int64_t d = 2; d >= 0; --d) {
      const int64_t at = d - (4 - rank), size = at >= 0 ? tensor.dim(at) : 1;
      if (size != 1 && size != scores[d])
        return c.fail("a mask with a dim of % for %", size, scores[d]), false;
      steps[d] = size == 1 ? 0 : step;
      step *= size;
    }
    return true;
  }
  /// Returns the offset of the row of a query in elements.
  int64_t row(int64_t b, int64_t h, int64_t query) const {
    return b * steps[0] + h * steps[1] + query * steps[2];
  }
};

} // namespace atc::kernels

#endif // OPENATC_KERNELS_NN_ATTENTIONSHAPES_H
