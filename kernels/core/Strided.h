//===-- Strided.h - loops over strided elements ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef OPENATC_KERNELS_CORE_STRIDED_H
#define OPENATC_KERNELS_CORE_STRIDED_H

#include "kernels/core/Widen.h"

namespace atc::kernels {

/// A row-major index space with the strides of up to three operands in elements (0: broadcast,
/// negative: reversed).
class StridedSpace {
public:
  static constexpr uint32_t kMaxOperands = 3;

  /// Makes the space of `shape`; adjacent dims that can be merged become one.
  StridedSpace(const Dims &shape, const Dims &first);
  StridedSpace(const Dims &shape, const Dims &first, const Dims &second);
  StridedSpace(const Dims &shape, const Dims &first, const Dims &second, const Dims &third);

  /// Returns the size of the innermost dim, and the stride of an operand there.
  int64_t inner() const { return shape[shape.rank - 1]; }
  int64_t innerStep(uint32_t operand) const { return steps[operand][shape.rank - 1]; }
  /// Returns the dims, and the strides of an operand, where adjacent ones have been merged.
  const Dims &dims() const { return shape; }
  const Dims &stepsOf(uint32_t operand) const { return steps[operand]; }
  /// Returns whether rows of adjacent elements of the first operand are repeated, alone or as
  /// blocks of some rows.
  bool repeatsBlocks() const;
  /// Returns the number of elements of row `row`; the last one may be shorter.
  int64_t length(int64_t row) const { return minimum(inner(), count - row * inner()); }

  /// Calls body(row, offsets) for every row of the innermost dim, on several threads where that
  /// pays, with the offset of each operand's first element. `work`: operations per element.
  template <typename Body> void forEachRow(Context &c, int64_t work, Body &&body) const {
    // Type-erased, so that the walk is not compiled per element type.
    walk(
        c, work,
        [](void *arg, int64_t row, const int64_t *offsets) {
          (*static_cast<__remove_reference_t(Body) *>(arg))(row, offsets);
        },
        const_cast<void *>(static_cast<const void *>(&body)));
  }

private:
  using RowBody = void (*)(void *arg, int64_t row, const int64_t *offsets);
  void walk(Context &c, int64_t work, RowBody body, void *arg) const;
  void walkPart(int64_t begin, int64_t end, RowBody body, void *arg) const;
  void collapse();

  Dims shape, steps[kMaxOperands];
  uint32_t operands;
  int64_t count;
};

/// Copies as copyStrided() elements of `width` bytes of a space that repeats blocks: what is
/// repeated is written once, and then copied from the result.
void copyRepeated(Context &c, char *to, const char *from, const StridedSpace &space, int64_t width);

/// Copies to[i, j, ...] = from[i * steps[0] + j * steps[1] + ...] for a row-major `shape`; steps
/// are in elements.
template <typename T>
void copyStrided(Context &c, T *to, const T *from, const Dims &shape, const Dims &steps) {
  const StridedSpace space(shape, steps);
  if (space.repeatsBlocks())
    return copyRepeated(c, reinterpret_cast<char *>(to), reinterpret_cast<const char *>(from),
                        space, sizeof(T));
  const int64_t inner = space.inner(), step = space.innerStep(0);
  space.forEachRow(c, 1, [&](int64_t row, const int64_t *offsets) {
    const T *source = from + offsets[0];
    T *target = to + row * inner;
    const int64_t n = space.length(row);
    if (step == 1) {
      copyBytes(target, source, n * int64_t(sizeof(T)));
    } else if (step == 0) {
      const T value = *source;
      for (int64_t i = 0; i < n; ++i)
        target[i] = value;
    } else {
      for (int64_t i = 0; i < n; ++i)
        target[i] = source[i * step];
    }
  });
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_STRIDED_H
