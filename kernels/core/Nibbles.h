//===-- Nibbles.h - moving elements of any size, 2 and 4 bits too ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of 2 and 4 bits have no address. Kernels that only move elements see
// each as a byte: they are unpacked before and packed again after.

#ifndef OPENATC_KERNELS_CORE_NIBBLES_H
#define OPENATC_KERNELS_CORE_NIBBLES_H

#include "kernels/core/Numbers.h"

namespace atc::kernels {

constexpr bool isPacked(uint8_t dtype) { return bitsOf(dtype) == 2 || bitsOf(dtype) == 4; }

/// Fields of `bits` bits, the first in the low bits, one in a byte each.
inline void unpackFields(uint8_t *to, const uint8_t *from, int64_t count, int bits) {
  const int perByte = 8 / bits, mask = (1 << bits) - 1;
  for (int64_t i = 0; i < count; ++i)
    to[i] = uint8_t(from[i / perByte] >> (i % perByte * bits) & mask);
}

inline void packFields(uint8_t *to, const uint8_t *from, int64_t count, int bits) {
  const int perByte = 8 / bits, mask = (1 << bits) - 1;
  for (int64_t i = 0; i < count; i += perByte) {
    int byte = 0;
    for (int64_t k = 0; k < perByte && i + k < count; ++k)
      byte |= (from[i + k] & mask) << (k * bits);
    to[i / perByte] = uint8_t(byte);
  }
}

/// The fields of a packed tensor in scratch memory. Null where there is none.
inline const uint8_t *unpacked(Context &c, Tensor tensor) {
  const int64_t count = tensor.count();
  uint8_t *fields = c.scratch<uint8_t>(maximum(count, int64_t(1)));
  if (fields)
    unpackFields(fields, tensor.as<uint8_t>(), count, int(bitsOf(tensor.dtype())));
  return fields;
}

/// Calls `fn(to, read)` to move elements into a result of `count` elements: `to` is a
/// pointer to an unsigned type of the element's size, `read(tensor)` gives the
/// elements of an input so, or null: then `fn` returns.
template <typename Fn>
void moveElements(Context &c, uint8_t dtype, void *out, int64_t count, Fn &&fn) {
  if (isPacked(dtype)) {
    uint8_t *fields = c.scratch<uint8_t>(maximum(count, int64_t(1)));
    if (!fields)
      return;
    fn(fields, [&](Tensor tensor) { return unpacked(c, tensor); });
    packFields(static_cast<uint8_t *>(out), fields, count, int(bitsOf(dtype)));
    return;
  }
  bool done = dispatchSizes(dtype, [&](auto type) {
    using T = typename decltype(type)::Type;
    fn(static_cast<T *>(out), [](Tensor tensor) { return tensor.as<T>(); });
  });
  if (!done)
    c.failType(dtype);
}

} // namespace atc::kernels

#endif // OPENATC_KERNELS_CORE_NIBBLES_H
